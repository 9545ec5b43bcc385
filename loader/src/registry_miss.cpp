// The text of a miss: what the reader has to change, on either side.
#include <fmt/format.h>

#include <algorithm>

#include "kernel_rank.hpp"
#include "log.hpp"
#include "names.hpp"
#include "nearest.hpp"
#include "registry.hpp"

namespace hal::loader {
namespace {

constexpr size_t most_listed = 16;

std::string unknown_operator(std::string_view op, std::span<const hal_kernel* const> kernels) {
    std::vector<std::string_view> names;
    for (const hal_kernel* kernel : kernels) {
        if (names.empty() || names.back() != kernel->op) {
            names.emplace_back(kernel->op);  // the list is sorted by operator
        }
    }
    return fmt::format("no kernel of operator \"{}\" is registered{}", printable(op), did_you_mean(op, names));
}

std::string wanted(const hal_kernel_key& key) {
    return fmt::format(
        "dtype {}, layout {}, signature {}, arch {}, op version {}", dtype_name(key.dtype), layout_name(key.layout),
        key.signature == nullptr ? "not given" : "(" + signature_text(key.signature, key.signature_count) + ")",
        key.arch == nullptr ? "not given" : printable(key.arch),
        key.op_version == 0 ? "any" : std::to_string(key.op_version));
}

// The parts of the kernel that do not match.
std::vector<std::string> mismatches(const hal_kernel& kernel, const hal_kernel_key& key) {
    std::vector<std::string> parts;
    if (kernel.dtype != HAL_DTYPE_ANY && kernel.dtype != key.dtype) {
        parts.push_back("dtype " + dtype_name(kernel.dtype));
    }
    if (!layout_matches(kernel, key)) {
        parts.push_back("layout " + layout_name(kernel.layout));
    }
    if (!signature_matches(kernel, key)) {
        parts.push_back("signature (" + signature_text(kernel.signature, kernel.signature_count) + ")");
    }
    if (!arch_matches(kernel, key)) {
        parts.push_back("arch " + printable(kernel.arch));
    }
    if (!op_version_matches(kernel, key)) {
        parts.push_back(fmt::format("op version {}..{}", kernel.op_version_min, kernel.op_version_max));
    }
    return parts;
}

}  // namespace

std::string explain_kernel_miss(const hal_kernel_key& key, std::span<const hal_kernel* const> kernels) {
    if (key.op == nullptr) {
        return "the operator name of the key is NULL";
    }
    const std::string_view op = key.op;
    struct Near {
        const hal_kernel* kernel;
        std::vector<std::string> parts;
    };
    std::vector<Near> near;
    for (const hal_kernel* kernel : kernels) {
        if (op == kernel->op) {
            near.push_back({kernel, mismatches(*kernel, key)});
        }
    }
    if (near.empty()) {
        return unknown_operator(op, kernels);
    }
    std::stable_sort(near.begin(), near.end(),
                     [](const Near& a, const Near& b) { return a.parts.size() < b.parts.size(); });
    if (near.front().parts.empty()) {
        return fmt::format("no further kernel of operator \"{}\" matches {}", op, wanted(key));
    }
    std::string text = fmt::format("no kernel of operator \"{}\" matches {}; the nearest ask for ", op, wanted(key));
    for (size_t i = 0; i < std::min(near.size(), most_listed); ++i) {
        text +=
            fmt::format("{}{} ({})", i == 0 ? "" : "; ", fmt::join(near[i].parts, ", "), source_of(*near[i].kernel));
    }
    return near.size() > most_listed ? text + fmt::format("; and {} more", near.size() - most_listed) : text;
}

}  // namespace hal::loader
