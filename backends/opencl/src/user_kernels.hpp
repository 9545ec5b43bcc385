// Kernels of the user: a JSON file, named by the option `kernels`, that lists OpenCL C or SPIR-V files. They are
// registered beside the operators of this back end, through the same table. schemas/opencl-kernels-1.json describes the
// file, ../README.md what such a kernel is given.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "hal/kernel.h"
#include "programs.hpp"

namespace hal::opencl {

struct UserKernel {
    enum class Passed : uint8_t { f32, f64, i64 };
    struct Attribute {
        std::string name;
        Passed passed;
    };

    std::string op;
    std::string entry;  // the name of the kernel in the program
    std::string options;
    std::string file;
    std::string text;  // of the file
    uint32_t inputs = 0;
    uint32_t outputs = 1;
    std::vector<Attribute> attributes;  // in the order of the arguments
    Source source{};
    hal_kernel registration{};
};

class UserKernels {
  public:
    // Throws sdk::Error INVALID_ARGUMENT with the file, the place in it and what is expected. An empty path: none.
    UserKernels(const std::string& path, const std::vector<const hal_kernel*>& own);

    // The operators of this back end and the user's.
    [[nodiscard]] const std::vector<const hal_kernel*>& all() const noexcept { return all_; }
    [[nodiscard]] const std::vector<const hal_kernel*>& without_f64() const noexcept { return without_f64_; }

  private:
    std::deque<UserKernel> kernels_;  // the addresses are handed out
    std::vector<const hal_kernel*> all_, without_f64_;
};

// The hal_kernel_fn of them all (kernels/user.cpp).
hal_status run_user_kernel(const hal_kernel_call* call) noexcept;
hal_status query_user_kernel(const hal_kernel_call* call, uint64_t* out_workspace_bytes);

}  // namespace hal::opencl
