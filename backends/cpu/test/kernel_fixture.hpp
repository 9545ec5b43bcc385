// Runs kernels through the entries that a framework calls: look-up in the registered list, infer, query, launch,
// synchronise.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "../kernels/common/call.hpp"
#include "tables.hpp"
#include "test_host.hpp"

namespace hal::cpu::test {

using Extents = std::vector<int64_t>;

inline int64_t count_of(const Extents& shape) {
    int64_t count = 1;
    for (const int64_t extent : shape) {
        count *= extent;
    }
    return count;
}

// Calls f(index) for every place of a shape, the last axis fastest.
template <class F>
void for_each_index(const Extents& shape, F&& f) {
    Extents index(shape.size(), 0);
    for (int64_t n = count_of(shape); n > 0; --n) {
        f(static_cast<const Extents&>(index));
        for (size_t axis = shape.size(); axis-- > 0 && ++index[axis] == shape[axis];) {
            index[axis] = 0;
        }
    }
}

class Cpu {
  public:
    Cpu() : host_({{"devices", "2"}, {"memory", "256m"}}), instance_(host_.get()) {
        instance_.initialize();
        REQUIRE(stream_table.create_stream(self(), 0, nullptr, &stream_) == HAL_OK);
    }
    ~Cpu() { (void)stream_table.destroy_stream(self(), 0, stream_); }
    Cpu(const Cpu&) = delete;
    Cpu& operator=(const Cpu&) = delete;

    [[nodiscard]] hal_instance* self() noexcept {
        return reinterpret_cast<hal_instance*>(static_cast<Opened*>(&instance_));
    }
    [[nodiscard]] hal_stream stream() const noexcept { return stream_; }
    [[nodiscard]] hal_status synchronize() {
        return stream_table.synchronize_stream(self(), 0, stream_, HAL_NO_TIMEOUT);
    }

  private:
    Host host_;
    Instance instance_;
    hal_stream stream_ = nullptr;
};

// A tensor of host values in device memory. `strides` count elements, empty for dense; `offset` is where element 0
// lies, for negative strides. Bytes around the elements keep a pattern that check_gaps looks at.
template <class T>
class Tensor {
  public:
    Tensor(Cpu& cpu, Extents shape, Extents strides = {}, int64_t offset = 0)
        : cpu_(&cpu), shape_(std::move(shape)), strides_(std::move(strides)), offset_(offset) {
        if (strides_.empty()) {
            strides_.resize(shape_.size());
            int64_t step = 1;
            for (size_t axis = shape_.size(); axis-- > 0; step *= shape_[axis]) {
                strides_[axis] = step;
            }
        }
        int64_t end = offset_ + 1;
        for (size_t axis = 0; axis < shape_.size(); ++axis) {
            end += strides_[axis] > 0 && shape_[axis] > 0 ? (shape_[axis] - 1) * strides_[axis] : 0;
        }
        raw_.resize(static_cast<size_t>(end + guard));
        std::memset(static_cast<void*>(raw_.data()), 0xa5, bytes());
        REQUIRE(memory_table.device_memory_allocate(cpu.self(), 0, bytes(), &memory_) == HAL_OK);
        upload();
        describe();
    }
    Tensor(const Tensor&) = delete;
    Tensor& operator=(const Tensor&) = delete;
    ~Tensor() { (void)memory_table.device_memory_deallocate(cpu_->self(), 0, memory_, bytes()); }

    [[nodiscard]] size_t place(const Extents& index) const {
        int64_t at = offset_;
        for (size_t axis = 0; axis < index.size(); ++axis) {
            at += index[axis] * strides_[axis];
        }
        return static_cast<size_t>(at);
    }
    [[nodiscard]] T& operator[](const Extents& index) { return raw_[place(index)]; }

    // The element of a larger shape's index that broadcasting reads.
    [[nodiscard]] T& stretched(const Extents& index) {
        Extents own(shape_.size());
        for (size_t axis = 0; axis < own.size(); ++axis) {
            own[axis] = shape_[axis] == 1 ? 0 : index[index.size() - own.size() + axis];
        }
        return (*this)[own];
    }

    template <class Make>
    void fill(Make&& make) {
        for_each_index(shape_, [&](const Extents& index) { (*this)[index] = make(); });
        upload();
    }
    void upload() { REQUIRE(memory_table.memory_copy_h2d(cpu_->self(), 0, memory_, raw_.data(), bytes()) == HAL_OK); }
    void download() { REQUIRE(memory_table.memory_copy_d2h(cpu_->self(), 0, raw_.data(), memory_, bytes()) == HAL_OK); }

