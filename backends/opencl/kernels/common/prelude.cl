// Before every program: the element types, how they lie in memory, and the places of elements in tensors of any strides.
// -D T=f32 chooses the type: `item` is what lies in memory, `value` what arithmetic is done in (float for halves), `wide`
// what integers wrap around in.

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double sum_real;  // what sums of floats are made in
#else
typedef float sum_real;
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#define PLAIN(name, type, wide)                                                                        \
    typedef type item_##name;                                                                          \
    typedef type value_##name;                                                                         \
    typedef wide wide_##name;                                                                          \
    inline type load_##name(const global uchar* at) { return *(const global type*)at; }                \
    inline void store_##name(global uchar* at, type value) { *(global type*)at = value; }
PLAIN(i8, char, uint)
PLAIN(i16, short, uint)
PLAIN(i32, int, uint)
PLAIN(i64, long, ulong)
PLAIN(u8, uchar, uint)
PLAIN(u16, ushort, uint)
PLAIN(u32, uint, uint)
PLAIN(u64, ulong, ulong)
PLAIN(f32, float, float)
#ifdef cl_khr_fp64
PLAIN(f64, double, double)
#endif

// One byte, any value but 0 is true.
typedef uchar item_bool;
typedef uchar value_bool;
inline uchar load_bool(const global uchar* at) { return *at != 0; }
inline void store_bool(global uchar* at, uchar value) { *at = value; }

// Every device converts halves in memory, with or without cl_khr_fp16.
typedef ushort item_f16;
typedef float value_f16;
typedef float wide_f16;
inline float load_f16(const global uchar* at) { return vload_half(0, (const global half*)at); }
inline void store_f16(global uchar* at, float value) { vstore_half_rte(value, 0, (global half*)at); }

typedef ushort item_bf16;
typedef float value_bf16;
typedef float wide_bf16;
inline float load_bf16(const global uchar* at) { return as_float((uint)(*(const global ushort*)at) << 16); }
inline void store_bf16(global uchar* at, float value) {
    const uint bits = as_uint(value);
    const uint rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const uint quiet = (bits >> 16) | 0x40u;
    *(global ushort*)at = (ushort)((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

typedef JOIN(item_, T) item;
typedef JOIN(value_, T) value;
#define load JOIN(load_, T)
#define store JOIN(store_, T)

// The same as Steps<n> of launch.hpp. Offsets and strides count bytes.
#define STEPS(n)                                                                   \
    typedef struct {                                                               \
        long count;                                                                \
        long rank;                                                                 \
        long offset[n];                                                            \
        long extent[8];                                                            \
        long stride[8][n];                                                         \
    } Steps##n;                                                                    \
    inline void locate##n(const Steps##n* steps, long index, long* at) {           \
        for (int k = 0; k < n; ++k) {                                              \
            at[k] = steps->offset[k];                                              \
        }                                                                          \
        for (long axis = steps->rank - 1; axis >= 0; --axis) {                     \
            const long outer = axis == 0 ? 0 : index / steps->extent[axis];        \
            const long inner = index - outer * steps->extent[axis];                \
            for (int k = 0; k < n; ++k) {                                          \
                at[k] += inner * steps->stride[axis][k];                           \
            }                                                                      \
            index = outer;                                                         \
        }                                                                          \
    }
