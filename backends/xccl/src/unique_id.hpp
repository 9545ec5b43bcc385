// What one rank makes and the application carries to the others: where to meet, and a secret that only they know.
#pragma once

#include <array>
#include <cstdint>

#include "socket.hpp"

namespace hal::xccl {

using Secret = std::array<uint8_t, 16>;

// As it lies in the caller's buffer; no pointers, no padding.
struct UniqueId {
    uint32_t magic = 0;
    uint16_t version = 0;
    uint16_t port = 0;                  // of the rendezvous, network byte order
    std::array<uint8_t, 16> address{};  // IPv6, or IPv4 mapped into it
    Secret secret{};
    std::array<uint8_t, 24> reserved{};
};
static_assert(sizeof(UniqueId) == 64);

// Of the rendezvous.
[[nodiscard]] Address address_of(const UniqueId& id) noexcept;

inline constexpr uint32_t id_magic = 0x4c434358;  // "XCCL"
inline constexpr uint16_t id_version = 1;

// Of the kernel's generator. Throws sdk::Error OUT_OF_RESOURCES.
[[nodiscard]] Secret random_secret();

// Takes as long whatever differs.
[[nodiscard]] bool same_secret(const Secret& a, const Secret& b) noexcept;

}  // namespace hal::xccl
