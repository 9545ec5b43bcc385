#include "captured.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace hal::conformance {
namespace {

constexpr size_t kept_head = 128U << 10U;
constexpr size_t kept_tail = 128U << 10U;

}  // namespace

Captured::Captured(int end) : fd_(end) {
    fcntl(fd_, F_SETFL, O_NONBLOCK);
}

std::string Captured::text() const {
    const uint64_t lost = bytes_ - head_.size() - tail_.size();
    return head_ + (lost == 0 ? "" : "\n... " + std::to_string(lost) + " bytes ...\n") + tail_;
}

void Captured::take() {
    std::array<char, 65'536> buffer;
    for (int i = 0; i < 16; ++i) {
        const ssize_t got = read(fd_, buffer.data(), buffer.size());
        if (got <= 0) {
            return;
        }
        bytes_ += static_cast<uint64_t>(got);
        keep({buffer.data(), static_cast<size_t>(got)});
    }
}

void Captured::forget() {
    bytes_ = 0;
    head_.clear();
    tail_.clear();
}

void Captured::finish() {
    if (fd_ >= 0) {
        take();
        close(fd_);
        fd_ = -1;
    }
}

void Captured::keep(std::string_view part) {
    const size_t to_head = std::min(part.size(), kept_head - head_.size());
    head_.append(part.substr(0, to_head));
    tail_.append(part.substr(to_head));
    if (tail_.size() > 2 * kept_tail) {
        tail_.erase(0, tail_.size() - kept_tail);
    }
}

}  // namespace hal::conformance
