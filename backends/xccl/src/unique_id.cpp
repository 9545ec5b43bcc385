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
    uint8_t difference = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        difference = static_cast<uint8_t>(difference | (a[i] ^ b[i]));
    }
    return difference == 0;
}

}  // namespace hal::xccl
