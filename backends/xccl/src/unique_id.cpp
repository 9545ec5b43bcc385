#include "unique_id.hpp"

#include <sys/random.h>

#include <cstring>

#include "hal/sdk.hpp"

namespace hal::xccl {

Address address_of(const UniqueId& id) noexcept {
    Address address{.port = id.port};
    std::memcpy(address.bytes, id.address.data(), id.address.size());
    return address;
}

Secret random_secret() {
    Secret secret;
    if (getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size())) {
        throw sdk::Error(HAL_ERROR_OUT_OF_RESOURCES, "the system gives no random numbers for a communication id");
    }
    return secret;
}

bool same_secret(const Secret& a, const Secret& b) noexcept {
    std::array<uint64_t, 2> left;
    std::array<uint64_t, 2> right;
    static_assert(sizeof left == sizeof a);
    std::memcpy(left.data(), a.data(), sizeof left);
    std::memcpy(right.data(), b.data(), sizeof right);
    return ((left[0] ^ right[0]) | (left[1] ^ right[1])) == 0;
}

}  // namespace hal::xccl
