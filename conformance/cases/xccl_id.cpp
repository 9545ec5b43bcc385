// Table 10: the id that a communicator is made with, its size, and the version.
#include <algorithm>
#include <set>

#include "xccl.hpp"

namespace hal::conformance {
namespace {

constexpr uint8_t fills[] = {0x00, 0xFF, 0x55, 0xA6};

uint64_t size_of_id(Test& t) {
    uint64_t size = 0;
    t.ok(t.api.xccl_get_unique_id_size(&size), "xccl_get_unique_id_size");
    return size <= HAL_MAX_UNIQUE_ID_BYTES ? size : 0;
}

std::string make_id(Test& t, uint64_t size) {
    std::string id(size, '\0');
    t.ok(t.api.xccl_get_unique_id(id.data(), size), "xccl_get_unique_id");
    return id;
}

#define SIZE_AND_ID E::xccl_get_unique_id, E::xccl_get_unique_id_size

// ---- The id ----

// Every byte is written, whatever the buffer held, and none around it.
HAL_CASE("45079.T10.xccl_get_unique_id.norm.fills_exactly_size", clauses{"45079/T10.1"}, authority::D,
         needs{SIZE_AND_ID})
(Test& t) {
    const uint64_t size = size_of_id(t);
    std::vector<bool> written(size, false);
    for (const uint8_t fill : fills) {
        const HostBuffer& room = t.host(size);
        std::memset(room.data(), fill, size);
        t.ok(t.api.xccl_get_unique_id(room.data(), size));
        t.check(room.guards_intact(), "nothing around the buffer was written");
        for (uint64_t i = 0; i < size; ++i) {
            written[i] = written[i] || room.data()[i] != fill;
        }
    }
    t.eq(ptrdiff_t{0}, std::count(written.begin(), written.end(), false), "bytes of the id that were never written");
}

HAL_CASE("45079.T10.xccl_get_unique_id.norm.unique", clauses{"45079/T10.1"}, authority::D, needs{SIZE_AND_ID},
         over("n", {"1000"}))
(Test& t) {
    const uint64_t size = size_of_id(t);
    std::set<std::string> seen;
    for (int i = 0; i < 1000; ++i) {
        seen.insert(make_id(t, size));
    }
    t.eq(size_t{1000}, seen.size(), "different ids of 1000");
}

// Of processes that started in the same second.
HAL_CASE("45079.T10.xccl_get_unique_id.norm.unique_across_processes", clauses{"45079/T10.1"}, authority::D,
         needs{SIZE_AND_ID}, over("ranks", {"8", "16"}))
(Test& t) {
    const uint64_t size = size_of_id(t);
    t.rank_barrier();
    std::set<std::string> seen;
    for (int i = 0; i < 4; ++i) {
        const auto all = t.exchange(make_id(t, size));
        seen.insert(all.begin(), all.end());
    }
    t.eq(static_cast<size_t>(4 * t.ranks()), seen.size(), "different ids of all processes");
}

// The id is data: whoever has its bytes can use them.
HAL_CASE("45079.T10.xccl_get_unique_id.norm.usable_by_other_process", clauses{"45079/T10.1"}, authority::S,
         needs{SIZE_AND_ID, comm_io()}, so_many_ranks({2}), cls::medium)
(Test& t) {
    for (const int maker : {0, 1}) {
        const std::string id = t.unique_id(maker);
        hal_comm comm = nullptr;
        const hal_status got = t.api.xccl_comm_init_rank(t.dev, 2, id.data(), id.size(), t.rank(), &comm);
        if (t.ok(got, "a communicator with another process' id")) {
            t.ok(t.api.xccl_destroy_comm(comm));
        }
    }
}

HAL_CASE("45079.T10.xccl_get_unique_id.err.null", clauses{"45079/T10.1"}, authority::A, needs{SIZE_AND_ID})
(Test& t) {
    const uint64_t size = size_of_id(t);
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.xccl_get_unique_id(nullptr, size); });
}

HAL_CASE("45079.T10.xccl_get_unique_id.edge.short_buffer", clauses{"45079/T10.1"}, authority::A, needs{SIZE_AND_ID})
(Test& t) {
    const uint64_t size = size_of_id(t);
    const HostBuffer& room = t.host(2 * size);
    for (const uint64_t wrong : {uint64_t{0}, size - 1, size + 1}) {
        const auto in = t.context("size", wrong);
        t.fails_any({HAL_ERROR_INVALID_ARGUMENT, HAL_ERROR_BUFFER_TOO_SMALL},
                    [&] { return t.api.xccl_get_unique_id(room.data(), wrong); });
    }
    t.expect(room, poison, "the buffer after the refusals");
}

