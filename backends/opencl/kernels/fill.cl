// Fill of elements of ITEM_BYTES bytes: the low bytes of `bits`.
#if ITEM_BYTES == 8
typedef ulong unit;
#elif ITEM_BYTES == 4
typedef uint unit;
#elif ITEM_BYTES == 2
typedef ushort unit;
#else
typedef uchar unit;
#endif

// `walk`: count, offset of the output, bits (launch.hpp, Walk::packed).
kernel void dense(global uchar* output, const long4 walk) {
    const long i = get_global_id(0);
    if (i < walk.x) {
        ((global unit*)(output + walk.y))[i] = (unit)walk.z;
    }
}

kernel void strided(global uchar* output, const ulong bits, STEPS1(steps)) {
    const long i = get_global_id(0);
    if (i < steps_count) {
        long at[1];
        LOCATE1(steps, i, at);
        *(global unit*)(output + at[0]) = (unit)bits;
    }
}
