#include "numbers.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace hal::shared {

std::string dtype_text(hal_dtype dtype) {
    using Name = std::pair<hal_dtype, std::string_view>;
    static constexpr auto names = std::to_array<Name>({
        {HAL_DTYPE_ANY, "any"},
        {HAL_I8, "i8"},
        {HAL_I16, "i16"},
        {HAL_I32, "i32"},
        {HAL_I64, "i64"},
        {HAL_U8, "u8"},
        {HAL_U16, "u16"},
        {HAL_U32, "u32"},
        {HAL_U64, "u64"},
        {HAL_F16, "f16"},
        {HAL_F32, "f32"},
        {HAL_F64, "f64"},
        {HAL_BF16, "bf16"},
        {HAL_C64, "c64"},
        {HAL_C128, "c128"},
        {HAL_BOOL, "bool"},
    });
    const auto* found = std::find_if(names.begin(), names.end(), [&](const Name& name) { return name.first == dtype; });
    if (found != names.end()) {
        return std::string(found->second);
    }
    return "dtype(code " + std::to_string(HAL_DTYPE_CODE(dtype)) + ", " + std::to_string(HAL_DTYPE_BITS(dtype)) +
           " bits, " + std::to_string(HAL_DTYPE_LANES(dtype)) + " lanes)";
}

}  // namespace hal::shared
