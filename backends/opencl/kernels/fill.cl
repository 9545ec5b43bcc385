// Fill of elements of ITEM_BYTES bytes: the low bytes of `bits`.
STEPS(1)

#if ITEM_BYTES == 8
typedef ulong unit;
#elif ITEM_BYTES == 4
typedef uint unit;
#elif ITEM_BYTES == 2
typedef ushort unit;
#else
typedef uchar unit;
#endif

kernel void dense(global uchar* output, const ulong bits, const long count, const long output_offset) {
    const long i = get_global_id(0);
    if (i < count) {
        ((global unit*)(output + output_offset))[i] = (unit)bits;
    }
}

kernel void strided(global uchar* output, const ulong bits, const Steps1 steps) {
    const long i = get_global_id(0);
    if (i < steps.count) {
        long at;
        locate1(&steps, i, &at);
        *(global unit*)(output + at) = (unit)bits;
    }
}
