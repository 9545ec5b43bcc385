// The tables of this back end; each is defined in the file of its word.
#pragma once

#include "hal/tables.h"

namespace hal::opencl {

extern const hal_device_table device_table;
extern const hal_device_ext_table device_ext_table;
extern const hal_memory_table memory_table;
extern const hal_memory_ext_table memory_ext_table;
extern const hal_stream_table stream_table;
extern const hal_stream_ext_table stream_ext_table;
extern const hal_event_table event_table;
extern const hal_event_ext_table event_ext_table;
extern const hal_kernel_table kernel_table;
extern const hal_xccl_table xccl_table;
extern const hal_xccl_ext_table xccl_ext_table;

}  // namespace hal::opencl
