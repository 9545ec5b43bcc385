// The OpenCL back end beside a plain OpenCL program on the same driver: copies, launches, waiting, MatMul beside
// CLBlast. Both memory modes.
#include <fmt/format.h>

#include <array>
#include <hal/hal.hpp>
#include <map>
#include <memory>
#include <optional>

#include "backend.hpp"
#include "benchmark.hpp"
#include "buffer.hpp"
#include "clock.hpp"
#include "context.hpp"
#include "plain_opencl.hpp"

namespace hal::bench {
namespace {

constexpr uint64_t kib = 1024;
constexpr uint64_t mib = 1024 * kib;

enum class Mode { svm, buffer };
const char* text(Mode mode) {
    return mode == Mode::svm ? "svm" : "buffer";
}

template <class T>
T value_of(Result<T>&& result, const char* what) {
    check(result.status().code(), what);
    return std::move(*result);
}

// The back end in one memory mode: its first device, a stream, and the peer.
class Ground {
  public:
    Ground(Context& context, Mode mode, uint64_t size_bytes)
        : loader_(open(context.settings(), mode)),
          device_(first_device(loader_)),
          stream_(value_of(hal::Stream::create(device_), "create_stream")),
          first_(value_of(hal::Buffer::allocate(device_, size_bytes), "device_memory_allocate")),
          second_(value_of(hal::Buffer::allocate(device_, size_bytes), "device_memory_allocate")),
          host_(size_bytes, Pages::small),
          plain_(PlainOpenCl::open(mode == Mode::svm, size_bytes)) {
        check(first_.write(host_bytes()).code(), "memory_copy_h2d");
    }

    [[nodiscard]] const Device& device() const { return device_; }
    [[nodiscard]] const hal::Stream& stream() const { return stream_; }
    [[nodiscard]] hal::Buffer& first() { return first_; }
    [[nodiscard]] hal::Buffer& second() { return second_; }
    [[nodiscard]] const bench::Buffer& host() const { return host_; }
    [[nodiscard]] std::span<std::byte> host_bytes() const {
        return {reinterpret_cast<std::byte*>(host_.data()), host_.size_bytes()};
    }
    [[nodiscard]] PlainOpenCl& plain() { return *plain_; }
    [[nodiscard]] std::string note() const { return value_of(device_.name(), "get_device_name"); }

  private:
    static Loader open(const Settings& settings, Mode mode) {
        std::vector<const char*> paths;
        for (const std::string& manifest : settings.manifests) {
            paths.push_back(manifest.c_str());
        }
        const hal_option option{"opencl", "memory_mode", text(mode)};
        hal_loader_desc desc{.header = {sizeof desc, 0, nullptr}};
        desc.manifest_paths = paths.data();
        desc.manifest_path_count = paths.size();
        desc.options = &option;
        desc.option_count = 1;
        return value_of(Loader::open(&desc), "hal_loader_open");
    }
    static Device first_device(Loader& loader) {
        // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): the destructor of a Result frees its text
        auto backend = loader.backend("opencl");
        if (!backend.ok()) {
            throw Unavailable(fmt::format("back end opencl: {}", backend.status().text()));
        }
        return {*backend, 0, "opencl"};
    }

