// Behind an operator's `value apply(value, value)`: each output element from the two input elements at the same place.
STEPS(3)

kernel void dense(global uchar* output, const global uchar* a, const global uchar* b, const Steps3 steps) {
    const long i = get_global_id(0);
    if (i < steps.count) {
        const long at = i * (long)sizeof(item);
        store(output + steps.offset[0] + at, apply(load(a + steps.offset[1] + at), load(b + steps.offset[2] + at)));
    }
}

kernel void strided(global uchar* output, const global uchar* a, const global uchar* b, const Steps3 steps) {
    const long i = get_global_id(0);
    if (i < steps.count) {
        long at[3];
        locate3(&steps, i, at);
        store(output + at[0], apply(load(a + at[1]), load(b + at[2])));
    }
}
