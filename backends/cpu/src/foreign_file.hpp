// Files by descriptor: an owner, and files that another process has open. Both kinds of IPC handle need them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace hal::cpu {

// Closes unless released.
class File {
  public:
    explicit File(int file) noexcept : file_(file) {}
    File(File&& other) noexcept : file_(other.release()) {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File();

    [[nodiscard]] int get() const noexcept { return file_; }
    int release() noexcept { return std::exchange(file_, -1); }

  private:
    int file_;
};

// Where a file lies that another process has open.
std::string foreign_path(int32_t process, int32_t file);

// Opens it for reading and writing; never waits. Throws what throw_foreign_error throws.
File open_foreign(int32_t process, int32_t file, const char* what);

// Of errno: PERMISSION, NOT_FOUND (the process ended, or let go of the file) or OUT_OF_RESOURCES, with a text that
// names `what` ("the memory") and the process.
[[noreturn]] void throw_foreign_error(int32_t process, const char* what);

}  // namespace hal::cpu
