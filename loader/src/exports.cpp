// The function of each entry for FFI users: a check for NULL and one indirect call, nothing else, so that it costs no
// more than that over the table call.
#define HAL_NO_INLINE
#pragma GCC visibility push(default)
#include "hal/hal.h"
#pragma GCC visibility pop

#include <cstdio>

#include "error.hpp"

namespace {

[[gnu::cold, gnu::noinline]] hal_status no_backend(const char* function) noexcept {
    char text[128];
    const int length = snprintf(text, sizeof text, "%s: backend is NULL", function);
    return hal::loader::set_error(HAL_ERROR_INVALID_HANDLE, "", {text, static_cast<size_t>(length)});
}

}  // namespace

#define HAL_FN(table, entry, need, clause, since, effect, params)           \
    hal_status hal_##entry(const hal_backend* backend HAL_PARAMS(params)) { \
        if (backend == nullptr) [[unlikely]] {                              \
            return no_backend("hal_" #entry);                               \
        }                                                                   \
        return backend->table->entry(backend->instance HAL_ARGS(params));   \
    }
#include "hal/tables/all.def"
