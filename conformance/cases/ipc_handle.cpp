#include "ipc_handle.hpp"

namespace hal::conformance {

std::string hex(const hal_ipc_handle& handle) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const uint8_t byte : handle.bytes) {
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    return text;
}

hal_ipc_handle unhex(const std::string& text) {
    hal_ipc_handle handle{};
    for (size_t i = 0; i < sizeof handle.bytes && 2 * i + 1 < text.size(); ++i) {
        handle.bytes[i] = static_cast<uint8_t>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
    }
    return handle;
}

}  // namespace hal::conformance
