// Mutants of table 2: what the device says about its memory.
#include <atomic>
#include <chrono>
#include <thread>

#include "overlay.hpp"

namespace hal::mutants {

namespace {
// Every field that the caller's struct has room for.
template <class Change>
hal_status changed_stats(hal_instance* self, hal_dev device, hal_memory_stats* out, Change change) {
    const hal_status status = base.memory.device_memory_stats(self, device, out);
    if (status == HAL_OK && out->header.size >= sizeof *out) {
        change(*out);
    }
    return status;
}
}  // namespace

void stats_constant(Plugin& plugin) {
    plugin.memory.device_memory_stats = [](hal_instance* self, hal_dev device, hal_memory_stats* out) {
        return changed_stats(self, device, out, [](hal_memory_stats& stats) {
            stats.free_bytes = stats.total_bytes;
            stats.used_bytes = stats.peak_bytes = stats.live_allocations = 0;
        });
    };
}

void stats_never_fall(Plugin& plugin) {
    plugin.memory.device_memory_stats = [](hal_instance* self, hal_dev device, hal_memory_stats* out) {
        return changed_stats(self, device, out, [](hal_memory_stats& stats) {
            stats.used_bytes = stats.peak_bytes;
            stats.free_bytes = stats.total_bytes - stats.used_bytes;
        });
    };
}

void stats_free_gt_total(Plugin& plugin) {
    plugin.memory.device_memory_stats = [](hal_instance* self, hal_dev device, hal_memory_stats* out) {
        return changed_stats(self, device, out,
                             [](hal_memory_stats& stats) { stats.free_bytes = stats.total_bytes + 4096; });
    };
}

// Reads free before and used after: torn while another thread allocates.
void stats_torn(Plugin& plugin) {
    plugin.memory.device_memory_stats = [](hal_instance* self, hal_dev device, hal_memory_stats* out) {
        hal_memory_stats before{};
        before.header.size = sizeof before;
        (void)base.memory.device_memory_stats(self, device, &before);
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        return changed_stats(self, device, out, [&](hal_memory_stats& stats) { stats.free_bytes = before.free_bytes; });
    };
}

void stats_all_devices_sum(Plugin& plugin) {
    plugin.memory.device_memory_stats = [](hal_instance* self, hal_dev device, hal_memory_stats* out) {
        return changed_stats(self, device, out, [&](hal_memory_stats& stats) {
            for (hal_dev other = 0; other < device_count(self); ++other) {
                hal_memory_stats theirs{};
                theirs.header.size = sizeof theirs;
                if (other != device && base.memory.device_memory_stats(self, other, &theirs) == HAL_OK) {
                    stats.used_bytes += theirs.used_bytes;
                    stats.live_allocations += theirs.live_allocations;
                }
            }
            stats.free_bytes = stats.total_bytes - stats.used_bytes;
        });
    };
}

void stats_one_live_too_many(Plugin& plugin) {
    plugin.memory.device_memory_stats = [](hal_instance* self, hal_dev device, hal_memory_stats* out) {
        return changed_stats(self, device, out, [](hal_memory_stats& stats) { ++stats.live_allocations; });
    };
}

void stats_peak_falls(Plugin& plugin) {
    plugin.memory.device_memory_stats = [](hal_instance* self, hal_dev device, hal_memory_stats* out) {
        return changed_stats(self, device, out, [](hal_memory_stats& stats) { stats.peak_bytes = stats.used_bytes; });
    };
}

void stats_total_shrinks(Plugin& plugin) {
    plugin.memory.device_memory_stats = [](hal_instance* self, hal_dev device, hal_memory_stats* out) {
        return changed_stats(self, device, out, [](hal_memory_stats& stats) { stats.total_bytes = stats.free_bytes; });
    };
}

// Fills the struct that it knows, whatever the caller has.
void stats_size_ignored(Plugin& plugin) {
    plugin.memory.device_memory_stats = [](hal_instance* self, hal_dev device, hal_memory_stats* out) {
        const hal_status status = base.memory.device_memory_stats(self, device, out);
        if (status == HAL_OK) {
            out->live_allocations = 0;
        }
        return status;
    };
}

void chunk_min_gt_max(Plugin& plugin) {
    plugin.memory.device_min_chunk_size = [](hal_instance* self, hal_dev device, uint64_t* out) {
        const hal_status status = base.memory.device_max_chunk_size(self, device, out);
        if (status == HAL_OK) {
            *out *= 2;
        }
        return status;
    };
}

void chunk_min_not_a_power(Plugin& plugin) {
    plugin.memory.device_min_chunk_size = [](hal_instance* self, hal_dev device, uint64_t* out) {
        const hal_status status = base.memory.device_min_chunk_size(self, device, out);
        if (status == HAL_OK) {
            *out += 1;
        }
        return status;
    };
}

void chunk_init_zero(Plugin& plugin) {
    plugin.memory.device_init_alloc_size = [](hal_instance* self, hal_dev device, uint64_t* out) {
        const hal_status status = base.memory.device_init_alloc_size(self, device, out);
        if (status == HAL_OK) {
            *out = 0;
        }
        return status;
    };
}

void chunk_wanders(Plugin& plugin) {
    plugin.memory.device_max_chunk_size = [](hal_instance* self, hal_dev device, uint64_t* out) {
        static std::atomic<uint64_t> calls{0};
        const hal_status status = base.memory.device_max_chunk_size(self, device, out);
        if (status == HAL_OK) {
            *out -= 256 * (calls++ % 2);
        }
        return status;
    };
}

// Promises twice what there is.
void chunk_max_alloc_doubled(Plugin& plugin) {
    plugin.memory.device_max_alloc_size = [](hal_instance* self, hal_dev device, uint64_t* out) {
        const hal_status status = base.memory.device_max_alloc_size(self, device, out);
        if (status == HAL_OK) {
            *out *= 2;
        }
        return status;
    };
}

void chunk_max_alloc_halved(Plugin& plugin) {
    plugin.memory.device_max_alloc_size = [](hal_instance* self, hal_dev device, uint64_t* out) {
        const hal_status status = base.memory.device_max_alloc_size(self, device, out);
        if (status == HAL_OK) {
            *out /= 2;
        }
        return status;
    };
}

void chunk_padding_huge(Plugin& plugin) {
    plugin.memory.device_extra_padding_size = [](hal_instance* self, hal_dev device, uint64_t* out) {
        const hal_status status = base.memory.device_extra_padding_size(self, device, out);
        if (status == HAL_OK) {
            *out = UINT64_MAX;
        }
        return status;
    };
}

// A chunk that holds nothing but its padding.
void chunk_all_padding(Plugin& plugin) {
    plugin.memory.device_extra_padding_size = [](hal_instance* self, hal_dev device, uint64_t* out) {
        return base.memory.device_min_chunk_size(self, device, out);
    };
}

// Coarser than what an allocation takes.
void chunk_min_of_a_mib(Plugin& plugin) {
    plugin.memory.device_min_chunk_size = [](hal_instance* self, hal_dev device, uint64_t* out) {
        const hal_status status = base.memory.device_min_chunk_size(self, device, out);
        if (status == HAL_OK) {
            *out = 1U << 20U;
        }
        return status;
    };
}

// A pool that begins, and grows, by all there is and a byte.
void chunk_pool_beyond_memory(Plugin& plugin) {
    const auto too_much = [](hal_instance* self, hal_dev device, uint64_t* out) {
        const hal_status status = base.memory.device_max_alloc_size(self, device, out);
        if (status == HAL_OK) {
            *out += 1;
        }
        return status;
    };
    plugin.memory.device_init_alloc_size = too_much;
    plugin.memory.device_realloc_size = too_much;
}

// What is free now is taken for what there is.
void chunk_max_alloc_is_free(Plugin& plugin) {
    plugin.memory.device_max_alloc_size = [](hal_instance* self, hal_dev device, uint64_t* out) {
        const hal_status status = base.memory.device_max_alloc_size(self, device, out);
        hal_memory_stats stats{};
        stats.header.size = sizeof stats;
        if (status == HAL_OK && base.memory.device_memory_stats(self, device, &stats) == HAL_OK) {
            *out = stats.free_bytes;
        }
        return status;
    };
}

// The largest chunk is refused with an address.
void chunk_max_half_granted(Plugin& plugin) {
    plugin.memory.device_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, hal_dptr* out) {
        uint64_t most = 0;
        (void)base.memory.device_max_chunk_size(self, device, &most);
        if (size != most || out == nullptr) {
            return base.memory.device_memory_allocate(self, device, size, out);
        }
        *out = 0xDEAD00;
        return refuse(self, HAL_ERROR_OUT_OF_DEVICE_MEMORY, "the largest chunk is granted in part");
    };
}

}  // namespace hal::mutants