// ---- Its size ----

HAL_CASE("45079.T10.xccl_get_unique_id_size.norm.range", clauses{"45079/T10.2"}, authority::A,
         needs{E::xccl_get_unique_id_size})
(Test& t) {
    uint64_t size = 0;
    t.ok(t.api.xccl_get_unique_id_size(&size));
    t.le(uint64_t{1}, size, "bytes of an id");
    t.le(size, uint64_t{HAL_MAX_UNIQUE_ID_BYTES}, "bytes of an id");
}

HAL_CASE("45079.T10.xccl_get_unique_id_size.norm.stable", clauses{"45079/T10.2"}, authority::D,
         needs{E::xccl_get_unique_id_size}, over("ranks", {"2"}))
(Test& t) {
    for (int i = 0; i < 20; ++i) {
        uint64_t size = UINT64_MAX - static_cast<uint64_t>(i);
        t.ok(t.api.xccl_get_unique_id_size(&size));
        for (const std::string& other : t.exchange(std::to_string(size))) {
            t.eq(std::to_string(size), other, "bytes of an id in every process");
        }
    }
}

HAL_CASE("45079.T10.xccl_get_unique_id_size.norm.before_init", clauses{"45079/T10.2"}, authority::A,
         needs{E::xccl_get_unique_id_size})
(Test& t) {
    const auto other = t.another();
    uint64_t early = 0;
    const hal_status got = other->api().xccl_get_unique_id_size(&early);
    t.check(got == HAL_OK || got == HAL_ERROR_NOT_INITIALIZED, "answers, or says NOT_INITIALIZED, before initialize");
    if (got == HAL_OK) {
        t.eq(size_of_id(t), early, "the size before initialize");
    }
}

// The size is what is written: with so many bytes before an unmapped page, and the last of them is part of the id.
HAL_CASE("45079.T10.xccl_get_unique_id_size.norm.matches_writes", clauses{"45079/T10.2"}, authority::D,
         needs{SIZE_AND_ID})
(Test& t) {
    const uint64_t size = size_of_id(t);
    if (t.check(size > 0, "a size")) {
        const PageEnd page(size);
        bool last_written = false;
        for (const uint8_t fill : fills) {
            std::memset(page.at_end(), fill, size);
            t.ok(t.api.xccl_get_unique_id(page.at_end(), size));
            last_written = last_written || page.at_end()[size - 1] != fill;
        }
        t.check(last_written, "the last byte is written");
    }
}

HAL_CASE("45079.T10.xccl_get_unique_id_size.err.null_out", clauses{"45079/T10.2"}, authority::A,
         needs{E::xccl_get_unique_id_size})
(Test& t) {
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.xccl_get_unique_id_size(nullptr); });
}

// ---- Version ----

hal_version version_of(Test& t) {
    hal_version version{};
    version.header.size = sizeof version;
    t.ok(t.api.xccl_get_version(&version));
    return version;
}

std::string text_of(const hal_version& version) {
    return std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch);
}

HAL_CASE("45079.T10.xccl_get_version.norm.nonzero", clauses{"45079/T10.14"}, authority::A, needs{E::xccl_get_version})
(Test& t) {
    t.check(text_of(version_of(t)) != "0.0.0", "a version above 0.0.0");
}

HAL_CASE("45079.T10.xccl_get_version.norm.stable", clauses{"45079/T10.14"}, authority::D, needs{E::xccl_get_version})
(Test& t) {
    const std::string first = text_of(version_of(t));
    for (int i = 0; i < 20; ++i) {
        t.eq(first, text_of(version_of(t)), "the version again");
    }
}

HAL_CASE("45079.T10.xccl_get_version.norm.same_on_all_ranks", clauses{"45079/T10.14"}, authority::D,
         needs{E::xccl_get_version}, over("ranks", {"2"}))
(Test& t) {
    const std::string mine = text_of(version_of(t));
    for (const std::string& other : t.exchange(mine)) {
        t.eq(mine, other, "the version in every process");
    }
}

HAL_CASE("45079.T10.xccl_get_version.err.null_out", clauses{"45079/T10.14"}, authority::A, needs{E::xccl_get_version})
(Test& t) {
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.xccl_get_version(nullptr); });
}

}  // namespace
}  // namespace hal::conformance
