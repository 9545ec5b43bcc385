#include "kernel_rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "log.hpp"
#include "names.hpp"

namespace hal::loader {
namespace {

// Everything up to and with `file`: the fields of the first release that have no meaning when zero.
constexpr uint32_t kernel_v1_bytes = offsetof(hal_kernel, flags);
constexpr size_t most_op_bytes = 255;
constexpr uint32_t most_kernel_bytes = 65536;  // as for tables: more is no size but a wild pointer
constexpr uint32_t most_signature_count = 65536;

bool is_utf8(std::string_view text) {
    for (size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i]);
        const size_t tail = lead < 0x80 ? 0 : lead < 0xc2 ? 4 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : lead < 0xf5 ? 3 : 4;
        if (tail == 4 || text.size() - i <= tail) {
            return false;
        }
        for (size_t k = 1; k <= tail; ++k) {
            if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) {
                return false;
            }
        }
        const auto second = tail == 0 ? 0U : static_cast<unsigned char>(text[i + 1]);
        const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
        const bool surrogate = lead == 0xed && second > 0x9f;
        if (overlong || surrogate || (lead == 0xf4 && second > 0x8f)) {
            return false;
        }
        i += tail + 1;
    }
    return true;
}

// What is wrong with the name, or empty. Only bytes that are there are read: a name may lack its terminator.
std::string op_defect(const char* op) {
    if (op == nullptr) {
        return "its operator name is NULL";
    }
    const size_t length = strnlen(op, most_op_bytes + 1);
    if (length == 0) {
        return "its operator name is empty";
    }
    if (length > most_op_bytes) {
        return fmt::format("its operator name is longer than {} bytes", most_op_bytes);
    }
    return is_utf8({op, length}) ? std::string() : "its operator name is not valid UTF-8";
}

std::string signature_defect(const hal_kernel& kernel) {
    if (kernel.signature == nullptr) {
        return kernel.signature_count == 0
                   ? std::string()
                   : fmt::format("its signature is NULL but signature_count is {}", kernel.signature_count);
    }
    if (kernel.signature_count == 0) {
        return "its signature is given but signature_count is 0";
    }
    return kernel.signature_count > most_signature_count
               ? fmt::format("its signature_count {} is above {}", kernel.signature_count, most_signature_count)
               : std::string();
}

// Of a kernel with a good size.
std::string field_defect(std::string_view backend, const hal_kernel& kernel) {
    if (auto text = op_defect(kernel.op); !text.empty()) {
        return text;
    }
    if (kernel.backend == nullptr) {
        return "its backend name is NULL";
    }
    if (backend != kernel.backend) {
        return fmt::format("it is for backend \"{}\", this one is \"{}\"", printable(kernel.backend), backend);
    }
    if (kernel.run == nullptr) {
        return "its function is NULL";
    }
    if (!is_layout(kernel.layout)) {
        return fmt::format("{} is neither in the contract's list nor in the vendor range {:#x}..{:#x}",
                           layout_name(kernel.layout), HAL_LAYOUT_VENDOR_FIRST, HAL_LAYOUT_VENDOR_LAST);
    }
    if (kernel.op_version_min > kernel.op_version_max) {
        return fmt::format("op_version_min {} is above op_version_max {} (UINT32_MAX leaves the range open)",
                           kernel.op_version_min, kernel.op_version_max);
    }
    return signature_defect(kernel);
}

int three_way(auto a, auto b) {
    return a < b ? -1 : (a > b ? 1 : 0);
}

int64_t exact_types(const hal_kernel& kernel) {
    return kernel.signature_count -
           std::count(kernel.signature, kernel.signature + kernel.signature_count, HAL_DTYPE_ANY);
}

// More exact types first; of equally many, the one that is exact at an earlier place.
int compare_signature(const hal_kernel& a, const hal_kernel& b) {
    if (const int order = three_way(exact_types(b), exact_types(a)); order != 0) {
        return order;
    }
    if (const int order = three_way(b.signature_count, a.signature_count); order != 0) {
        return order;
    }
    for (uint32_t i = 0; i < a.signature_count; ++i) {
        const hal_dtype left = a.signature[i];
        const hal_dtype right = b.signature[i];
        if (left != right) {
            return left == HAL_DTYPE_ANY ? 1 : (right == HAL_DTYPE_ANY ? -1 : three_way(left, right));
        }
    }
    return 0;
}

