// Files that another process has open, by descriptor. Both kinds of IPC handle need them.
#pragma once

#include <cstdint>
#include <string>

#include "file.hpp"

namespace hal::cpu {

using shared::File;

// Where a file lies that another process has open.
std::string foreign_path(int32_t process, int32_t file);

// Opens it for reading and writing; never waits. Throws what throw_foreign_error throws.
File open_foreign(int32_t process, int32_t file, const char* what);

// Of errno: PERMISSION, NOT_FOUND (the process ended, or let go of the file) or OUT_OF_RESOURCES, with a text that
// names `what` ("the memory") and the process.
[[noreturn]] void throw_foreign_error(int32_t process, const char* what);

}  // namespace hal::cpu
