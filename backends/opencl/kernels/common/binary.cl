// Behind an operator's `value apply(value, value)`: each output element from the two input elements at the same place.
// Elements of all three in the order of the index: the strides are known when this is compiled.
kernel void dense(global uchar* output, const global uchar* a, const global uchar* b, const long count,
                  const long output_offset, const long a_offset, const long b_offset) {
    const long i = get_global_id(0);
    if (i < count) {
        const long at = i * (long)sizeof(item);
        store(output + output_offset + at, apply(load(a + a_offset + at), load(b + b_offset + at)));
    }
}

kernel void strided(global uchar* output, const global uchar* a, const global uchar* b, STEPS3(steps)) {
    const long i = get_global_id(0);
    if (i < steps_count) {
        long at[3];
        LOCATE3(steps, i, at);
        store(output + at[0], apply(load(a + at[1]), load(b + at[2])));
    }
}
