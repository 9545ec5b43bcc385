// What it costs to reach an entry, and to find a kernel.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <random>
#include <unordered_map>

#include "benchmark.hpp"
#include "clock.hpp"
#include "context.hpp"
#include "dispatch_loops.hpp"
#include "instructions.hpp"

namespace hal::bench {
namespace {

using Loop = void (*)(const NullBackend& backend, uint64_t count);

Sampler per_call(std::shared_ptr<const NullBackend> backend, Loop loop, double batch_s) {
    return PerCall(batch_s, [backend = std::move(backend), loop](uint64_t count) { loop(*backend, count); });
}

Contest against_dlsym(Context& context, Loop loop) {
    const double batch_s = context.settings().batch_s;
    const auto backend = std::make_shared<const NullBackend>();
    Contest contest;
    contest.ours = per_call(backend, loop, batch_s);
    contest.peer = per_call(backend, loop_dlsym, batch_s);
    contest.note = backend->note();
    return contest;
}

Contest exported_against_table(Context& context) {
    const double batch_s = context.settings().batch_s;
    const auto backend = std::make_shared<const NullBackend>();
    Contest contest;
    contest.ours = per_call(backend, loop_exported, batch_s);
    contest.peer = per_call(backend, loop_inline, batch_s);
    contest.note = backend->note();
    return contest;
}

// What each loader adds to a call: two measurements next to each other, subtracted.
Contest against_icd_loader(Context& context) {
    const double batch_s = context.settings().batch_s;
    const auto backend = std::make_shared<const NullBackend>();
    const Sampler exported = per_call(backend, loop_exported, batch_s);
    const Sampler direct = per_call(backend, loop_dlsym, batch_s);
    Contest contest;
    contest.ours = [exported, direct] { return exported() - direct(); };
    const auto opencl = context.opencl(&contest.note);
    if (opencl) {
        contest.note = fmt::format("clRetainDevice on {}", opencl->platform());
        PerCall by_loader(batch_s, [opencl](uint64_t count) { opencl->retain_by_loader(count); });
        PerCall by_driver(batch_s, [opencl](uint64_t count) { opencl->retain_by_driver(count); });
        contest.peer = [by_loader, by_driver]() mutable { return by_loader() - by_driver(); };
    }
    return contest;
}

// Keys of registered kernels in random order, so that the branch predictor cannot learn the table by heart.
class KernelKeys {
  public:
    KernelKeys(const hal_backend* backend, size_t wanted) {
        uint64_t count = 0;
        static_cast<void>(hal_kernel_list(backend, nullptr, 0, &count));
        kernels_.resize(count);
        check(hal_kernel_list(backend, kernels_.data(), count, &count), "hal_kernel_list");
        std::shuffle(kernels_.begin(), kernels_.end(),
                     std::mt19937(45079));  // NOLINT(cert-msc51-cpp): alike in every run
        for (size_t i = 0; i < wanted; ++i) {
            const hal_kernel& kernel = *kernels_.at(i % kernels_.size());
            hal_kernel_key key{};
            key.size = sizeof key;
            key.dtype = kernel.dtype;
            key.layout = HAL_LAYOUT_NCHW;
            key.op = kernel.op;
            keys_.push_back(key);
        }
    }

    [[nodiscard]] const std::vector<const hal_kernel*>& kernels() const { return kernels_; }
    [[nodiscard]] const std::vector<hal_kernel_key>& keys() const { return keys_; }

  private:
    std::vector<const hal_kernel*> kernels_;
    std::vector<hal_kernel_key> keys_;
};

// What a framework would write itself: a hash map from name and type, filled with the same kernels.
class StandardMap {
  public:
    explicit StandardMap(const std::vector<const hal_kernel*>& kernels) {
        for (const hal_kernel* kernel : kernels) {
            map_.emplace(Key{kernel->op, kernel->dtype}, kernel);
        }
    }
    [[nodiscard]] const hal_kernel* find(const hal_kernel_key& key) const { return map_.at(Key{key.op, key.dtype}); }

