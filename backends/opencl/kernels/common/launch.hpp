// Launching a kernel of a program: its arguments, and the places of elements in tensors.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "call.hpp"
#include "kernels/plan.hpp"

namespace hal::opencl {

// STEPSn of prelude.cl.
template <size_t N>
struct Steps {
    int64_t count = 1;
    int64_t rank = 0;
    std::array<int64_t, HAL_MAX_RANK> extent{};
    std::array<int64_t, N> offset{};
    std::array<std::array<int64_t, HAL_MAX_RANK>, N> stride{};
};

// Tensors that are walked together: memory for a kernel's first arguments, steps for the one behind them.
template <size_t N>
struct Walk {
    Steps<N> steps;
    std::array<Place, N> places;
    bool dense = true;  // every tensor has its elements in the order of the index, one behind the other

    // What a dense kernel needs besides the memory: count, the offsets, and something of its own where there is room.
    // One argument (a long4), because drivers copy each argument of each launch on its own.
    [[nodiscard]] std::array<int64_t, 4> packed(int64_t own = 0) const noexcept {
        static_assert(N < 4);
        std::array<int64_t, 4> out{steps.count};
        std::copy(steps.offset.begin(), steps.offset.end(), out.begin() + 1);
        if (N < 3) {
            out[N + 1] = own;
        }
        return out;
    }
};

// Operand 0 is the output, and every view broadcasts to the shape.
template <size_t N>
[[nodiscard]] Walk<N> walk(const Call& call, const shared::Shape& shape, const std::array<const View*, N>& views) {
    const shared::Plan<N> plan = shared::make_plan<N>(shape, views);
    Walk<N> out;
    out.steps.rank = plan.rank;
    out.dense = plan.rank <= 1;
    for (int32_t axis = 0; axis < plan.rank; ++axis) {
        out.steps.count *= plan.extent[axis];
        out.steps.extent[axis] = plan.extent[axis];
        for (size_t k = 0; k < N; ++k) {
            out.steps.stride[k][axis] = plan.stride[axis][k];
            out.dense = out.dense && plan.stride[axis][k] == views[k]->item_bytes;
        }
    }
    for (size_t k = 0; k < N && out.steps.count != 0; ++k) {
        if (plan.data[k] == nullptr) {
            continue;  // a tensor without elements has no memory
        }
        out.places[k] = call.place_of(plan.data[k]);
        out.steps.offset[k] = static_cast<int64_t>(out.places[k].offset);
    }
    return out;
}

// Memory of a work-group.
struct Local {
    size_t bytes;
};

// The range of work-items; 0 for a local extent lets the launch choose it (1 dimension only).
struct Range {
    std::array<size_t, 2> global{1, 1};
    std::array<size_t, 2> local{0, 1};
    cl_uint dimensions = 1;

    // At least `count`, rounded up to whole groups: the kernel looks at its index.
    [[nodiscard]] static Range items(int64_t count) noexcept { return {{static_cast<size_t>(count), 1}}; }
    // Groups of a power of two of items that the kernel shares `work` among.
    [[nodiscard]] static Range groups(const Kernel& kernel, int64_t count, int64_t work) noexcept;
};

namespace detail {

class Arguments {
  public:
    Arguments(const Api& api, cl_kernel kernel) : api_(api), kernel_(kernel) {}
    void add(const Place& place) {
        // The driver takes the handle itself.
        keep(place.buffer != nullptr
                 ? api_.clSetKernelArg(kernel_, index_, sizeof(cl_mem), static_cast<const void*>(&place.buffer))
                 : api_.clSetKernelArgSVMPointer(kernel_, index_, place.pointer));
    }
    void add(const Local& local) { keep(api_.clSetKernelArg(kernel_, index_, local.bytes, nullptr)); }
    template <size_t N>
    void add(const Steps<N>& steps) {
        add(steps.count);
        add(steps.rank);
        add(steps.extent);  // a long8
        for (size_t k = 0; k < N; ++k) {
            add(steps.offset[k]);
            add(steps.stride[k]);
        }
    }
    template <class T>
    void add(const T& value) {
        keep(api_.clSetKernelArg(kernel_, index_, sizeof value, &value));
    }
    [[nodiscard]] cl_int error() const noexcept { return error_; }

  private:
    void keep(cl_int error) noexcept {
        ++index_;
        error_ = error_ != CL_SUCCESS ? error_ : error;
    }

    const Api& api_;
    cl_kernel kernel_;
    cl_uint index_ = 0;
    cl_int error_ = CL_SUCCESS;
};

[[nodiscard]] cl_int run(const Api& api, cl_command_queue queue, const Kernel& kernel, Range range, cl_event* out);

}  // namespace detail

// Within Stream::enqueue: sets the arguments and enqueues the kernel.
template <class... Args>
[[nodiscard]] cl_int launch(const Api& api, cl_command_queue queue, Kernel& kernel, const Range& range, cl_event* out,
                            const Args&... args) {
    const std::lock_guard lock(kernel.mutex);
    detail::Arguments arguments(api, kernel.kernel);
    (arguments.add(args), ...);
    return arguments.error() != CL_SUCCESS ? arguments.error() : detail::run(api, queue, kernel, range, out);
}

// f(queue, event) on the call's stream; for a call without work too the stream must be there and healthy.
template <class F>
void enqueue(const Call& call, F&& f) {
    const hal_kernel_call& raw = call.raw();
    find_stream(call.device().instance(), raw.device, raw.stream).enqueue(raw.stream, raw.kernel->op, f);
}
void enqueue_nothing(const Call& call);

// Options of a build for a type. Without warnings: drivers print them into the application's output.
[[nodiscard]] std::string type_option(hal_dtype dtype);

}  // namespace hal::opencl
