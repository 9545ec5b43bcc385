// A file descriptor; closes unless released.
#pragma once

#include <utility>

namespace hal::shared {

class File {
  public:
    File() = default;
    explicit File(int file) noexcept : file_(file) {}
    File(File&& other) noexcept : file_(other.release()) {}
    File& operator=(File&& other) noexcept {
        File old(std::exchange(file_, other.release()));
        return *this;
    }
    ~File();

    [[nodiscard]] int get() const noexcept { return file_; }
    [[nodiscard]] explicit operator bool() const noexcept { return file_ >= 0; }
    int release() noexcept { return std::exchange(file_, -1); }

  private:
    int file_ = -1;
};

}  // namespace hal::shared
