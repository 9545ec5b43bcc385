// Table 6: each parameter of a registration, as far as the list itself shows it. How a kernel is looked up (exact type
// over ANY, misses, duplicates across plug-ins) is the loader's and tested there.
#include "harness/data.hpp"
#include "kernel_call.hpp"

namespace hal::conformance {
namespace {

bool known_type(hal_dtype dtype) {
    return dtype == HAL_DTYPE_ANY || (HAL_DTYPE_BITS(dtype) != 0 && HAL_DTYPE_LANES(dtype) != 0);
}

bool known_layout(hal_layout layout) {
    return layout <= HAL_LAYOUT_FRACTAL_Z || (layout >= HAL_LAYOUT_VENDOR_FIRST && layout <= HAL_LAYOUT_VENDOR_LAST);
}

std::string name_of(const hal_kernel* kernel) {
    return kernel->op == nullptr ? "" : kernel->op;
}

HAL_CASE("45079.T5.register_kernel.edge.name_bytes", clauses{"45079/T5.1", "45079/T6"}, authority::A,
         needs{E::register_kernel})
(Test& t) {
    for (const hal_kernel* kernel : kernels_of(t)) {
        const std::string name = name_of(kernel);
        t.check(!name.empty() && name.size() <= 255 && valid_text(name), "a name of 1 to 255 bytes of UTF-8: " + name);
    }
}

HAL_CASE("45079.T5.register_kernel.norm.matches_backend", clauses{"45079/T5.1", "45079/T6"}, authority::S,
         needs{E::register_kernel})
(Test& t) {
    const std::string own = t.backend().descriptor().name;
    for (const hal_kernel* kernel : kernels_of(t)) {
        t.eq(own, std::string(kernel->backend == nullptr ? "" : kernel->backend),
             "hardware name of " + name_of(kernel));
    }
}

HAL_CASE("45079.T5.register_kernel.err.out_of_enum", clauses{"45079/T5.1", "45079/T6"}, authority::A,
         needs{E::register_kernel})
(Test& t) {
    for (const hal_kernel* kernel : kernels_of(t)) {
        t.check(known_layout(kernel->layout),
                "a layout of the contract or of the vendor's range for " + name_of(kernel));
    }
}

HAL_CASE("45079.T5.register_kernel.norm.size_matches_dtype", clauses{"45079/T5.1", "45079/T6"}, authority::A,
         needs{E::register_kernel})
(Test& t) {
    for (const hal_kernel* kernel : kernels_of(t)) {
        t.check(known_type(kernel->dtype), "a data type for " + name_of(kernel));
    }
}

// A signature names input 0 (or the output where there is no input) as the key does.
HAL_CASE("45079.T5.register_kernel.norm.mixed_signature", clauses{"45079/T5.1", "45079/T6"}, authority::A,
         needs{E::register_kernel})
(Test& t) {
    for (const hal_kernel* kernel : kernels_of(t)) {
        if (kernel->signature == nullptr || kernel->signature_count == 0) {
            continue;
        }
        for (uint32_t i = 0; i < kernel->signature_count; ++i) {
            t.check(known_type(kernel->signature[i]), "a data type in the signature of " + name_of(kernel));
        }
        const hal_dtype first = kernel->signature[0];
        t.check(first == kernel->dtype || first == HAL_DTYPE_ANY || kernel->dtype == HAL_DTYPE_ANY,
                "the signature of " + name_of(kernel) + " begins with its data type");
    }
}

}  // namespace
}  // namespace hal::conformance
