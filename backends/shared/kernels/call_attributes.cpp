#include "call.hpp"

namespace hal::shared {

void Call::attributes(std::span<const std::string_view> known) const {
    for (uint32_t i = 0; i < call_.attribute_count; ++i) {
        const char* name = call_.attributes[i].name;
        if (name == nullptr || std::find(known.begin(), known.end(), name) == known.end()) {
            std::string list;
            for (const auto one : known) {
                list.append(list.empty() ? "" : ", ").append(one);
            }
            refuse("", "unknown attribute \"" + std::string(name == nullptr ? "NULL" : name) + "\"; expected " +
                           (list.empty() ? "none" : list));
        }
    }
}

const hal_attr* Call::find(std::string_view name) const noexcept {
    const hal_attr* const end = call_.attributes + call_.attribute_count;
    const hal_attr* const found = std::find_if(
        call_.attributes, end, [&](const hal_attr& one) { return one.name != nullptr && name == one.name; });
    return found == end ? nullptr : found;
}

const hal_attr* Call::find(std::string_view name, uint32_t type, std::string_view type_text) const {
    const hal_attr* const found = find(name);
    if (found != nullptr && found->type != type) {
        refuse_type(*found, type_text);
    }
    return found;
}

void Call::refuse_type(const hal_attr& attribute, std::string_view expected) const {
    refuse("", "attribute \"" + std::string(attribute.name) + "\" has type " + std::to_string(attribute.type) +
                   ", expected " + std::string(expected));
}

std::optional<int64_t> Call::integer(std::string_view name) const {
    const hal_attr* found = find(name, HAL_ATTR_I64, "HAL_ATTR_I64");
    return found == nullptr ? std::nullopt : std::optional(found->value.i64);
}

std::optional<std::variant<int64_t, double>> Call::number(std::string_view name) const {
    const hal_attr* const found = find(name);
    if (found == nullptr) {
        return std::nullopt;
    }
    switch (found->type) {
        case HAL_ATTR_I64:
            return found->value.i64;
        case HAL_ATTR_F64:
            return found->value.f64;
        default:
            refuse_type(*found, "HAL_ATTR_F64 or HAL_ATTR_I64");
    }
}

std::optional<std::span<const int64_t>> Call::integers(std::string_view name) const {
    const hal_attr* found = find(name, HAL_ATTR_I64_ARRAY, "HAL_ATTR_I64_ARRAY");
    if (found == nullptr) {
        return std::nullopt;
    }
    if (found->count != 0 && found->value.i64_array == nullptr) {
        refuse("", "attribute \"" + std::string(name) + "\" is a NULL array of " + std::to_string(found->count));
    }
    return std::span(found->value.i64_array, found->count);
}

}  // namespace hal::shared
