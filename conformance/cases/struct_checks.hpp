// Checks that every entry with a query struct shares: the answer goes as far as the caller's size, and no further.
#pragma once

#include "harness/test.hpp"

namespace hal::conformance {

template <class Struct>
using Query = std::function<hal_status(Struct*)>;

// Sizes from the bare header to a struct of a newer caller; nothing is touched behind the size.
template <class Struct>
void check_struct_sizes(Test& t, const Query<Struct>& query) {
    constexpr uint32_t newer = sizeof(Struct) + 64;
    Struct whole{};
    whole.header.size = sizeof whole;
    t.ok(query(&whole));
    for (uint32_t size = sizeof(hal_header); size <= newer; size += 4) {
        const auto in = t.context("size", size);
        HostBuffer& room = t.host(newer);
        auto* out = reinterpret_cast<Struct*>(room.data());
        out->header = {size, 0, nullptr};
        t.ok(query(out));
        t.eq(size, out->header.size, "header.size after the call");
        const uint32_t known = std::min<uint32_t>(size, sizeof(Struct));
        t.check(!compare(room.data() + size, poison, newer - size), "nothing is written behind header.size");
        t.check(
            std::memcmp(room.data() + sizeof(hal_header), reinterpret_cast<const uint8_t*>(&whole) + sizeof(hal_header),
                        known - sizeof(hal_header)) == 0,
            "the part that fits equals the whole answer");
    }
}

template <class Struct>
void check_struct_errors(Test& t, const Query<Struct>& query) {
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return query(nullptr); });
    for (const uint32_t size : {0U, 1U, 15U}) {
        Struct out{};
        out.header.size = size;
        t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return query(&out); });
    }
    hal_header unknown{sizeof(hal_header), 0x7FFF, nullptr};
    Struct out{};
    out.header = {sizeof out, 0, &unknown};
    t.ok(query(&out), "an unknown chained struct is ignored");
    unknown.kind |= HAL_MUST_UNDERSTAND;
    t.fails(HAL_ERROR_UNSUPPORTED, [&] { return query(&out); });
}

}  // namespace hal::conformance
