/* Structs of the compiler tables (GB/T 45079-2024 6.2.2.3, tables 8 and 9). Entries: tables/compiler.def. */
#ifndef HAL_COMPILER_H
#define HAL_COMPILER_H

#include "hal/graph.h"

/* lower_ir. `target` is one of the names that the backend's manual gives; NULL means the device itself. */
typedef struct hal_lower_desc {
    hal_header header;
    const char* target;
    const hal_attr* options;
    uint64_t option_count;
} hal_lower_desc;

/* get_ir_info. Both pointers are borrowed until ir_release. */
typedef struct hal_ir_info {
    hal_header header;
    const char* format; /* "llvm-ir", "spir-v", a vendor's own */
    const void* bytes;
    uint64_t size_bytes;
} hal_ir_info;

#endif
