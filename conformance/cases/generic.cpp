// Presence: the rows that GB/T 45079-2024 makes mandatory are there, and what can be made can be released.
#include "harness/test.hpp"

namespace hal::conformance {
namespace {

#define PRESENT(id, clause, entry)                                                                  \
    HAL_CASE(id, clauses{clause}, authority::S, needs{})                                            \
    (Test & t) {                                                                                    \
        t.check(t.facts.has(E::entry), "the mandatory entry " #entry " is in the plug-in's table"); \
    }

PRESENT("45079.T1.set_device.sig.present", "45079/T1.5", set_device)
PRESENT("45079.T1.get_device.sig.present", "45079/T1.6", get_device)
PRESENT("45079.T1.synchronize_device.sig.present", "45079/T1.7", synchronize_device)
PRESENT("45079.T1.get_device_count.sig.present", "45079/T1.8", get_device_count)
PRESENT("45079.T4.create_event.sig.present", "45079/T4.1", create_event)
PRESENT("45079.T4.destroy_event.sig.present", "45079/T4.2", destroy_event)
PRESENT("45079.T4.record_event.sig.present", "45079/T4.3", record_event)
PRESENT("45079.T4.synchronize_event.sig.present", "45079/T4.5", synchronize_event)

// The case needs the first of the pair and looks for the second.
#define PAIRED(id, clause, first, second)                               \
    HAL_CASE(id, clauses{clause}, authority::A, needs{E::first})        \
    (Test & t) {                                                        \
        t.check(t.facts.has(E::second), #first " comes with " #second); \
    }

PAIRED("45079.T1.initialize.sig.pair", "45079/T1.11", initialize, finalize)
PAIRED("45079.T1.init_device.sig.pair", "45079/T1.13", init_device, deinit_device)
PAIRED("45079.T2.device_memory_allocate.sig.pair", "45079/T2.1", device_memory_allocate, device_memory_deallocate)
PAIRED("45079.T2.host_memory_allocate.sig.pair", "45079/T2.3", host_memory_allocate, host_memory_deallocate)
PAIRED("45079.T2.unified_memory_allocate.sig.pair", "45079/T2.5", unified_memory_allocate, unified_memory_deallocate)
PAIRED("45079.T3.create_stream.sig.pair", "45079/T3.1", create_stream, destroy_stream)
PAIRED("hal.memory_ext.host_memory_register.sig.pair", "45079/T2.3", host_memory_register, host_memory_unregister)
PAIRED("hal.memory_ext.peer_access_enable.sig.pair", "45079/T2.10", peer_access_enable, peer_access_disable)
PAIRED("hal.memory_ext.memory_ipc_import.sig.pair", "45079/T2.1", memory_ipc_import, memory_ipc_close)
PAIRED("hal.event_ext.event_ipc_export.sig.pair", "45079/T4.1", event_ipc_export, event_ipc_import)

}  // namespace
}  // namespace hal::conformance
