// One launch of a registered kernel with tensors in device memory: what the cases of table 5 share.
#pragma once

#include <deque>

#include "harness/test.hpp"
#include "numbers/trial.hpp"

namespace hal::conformance {

[[nodiscard]] std::vector<const hal_kernel*> kernels_of(Test& t);

// What a launch calls besides the kernel.
[[nodiscard]] const NeedGroup& launching();
// over("op", ...): the operators of the suite's catalogue, or those with a kernel for elements of a type.
[[nodiscard]] over operators(std::string_view type = {});

class Operator {
  public:
    // The kernel of this name for this type, else one for ANY; a check fails if there is none.
    Operator(Test& test, std::string_view op, hal_dtype dtype);
    Operator(const Operator&) = delete;
    Operator& operator=(const Operator&) = delete;

    template <class T>
    void input(const std::vector<int64_t>& shape, const std::vector<T>& values) {
        add_input(dtype_of<T>(), shape, values.data(), values.size() * sizeof(T));
    }
    void input_bytes(hal_dtype dtype, const std::vector<int64_t>& shape, const std::vector<uint8_t>& bytes) {
        add_input(dtype, shape, bytes.data(), bytes.size());
    }
    void output(hal_dtype dtype, const std::vector<int64_t>& shape);
    void attribute(const char* name, int64_t value);
    void attribute(const char* name, const std::vector<int64_t>& values);

    // The output's tensor, to spoil before the launch.
    [[nodiscard]] hal_tensor& output_tensor() { return tensors_.back()->tensor; }

    // Asks the kernel's query for its workspace, then runs it. `spoil` changes the call before.
    [[nodiscard]] hal_status launch(hal_stream stream, const std::function<void(hal_kernel_call&)>& spoil = {});
    // What the kernel's query says; OK where it has none.
    [[nodiscard]] hal_status query();
    // Overwrites every array that the call pointed to, as its owner may once run has returned.
    void scramble_call();

    // The output keeps its poison: after the stream was waited for, or behind a gate.
    void expect_unwritten(Where where = Where::here());
    void expect_unwritten(const Gate& gate, Where where = Where::here());
    void expect_inputs_unchanged(Where where = Where::here());
    // Bit for bit.
    template <class T>
    void expect_output(const std::vector<T>& expected, Where where = Where::here()) {
        expect_bytes(expected.data(), expected.size() * sizeof(T), where);
    }
    // Read back, for a bound of the case's own. The bytes around it are checked.
    [[nodiscard]] std::vector<uint8_t> read_output(Where where = Where::here());
    // Nothing of the call is needed any more; else the memory is released after the case.
    void release();

    [[nodiscard]] const hal_kernel* kernel() const { return kernel_; }
    // The tensor of an input or, behind them, of an output: to change before the launch.
    [[nodiscard]] hal_tensor& tensor(size_t index) { return tensors_[index]->tensor; }
    // The output lies where input 0 does.
    void in_place();
    // The memory behind the workspace is as it was; true if the kernel wanted one.
    bool expect_workspace_kept(Where where = Where::here());

    template <class T>
    static constexpr hal_dtype dtype_of() {
        if constexpr (std::is_same_v<T, float>) {
            return HAL_F32;
        } else if constexpr (std::is_same_v<T, double>) {
            return HAL_F64;
        } else if constexpr (std::is_same_v<T, int32_t>) {
            return HAL_I32;
        } else {
            static_assert(std::is_same_v<T, int64_t>);
            return HAL_I64;
        }
    }

  private:
    struct Held {
        hal_tensor tensor{};
        std::vector<int64_t> shape;
        std::vector<uint8_t> bytes;  // of an input
        DeviceBuffer* buffer = nullptr;
    };
    void fill_call(hal_stream stream);
    void add_input(hal_dtype dtype, const std::vector<int64_t>& shape, const void* values, size_t size);
    Held& add(hal_dtype dtype, const std::vector<int64_t>& shape, uint64_t size);
    void expect_bytes(const void* expected, size_t size, Where where);

    Test& test_;
    const hal_kernel* kernel_ = nullptr;
    std::vector<std::unique_ptr<Held>> tensors_;
    std::vector<const hal_tensor*> inputs_;
    std::vector<const hal_tensor*> outputs_;
    std::deque<std::string> names_;  // of the attributes; a caller's text may be gone before the launch
    std::vector<hal_attr> attributes_;
    std::deque<std::vector<int64_t>> arrays_;  // of attributes
    DeviceBuffer* workspace_ = nullptr;
    uint64_t output_bytes_ = 0;
    DeviceBuffer* output_buffer_ = nullptr;
    hal_kernel_call call_{};
};

// The operator of a trial with its operands.
[[nodiscard]] std::unique_ptr<Operator> operator_of(Test& t, const Trial& trial);
// Launches it, waits, and checks inputs and result.
void run_trial(Test& t, const Trial& trial, hal_stream stream);

}  // namespace hal::conformance
