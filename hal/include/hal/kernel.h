/* Kernels: what REGISTER_KERNEL registers and what a launch hands over (GB/T 45079-2024 6.2.2.1, tables 5 and 6). */
#ifndef HAL_KERNEL_H
#define HAL_KERNEL_H

#include "hal/types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hal_kernel;

/* One launch. Everything here is borrowed for the length of the call: a kernel copies what it needs later. The memory of the
   tensors and the workspace stays valid until the stream has run the work. */
typedef struct hal_kernel_call {
    uint32_t size;
    hal_dev device;
    hal_instance* instance;
    const struct hal_kernel* kernel;
    hal_stream stream;
    const hal_tensor* const* inputs;
    const hal_tensor* const* outputs;
    const hal_attr* attributes;
    uint32_t input_count;
    uint32_t output_count;
    uint32_t attribute_count;
    uint32_t reserved;
    hal_dptr workspace;
    uint64_t workspace_bytes;
} hal_kernel_call;

/* Runs on the caller's thread, enqueues on call->stream and returns: asynchronous like every enqueue. */
typedef hal_status (*hal_kernel_fn)(const hal_kernel_call* call);

/* Can this kernel run the call, and how many bytes of workspace does it want? UNSUPPORTED sends the caller to the next match.
   Tensors may lack data. Any thread, no side effect. */
typedef hal_status (*hal_kernel_query_fn)(const hal_kernel_call* call, uint64_t* out_workspace_bytes);

/* The shapes of the outputs from the inputs and attributes: writes ndim, dtype and up to HAL_MAX_RANK extents an output. */
typedef struct hal_shape {
    int32_t ndim;
    hal_dtype dtype;
    int64_t extent[HAL_MAX_RANK];
} hal_shape;
typedef hal_status (*hal_kernel_infer_fn)(const hal_kernel_call* call, hal_shape* out_shapes, uint32_t shape_count);

/* hal_kernel.flags */
#define HAL_KERNEL_IN_PLACE 1u      /* output 0 may be the memory of input 0 */
#define HAL_KERNEL_STRIDED 2u       /* honours strides of every tensor; without it the caller passes dense tensors */
#define HAL_KERNEL_DETERMINISTIC 4u /* the same bits each run */

/* One registered kernel: static const in the plug-in, borrowed until the backend is closed. op, backend, layout, dtype and run
   are the parameters of table 6; what follows `file` is ours and may be zero. */
typedef struct hal_kernel {
    uint32_t size;
    uint32_t line;       /* source of the registration, for messages */
    const char* op;      /* operator name, case-sensitive UTF-8, 1..255 bytes */
    const char* backend; /* hardware backend's name; must equal hal_backend_descriptor.name */
    hal_layout layout;   /* of the inputs; ANY matches every layout */
    hal_dtype dtype;     /* of input 0 (of output 0 where there is no input); ANY matches every type */
    hal_kernel_fn run;
    const char* file;

    uint32_t flags;   /* HAL_KERNEL_* */
    int32_t priority; /* the higher wins among equal matches */
    hal_kernel_query_fn query; /* NULL: runs every call that matches, without workspace */
    hal_kernel_infer_fn infer; /* NULL: the shape of output 0 is that of input 0 */
    const char* arch;          /* NULL, or the compute_capability.arch that it needs */
    const hal_dtype* signature; /* NULL, or a dtype per input and then per output; ANY matches every type */
    uint32_t signature_count;
    uint32_t op_version_min; /* range of operator versions; 0..0 means every version */
    uint32_t op_version_max;
    uint32_t reserved;
    uint64_t user_data; /* the plug-in's own; comes back through call->kernel */
} hal_kernel;

#ifdef __cplusplus
}
#endif
#endif
