// ReduceSum. Floats are summed in double where the device has it and rounded once; integers wrap around.
STEPS(1)
STEPS(2)

#ifdef REAL
typedef sum_real sum;
#else
typedef ulong sum;
#endif

// The terms first, first + step, ... of the sum whose input begins at `base`.
inline sum part(const global uchar* base, const Steps1* terms, long first, long step) {
    sum total = 0;
    for (long i = first; i < terms->count; i += step) {
        long at;
        locate1(terms, i, &at);
        total += (sum)load(base + at);
    }
    return total;
}

// A work-item for each output.
kernel void each(global uchar* output, const global uchar* input, const Steps2 outputs, const Steps1 terms) {
    const long i = get_global_id(0);
    if (i < outputs.count) {
        long at[2];
        locate2(&outputs, i, at);
        store(output + at[0], (value)part(input + at[1], &terms, 0, 1));
    }
}

// A work-group for each output.
kernel void grouped(global uchar* output, const global uchar* input, const Steps2 outputs, const Steps1 terms,
                    local sum* parts) {
    const long lane = get_local_id(0);
    long at[2];
    locate2(&outputs, get_group_id(0), at);
    parts[lane] = part(input + at[1], &terms, lane, get_local_size(0));
    for (long half_of = get_local_size(0) / 2; half_of > 0; half_of /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_of) {
            parts[lane] += parts[lane + half_of];
        }
    }
    if (lane == 0) {
        store(output + at[0], (value)parts[0]);
    }
}
