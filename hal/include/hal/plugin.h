/* All that a vendor includes to write a back end in C: the host's services, the descriptor and the one exported symbol.
   C++ vendors find helpers in sdk.hpp. */
#ifndef HAL_PLUGIN_H
#define HAL_PLUGIN_H

#include "hal/tables.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HAL_LOG_ERROR 1u
#define HAL_LOG_WARN 2u
#define HAL_LOG_INFO 3u
#define HAL_LOG_DEBUG 4u

#define HAL_TRACE_BEGIN 1u
#define HAL_TRACE_END 2u
#define HAL_TRACE_INSTANT 3u

/* What the host lends to one plug-in. Valid from the entry call until `destroy` has returned; every function may be called
   from any thread, with no lock of the plug-in held, and copies what it is given. */
typedef struct hal_host {
    uint32_t size; /* a longer one comes from a newer host */
    uint32_t abi_version;

    /* Keeps a text for the calling thread, which the framework reads with hal_last_error. Call it before returning an error.
       vendor_code is the driver's own number, 0 if none. */
    void (*set_error)(const struct hal_host* host, hal_status status, int64_t vendor_code, const char* text);

    void (*log)(const struct hal_host* host, uint32_t level, const char* text);

    /* The option `key` of this backend, from the application, the environment or the manifest, as text. Sizes as for the
       strings of table 1. NOT_FOUND if nobody gave it. */
    hal_status (*get_option)(const struct hal_host* host, const char* key, char* buffer, uint64_t capacity_bytes,
                             uint64_t* out_size_bytes);

    /* Registers kernels that did not exist at load (JIT); borrowed until the backend is closed. ALREADY_EXISTS, and none of
       them is added, if one equals a registered kernel in key and rank. Not from inside `create`. */
    hal_status (*add_kernels)(const struct hal_host* host, hal_instance* instance, const hal_kernel* const* kernels,
                              uint64_t count);

    /* A point or span on the host's trace; free of cost while tracing is off. phase is HAL_TRACE_*. */
    void (*trace)(const struct hal_host* host, uint32_t phase, const char* name);
} hal_host;

/* hal_backend_descriptor.flags */
#define HAL_BACKEND_FORK_SAFE 1u        /* instances keep working in a forked child */
#define HAL_BACKEND_SERIALIZE_ALL 2u    /* the loader must let one thread in at a time */
#define HAL_BACKEND_SERIALIZE_STREAM 4u /* the loader must let one thread in at a time on each stream */
#define HAL_BACKEND_UNLOADABLE 8u       /* the image may be unloaded after destroy */

/* Static const in the plug-in. Strings are NUL-terminated UTF-8. */
typedef struct hal_backend_descriptor {
    uint32_t size;
    uint32_t abi_version; /* HAL_ABI_VERSION of the headers that the plug-in was built with */
    uint64_t flags;
    const char* name; /* equals backend.id of the manifest and hal_kernel.backend */
    const char* vendor;
    const char* version;
    const char* build; /* whatever identifies the build, may be empty */

    /* Makes the state that every entry gets as `self`. May be called again for a second, independent instance. */
    hal_status (*create)(const hal_host* host, hal_instance** out_instance);

    /* Ends everything of the instance, live objects included. When it returns no thread of the instance runs. */
    void (*destroy)(hal_instance* instance);

    /* A static const table for HAL_TABLE_<name>, or NULL for a table (or a major) that the plug-in does not offer. The pointer
       is valid and constant until destroy. */
    const hal_table_header* (*get_table)(hal_instance* instance, uint32_t id_major);
} hal_backend_descriptor;

/* The one exported symbol. Pure: touches no hardware, starts no thread, allocates nothing; may be called any number of times.
   NULL after host->set_error if the plug-in cannot work with this host. */
typedef const hal_backend_descriptor* (*hal_backend_entry_fn)(const hal_host* host);
#define HAL_BACKEND_ENTRY_SYMBOL "hal_backend_entry_v1"

#if defined(__GNUC__)
#define HAL_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define HAL_PLUGIN_EXPORT
#endif
HAL_PLUGIN_EXPORT const hal_backend_descriptor* hal_backend_entry_v1(const hal_host* host);

#ifdef __cplusplus
}
#endif
#endif
