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

// Steps<n> of launch.hpp as parameters of a kernel, called name_count, name_rank, ...; offsets and strides count bytes.
// Numbers and vectors, because there are drivers that refuse structs (Mesa's Rusticl).
#define STEPS1(name)                                                                                         \
    const long name##_count, const long name##_rank, const long8 name##_extent, const long name##_offset0,   \
        const long8 name##_stride0
#define STEPS2(name) STEPS1(name), const long name##_offset1, const long8 name##_stride1
#define STEPS3(name) STEPS2(name), const long name##_offset2, const long8 name##_stride2

// at[k] becomes the place of the element of this index in tensor k.
#define LOCATE1(name, index, at)                                                 \
    at[0] = name##_offset0 + place(index, name##_rank, name##_extent, name##_stride0)
#define LOCATE2(name, index, at)                                                 \
    LOCATE1(name, index, at);                                                    \
    at[1] = name##_offset1 + place(index, name##_rank, name##_extent, name##_stride1)
#define LOCATE3(name, index, at)                                                 \
    LOCATE2(name, index, at);                                                    \
    at[2] = name##_offset2 + place(index, name##_rank, name##_extent, name##_stride2)

inline long place(long index, const long rank, const long8 extents, const long8 strides) {
    long extent[8];
    long stride[8];
    vstore8(extents, 0, extent);
    vstore8(strides, 0, stride);
    long at = 0;
    for (long axis = rank - 1; axis >= 0; --axis) {
        const long outer = axis == 0 ? 0 : index / extent[axis];
        at += (index - outer * extent[axis]) * stride[axis];
        index = outer;
    }
    return at;
}
