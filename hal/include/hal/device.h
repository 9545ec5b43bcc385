/* Structs of the device tables (GB/T 45079-2024 6.2.1.1). Entries: tables/device.def. */
#ifndef HAL_DEVICE_H
#define HAL_DEVICE_H

#include "hal/types.h"

/* get_compute_capability. Zero means unknown; `arch` is the vendor's name of the instruction set ("sm_90", "x86-64-v4"). */
typedef struct hal_compute_capability {
    hal_header header;
    uint32_t major;
    uint32_t minor;
    uint32_t compute_units;
    uint32_t vector_bits;
    char arch[32];
} hal_compute_capability;

#define HAL_KIND_CPU 1u
#define HAL_KIND_GPU 2u
#define HAL_KIND_NPU 3u
#define HAL_KIND_FPGA 4u
#define HAL_KIND_DSP 5u
#define HAL_KIND_OTHER 6u

/* hal_device_properties.flags */
#define HAL_DEVICE_HOST_ACCESSIBLE 1u /* the host may read and write device memory through the hal_dptr */
#define HAL_DEVICE_CONCURRENT_STREAMS 2u
#define HAL_DEVICE_SOFTWARE 4u

/* get_device_properties. Strings are NUL-terminated UTF-8; `pci` is "dddd:bb:dd.f" or empty; `uuid` all zero if unknown. */
typedef struct hal_device_properties {
    hal_header header;
    uint32_t kind;  /* HAL_KIND_* */
    uint32_t flags; /* HAL_DEVICE_* */
    int32_t numa_node;
    uint32_t alignment_bytes; /* of every allocation; at least 256 */
    uint64_t total_memory_bytes;
    uint8_t uuid[16];
    char pci[16];
    char vendor[64];
} hal_device_properties;

#endif
