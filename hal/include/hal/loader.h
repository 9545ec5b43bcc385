/* The loader: finds back ends through JSON manifests, opens them when first needed, completes their tables.
   Any thread may call any function. Strings that come back are NUL-terminated UTF-8 and borrowed until hal_loader_close,
   unless a line says otherwise. */
#ifndef HAL_LOADER_H
#define HAL_LOADER_H

#include "hal/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- An opened back end ----
   The head that the wrappers of hal.h read: the instance and a completed table for each table of the contract. No slot is
   NULL: each is the plug-in's, an emulation by the loader, or a stub that returns UNSUPPORTED and explains itself in
   hal_last_error. Constant until the loader is closed; after that the entries answer SHUTDOWN as long as the head is not
   reused for another back end, so drop the pointer. */
typedef struct hal_backend {
    uint32_t size;
    uint32_t reserved;
    hal_instance* instance;
#define HAL_TABLE(table, id, clause, effect) const hal_##table##_table* table;
#include "hal/tables/all.def"
} hal_backend;

/* ---- Loader objects ---- */
typedef struct hal_loader hal_loader;

/* An option for one back end; `backend` is its id. */
typedef struct hal_option {
    const char* backend;
    const char* key;
    const char* value;
} hal_option;

typedef void (*hal_log_fn)(void* user_data, uint32_t level, const char* text);

/* hal_loader_desc.flags */
#define HAL_LOADER_NO_ENVIRONMENT 1u /* read no variable at all */
#define HAL_LOADER_STRICT 2u         /* a defect of a selected back end makes hal_loader_open fail (HAL_STRICT=1) */
#define HAL_LOADER_NO_EMULATION 4u   /* holes are stubs (HAL_NO_EMULATION=1) */

/* Copied by hal_loader_open; a NULL description means all zero. */
typedef struct hal_loader_desc {
    hal_header header;
    const char* const* manifest_paths; /* files or directories; exclusive when there is one */
    uint64_t manifest_path_count;
    const hal_backend_entry_fn* entries; /* back ends linked into the application */
    uint64_t entry_count;
    const hal_option* options; /* stronger than the environment, which is stronger than the manifest */
    uint64_t option_count;
    hal_log_fn log; /* gets every message instead of stderr; called from any thread */
    void* log_user_data;
    uint32_t flags;
    uint32_t reserved;
} hal_loader_desc;

/* Reads the environment and the manifests; opens no library. A second loader object is independent. */
hal_status hal_loader_open(const hal_loader_desc* desc, hal_loader** out_loader);

/* Destroys every instance in reverse order of opening. Images stay mapped. NULL is OK. */
hal_status hal_loader_close(hal_loader* loader);

/* Scans again; adds what is new and never changes or removes a candidate, except that one that failed may be tried anew. */
hal_status hal_loader_rescan(hal_loader* loader);

/* ---- Candidates and why they are, or are not, used ---- */
typedef uint32_t hal_backend_state;
enum {
#define HAL_STATE(name, value, text) HAL_STATE_##name = value,
#include "hal/state.def"
    HAL_STATE_FORCE_INT = INT32_MAX
};

/* Every candidate of the scan in its order, whether or not it loaded. The strings are borrowed until the state of this
   candidate changes (open, rescan) or the loader is closed; none is NULL. */
typedef struct hal_backend_report {
    hal_header header;
    hal_backend_state state;
    hal_status status;
    const char* id;
    const char* name;
    const char* vendor;
    const char* version;
    const char* manifest;  /* path, empty for an entry of the application */
    const char* library;   /* resolved path */
    const char* code;      /* stable, "L012"; empty while nothing is wrong */
    const char* cause;     /* what is wrong, with both sides of the comparison */
    const char* next_step; /* what the reader can do about it */
    int32_t rank;          /* of the search list, -1 for none */
    int32_t device_count;  /* -1 until opened */
} hal_backend_report;
hal_status hal_loader_report_count(hal_loader* loader, uint64_t* out_count);
hal_status hal_loader_report(hal_loader* loader, uint64_t index, hal_backend_report* out_report);

/* One place that was searched. `note` says why it was dropped, or how many manifests it gave. */
typedef struct hal_search_place {
    hal_header header;
    const char* path;
    const char* origin; /* "HAL_BACKEND_FILES", "XDG_DATA_DIRS", ... */
    const char* note;
    int32_t rank;
    uint32_t used;
} hal_search_place;
hal_status hal_loader_search_count(hal_loader* loader, uint64_t* out_count);
hal_status hal_loader_search(hal_loader* loader, uint64_t index, hal_search_place* out_place);