    Loader loader_;
    Device device_;
    hal::Stream stream_;
    hal::Buffer first_, second_;
    bench::Buffer host_;
    std::shared_ptr<PlainOpenCl> plain_;
};

Sampler rate(uint64_t size_bytes, Sampler nanoseconds) {
    return
        [size_bytes, nanoseconds = std::move(nanoseconds)] { return static_cast<double>(size_bytes) / nanoseconds(); };
}

// f(ground) once a call, in turns with peer(plain).
template <class Ours, class Peer>
Contest contest(Context& context, const std::shared_ptr<Ground>& ground, Ours ours, Peer peer) {
    const double batch_s = context.settings().batch_s;
    Contest contest;
    contest.ours = PerCall(batch_s, [ground, ours](uint64_t count) {
        for (uint64_t i = 0; i < count; ++i) {
            ours(*ground);
        }
    });
    contest.peer = PerCall(batch_s, [ground, peer](uint64_t count) {
        for (uint64_t i = 0; i < count; ++i) {
            peer(*ground);
        }
    });
    contest.note = ground->note();
    return contest;
}

enum class Direction { h2d, d2h, d2d };
const char* text(Direction direction) {
    return direction == Direction::h2d ? "h2d" : direction == Direction::d2h ? "d2h" : "d2d";
}

Contest copy_contest(Context& context, Mode mode, Direction direction, uint64_t size_bytes) {
    const auto ground = std::make_shared<Ground>(context, mode, size_bytes);
    const auto ours = [direction](Ground& on) {
        const hal::Backend& backend = on.device().backend();
        const uint64_t size = on.host().size_bytes();
        check(direction == Direction::h2d   ? backend.memory_copy_h2d(0, on.first().ptr(), on.host().data(), size)
              : direction == Direction::d2h ? backend.memory_copy_d2h(0, on.host().data(), on.first().ptr(), size)
                                            : backend.memory_copy_d2d(0, on.second().ptr(), on.first().ptr(), size),
              "memory_copy");
    };
    const auto peer = [direction](Ground& on) {
        if (direction == Direction::h2d) {
            on.plain().write(on.host().data());
        } else if (direction == Direction::d2h) {
            on.plain().read(on.host().data());
        } else {
            on.plain().copy();
        }
    };
    Contest rates = contest(context, ground, ours, peer);
    rates.ours = rate(size_bytes, rates.ours);
    rates.peer = rate(size_bytes, rates.peer);
    return rates;
}

// Fill of 16 floats, prepared once.
class FillOf {
  public:
    explicit FillOf(Ground& ground)
        : tensor_(dense_tensor(ground.device(), ground.first().ptr(), HAL_F32, shape_, sizeof(float) * 16)),
          launch_(ground.stream(), "Fill") {
        launch_.output(tensor_).attribute("value", 1.5);
        run();
        check(ground.stream().synchronize().code(), "synchronize_stream");
    }
    FillOf(const FillOf&) = delete;
    FillOf& operator=(const FillOf&) = delete;
    void run() { check(launch_.run().code(), "Fill"); }

