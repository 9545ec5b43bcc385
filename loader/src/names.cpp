#include "names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace hal::loader {
namespace {

using Name = std::pair<uint32_t, std::string_view>;

constexpr auto dtypes = std::to_array<Name>({
    {HAL_DTYPE_ANY, "any"},     {HAL_I8, "i8"},         {HAL_I16, "i16"},       {HAL_I32, "i32"},
    {HAL_I64, "i64"},           {HAL_U8, "u8"},         {HAL_U16, "u16"},       {HAL_U32, "u32"},
    {HAL_U64, "u64"},           {HAL_F16, "f16"},       {HAL_F32, "f32"},       {HAL_F64, "f64"},
    {HAL_BF16, "bf16"},         {HAL_C64, "c64"},       {HAL_C128, "c128"},     {HAL_BOOL, "bool"},
    {HAL_F8E4M3FN, "f8e4m3fn"}, {HAL_F8E5M2, "f8e5m2"}, {HAL_F4E2M1, "f4e2m1"},
});

constexpr auto layouts = std::to_array<Name>({
    {HAL_LAYOUT_ANY, "any"},
    {HAL_LAYOUT_NHWC, "NHWC"},
    {HAL_LAYOUT_NCHW, "NCHW"},
    {HAL_LAYOUT_NCDHW, "NCDHW"},
    {HAL_LAYOUT_NDHWC, "NDHWC"},
    {HAL_LAYOUT_STRIDED, "STRIDED"},
    {HAL_LAYOUT_ND, "ND"},
    {HAL_LAYOUT_NCW, "NCW"},
    {HAL_LAYOUT_NWC, "NWC"},
    {HAL_LAYOUT_NC1HWC0, "NC1HWC0"},
    {HAL_LAYOUT_FRACTAL_NZ, "FRACTAL_NZ"},
    {HAL_LAYOUT_FRACTAL_Z, "FRACTAL_Z"},
});

// Empty if the number has no name.
template <class Names>
std::string_view look_up(const Names& names, uint32_t number) {
    const auto* found =
        std::find_if(names.begin(), names.end(), [&](const Name& name) { return name.first == number; });
    return found == names.end() ? std::string_view() : found->second;
}

bool is_vendor_layout(hal_layout layout) noexcept {
    return layout >= HAL_LAYOUT_VENDOR_FIRST && layout <= HAL_LAYOUT_VENDOR_LAST;
}

}  // namespace

std::string dtype_name(hal_dtype dtype) {
    if (const auto name = look_up(dtypes, dtype); !name.empty()) {
        return std::string(name);
    }
    const uint32_t code = HAL_DTYPE_CODE(dtype);
    const uint32_t bits = HAL_DTYPE_BITS(dtype);
    const uint32_t lanes = HAL_DTYPE_LANES(dtype);
    if (const auto name = look_up(dtypes, HAL_DTYPE(code, bits, 1)); !name.empty() && lanes > 1) {
        return fmt::format("{}x{}", name, lanes);
    }
    return fmt::format("dtype(code {}, {} bits, {} lanes)", code, bits, lanes);
}

std::string layout_name(hal_layout layout) {
    if (const auto name = look_up(layouts, layout); !name.empty()) {
        return std::string(name);
    }
    return is_vendor_layout(layout) ? fmt::format("vendor layout {:#x}", layout) : fmt::format("layout {}", layout);
}

bool is_layout(hal_layout layout) noexcept {
    return is_vendor_layout(layout) || !look_up(layouts, layout).empty();
}

}  // namespace hal::loader
