// Behind an operator's `value apply(value, value)`: each output element from the two input elements at the same place.
// Elements of all three in the order of the index: the strides are known when this is compiled. `walk`: count, offsets.
kernel void dense(global uchar* output, const global uchar* a, const global uchar* b, const long4 walk) {
    const long i = get_global_id(0);
    if (i < walk.x) {
        const long at = i * (long)sizeof(item);
        store(output + walk.y + at, apply(load(a + walk.z + at), load(b + walk.w + at)));
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
