// ReduceSum. Floats are summed in double where the device has it and rounded once; integers wrap around.
#ifdef REAL
typedef sum_real sum;
#else
typedef ulong sum;
#endif

// The terms first, first + step, ... of the sum whose input begins at `base`.
inline sum part(const global uchar* base, STEPS1(terms), long first, long step) {
    sum total = 0;
    for (long i = first; i < terms_count; i += step) {
        long at[1];
        LOCATE1(terms, i, at);
        total += (sum)load(base + at[0]);
    }
    return total;
}
#define PART(base, first, step) \
    part(base, terms_count, terms_rank, terms_extent, terms_offset0, terms_stride0, first, step)

// A work-item for each output.
kernel void each(global uchar* output, const global uchar* input, STEPS2(outputs), STEPS1(terms)) {
    const long i = get_global_id(0);
    if (i < outputs_count) {
        long at[2];
        LOCATE2(outputs, i, at);
        store(output + at[0], (value)PART(input + at[1], 0, 1));
    }
}

// A work-group for each output.
kernel void grouped(global uchar* output, const global uchar* input, STEPS2(outputs), STEPS1(terms),
                    local sum* parts) {
    const long lane = get_local_id(0);
    long at[2];
    LOCATE2(outputs, (long)get_group_id(0), at);
    parts[lane] = PART(input + at[1], lane, (long)get_local_size(0));
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
