// A launch, checked: what every operator does before it looks at its own rules. All errors name the operator, the
// tensor, what was found and what is expected.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "hal/sdk.hpp"
#include "numbers.hpp"

namespace hal::shared {

struct Shape {
    int32_t rank = 0;
    std::array<int64_t, HAL_MAX_RANK> extent{};

    [[nodiscard]] int64_t count() const noexcept;  // no overflow in a shape of a View
    [[nodiscard]] std::string text() const;        // "[2, 3]"
    [[nodiscard]] std::span<const int64_t> extents() const noexcept {
        return {extent.data(), static_cast<size_t>(rank)};
    }
    friend bool operator==(const Shape& a, const Shape& b) noexcept {
        return std::equal(a.extents().begin(), a.extents().end(), b.extents().begin(), b.extents().end());
    }
};

// A tensor whose description is sound. Strides count bytes and may be 0 or negative. Copies of it outlive the call.
struct View {
    std::byte* data = nullptr;  // element 0; NULL where the call has none (query, infer)
    hal_dtype dtype = HAL_DTYPE_ANY;
    int64_t item_bytes = 0;
    Shape shape;
    std::array<int64_t, HAL_MAX_RANK> stride{};

    [[nodiscard]] bool dense() const noexcept;
};

// Row-major, without data.
[[nodiscard]] View dense_view(hal_dtype dtype, const Shape& shape);

// A tensor of a call in messages: "input 1", or the kind alone. The text is made for an error and not before.
struct TensorName {
    const char* kind;
    std::optional<uint32_t> index{};

    [[nodiscard]] std::string text() const;
};

// What the checks of a call are for: a query or infer may lack the data.
enum class Purpose : uint8_t { run, query };

inline constexpr uint32_t any_inputs = UINT32_MAX;  // the rule looks at their number itself

// Abstract: each back end knows what is memory of its devices.
class Call {
  public:
    // Throws sdk::Error INVALID_ARGUMENT for a call that is not well formed, or has other numbers of tensors.
    Call(const hal_kernel_call& call, Purpose purpose, uint32_t inputs, uint32_t outputs);
    virtual ~Call() = default;
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    // Throws INVALID_ARGUMENT (also for memory outside its storage or outside an allocation of the device), UNSUPPORTED
    // for a rank above HAL_MAX_RANK or elements of less than a byte.
    [[nodiscard]] View input(uint32_t index) const;
    // The same; it must be writable, and no two of its elements may share memory.
    [[nodiscard]] View output(uint32_t index) const;

    // Throws for an attribute that is none of these.
    void attributes(std::initializer_list<std::string_view> known) const { attributes(std::span(known)); }
    void attributes(std::span<const std::string_view> known) const;
    // nullopt if it is absent; INVALID_ARGUMENT if it has another type.
    [[nodiscard]] std::optional<int64_t> integer(std::string_view name) const;
    [[nodiscard]] std::optional<std::variant<int64_t, double>> number(std::string_view name) const;
    [[nodiscard]] std::optional<std::span<const int64_t>> integers(std::string_view name) const;

    // "Add: input 1: ", then the text. `tensor` may be empty.
    [[noreturn]] void refuse(std::string_view tensor, std::string_view text,
                             hal_status status = HAL_ERROR_INVALID_ARGUMENT) const;
    // Of tensors that were read before.
    void expect_dtype(const View& view, std::string_view tensor, hal_dtype expected) const;
    void expect_shape(const View& view, std::string_view tensor, const Shape& expected) const;
    // Throws unless the memory of the two is apart, or `same` allows that they are the same view (in place). Tensors
    // with gaps may interleave: there only equal addresses are refused.
    void expect_apart(const View& output, const View& input, std::string_view tensor, bool same) const;

    // The address of the call's workspace; throws unless it has the bytes that the query asked for, in memory of the
    // device. NULL for none.
    [[nodiscard]] std::byte* workspace(uint64_t bytes) const;

    // An axis counted from either end; INVALID_ARGUMENT outside [-rank, rank).
    [[nodiscard]] int32_t axis(int64_t value, int32_t rank) const;

    [[nodiscard]] const hal_kernel_call& raw() const noexcept { return call_; }
    [[nodiscard]] uint32_t inputs() const noexcept { return call_.input_count; }

  protected:
    // "Add: input 1", for messages.
    [[nodiscard]] std::string named(std::string_view tensor) const;

  private:
    // Throws INVALID_ARGUMENT unless the range lies in one allocation that the call's device may use.
    virtual void require_memory(hal_dptr first, uint64_t bytes, const TensorName& tensor) const = 0;

    [[nodiscard]] std::string operator_name() const;
    [[nodiscard]] View read(const hal_tensor* tensor, const TensorName& name) const;
    void read_strides(const hal_tensor& tensor, const TensorName& name, View& view) const;
    void place(const hal_tensor& tensor, const TensorName& name, View& view) const;
    [[nodiscard]] const hal_attr* find(std::string_view name) const noexcept;
    [[nodiscard]] const hal_attr* find(std::string_view name, uint32_t type, std::string_view type_text) const;
    [[noreturn]] void refuse_type(const hal_attr& attribute, std::string_view expected) const;

    const hal_kernel_call& call_;
    Purpose purpose_;
};

// ---- Slots beside sdk::kernel, for the Call of a back end: no exception leaves a query or infer ----

// The rule takes the call and gives the bytes of workspace, or throws; `Inputs` may be any_inputs.
template <class BackendCall, auto Rule, uint32_t Inputs>
hal_status query_slot(const hal_kernel_call* call, uint64_t* out_workspace_bytes) {
    if (call == nullptr || call->instance == nullptr || out_workspace_bytes == nullptr) {
        return HAL_ERROR_INVALID_ARGUMENT;
    }
    auto& instance = *reinterpret_cast<typename BackendCall::Owner*>(call->instance);
    return sdk::guard(instance.host(), [&] {
        *out_workspace_bytes = Rule(BackendCall(instance, *call, Purpose::query, Inputs, 1));
        return HAL_OK;
    });
}

// The rule gives the only output's type and shape.
struct Inferred {
    hal_dtype dtype;
    Shape shape;
};
template <class BackendCall, Inferred (*Rule)(const Call&), uint32_t Inputs>
hal_status infer_slot(const hal_kernel_call* call, hal_shape* out_shapes, uint32_t shape_count) {
    if (call == nullptr || call->instance == nullptr || out_shapes == nullptr || shape_count != 1) {
        return HAL_ERROR_INVALID_ARGUMENT;
    }
    auto& instance = *reinterpret_cast<typename BackendCall::Owner*>(call->instance);
    return sdk::guard(instance.host(), [&] {
        const Inferred inferred = Rule(BackendCall(instance, *call, Purpose::query, Inputs, 1));
        *out_shapes = {inferred.shape.rank, inferred.dtype, {}};
        std::copy(inferred.shape.extent.begin(), inferred.shape.extent.end(), out_shapes->extent);
        return HAL_OK;
    });
}

}  // namespace hal::shared
