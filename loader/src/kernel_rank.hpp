// One kernel by itself: is it well formed, does it match a key, which of two is the better match.
#pragma once

#include <string>
#include <string_view>

#include "hal/loader.h"

namespace hal::loader {

// Empty, or what is wrong with a kernel that was registered for this back end; names operator, file and line where it
// can.
std::string kernel_defect(std::string_view backend, const hal_kernel* kernel);

// The struct of an older plug-in is shorter: what it does not have is zero.
hal_kernel complete_kernel(const hal_kernel& kernel) noexcept;

// Beyond operator and dtype. What a key leaves open (layout ANY, arch or signature NULL) matches only kernels that
// leave it open too; op_version 0 matches every version.
bool layout_matches(const hal_kernel& kernel, const hal_kernel_key& key) noexcept;
bool signature_matches(const hal_kernel& kernel, const hal_kernel_key& key) noexcept;
bool arch_matches(const hal_kernel& kernel, const hal_kernel_key& key) noexcept;
bool op_version_matches(const hal_kernel& kernel, const hal_kernel_key& key) noexcept;

// Less than 0 if `a` is the better match wherever both match, 0 if they are equal in key and rank. Both kernels have
// the same operator and dtype. A total order, so that look-up does not depend on the order of registration.
int compare_rank(const hal_kernel& a, const hal_kernel& b) noexcept;

// "relu.cpp:12".
std::string source_of(const hal_kernel& kernel);

// "f32, any, f32" of a signature.
std::string signature_text(const hal_dtype* signature, uint32_t count);

}  // namespace hal::loader
