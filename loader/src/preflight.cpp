#include "preflight.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "elf_image.hpp"
#include "file.hpp"
#include "log.hpp"
#include "problem.hpp"

namespace hal::loader {

namespace {

bool others_may_write(const struct stat& status) {
    return (status.st_mode & S_IWOTH) != 0;
}

// In a directory with the sticky bit others cannot replace a file of ours.
bool others_may_replace(const struct stat& directory) {
    return others_may_write(directory) && (directory.st_mode & S_ISVTX) == 0;
}

std::string parent_of(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

[[noreturn]] void refuse_unsafe(const std::string& what, const char* why, const char* advice) {
    throw Refusal({HAL_STATE_LIBRARY_UNSAFE, HAL_ERROR_PERMISSION, "L026",
                   fmt::format("{} {}; refused in a privileged process", printable(what, 4096), why), advice});
}

// Whoever may change the library may run code in this process. Root must not lend its rights to every user; under
// elevated privileges not even to the one who owns the file.
void check_owner(const std::string& path, const struct stat& file, bool elevated) {
    if (!elevated && geteuid() != 0) {
        return;
    }
    const auto is_trusted = [](uid_t owner) { return owner == 0 || owner == geteuid(); };
    if (others_may_write(file)) {
        refuse_unsafe(path, "is writable by others", "take the permission away: chmod o-w FILE");
    }
    if (elevated && !is_trusted(file.st_uid)) {
        refuse_unsafe(path, "belongs to another user", "let root own it: chown root FILE");
    }
    const std::string directory = parent_of(path);
    struct stat status {};
    if (stat(directory.c_str(), &status) != 0) {
        throw FileError{errno, error_text(errno)};
    }
    if (others_may_replace(status)) {
        refuse_unsafe(directory, "(the library's directory) is writable by others",
                      "take the permission away: chmod o-w DIRECTORY");
    }
    if (elevated && !is_trusted(status.st_uid)) {
        refuse_unsafe(directory, "(the library's directory) belongs to another user",
                      "let root own it: chown root DIRECTORY");
    }
}

Library inspect(const std::string& path, bool elevated) {
    const RegularFile file = open_regular(path);
    check_owner(path, file.status, elevated);
    const ElfImage image(file);
    return {path, image.build_id(), image.static_tls(), image.suspicious()};
}

}  // namespace

Library preflight(const std::string& path, bool elevated) {
    const std::string name = printable(path, 4096);
    try {
        return inspect(path, elevated);
    } catch (const ElfError& error) {
        if (error.foreign) {
            throw Refusal({HAL_STATE_ARCH_MISMATCH, HAL_ERROR_UNSUPPORTED, "L021", name + " " + error.text,
                           "install the backend for this machine"});
        }
        throw Refusal({HAL_STATE_LIBRARY_DAMAGED, HAL_ERROR_INVALID_ARGUMENT, "L022", name + " " + error.text,
                       "install the library again, or correct library_path in the manifest"});
    } catch (const FileError& error) {
        const bool absent = error.number == ENOENT || error.number == ENOTDIR;
        if (absent) {
            throw Refusal({HAL_STATE_LIBRARY_NOT_FOUND, HAL_ERROR_NOT_FOUND, "L020", name + ": library not found",
                           "install the library, or correct or remove the manifest"});
        }
        const hal_status status = error.number == EACCES ? HAL_ERROR_PERMISSION : HAL_ERROR_INVALID_ARGUMENT;
        throw Refusal({HAL_STATE_LIBRARY_DAMAGED, status, "L022",
                       fmt::format("{}{} {}", name, error.number == 0 ? "" : ":", error.text),
                       "correct library_path in the manifest, or the permissions of the library"});
    }
}

}  // namespace hal::loader
