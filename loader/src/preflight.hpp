// Looks at an ELF file by pread before anything maps it: a damaged or foreign file is refused without running it.
#pragma once

#include <string>

namespace hal::loader {

struct Library {
    std::string path;
    std::string build_id;     // hex, may be empty
    bool static_tls = false;  // DF_STATIC_TLS: a warning
    bool suspicious = false;  // loads that only a probe may try
};

// Throws Refusal (L020, L021, L022, L026).
Library preflight(const std::string& path, bool elevated);

}  // namespace hal::loader
