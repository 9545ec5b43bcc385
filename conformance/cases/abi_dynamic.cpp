// The plug-in's entry and descriptor with hosts of other sizes and versions.
#include "harness/test.hpp"

namespace hal::conformance {
namespace {

#define DYNAMIC(id, rights, ...)                                               \
    HAL_CASE("45079.X.abi.dynamic." id, clauses{"hal/3"}, rights, __VA_ARGS__) \
    (Test & t)

// A host table with room behind it that no plug-in knows.
struct LargerHost {
    hal_host head;
    uint8_t newer[256];
};

LargerHost host_of(const Test& t) {
    LargerHost host{};
    host.head = *t.backend().host().table();
    std::memset(host.newer, poison, sizeof host.newer);
    return host;
}

DYNAMIC("entry_twice", authority::A, needs{free_threads}) {
    const auto* first = t.target.entry(t.backend().host().table());
    for (int i = 0; i < 10; ++i) {
        t.check(t.target.entry(t.backend().host().table()) == first, "the same descriptor each time");
    }
    t.threads(4, [&](int) {
        t.check(t.target.entry(t.backend().host().table()) == first, "the same descriptor on another thread");
    });
    const auto other = t.another();
    t.check(&other->descriptor() == first, "the same descriptor for another host");
}

DYNAMIC("newer_host", authority::A, needs{}) {
    LargerHost host = host_of(t);
    host.head.size = sizeof host;
    host.head.abi_version = HAL_ABI_VERSION + 7;  // a later minor
    const auto* descriptor = t.target.entry(&host.head);
    t.check(descriptor == &t.backend().descriptor(), "a longer host table of a later minor is accepted");
    t.check(!compare(host.newer, poison, sizeof host.newer), "nothing is written into the host table");
    t.check(host.head.size == sizeof host, "the host table is as it was");
}

// Whole or refused with a text: a host that lacks services which the plug-in needs is no reason to crash.
DYNAMIC("older_host", authority::A, needs{}) {
    for (const size_t size : {offsetof(hal_host, trace), offsetof(hal_host, add_kernels)}) {
        LargerHost host = host_of(t);
        const uint64_t before = Host::last_error().serial;
        host.head.size = static_cast<uint32_t>(size);
        const auto* descriptor = t.target.entry(&host.head);
        t.check(descriptor == &t.backend().descriptor() ||
                    (descriptor == nullptr && Host::last_error().serial != before && !Host::last_error().text.empty()),
                "the descriptor, or NULL with a text");
    }
}

DYNAMIC("other_major", authority::A, needs{}) {
    LargerHost host = host_of(t);
    const uint64_t before = Host::last_error().serial;
    host.head.abi_version = HAL_ABI_VERSION + (1U << 16U);
    const auto* descriptor = t.target.entry(&host.head);
    // The host checks the descriptor's version too, so that handing it over is legal.
    t.check(descriptor == &t.backend().descriptor() ||
                (descriptor == nullptr && Host::last_error().serial != before && !Host::last_error().text.empty()),
            "the descriptor, or NULL with a text");
}

DYNAMIC("table_sizes", authority::A, needs{}) {
    const auto& d = t.backend().descriptor();
    for (const TableInfo& table : tables) {
        const hal_table_header* header = d.get_table(t.backend().instance(), table.id_major());
        if (header == nullptr) {
            continue;
        }
        const std::string name(table.name);
        t.eq(table.id_major(), header->id_major, "id of the table " + name);
        t.check(header->size >= sizeof(hal_table_header) && header->size <= HAL_TABLE_MAX_BYTES &&
                    header->size % sizeof(void*) == 0,
                "size of the table " + name + ": whole pointers up to 64 KiB");
    }
    t.check(d.get_table(t.backend().instance(), HAL_TABLE_device) != nullptr, "there is a table of devices");
}

// Whatever is put where a struct reserves room makes no difference.
DYNAMIC("reserved_ignored", authority::Q, needs{E::create_event, E::destroy_event}) {
    hal_event_desc desc{};
    desc.header.size = sizeof desc;
    desc.reserved = 0xA5A5'A5A5U;
    hal_event event = nullptr;
    if (t.ok(t.api.create_event(0, &desc, &event), "create_event with something in a reserved field")) {
        t.ok(t.api.destroy_event(0, event));
    }
}

DYNAMIC("unknown_chain_ignored", authority::A, needs{E::create_event, E::destroy_event}) {
    hal_header second{sizeof(hal_header), 0x7FFE, nullptr};
    hal_header unknown{sizeof(hal_header), 0x7FFF, &second};
    hal_event_desc desc{};
    desc.header = {sizeof desc, 0, &unknown};
    hal_event event = nullptr;
    if (t.ok(t.api.create_event(0, &desc, &event), "create_event with unknown chained structs")) {
        t.ok(t.api.destroy_event(0, event));
    }
}

DYNAMIC("must_understand_refused", authority::A, needs{E::create_event}) {
    hal_header unknown{sizeof(hal_header), 0x7FFF | HAL_MUST_UNDERSTAND, nullptr};
    hal_header before{sizeof(hal_header), 0x7FFE, &unknown};
    for (hal_header* chain : {&unknown, &before}) {
        hal_event_desc desc{};
        desc.header = {sizeof desc, 0, chain};
        hal_event event = nullptr;
        t.fails(HAL_ERROR_UNSUPPORTED, [&] { return t.api.create_event(0, &desc, &event); });
        t.check(event == nullptr, "nothing is created");
    }
}

// A create-struct of an older caller ends before the newest fields, which then have their defaults.
DYNAMIC("older_struct", authority::A, needs{E::create_event, E::destroy_event}) {
    struct {
        hal_header header;
        uint8_t behind[64];
    } room{};
    std::memset(room.behind, 0xFF, sizeof room.behind);  // flags that would be refused if they were read
    room.header.size = sizeof room.header;
    hal_event event = nullptr;
    if (t.ok(t.api.create_event(0, reinterpret_cast<const hal_event_desc*>(&room), &event), "a bare header")) {
        t.ok(t.api.destroy_event(0, event));
    }
}

}  // namespace
}  // namespace hal::conformance
