// Tables 10 and 110: what the collectives engine needs of this back end.
#include "xccl.hpp"

#include "entries.hpp"
#include "instance.hpp"
#include "memory.hpp"
#include "stream.hpp"
#include "tables.hpp"

namespace hal::cpu {

xccl::Arena XcclPort::arena(hal_dev device) {
    const Arena& arena = memory_of(instance_, device).heap.arena();
    return {arena.file(), arena.base(), arena.span_bytes()};
}

void XcclPort::require_memory(hal_dev device, hal_dptr address, uint64_t bytes, const char* what) {
    check_range(instance_, device, address, bytes, what);
}

void XcclPort::require_stream(hal_dev device, hal_stream stream) {
    static_cast<void>(find_stream(instance_, device, stream));
}

void XcclPort::enqueue(hal_dev device, hal_stream stream, const xccl::Work& work) {
    auto run = [work](hal_status status) { return work(status); };
    constexpr bool healthy = true;  // else a failed stream would take it, as it always runs
    find_stream(instance_, device, stream).push(stream, std::move(run), healthy);
}

void XcclPort::refuse_on_stream(const char* entry) const {
    instance_.refuse_on_worker(entry);
}

const hal_xccl_table xccl_table = xccl::Entries<Instance, Opened>::table();
const hal_xccl_ext_table xccl_ext_table = xccl::Entries<Instance, Opened>::ext_table();

}  // namespace hal::cpu
