// Behind an operator's `value apply(value)`: each output element from the input element at the same place.
// Elements of both in the order of the index: the strides are known when this is compiled.
kernel void dense(global uchar* output, const global uchar* input, const long count, const long output_offset,
                  const long input_offset) {
    const long i = get_global_id(0);
    if (i < count) {
        const long at = i * (long)sizeof(item);
        store(output + output_offset + at, apply(load(input + input_offset + at)));
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
