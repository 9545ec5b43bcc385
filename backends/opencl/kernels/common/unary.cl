// Behind an operator's `value apply(value)`: each output element from the input element at the same place.
STEPS(2)

kernel void dense(global uchar* output, const global uchar* input, const Steps2 steps) {
    const long i = get_global_id(0);
    if (i < steps.count) {
        const long at = i * (long)sizeof(item);
        store(output + steps.offset[0] + at, apply(load(input + steps.offset[1] + at)));
    }
}

kernel void strided(global uchar* output, const global uchar* input, const Steps2 steps) {
    const long i = get_global_id(0);
    if (i < steps.count) {
        long at[2];
        locate2(&steps, i, at);
        store(output + at[0], apply(load(input + at[1])));
    }
}
