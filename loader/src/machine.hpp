// Machines by the names that manifests and messages use.
#pragma once

#include <elf.h>

#include <array>
#include <string>
#include <string_view>

namespace hal::loader {

struct Machine {
    uint16_t number;  // e_machine
    unsigned bits;    // 0: both
    std::string_view name;
};

inline constexpr std::array machines{
    Machine{EM_X86_64, 64, "x86_64"},  Machine{EM_X86_64, 32, "x32"},     Machine{EM_386, 0, "i386"},
    Machine{EM_AARCH64, 0, "aarch64"}, Machine{EM_ARM, 0, "arm"},         Machine{EM_RISCV, 64, "riscv64"},
    Machine{EM_RISCV, 32, "riscv32"},  Machine{258, 0, "loongarch64"},  // EM_LOONGARCH, which older headers lack
    Machine{EM_PPC64, 0, "ppc64"},     Machine{EM_PPC, 0, "ppc"},         Machine{EM_S390, 64, "s390x"},
    Machine{EM_MIPS, 0, "mips"},       Machine{EM_SPARCV9, 0, "sparc64"}, Machine{EM_IA_64, 0, "ia64"},
};

#if defined(__x86_64__) && defined(__LP64__)
inline constexpr uint16_t own_machine = EM_X86_64;
#elif defined(__aarch64__)
inline constexpr uint16_t own_machine = EM_AARCH64;
#elif defined(__riscv) && __riscv_xlen == 64
inline constexpr uint16_t own_machine = EM_RISCV;
#elif defined(__loongarch64)
inline constexpr uint16_t own_machine = 258;
#elif defined(__powerpc64__)
inline constexpr uint16_t own_machine = EM_PPC64;
#elif defined(__s390x__)
inline constexpr uint16_t own_machine = EM_S390;
#else
#error "add this machine to the list"
#endif

inline constexpr unsigned own_bits = 8 * sizeof(void*);

inline std::string machine_name(uint16_t number, unsigned bits) {
    for (const Machine& machine : machines) {
        if (machine.number == number && (machine.bits == 0 || machine.bits == bits)) {
            return std::string(machine.name);
        }
    }
    return "machine " + std::to_string(number);
}

}  // namespace hal::loader
