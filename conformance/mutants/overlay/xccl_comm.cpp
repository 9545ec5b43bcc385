// Mutants of table 10: ids, communicators, groups, messages, barriers; and what all of them share.
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "xccl.hpp"

namespace hal::mutants {

// ---- Shared ----

namespace {
std::mutex places_mutex;
std::map<hal_comm, hal_dev> devices;
}  // namespace

void with_places(Plugin& plugin) {
    plugin.xccl.xccl_comm_init_rank = [](hal_instance* self, hal_dev device, int32_t count, const void* id,
                                         uint64_t size, int32_t rank, hal_comm* out) {
        const hal_status status = base.xccl.xccl_comm_init_rank(self, device, count, id, size, rank, out);
        if (status == HAL_OK) {
            const std::lock_guard lock(places_mutex);
            devices[*out] = device;
        }
        return status;
    };
}

Place place_of(hal_instance* self, hal_comm comm) {
    Place place;
    (void)base.xccl.xccl_get_comm_rank(self, comm, &place.rank);
    (void)base.xccl.xccl_get_comm_size(self, comm, &place.ranks);
    const std::lock_guard lock(places_mutex);
    const auto found = devices.find(comm);
    place.device = found == devices.end() ? 0 : found->second;
    return place;
}

uint64_t bytes_of(hal_dtype type) {
    return type == HAL_DTYPE_ANY ? 0 : uint64_t{HAL_DTYPE_BITS(type)} * HAL_DTYPE_LANES(type) / 8;
}

Scratch::Scratch(hal_instance* self, hal_dev device, hal_stream stream, uint64_t size_bytes)
    : self_(self), device_(device), stream_(stream) {
    if (size_bytes != 0) {
        (void)base.memory_ext.async_memory_allocate(self, device, stream, size_bytes, &ptr_);
    }
}

Scratch::~Scratch() {
    if (ptr_ != 0) {
        (void)base.memory_ext.async_memory_deallocate(self_, device_, stream_, ptr_);
    }
}

// ---- Ids ----

// What a generator gives that nobody has seeded.
void xccl_id_not_unique(Plugin& plugin) {
    plugin.xccl.xccl_get_unique_id = [](hal_instance* self, void* buffer, uint64_t size_bytes) {
        const hal_status status = base.xccl.xccl_get_unique_id(self, buffer, size_bytes);
        if (status == HAL_OK) {
            static uint8_t count = 0;
            std::memset(buffer, ++count, size_bytes);
        }
        return status;
    };
}

void xccl_id_short_write(Plugin& plugin) {
    plugin.xccl.xccl_get_unique_id = [](hal_instance* self, void* buffer, uint64_t size_bytes) {
        if (buffer == nullptr || size_bytes == 0) {
            return base.xccl.xccl_get_unique_id(self, buffer, size_bytes);
        }
        std::vector<uint8_t> whole(size_bytes);
        const hal_status status = base.xccl.xccl_get_unique_id(self, whole.data(), size_bytes);
        if (status == HAL_OK) {
            std::memcpy(buffer, whole.data(), size_bytes - 1);
        }
        return status;
    };
}

// ---- Groups and messages ----

// Every call is issued when it is made.
void xccl_group_noop(Plugin& plugin) {
    plugin.xccl.xccl_group_start = [](hal_instance*) -> hal_status { return HAL_OK; };
    plugin.xccl.xccl_group_end = [](hal_instance*) -> hal_status { return HAL_OK; };
}

namespace {
std::mutex group_mutex;
int group_depth = 0;
std::vector<std::function<hal_status()>> group_calls;
}  // namespace
// One group for all threads.
void xccl_group_global(Plugin& plugin) {
    plugin.xccl.xccl_group_start = [](hal_instance*) -> hal_status {
        const std::lock_guard lock(group_mutex);
        ++group_depth;
        return HAL_OK;
    };
    plugin.xccl.xccl_all_reduce = [](hal_instance* self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype type,
                                     hal_reduce_op op, hal_comm comm, hal_stream stream) {
        const auto call = [=] { return base.xccl.xccl_all_reduce(self, send, recv, count, type, op, comm, stream); };
        const std::lock_guard lock(group_mutex);
        if (group_depth == 0) {
            return call();
        }
        group_calls.emplace_back(call);
        return HAL_OK;
    };
    plugin.xccl.xccl_group_end = [](hal_instance* self) {
        const std::lock_guard lock(group_mutex);
        if (group_depth == 0) {
            return refuse(self, HAL_ERROR_INVALID_ARGUMENT, "no group is open");
        }
        hal_status first = HAL_OK;
        for (const auto& call : --group_depth == 0 ? std::exchange(group_calls, {}) : decltype(group_calls)()) {
            const hal_status status = call();
            first = first == HAL_OK ? status : first;
        }
        return first;
    };
}

namespace {
thread_local int thread_depth = 0;
}
// A message waits for the end of a group that was never begun.
void xccl_single_never_issued(Plugin& plugin) {
    plugin.xccl.xccl_group_start = [](hal_instance* self) {
        ++thread_depth;
        return base.xccl.xccl_group_start(self);
    };
    plugin.xccl.xccl_group_end = [](hal_instance* self) {
        thread_depth -= thread_depth > 0 ? 1 : 0;
        return base.xccl.xccl_group_end(self);
    };
    plugin.xccl.xccl_recv = [](hal_instance* self, hal_dptr recv, uint64_t count, hal_dtype type, int32_t peer,
                               hal_comm comm, hal_stream stream) {
        return thread_depth == 0 ? HAL_OK : base.xccl.xccl_recv(self, recv, count, type, peer, comm, stream);
    };
    plugin.xccl.xccl_send = [](hal_instance* self, hal_dptr send, uint64_t count, hal_dtype type, int32_t peer,
                               hal_comm comm, hal_stream stream) {
        return thread_depth == 0 ? HAL_OK : base.xccl.xccl_send(self, send, count, type, peer, comm, stream);
    };
}

// Messages of one pair overtake each other: every second one takes the data of the one before.
void xccl_message_repeated(Plugin& plugin) {
    plugin.xccl.xccl_send = [](hal_instance* self, hal_dptr send, uint64_t count, hal_dtype type, int32_t peer,
                               hal_comm comm, hal_stream stream) {
        thread_local hal_dptr before = 0;
        thread_local uint64_t before_count = 0;
        const bool again = before != 0 && before_count >= count;
        const hal_dptr from = again ? before : send;
        before = again ? 0 : send;
        before_count = count;
        return base.xccl.xccl_send(self, from, count, type, peer, comm, stream);
    };
}

// ---- Communicators ----

namespace {
const hal_table_header* (*get_real_table)(hal_instance*, uint32_t) = nullptr;
std::atomic<hal_instance*> first_instance{nullptr};
}  // namespace
// Only the first instance of a process has collectives.
void xccl_one_instance_only(Plugin& plugin) {
    get_real_table = plugin.descriptor.get_table;
    plugin.descriptor.get_table = [](hal_instance* instance, uint32_t id_major) {
        hal_instance* none = nullptr;
        first_instance.compare_exchange_strong(none, instance);
        const bool hidden = id_major == HAL_TABLE_xccl && instance != first_instance;
        return hidden ? static_cast<const hal_table_header*>(nullptr) : get_real_table(instance, id_major);
    };
}

// The second use of an id is refused with a handle all the same.
void xccl_refused_with_handle(Plugin& plugin) {
    plugin.xccl.xccl_comm_init_rank = [](hal_instance* self, hal_dev device, int32_t count, const void* id,
                                         uint64_t size, int32_t rank, hal_comm* out) {
        static std::vector<uint8_t> before;
        const auto* bytes = static_cast<const uint8_t*>(id);
        std::vector<uint8_t> now(bytes, bytes + (id == nullptr ? 0 : size));
        if (out != nullptr && !now.empty() && now == before) {
            *out = reinterpret_cast<hal_comm>(uintptr_t{0x10});
            return refuse(self, HAL_ERROR_ALREADY_EXISTS, "the id was used before");
        }
        before = std::move(now);
        return base.xccl.xccl_comm_init_rank(self, device, count, id, size, rank, out);
    };
}

void xccl_rank_reversed(Plugin& plugin) {
    plugin.xccl.xccl_get_comm_rank = [](hal_instance* self, hal_comm comm, int32_t* out) {
        const hal_status status = base.xccl.xccl_get_comm_rank(self, comm, out);
        int32_t size = 1;
        if (status == HAL_OK && base.xccl.xccl_get_comm_size(self, comm, &size) == HAL_OK) {
            *out = size - 1 - *out;
        }
        return status;
    };
}

// A peer is waited for without end.
void xccl_timeout_ignored(Plugin& plugin) {
    plugin.xccl_ext.xccl_set_timeout = [](hal_instance* self, hal_comm comm, uint64_t) {
        return base.xccl_ext.xccl_set_timeout(self, comm, uint64_t{3600} * 1'000'000'000);
    };
}

// ---- Barriers ----

void xccl_barrier_noop(Plugin& plugin) {
    plugin.xccl.xccl_barrier = [](hal_instance* self, hal_comm comm, hal_stream stream) {
        return comm == nullptr ? base.xccl.xccl_barrier(self, comm, stream) : HAL_OK;
    };
}

// The last rank waits for nobody, though all wait for it.
void xccl_barrier_all_but_last(Plugin& plugin) {
    with_places(plugin);
    with_hidden_streams(plugin);
    plugin.xccl.xccl_barrier = [](hal_instance* self, hal_comm comm, hal_stream stream) {
        const Place place = place_of(self, comm);
        const bool last = place.ranks > 1 && place.rank == place.ranks - 1;
        return base.xccl.xccl_barrier(self, comm, last ? hidden_stream(self, place.device) : stream);
    };
}

}  // namespace hal::mutants