  private:
    const std::array<int64_t, 1> shape_{16};
    hal_tensor tensor_;
    Launch launch_;
};

// Launches that wait for their end one by one, or in bursts with one wait. A plain program that keeps events looks at
// them and releases them while it waits, so a burst's time is that of both.
Contest launch_contest(Context& context, Mode mode, bool waiting, bool checked) {
    const auto ground = std::make_shared<Ground>(context, mode, 4 * kib);
    const auto fill = std::make_shared<FillOf>(*ground);
    if (waiting) {
        Contest times = contest(
            context, ground,
            [fill](Ground& on) {
                fill->run();
                check(on.stream().synchronize().code(), "synchronize_stream");
            },
            [checked](Ground& on) {
                on.plain().launch(checked);
                on.plain().finish();
            });
        times.ours = [ns = times.ours] { return ns() / 1e3; };
        times.peer = [ns = times.peer] { return ns() / 1e3; };
        return times;
    }
    constexpr uint64_t burst = 256;
    const double aim_ns = context.settings().batch_s * 1e9;
    const auto bursts = [aim_ns](auto issue, auto drain) {
        int64_t took = 0;
        uint64_t count = 0;
        while (static_cast<double>(took) < aim_ns) {
            took += timed([&] {
                for (uint64_t i = 0; i < burst; ++i) {
                    issue();
                }
                drain();
            });
            count += burst;
        }
        return static_cast<double>(took) / static_cast<double>(count) / 1e3;
    };
    Contest times;
    times.ours = [=] {
        return bursts([&] { fill->run(); },
                      [&] { check(ground->stream().synchronize().code(), "synchronize_stream"); });
    };
    times.peer = [=] { return bursts([&] { ground->plain().launch(checked); }, [&] { ground->plain().finish(); }); };
    times.note = fmt::format("bursts of {}", burst);
    return times;
}

// Square matrices, with the workspace given.
class Product {
  public:
    Product(Ground& ground, uint64_t n)
        : shape_{static_cast<int64_t>(n), static_cast<int64_t>(n)}, launch_(ground.stream(), "MatMul") {
        const uint64_t bytes = n * n * sizeof(float);
        std::vector<float> ones(n * n, 1.0F);
        for (size_t i = 0; i < 3; ++i) {
            memory_[i] = value_of(hal::Buffer::allocate(ground.device(), bytes), "device_memory_allocate");
            check(memory_[i]->write(std::as_bytes(std::span(ones))).code(), "memory_copy_h2d");
            tensors_[i] = dense_tensor(ground.device(), memory_[i]->ptr(), HAL_F32, shape_, bytes);
        }
        launch_.input(tensors_[0]).input(tensors_[1]).output(tensors_[2]);
        check(launch_.prepare().code(), "MatMul");
        if (const uint64_t wanted = launch_.workspace_bytes(); wanted != 0) {
            workspace_ = value_of(hal::Buffer::allocate(ground.device(), wanted), "device_memory_allocate");
            launch_.workspace(workspace_->ptr(), wanted);
        }
    }
    Product(const Product&) = delete;
    Product& operator=(const Product&) = delete;
    void run(Ground& ground) {
        check(launch_.run().code(), "MatMul");
        check(ground.stream().synchronize().code(), "synchronize_stream");
    }
    // Every element of ones times ones is n.
    void verify(float n) const {
        std::vector<float> out(static_cast<size_t>(shape_[0] * shape_[1]));
        check(memory_[2]->read(std::as_writable_bytes(std::span(out))).code(), "memory_copy_d2h");
        if (std::any_of(out.begin(), out.end(), [n](float value) { return value != n; })) {
            throw std::runtime_error("MatMul's result is wrong");
        }
    }

