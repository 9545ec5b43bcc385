// Copy of elements of ITEM_BYTES bytes, which may be any number. Units are the largest type that divides it.
#if ITEM_BYTES % 8 == 0
typedef ulong unit;
#elif ITEM_BYTES % 4 == 0
typedef uint unit;
#elif ITEM_BYTES % 2 == 0
typedef ushort unit;
#else
typedef uchar unit;
#endif

kernel void strided(global uchar* output, const global uchar* input, STEPS2(steps)) {
    const long i = get_global_id(0);
    if (i < steps_count) {
        long at[2];
        LOCATE2(steps, i, at);
        global unit* to = (global unit*)(output + at[0]);
        const global unit* from = (const global unit*)(input + at[1]);
        for (int k = 0; k < ITEM_BYTES / (int)sizeof(unit); ++k) {
            to[k] = from[k];
        }
    }
}
