// Cast, by the rules of shared/kernels/numbers.hpp. T is the input's type, TO the output's, TO_C its name in OpenCL C;
// FROM_REAL and TO_REAL say what is a float, TO_HALF what is stored as 16 bits of one.
#ifdef TO_HALF
// A float whose last bit remembers that something was cut off: rounding it once more then gives what rounding the
// number itself would.
inline float sticky(value x) {
    const float cut = convert_float_rtz(x);
    return isfinite(cut) && (value)cut != x ? as_float(as_uint(cut) | 1u) : cut;
}
#endif

inline JOIN(value_, TO) apply(value x) {
#if defined(TO_BOOL)
    return x != (value)0;  // NaN too
#elif defined(TO_HALF)
    return sticky(x);
#elif defined(TO_REAL)
    return JOIN(JOIN(convert_, TO_C), _rte)(x);
#elif defined(FROM_REAL)
    return isnan(x) ? (TO_C)0 : JOIN(JOIN(convert_, TO_C), _sat_rtz)(x);
#else
    return (TO_C)x;
#endif
}

kernel void strided(global uchar* output, const global uchar* input, STEPS2(steps)) {
    const long i = get_global_id(0);
    if (i < steps_count) {
        long at[2];
        LOCATE2(steps, i, at);
        JOIN(store_, TO)(output + at[0], apply(load(input + at[1])));
    }
}
