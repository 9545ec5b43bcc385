// What the processor is, in the words of table 1.
#pragma once

#include <cstdint>
#include <string>

namespace hal::cpu {

struct CpuInfo {
    std::string model;   // "AMD EPYC 9354", or the architecture if the kernel names none
    std::string vendor;  // "AuthenticAMD"
    std::string arch;    // psABI level: "x86-64-v3"; elsewhere uname's machine
    uint32_t level = 0;  // 3 of x86-64-v3, 0 if there are no levels
    uint32_t vector_bits = 0;
    uint32_t cores = 1;  // that this process may use
};

[[nodiscard]] CpuInfo read_cpu_info();

}  // namespace hal::cpu
