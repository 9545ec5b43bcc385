#include "foreign_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "hal/sdk.hpp"

namespace hal::cpu {

std::string foreign_path(int32_t process, int32_t file) {
    return "/proc/" + std::to_string(process) + "/fd/" + std::to_string(file);
}

File open_foreign(int32_t process, int32_t file, const char* what) {
    File opened(open(foreign_path(process, file).c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
    if (opened.get() < 0) {
        throw_foreign_error(process, what);
    }
    return opened;
}

void throw_foreign_error(int32_t process, const char* what) {
    const int code = errno;
    const std::string whose = std::string(what) + " of process " + std::to_string(process);
    if (code == EACCES || code == EPERM) {
        throw sdk::Error(HAL_ERROR_PERMISSION,
                         "the system refuses access to " + whose +
                             ": the two processes need one user, and the exporter must be dumpable (prctl "
                             "PR_SET_DUMPABLE)",
                         code);
    }
    if (code == ENOENT || code == ESRCH) {
        throw sdk::Error(HAL_ERROR_NOT_FOUND,
                         whose + " is gone: it has ended or released it; import while the exporter keeps it", code);
    }
    throw sdk::Error(HAL_ERROR_OUT_OF_RESOURCES, whose + " cannot be opened: " + std::strerror(code), code);
}

}  // namespace hal::cpu
