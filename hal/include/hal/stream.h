/* Structs of the stream tables (GB/T 45079-2024 6.2.1.3; GB/T 45280-2025 5.3.3). Entries: tables/stream.def. */
#ifndef HAL_STREAM_H
#define HAL_STREAM_H

#include "hal/types.h"

/* create_stream. A NULL description means the defaults: priority 0, no flags. */
typedef struct hal_stream_desc {
    hal_header header;
    int32_t priority; /* lower runs first; stream_priority_range tells the range */
    uint32_t flags;   /* none defined; must be 0 */
} hal_stream_desc;

/* query_stream. */
typedef struct hal_stream_info {
    hal_header header;
    hal_dev device;
    int32_t priority;
    uint32_t flags;
    hal_status status;        /* HAL_OK, or the error that the stream is stuck with */
    uint64_t submitted_count; /* operations ever enqueued */
    uint64_t completed_count;
} hal_stream_info;

#ifdef __cplusplus
extern "C" {
#endif

/* A host function in stream order: called exactly once, on a thread of the backend, after all earlier work of the stream and
   before any later work. `status` is HAL_OK or the error that the stream is stuck with. It must not call a blocking entry of
   the same backend (REENTRANT where the backend can tell), nor throw. */
typedef void (*hal_stream_callback)(void* user_data, hal_dev device, hal_stream stream, hal_status status);

#ifdef __cplusplus
}
#endif
#endif