int compare_arch(const char* a, const char* b) {
    if (a == nullptr || b == nullptr) {
        return a == b ? 0 : (a == nullptr ? 1 : -1);
    }
    return std::strcmp(a, b);
}

bool every_version(const hal_kernel& kernel) {
    return kernel.op_version_max == 0;
}

// A range before "every version"; then the one that begins later, then the narrower one.
int compare_version(const hal_kernel& a, const hal_kernel& b) {
    if (every_version(a) != every_version(b)) {
        return every_version(a) ? 1 : -1;
    }
    if (const int order = three_way(b.op_version_min, a.op_version_min); order != 0) {
        return order;
    }
    return three_way(a.op_version_max, b.op_version_max);
}

}  // namespace

hal_kernel complete_kernel(const hal_kernel& kernel) noexcept {
    hal_kernel whole{};
    std::memcpy(&whole, &kernel, std::min<size_t>(kernel.size, sizeof whole));
    whole.size = sizeof whole;
    return whole;
}

std::string kernel_defect(std::string_view backend, const hal_kernel* kernel) {
    if (kernel == nullptr) {
        return "a registered kernel is NULL";
    }
    if (kernel->size < kernel_v1_bytes || kernel->size > most_kernel_bytes) {
        return fmt::format("a registered kernel has size {}; set it to sizeof(hal_kernel), {} here, at least {}",
                           kernel->size, sizeof(hal_kernel), kernel_v1_bytes);
    }
    const hal_kernel whole = complete_kernel(*kernel);
    const std::string text = field_defect(backend, whole);
    if (text.empty()) {
        return text;
    }
    const bool named = op_defect(whole.op).empty();
    return fmt::format("kernel {}registered at {}: {}", named ? fmt::format("\"{}\" ", whole.op) : "", source_of(whole),
                       text);
}

bool layout_matches(const hal_kernel& kernel, const hal_kernel_key& key) noexcept {
    return kernel.layout == HAL_LAYOUT_ANY || kernel.layout == key.layout;
}

bool signature_matches(const hal_kernel& kernel, const hal_kernel_key& key) noexcept {
    if (kernel.signature == nullptr) {
        return true;
    }
    return key.signature != nullptr && kernel.signature_count == key.signature_count &&
           std::equal(kernel.signature, kernel.signature + kernel.signature_count, key.signature,
                      [](hal_dtype mine, hal_dtype wanted) { return mine == HAL_DTYPE_ANY || mine == wanted; });
}

bool arch_matches(const hal_kernel& kernel, const hal_kernel_key& key) noexcept {
    return kernel.arch == nullptr || (key.arch != nullptr && std::strcmp(kernel.arch, key.arch) == 0);
}

bool op_version_matches(const hal_kernel& kernel, const hal_kernel_key& key) noexcept {
    return every_version(kernel) || key.op_version == 0 ||
           (key.op_version >= kernel.op_version_min && key.op_version <= kernel.op_version_max);
}

int compare_rank(const hal_kernel& a, const hal_kernel& b) noexcept {
    if (a.layout != b.layout) {
        return a.layout == HAL_LAYOUT_ANY ? 1 : (b.layout == HAL_LAYOUT_ANY ? -1 : three_way(a.layout, b.layout));
    }
    if (const int order = compare_signature(a, b); order != 0) {
        return order;
    }
    if (const int order = compare_arch(a.arch, b.arch); order != 0) {
        return order;
    }
    if (const int order = compare_version(a, b); order != 0) {
        return order;
    }
    return three_way(b.priority, a.priority);
}

std::string source_of(const hal_kernel& kernel) {
    return fmt::format("{}:{}", kernel.file == nullptr ? "unknown file" : printable(kernel.file), kernel.line);
}

std::string signature_text(const hal_dtype* signature, uint32_t count) {
    std::string text;
    for (uint32_t i = 0; i < count; ++i) {
        text += (i == 0 ? "" : ", ") + dtype_name(signature[i]);
    }
    return text;
}

}  // namespace hal::loader
