/* The words of the contract that every other header uses: status, handles, data types, layouts, tensors.
   C11 and C++20. Only fixed-width integers, doubles and pointers cross the plug-in boundary. */
#ifndef HAL_TYPES_H
#define HAL_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "hal/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A status. In C++ it is a distinct [[nodiscard]] type over the same 32 bits, so that no result is dropped unseen. */
#ifdef __cplusplus
enum [[nodiscard]] hal_status : int32_t {
#define HAL_STATUS(name, value, text) name = value,
#include "hal/status.def"
};
#else
typedef int32_t hal_status;
enum {
#define HAL_STATUS(name, value, text) name = value,
#include "hal/status.def"
    HAL_STATUS_FORCE_INT = INT32_MAX
};
#endif

/* Ordinal of a device within one backend, 0 .. get_device_count() - 1. */
typedef int32_t hal_dev;

/* A device address. Adding an offset inside one allocation is legal on every backend. 0 is no address. */
typedef uint64_t hal_dptr;

/* Opaque objects. The NULL stream is the default stream of the device that the call names. */
typedef struct hal_instance hal_instance; /* state of one opened plug-in; made by hal_backend_descriptor.create */
typedef struct hal_stream_object* hal_stream;
typedef struct hal_event_object* hal_event;
typedef struct hal_graph_engine_object* hal_graph_engine;
typedef struct hal_graph_object* hal_graph;
typedef struct hal_ir_object* hal_ir;
typedef struct hal_comm_object* hal_comm;

/* No limit, for every timeout_ns. */
#define HAL_NO_TIMEOUT UINT64_MAX

/* Head of every create- and query-struct. `size` is sizeof the caller's struct: the callee reads and writes no further.
   `kind` names a chained struct (0 for the first of a chain); an unknown kind is ignored unless HAL_MUST_UNDERSTAND is set
   in it, which makes the call UNSUPPORTED. */
typedef struct hal_header {
    uint32_t size;
    uint32_t kind;
    struct hal_header* next;
} hal_header;
#define HAL_MUST_UNDERSTAND 0x80000000u

/* A version that a query reports. `text` is the vendor's own spelling, NUL-terminated UTF-8. */
typedef struct hal_version {
    hal_header header;
    uint32_t major;
    uint32_t minor;
    uint32_t patch;
    uint32_t reserved;
    char text[64];
} hal_version;

/* ---- Data types: the DLPack triple code | bits << 8 | lanes << 16 (DLPack v1.0 DLDataType) ---- */
typedef uint32_t hal_dtype;
#define HAL_DTYPE(code, bits, lanes) ((uint32_t)(code) | ((uint32_t)(bits) << 8) | ((uint32_t)(lanes) << 16))
#define HAL_DTYPE_CODE(dtype) ((dtype) & 0xffu)
#define HAL_DTYPE_BITS(dtype) (((dtype) >> 8) & 0xffu)
#define HAL_DTYPE_LANES(dtype) ((dtype) >> 16)
#define HAL_DTYPE_ANY 0u
#define HAL_I8 HAL_DTYPE(0, 8, 1)
#define HAL_I16 HAL_DTYPE(0, 16, 1)
#define HAL_I32 HAL_DTYPE(0, 32, 1)
#define HAL_I64 HAL_DTYPE(0, 64, 1)
#define HAL_U8 HAL_DTYPE(1, 8, 1)
#define HAL_U16 HAL_DTYPE(1, 16, 1)
#define HAL_U32 HAL_DTYPE(1, 32, 1)
#define HAL_U64 HAL_DTYPE(1, 64, 1)
#define HAL_F16 HAL_DTYPE(2, 16, 1)
#define HAL_F32 HAL_DTYPE(2, 32, 1)
#define HAL_F64 HAL_DTYPE(2, 64, 1)
#define HAL_BF16 HAL_DTYPE(4, 16, 1)
#define HAL_C64 HAL_DTYPE(5, 64, 1)
#define HAL_C128 HAL_DTYPE(5, 128, 1)
#define HAL_BOOL HAL_DTYPE(6, 8, 1)
#define HAL_F8E4M3FN HAL_DTYPE(10, 8, 1)
#define HAL_F8E5M2 HAL_DTYPE(12, 8, 1)
#define HAL_F4E2M1 HAL_DTYPE(17, 4, 1)

