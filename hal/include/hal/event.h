/* Structs of the event tables (GB/T 45079-2024 6.2.1.4; GB/T 45280-2025 5.3.4). Entries: tables/event.def. */
#ifndef HAL_EVENT_H
#define HAL_EVENT_H

#include "hal/types.h"

/* hal_event_desc.flags */
#define HAL_EVENT_TIMING 1u /* records keep the device's time; needed by event_elapsed */
#define HAL_EVENT_IPC 2u    /* may be exported to another process; excludes TIMING */

/* create_event. A NULL description means no flags. */
typedef struct hal_event_desc {
    hal_header header;
    uint32_t flags;
    uint32_t reserved;
} hal_event_desc;

#endif
