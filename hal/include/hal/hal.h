/* All that a framework includes in C: the loader, and one wrapper for each entry of the tables.
   hal_<entry>(backend, ...) is one load and one indirect call. FFI users call the functions of the same names that
   libhal_loader exports; C code that wants those too defines HAL_NO_INLINE. A wrapper does not check `backend`. */
#ifndef HAL_HAL_H
#define HAL_HAL_H

#include "hal/loader.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef HAL_NO_INLINE
#define HAL_FN(table, entry, need, clause, since, effect, params)                                                      \
    hal_status hal_##entry(const hal_backend* backend HAL_PARAMS(params));
#else
#define HAL_FN(table, entry, need, clause, since, effect, params)                                                      \
    static inline hal_status hal_##entry(const hal_backend* backend HAL_PARAMS(params)) {                              \
        return backend->table->entry(backend->instance HAL_ARGS(params));                                              \
    }
#endif
#include "hal/tables/all.def"

#ifdef __cplusplus
}
#endif
#endif
