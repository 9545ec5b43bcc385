/* Structs of the memory tables (GB/T 45079-2024 6.2.1.2; GB/T 46345-2025 table 5). Entries: tables/memory.def. */
#ifndef HAL_MEMORY_H
#define HAL_MEMORY_H

#include "hal/types.h"

/* device_memory_stats, all in bytes but the last. free + used never exceeds total; used counts this instance's live
   allocations with their padding; peak is the highest `used` since start or memory_reset_peak. */
typedef struct hal_memory_stats {
    hal_header header;
    uint64_t total_bytes;
    uint64_t free_bytes;
    uint64_t used_bytes;
    uint64_t peak_bytes;
    uint64_t cached_bytes; /* kept by the backend for reuse; counted in free_bytes */
    uint64_t live_allocations;
} hal_memory_stats;

/* hal_memory_attributes.memory_kind */
#define HAL_MEMORY_DEVICE 1u
#define HAL_MEMORY_HOST 2u /* page-locked by, or registered with, the backend */
#define HAL_MEMORY_UNIFIED 3u
#define HAL_MEMORY_IMPORTED 4u /* another process' device memory */

/* hal_memory_attributes.flags */
#define HAL_MEMORY_PAGE_LOCKED 1u
#define HAL_MEMORY_HUGE_PAGES 2u /* asked of the kernel for this range */
#define HAL_MEMORY_SHAREABLE 4u  /* memory_ipc_export works on it */

/* get_memory_attributes: of the allocation that holds an address. */
typedef struct hal_memory_attributes {
    hal_header header;
    uint32_t memory_kind;
    uint32_t flags;
    hal_dev device;
    uint32_t reserved;
    hal_dptr base;
    uint64_t size_bytes; /* as asked for by the caller */
} hal_memory_attributes;

/* A handle that another process of this host turns back into memory or an event. Plain bytes: copy and send them freely.
   Valid while the exporting process keeps the object. */
typedef struct hal_ipc_handle {
    uint8_t bytes[64];
} hal_ipc_handle;

/* hal_copy_2d.direction */
#define HAL_COPY_H2D 1u
#define HAL_COPY_D2H 2u
#define HAL_COPY_D2D 3u

/* memory_copy_2d: `height` rows of `width_bytes`, rows `*_pitch_bytes` apart (pitch >= width). A host side is an address cast
   to 64 bits. */
typedef struct hal_copy_2d {
    hal_header header;
    uint32_t direction;
    uint32_t reserved;
    uint64_t dst;
    uint64_t dst_pitch_bytes;
    uint64_t src;
    uint64_t src_pitch_bytes;
    uint64_t width_bytes;
    uint64_t height;
} hal_copy_2d;

#endif