    // Nothing but the elements was written. Call it after download.
    void check_gaps() const {
        std::vector<bool> used(raw_.size());
        for_each_index(shape_, [&](const Extents& index) { used[place(index)] = true; });
        size_t changed = 0;
        for (size_t i = 0; i < raw_.size(); ++i) {
            const auto* bytes = reinterpret_cast<const unsigned char*>(&raw_[i]);
            changed +=
                !used[i] && std::any_of(bytes, bytes + sizeof(T), [](unsigned char b) { return b != 0xa5; }) ? 1 : 0;
        }
        CHECK(changed == 0);
    }

    [[nodiscard]] const hal_tensor* get() const noexcept { return &tensor_; }
    [[nodiscard]] hal_tensor& tensor() noexcept { return tensor_; }  // for tests of bad ones
    [[nodiscard]] const Extents& shape() const noexcept { return shape_; }
    [[nodiscard]] const std::vector<T>& raw() const noexcept { return raw_; }

  private:
    static constexpr int64_t guard = 16;
    [[nodiscard]] uint64_t bytes() const noexcept { return raw_.size() * sizeof(T); }
    void describe() {
        tensor_.data = memory_;
        tensor_.ndim = static_cast<int32_t>(shape_.size());
        tensor_.dtype = dtype_of<T>;
        tensor_.shape = shape_.data();
        tensor_.strides = strides_.data();
        tensor_.byte_offset = static_cast<uint64_t>(offset_) * sizeof(T);
        tensor_.struct_size = sizeof tensor_;
        tensor_.storage_bytes = bytes();
    }

    Cpu* cpu_;
    Extents shape_;
    Extents strides_;
    int64_t offset_;
    std::vector<T> raw_;
    hal_dptr memory_ = 0;
    hal_tensor tensor_{};
};

inline const hal_kernel* find_kernel(std::string_view op, hal_dtype dtype) {
    const hal_kernel* const* kernels = nullptr;
    uint64_t count = 0;
    REQUIRE(kernel_table.register_kernel(nullptr, &kernels, &count) == HAL_OK);
    const hal_kernel* any = nullptr;
    for (const hal_kernel* kernel : std::span(kernels, count)) {
        if (op == kernel->op && kernel->dtype == dtype) {
            return kernel;
        }
        any = op == kernel->op && kernel->dtype == HAL_DTYPE_ANY ? kernel : any;
    }
    return any;
}

template <std::integral T>
hal_attr attribute(const char* name, T value) {
    hal_attr made{name, HAL_ATTR_I64, 0, 1, {}};
    made.value.i64 = static_cast<int64_t>(value);
    return made;
}
inline hal_attr attribute(const char* name, double value) {
    hal_attr made{name, HAL_ATTR_F64, 0, 1, {}};
    made.value.f64 = value;
    return made;
}
inline hal_attr attribute(const char* name, const std::vector<int64_t>& values) {
    hal_attr made{name, HAL_ATTR_I64_ARRAY, 0, values.size(), {}};
    made.value.i64_array = values.data();
    return made;
}

// One launch. run() gives what a framework would see: infer agrees with the output, query and its workspace, the
// kernel, the wait.
class Launch {
  public:
    Launch(Cpu& cpu, const char* op, std::vector<const hal_tensor*> inputs, std::vector<const hal_tensor*> outputs,
           std::vector<hal_attr> attributes = {})
        : cpu_(&cpu), inputs_(std::move(inputs)), outputs_(std::move(outputs)), attributes_(std::move(attributes)) {
        const hal_tensor* first = inputs_.empty() ? outputs_.front() : inputs_.front();
        call.kernel = find_kernel(op, first == nullptr ? HAL_F32 : first->dtype);
        REQUIRE(call.kernel != nullptr);
        call.size = sizeof call;
        call.instance = cpu.self();
        call.stream = cpu.stream();
        call.inputs = inputs_.data();
        call.outputs = outputs_.data();
        call.attributes = attributes_.data();
        call.input_count = static_cast<uint32_t>(inputs_.size());
        call.output_count = static_cast<uint32_t>(outputs_.size());
        call.attribute_count = static_cast<uint32_t>(attributes_.size());
    }

    [[nodiscard]] hal_status enqueue() { return call.kernel->run(&call); }

    [[nodiscard]] hal_status run() {
        check_infer();
        return query_and_run();
    }

