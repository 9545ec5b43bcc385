// What ranks on different hosts reach each other by. Behind it is a library of collectives (Gloo) in a module of its
// own, which is loaded when the first communicator of several hosts is made: whoever stays on one host needs no such
// library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "socket.hpp"

namespace hal::xccl {

// A message on its way.
class Transfer {
  public:
    Transfer() = default;
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;
    virtual ~Transfer() = default;
    // Throws sdk::Error TIMEOUT or REMOTE.
    virtual void wait(uint64_t timeout_ns) = 0;
};

inline constexpr size_t mesh_address_bytes = 192;
using MeshAddress = std::array<std::byte, mesh_address_bytes>;

// Connections between members. Those that do not run operations with the same tag do not find each other. All throw
// sdk::Error: TIMEOUT, REMOTE, out of resources; after that the mesh is unusable. One thread at a time, but for
// abort().
class Mesh {
  public:
    struct Run {
        uint32_t tag;
        uint64_t timeout_ns;
    };
    // to = a + b for elements; `to` may be a.
    using Add = std::function<void(std::byte* to, const std::byte* a, const std::byte* b, uint64_t count)>;
    struct Elements {
        uint64_t count;
        uint64_t bytes;  // of each: 1, 2, 4, 8 or 16
    };

    Mesh() = default;
    Mesh(const Mesh&) = delete;
    Mesh& operator=(const Mesh&) = delete;
    virtual ~Mesh() = default;

    // Where this member waits for that one.
    [[nodiscard]] virtual MeshAddress address(int32_t member) const = 0;
    // Blocks until all are connected: addresses[i] is where member i waits for this one.
    virtual void connect(std::span<const MeshAddress> addresses) = 0;

    // Among all members, which call the same with sizes that fit together. Sizes are bytes, one of each member.
    virtual void barrier(const Run& run) = 0;
    virtual void all_reduce(const Run& run, std::byte* in, std::byte* out, Elements elements, const Add& add) = 0;
    virtual void reduce(const Run& run, int32_t root, std::byte* data, Elements elements, const Add& add) = 0;
    // `in` matters on the root only.
    virtual void broadcast(const Run& run, int32_t root, std::byte* in, std::byte* out, uint64_t bytes) = 0;
    virtual void all_gather(const Run& run, std::byte* in, std::byte* out, std::span<const uint64_t> sizes) = 0;
    virtual void all_to_all(const Run& run, std::byte* in, std::span<const uint64_t> in_sizes, std::byte* out,
                            std::span<const uint64_t> out_sizes) = 0;

    // Between two members, with the same tag and size.
    [[nodiscard]] virtual std::unique_ptr<Transfer> send(int32_t to, std::byte* data, uint64_t bytes, uint64_t tag) = 0;
    [[nodiscard]] virtual std::unique_ptr<Transfer> receive(int32_t from, std::byte* data, uint64_t bytes,
                                                            uint64_t tag) = 0;

    // Any thread: ends every wait with REMOTE.
    virtual void abort() noexcept = 0;
};

class Network {
  public:
    Network() = default;
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;
    virtual ~Network() = default;

    // `members[i]`: is member i to be connected? `timeout_ns` is for connecting.
    [[nodiscard]] virtual std::unique_ptr<Mesh> make_mesh(int32_t rank, const std::vector<bool>& members,
                                                          uint64_t timeout_ns) = 0;
};

// By way of the interface of that address. Throws sdk::Error UNSUPPORTED, saying what to install, if there is no such
// module or it was built from other sources; OUT_OF_RESOURCES.
[[nodiscard]] std::unique_ptr<Network> open_network(const Address& interface);

// What the module exports, under the name `hal_xccl_network`: nullptr and a text if it cannot.
using OpenNetwork = Network* (*)(const char* version, const char* address, std::string* out_error);

}  // namespace hal::xccl