/* ---- Layouts (GB/T 45079-2024 table 6; the blocked ones are those of the TBE operator information library) ---- */
typedef uint32_t hal_layout;
#define HAL_LAYOUT_ANY 0u
#define HAL_LAYOUT_NHWC 1u
#define HAL_LAYOUT_NCHW 2u
#define HAL_LAYOUT_NCDHW 3u
#define HAL_LAYOUT_NDHWC 4u
#define HAL_LAYOUT_STRIDED 5u /* the tensor's strides array decides */
#define HAL_LAYOUT_ND 6u      /* dense row-major of any rank */
#define HAL_LAYOUT_NCW 7u
#define HAL_LAYOUT_NWC 8u
#define HAL_LAYOUT_NC1HWC0 9u
#define HAL_LAYOUT_FRACTAL_NZ 10u
#define HAL_LAYOUT_FRACTAL_Z 11u
#define HAL_LAYOUT_VENDOR_FIRST 0x8000u /* from here to VENDOR_LAST a backend defines its own */
#define HAL_LAYOUT_VENDOR_LAST 0xffffu

/* ---- Tensors: the 48 bytes of DLPack's DLTensor at the same offsets, then ours ----
   Borrowed for the length of a call unless an entry says otherwise; the memory behind `data` stays valid until the work that
   uses it is complete. `strides` counts elements; NULL means dense row-major. `storage_bytes` is what may be touched from
   `data` (not from data + byte_offset), 0 if the caller does not know. */
typedef struct hal_tensor {
    hal_dptr data;
    int32_t device_type; /* DLPack's DLDeviceType, 12 (kDLExtDev) where none fits */
    int32_t device_id;   /* hal_dev */
    int32_t ndim;
    hal_dtype dtype;
    const int64_t* shape;
    const int64_t* strides;
    uint64_t byte_offset;
    uint32_t struct_size;
    hal_layout layout;
    uint32_t flags;
    uint32_t reserved;
    uint64_t storage_bytes;
    hal_header* next;
} hal_tensor;
#define HAL_MAX_RANK 8
#define HAL_TENSOR_READ_ONLY 1u /* flags: the callee must not write it */

/* ---- Attributes of kernels and graph nodes ---- */
#define HAL_ATTR_I64 1u
#define HAL_ATTR_F64 2u
#define HAL_ATTR_STRING 3u
#define HAL_ATTR_I64_ARRAY 4u
#define HAL_ATTR_F64_ARRAY 5u

/* Borrowed for the length of the call; names and strings are NUL-terminated UTF-8. */
typedef struct hal_attr {
    const char* name;
    uint32_t type;
    uint32_t reserved;
    uint64_t count; /* elements of an array, bytes of a string without its terminator, else 1 */
    union {
        int64_t i64;
        double f64;
        const char* string;
        const int64_t* i64_array;
        const double* f64_array;
    } value;
} hal_attr;

#ifdef __cplusplus
} /* extern "C" */
#define HAL_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define HAL_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

HAL_STATIC_ASSERT(sizeof(void*) == 8, "the contract is for 64-bit processes");
HAL_STATIC_ASSERT(sizeof(hal_status) == 4, "a status is 32 bits on both sides");
HAL_STATIC_ASSERT(sizeof(hal_header) == 16, "header of create- and query-structs");
HAL_STATIC_ASSERT(offsetof(hal_tensor, device_type) == 8, "DLTensor.device");
HAL_STATIC_ASSERT(offsetof(hal_tensor, ndim) == 16, "DLTensor.ndim");
HAL_STATIC_ASSERT(offsetof(hal_tensor, dtype) == 20, "DLTensor.dtype");
HAL_STATIC_ASSERT(offsetof(hal_tensor, shape) == 24, "DLTensor.shape");
HAL_STATIC_ASSERT(offsetof(hal_tensor, strides) == 32, "DLTensor.strides");
HAL_STATIC_ASSERT(offsetof(hal_tensor, byte_offset) == 40, "DLTensor.byte_offset");
HAL_STATIC_ASSERT(offsetof(hal_tensor, struct_size) == 48, "ours begins after the 48 bytes of DLTensor");

#endif
