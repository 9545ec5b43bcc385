// Names and texts of statuses and states, from the lists that define them.
#include "export.hpp"

// The rest in the usual order; export.hpp comes before anything that includes loader.h.
#include "error.hpp"

const char* hal_status_name(hal_status status) {
    switch (status) {
#define HAL_STATUS(name, value, text) \
    case name:                        \
        return #name;
#include "hal/status.def"
    }
    return "unknown status";
}

const char* hal_status_text(hal_status status) {
    switch (status) {
#define HAL_STATUS(name, value, text) \
    case name:                        \
        return text;
#include "hal/status.def"
    }
    return "a number that is no status of this version";
}

const char* hal_state_name(hal_backend_state state) {
    switch (state) {
#define HAL_STATE(name, value, text) \
    case value:                      \
        return #name;
#include "hal/state.def"
        default:
            return "unknown state";
    }
}

const char* hal_state_text(hal_backend_state state) {
    switch (state) {
#define HAL_STATE(name, value, text) \
    case value:                      \
        return text;
#include "hal/state.def"
        default:
            return "a number that is no state of this version";
    }
}

// The slot of the mapping: annex A of GB/T 45280-2025 is not available to us and its numbers are not to be invented.
hal_status hal_status_to_gb45280(hal_status, int32_t* out_code) {
    if (out_code == nullptr) {
        return hal::loader::set_error(HAL_ERROR_INVALID_ARGUMENT, "", "hal_status_to_gb45280: out_code is NULL");
    }
    return hal::loader::set_error(HAL_ERROR_UNSUPPORTED, "",
                                  "the return codes of GB/T 45280-2025 annex A are not known to this version");
}
