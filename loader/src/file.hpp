// Files of strangers: opened without waiting, read only if they are regular.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <utility>

namespace hal::loader {

class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor();
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&&) = delete;
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int number() const { return number_; }

  private:
    int number_;
};

// Thrown by the functions below.
struct FileError {
    int number;        // errno, 0 if the system did not complain
    std::string text;  // "permission denied", "is a FIFO, not a regular file"
};

// What the system says of an errno, in the language of the project whatever the locale is.
std::string error_text(int number);

// "a directory", "a FIFO", ...
std::string file_kind(mode_t mode);

struct RegularFile {
    Descriptor descriptor;
    struct stat status;
};

// A FIFO, device, socket or directory is refused without opening it: opening a device may already act.
RegularFile open_regular(const std::string& path);

// All bytes; `too_large` is thrown as a FileError with EFBIG beyond `limit`, however large the file says it is.
std::string read_all(const RegularFile& file, size_t limit);

}  // namespace hal::loader