  private:
    const std::array<int64_t, 2> shape_;
    std::array<std::optional<hal::Buffer>, 3> memory_;
    std::array<hal_tensor, 3> tensors_;
    std::optional<hal::Buffer> workspace_;
    Launch launch_;
};

Contest gemm_contest(Context& context, Mode mode, uint64_t n) {
    const auto ground = std::make_shared<Ground>(context, mode, 4 * kib);
    const auto product = std::make_shared<Product>(*ground, n);
    product->run(*ground);
    product->verify(static_cast<float>(n));
    Contest rates = contest(
        context, ground, [product](Ground& on) { product->run(on); }, [n](Ground& on) { on.plain().gemm(n); });
    std::string absence;
    try {
        ground->plain().gemm(n);
    } catch (const Unavailable& reason) {
        absence = reason.what();
        rates.peer = nullptr;
    }
    const uint64_t flops = 2 * n * n * n;
    rates.ours = rate(flops, rates.ours);
    rates.peer = rates.peer ? rate(flops, rates.peer) : nullptr;
    rates.note += absence.empty() ? "" : "; " + absence;
    return rates;
}

// Whose memory an address is, among ten thousand allocations; beside a std::map that holds as many ranges.
Contest look_up_contest(Context& context) {
    constexpr size_t count = 10'000;
    const double batch_s = context.settings().batch_s;
    const auto ground = std::make_shared<Ground>(context, Mode::buffer, 4 * kib);
    const auto memory = std::make_shared<std::vector<hal::Buffer>>();
    const auto ranges = std::make_shared<std::map<uint64_t, uint64_t>>();
    for (size_t i = 0; i < count; ++i) {
        memory->push_back(value_of(hal::Buffer::allocate(ground->device(), 256), "device_memory_allocate"));
        (*ranges)[memory->back().ptr()] = 256;
    }
    // In an order that no cache foresees.
    const auto address_of = [memory](uint64_t i) { return (*memory)[i * 7919 % count].ptr() + i % 256; };
    Contest contest;
    contest.ours = PerCall(batch_s, [ground, address_of](uint64_t calls) {
        hal_memory_attributes attributes{.header = {sizeof attributes, 0, nullptr}};
        for (uint64_t i = 0; i < calls; ++i) {
            check(ground->device().backend().get_memory_attributes(address_of(i), &attributes),
                  "get_memory_attributes");
        }
    });
    contest.peer = PerCall(batch_s, [ranges, address_of](uint64_t calls) {
        for (uint64_t i = 0; i < calls; ++i) {
            const auto found = std::prev(ranges->upper_bound(address_of(i)));
            asm volatile("" : : "r"(found->second) : "memory");
        }
    });
    contest.note = "10,000 allocations";
    return contest;
}

void add_mode(std::vector<Benchmark>& list, const Settings& settings, Mode mode) {
    const auto sizes = settings.quick ? std::vector<uint64_t>{mib} : std::vector<uint64_t>{4 * kib, mib, 64 * mib};
    const std::string prefix = fmt::format("opencl/{}-", text(mode));
    for (const Direction direction : {Direction::h2d, Direction::d2h, Direction::d2d}) {
        for (const uint64_t bytes : sizes) {
            list.push_back({fmt::format("{}{}-{}", prefix, text(direction), bytes / kib) + "KiB",
                            fmt::format("memory_copy_{}", text(direction)),
                            "plain OpenCL",
                            "GB/s",
                            Better::higher,
                            {GoalKind::ratio_at_least, 1 / 1.05},
                            [=](Context& context) { return copy_contest(context, mode, direction, bytes); }});
        }
    }
    for (const bool checked : {true, false}) {
        const std::string peer = checked ? "plain OpenCL, events kept" : "plain OpenCL, unchecked";
        const std::string suffix = checked ? "" : "-unchecked";
        const Goal goal = checked ? Goal{GoalKind::ratio_at_most, 1.05} : Goal{};
        list.push_back({fmt::format("{}launch{}", prefix, suffix), "Fill of 16 floats, in bursts", peer, "us",
                        Better::lower, goal,
                        [=](Context& context) { return launch_contest(context, mode, false, checked); }});
        list.push_back({fmt::format("{}launch-sync{}", prefix, suffix), "Fill and synchronise", peer, "us",
                        Better::lower, goal,
                        [=](Context& context) { return launch_contest(context, mode, true, checked); }});
    }
}

std::vector<Benchmark> benchmarks(const Settings& settings) {
    std::vector<Benchmark> list;
    add_mode(list, settings, Mode::svm);
    add_mode(list, settings, Mode::buffer);
    list.push_back({"opencl/buffer-look-up",
                    "get_memory_attributes",
                    "std::map without a lock",
                    "ns",
                    Better::lower,
                    {GoalKind::value_at_most, 30},
                    look_up_contest});
    const auto orders = settings.quick ? std::vector<uint64_t>{256} : std::vector<uint64_t>{64, 256, 1024};
    for (const uint64_t n : orders) {
        list.push_back({fmt::format("opencl/gemm-{}", n),
                        "MatMul f32",
                        "CLBlast",
                        "GFLOP/s",
                        Better::higher,
                        {GoalKind::ratio_at_least, 1},
                        [=](Context& context) { return gemm_contest(context, Mode::buffer, n); }});
    }
    if (!settings.quick) {
        list.push_back({"opencl/gemm-1024-rate",
                        "MatMul f32",
                        "CLBlast",
                        "GFLOP/s",
                        Better::higher,
                        {GoalKind::value_at_least, 40},
                        [](Context& context) { return gemm_contest(context, Mode::svm, 1024); }});
    }
    return list;
}

const Registration registration({"opencl", "the OpenCL back end beside plain OpenCL and CLBlast", benchmarks});

}  // namespace
}  // namespace hal::bench