/* One variable of the environment that the loader knows or that begins with HAL_. */
#define HAL_VARIABLE_USED 1u
#define HAL_VARIABLE_IGNORED 2u /* privileges */
#define HAL_VARIABLE_UNKNOWN 3u
#define HAL_VARIABLE_UNSET 4u
typedef struct hal_variable {
    hal_header header;
    const char* name;
    const char* value;
    const char* note; /* nearest known name, meaning, reason */
    uint32_t use;     /* HAL_VARIABLE_* */
    uint32_t reserved;
} hal_variable;
hal_status hal_loader_variable_count(hal_loader* loader, uint64_t* out_count);
hal_status hal_loader_variable(hal_loader* loader, uint64_t index, hal_variable* out_variable);

/* ---- Opening ---- */

/* Opens the back end on the first call and initialises it; later calls return the same head, borrowed until hal_loader_close.
   UNKNOWN_ID, or the status of the report. REENTRANT from inside that back end's own start. */
hal_status hal_backend_open(hal_loader* loader, const char* id, const hal_backend** out_backend);

/* One device of any back end. */
typedef struct hal_device_ref {
    const hal_backend* backend;
    const char* id; /* of the back end */
    hal_dev device;
    uint32_t reserved;
} hal_device_ref;

/* Opens every selected candidate and lists their devices in the order of HAL_VISIBLE_DEVICES, or of the candidates with
   hardware first. Writes up to capacity and reports how many there are; INCOMPLETE when capacity is less. NO_BACKEND,
   ALL_BACKENDS_FAILED and NO_DEVICE are three different things. */
hal_status hal_loader_devices(hal_loader* loader, hal_device_ref* devices, uint64_t capacity, uint64_t* out_count);

/* ---- What stands behind an entry ---- */
#define HAL_SUPPORT_ABSENT 0u
#define HAL_SUPPORT_NATIVE 1u
#define HAL_SUPPORT_EMULATED 2u

/* entry is a name of the tables, "memory_copy_p2p". NOT_FOUND for any other. */
hal_status hal_entry_support(const hal_backend* backend, const char* entry, uint32_t* out_support);

/* ---- Kernels (GB/T 45079-2024 6.2.2.1) ---- */

/* What a framework looks for. Exact beats ANY for dtype, then layout; then signature, arch, op version, priority. What a key
   leaves open (dtype ANY, layout ANY, no signature, no arch) finds only kernels that leave it open too: they run whatever it
   turns out to be. */
typedef struct hal_kernel_key {
    uint32_t size;
    hal_dtype dtype; /* of input 0 */
    hal_layout layout;
    uint32_t op_version; /* 0: any */
    const char* op;
    const char* arch;           /* of the device; NULL finds only kernels for every arch */
    const hal_dtype* signature; /* dtypes of inputs then outputs; NULL: not known */
    uint32_t signature_count;
    uint32_t reserved;
} hal_kernel_key;

/* The best match, or with `after` the next best behind that one (for a kernel whose query said UNSUPPORTED). Takes no lock.
   NOT_FOUND with the near misses in hal_last_error. The kernel is borrowed until the backend is closed. */
hal_status hal_kernel_find(const hal_backend* backend, const hal_kernel_key* key, const hal_kernel* after,
                           const hal_kernel** out_kernel);

/* All kernels, late ones included, ordered by operator and rank. Writes up to capacity; INCOMPLETE when there are more. */
hal_status hal_kernel_list(const hal_backend* backend, const hal_kernel** kernels, uint64_t capacity, uint64_t* out_count);

/* ---- Errors ---- */

/* The last error of the calling thread. Success does not clear it; borrowed until the thread's next failing call. */
typedef struct hal_error_info {
    hal_header header;
    hal_status status;
    uint32_t reserved;
    int64_t vendor_code;
    const char* backend; /* id, empty if the loader itself failed */
    const char* text;
} hal_error_info;
const char* hal_last_error(void);
hal_status hal_last_error_info(hal_error_info* out_info);

/* Static strings; never NULL. */
const char* hal_status_name(hal_status status);
const char* hal_status_text(hal_status status);
const char* hal_state_name(hal_backend_state state);
const char* hal_state_text(hal_backend_state state);

/* The return code of GB/T 45280-2025 annex A for a status. UNSUPPORTED: the annex is not available to us. */
hal_status hal_status_to_gb45280(hal_status status, int32_t* out_code);

#ifdef __cplusplus
}
#endif
#endif
