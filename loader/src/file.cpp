#include "file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "text.hpp"

namespace hal::loader {

Descriptor::~Descriptor() {
    if (number_ >= 0) {
        close(number_);
    }
}

std::string error_text(int number) {
    const char* text = strerrordesc_np(number);
    if (text == nullptr) {
        return "error " + std::to_string(number);
    }
    std::string lower(text);
    lower.front() = ascii_lower(lower.front());
    return lower;
}

std::string file_kind(mode_t mode) {
    switch (mode & S_IFMT) {
        case S_IFREG:
            return "a regular file";
        case S_IFDIR:
            return "a directory";
        case S_IFIFO:
            return "a FIFO";
        case S_IFSOCK:
            return "a socket";
        case S_IFCHR:
        case S_IFBLK:
            return "a device";
        default:
            return "a special file";
    }
}

RegularFile open_regular(const std::string& path) {
    const auto require_regular = [](const struct stat& status) {
        if (!S_ISREG(status.st_mode)) {
            throw FileError{0, "is " + file_kind(status.st_mode) + ", not a regular file"};
        }
    };
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) {
        throw FileError{errno, error_text(errno)};
    }
    require_regular(status);
    // It may have been exchanged since: do not wait for a writer of a FIFO, and look again.
    Descriptor descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (descriptor.number() < 0 || fstat(descriptor.number(), &status) != 0) {
        throw FileError{errno, error_text(errno)};
    }
    require_regular(status);
    return {std::move(descriptor), status};
}

std::string read_all(const RegularFile& file, size_t limit) {
    const FileError too_large{EFBIG, "larger than " + std::to_string(limit / 1024) + " KiB"};
    const auto said = static_cast<uint64_t>(file.status.st_size);
    if (said > limit) {
        throw FileError(too_large);
    }
    // One byte more than the file says it has tells whether it grew.
    std::string text(said + 1, '\0');
    size_t length = 0;
    while (true) {
        const ssize_t count = read(file.descriptor.number(), text.data() + length, text.size() - length);
        if (count < 0 && errno != EINTR) {
            throw FileError{errno, error_text(errno)};
        }
        if (count == 0) {
            break;
        }
        length += static_cast<size_t>(std::max<ssize_t>(count, 0));
        if (length > limit) {
            throw FileError(too_large);
        }
        if (length == text.size()) {
            text.resize(limit + 1);
        }
    }
    if (length < said) {
        throw FileError{0, "became shorter while it was read"};
    }
    text.resize(length);
    return text;
}

}  // namespace hal::loader