  private:
    using Key = std::pair<std::string_view, hal_dtype>;
    struct Hash {
        size_t operator()(const Key& key) const {
            return std::hash<std::string_view>()(key.first) * 31 + std::hash<hal_dtype>()(key.second);
        }
    };
    std::unordered_map<Key, const hal_kernel*, Hash> map_;
};

// Keeps the compiler from dropping a look-up whose result nobody needs.
void consume(const void* pointer) {
    asm volatile("" : : "r"(pointer) : "memory");
}

template <class Find>
Sampler look_up(double batch_s, std::shared_ptr<const KernelKeys> keys, Find find) {
    return PerCall(batch_s, [keys = std::move(keys), find](uint64_t count) {
        const auto& list = keys->keys();
        size_t next = 0;
        for (uint64_t i = 0; i < count; ++i) {
            consume(find(list[next]));
            next = next + 1 == list.size() ? 0 : next + 1;
        }
    });
}

Contest kernel_find(Context& context, size_t distinct_keys) {
    const double batch_s = context.settings().batch_s;
    const auto backend = std::make_shared<const NullBackend>();
    const auto keys = std::make_shared<const KernelKeys>(backend->get(), distinct_keys);
    const auto map = std::make_shared<const StandardMap>(keys->kernels());
    for (const auto& key : keys->keys()) {
        const hal_kernel* found = nullptr;
        check(hal_kernel_find(backend->get(), &key, nullptr, &found), "hal_kernel_find");
        if (found != map->find(key)) {
            throw std::runtime_error(fmt::format("hal_kernel_find gave another kernel for {}", key.op));
        }
    }
    const auto ours = [backend](const hal_kernel_key& key) {
        const hal_kernel* found = nullptr;
        static_cast<void>(hal_kernel_find(backend->get(), &key, nullptr, &found));
        return found;
    };
    Contest contest;
    contest.ours = look_up(batch_s, keys, ours);
    contest.peer = look_up(batch_s, keys, [map](const hal_kernel_key& key) { return map->find(key); });
    contest.note = fmt::format("{} kernels, {} keys in turn", keys->kernels().size(), distinct_keys);
    return contest;
}

Contest counted(std::string_view path) {
    Contest contest;
    contest.ours = [count = instructions_per_call(path)] { return count; };
    contest.peer = [count = instructions_per_call("dlsym")] { return count; };
    return contest;
}

std::vector<Benchmark> benchmarks(const Settings& settings) {
    std::vector<Benchmark> list{{"dispatch/inline",
                                 "hal_get_device of hal.h",
                                 "pointer from dlsym",
                                 "ns",
                                 Better::lower,
                                 {GoalKind::ratio_at_most, 1.05},
                                 [](Context& context) { return against_dlsym(context, loop_inline); }},
                                {"dispatch/exported",
                                 "hal_get_device of libhal_loader",
                                 "inline call",
                                 "ns",
                                 Better::lower,
                                 {GoalKind::excess_at_most, 0.8},
                                 exported_against_table},
                                {"dispatch/loader-adds",
                                 "exported minus dlsym",
                                 "OpenCL ICD loader adds",
                                 "ns",
                                 Better::lower,
                                 {},
                                 against_icd_loader},
                                {"dispatch/kernel-find",
                                 "hal_kernel_find, warm keys",
                                 "std::unordered_map",
                                 "ns",
                                 Better::lower,
                                 {GoalKind::value_at_most, 15},
                                 [](Context& context) { return kernel_find(context, 64); }},
                                {"dispatch/kernel-find-all",
                                 "hal_kernel_find, every key",
                                 "std::unordered_map",
                                 "ns",
                                 Better::lower,
                                 {},
                                 [](Context& context) { return kernel_find(context, 3000); }}};
    if (settings.instructions) {
        list.push_back({"dispatch/instructions-inline",
                        "hal_get_device of hal.h",
                        "pointer from dlsym",
                        "instructions",
                        Better::lower,
                        {},
                        [](Context&) { return counted("inline"); },
                        false});
        list.push_back({"dispatch/instructions-exported",
                        "hal_get_device of libhal_loader",
                        "pointer from dlsym",
                        "instructions",
                        Better::lower,
                        {},
                        [](Context&) { return counted("exported"); },
                        false});
    }
    return list;
}

const Registration registration({"dispatch", "cost of a call and of finding a kernel", benchmarks});

}  // namespace
}  // namespace hal::bench
