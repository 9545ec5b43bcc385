// Behind an operator's `value apply(value)`: each output element from the input element at the same place.
// Elements of both in the order of the index: the strides are known when this is compiled. `walk`: count, offsets.
kernel void dense(global uchar* output, const global uchar* input, const long4 walk) {
    const long i = get_global_id(0);
    if (i < walk.x) {
        const long at = i * (long)sizeof(item);
        store(output + walk.y + at, apply(load(input + walk.z + at)));
    }
}

kernel void strided(global uchar* output, const global uchar* input, STEPS2(steps)) {
    const long i = get_global_id(0);
    if (i < steps_count) {
        long at[2];
        LOCATE2(steps, i, at);
        store(output + at[0], apply(load(input + at[1])));
    }
}