    [[nodiscard]] hal_status query_and_run() {
        uint64_t workspace_bytes = 0;
        if (call.kernel->query != nullptr) {
            const hal_status status = call.kernel->query(&call, &workspace_bytes);
            if (status != HAL_OK) {
                return status;
            }
        }
        if (workspace_bytes != 0) {
            REQUIRE(memory_table.device_memory_allocate(cpu_->self(), 0, workspace_bytes, &call.workspace) == HAL_OK);
            call.workspace_bytes = workspace_bytes;
        }
        const hal_status status = enqueue();
        const hal_status waited = cpu_->synchronize();
        if (workspace_bytes != 0) {
            REQUIRE(memory_table.device_memory_deallocate(cpu_->self(), 0, call.workspace, 0) == HAL_OK);
            call.workspace = 0;
        }
        return status != HAL_OK ? status : waited;
    }

    hal_kernel_call call{};

  private:
    void check_infer() {
        if (call.kernel->infer == nullptr) {
            return;
        }
        hal_shape inferred{};
        if (call.kernel->infer(&call, &inferred, 1) == HAL_OK) {
            const hal_tensor& output = *outputs_.front();
            CHECK((inferred.dtype == output.dtype || inferred.dtype == HAL_DTYPE_ANY));
            CHECK(Extents(inferred.extent, inferred.extent + inferred.ndim) ==
                  Extents(output.shape, output.shape + output.ndim));
        }
    }

    Cpu* cpu_;
    std::vector<const hal_tensor*> inputs_;
    std::vector<const hal_tensor*> outputs_;
    std::vector<hal_attr> attributes_;
};

// The text of the last error of this thread.
inline const std::string& error_text() {
    return Host::last_error();
}

// ---- References that share no code with the kernels ----

struct Format {
    int digits;    // of the significand
    int exponent;  // smallest normal is 2^exponent
    long double largest;
};
template <class T>
constexpr Format format_of{};
template <>
inline constexpr Format format_of<F16>{11, -14, 65504.0L};
template <>
inline constexpr Format format_of<BF16>{8, -126, 0x1.FEp127L};
template <>
inline constexpr Format format_of<float>{24, -126, 0x1.FFFFFEp127L};
template <>
inline constexpr Format format_of<double>{53, -1022, 0x1.FFFFFFFFFFFFFp1023L};

// Distance of neighbours around a value.
template <class T>
long double ulp(long double value) {
    const auto& format = format_of<T>;
    const int exponent = value == 0 ? format.exponent : std::max(std::ilogb(std::fabs(value)), format.exponent);
    return std::ldexp(1.0L, exponent - format.digits + 1);
}

// Nearest-even, infinity beyond the largest.
template <class T>
long double rounded(long double value) {
    if (!std::isfinite(value) || value == 0) {
        return value;
    }
    const long double near = std::nearbyint(value / ulp<T>(value)) * ulp<T>(value);
    return std::fabs(near) > format_of<T>.largest ? std::copysign(HUGE_VALL, value) : near;
}

template <class T>
long double exact(T value) {
    if constexpr (std::same_as<T, Bool>) {
        return value.byte != 0 ? 1.0L : 0.0L;
    } else if constexpr (std::same_as<T, F16>) {
        const int exponent = (value.bits >> 10) & 31;
        const int fraction = value.bits & 1023;
        const long double magnitude =
            exponent == 31 ? (fraction != 0 ? std::nanl("") : HUGE_VALL)
                           : std::ldexp(static_cast<long double>(exponent != 0 ? fraction + 1024 : fraction),
                                        std::max(exponent, 1) - 25);
        return (value.bits & 0x8000) != 0 ? -magnitude : magnitude;
    } else if constexpr (std::same_as<T, BF16>) {
        float wide = 0;
        const uint16_t halves[2] = {0, value.bits};
        std::memcpy(&wide, halves, sizeof wide);
        return wide;
    } else {
        return value;
    }
}

// The low 64 bits of a whole number.
inline uint64_t wrapped(long double value) {
    return value < 0 ? 0 - static_cast<uint64_t>(-value) : static_cast<uint64_t>(value);
}

// Equal, or both NaN.
inline bool same(long double a, long double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

// Any bit pattern of a T, or with `tame` values whose products and sums of a few thousand stay finite.
template <class T>
T random_value(std::mt19937_64& random, bool tame) {
    if constexpr (std::same_as<T, Bool>) {
        return {static_cast<uint8_t>(random() & 1)};
    } else if constexpr (std::integral<T>) {
        return static_cast<T>(random());
    } else if (tame) {
        return convert<T>(std::uniform_real_distribution<float>(-2, 2)(random));
    } else {
        const uint64_t bits = random();
        T value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }
}

}  // namespace hal::cpu::test
