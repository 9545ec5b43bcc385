// Late registration beside running readers; the thread sanitizer judges it too.
#include <atomic>
#include <catch2/catch.hpp>
#include <deque>
#include <string>
#include <thread>

#include "kernel_fixture.hpp"
#include "registry.hpp"

using hal::loader::Registry;
using hal::loader::test::make_kernel;
using hal::loader::test::make_key;

TEST_CASE("readers see every kernel that was added before their look-up, and never a worse one") {
    constexpr int operators = 1000;
    std::deque<std::string> names;
    std::deque<hal_kernel> kernels;
    for (int i = 0; i < operators; ++i) {
        names.push_back("Late" + std::to_string(i));
        for (int priority = 0; priority < 3; ++priority) {
            kernels.push_back(make_kernel(names.back().c_str()));
            kernels.back().priority = priority * 3 % 4;  // the best comes in the middle: chains change at both ends
        }
    }
    Registry registry;
    std::atomic<size_t> added{0};
    std::atomic<uint64_t> wrong{0};
    const auto read = [&](size_t seed) {
        for (size_t round = seed; added.load(std::memory_order_acquire) < kernels.size(); ++round) {
            const size_t known = added.load(std::memory_order_acquire);
            const size_t i = known == 0 ? 0 : round * 7919 % known;
            const hal_kernel* found = registry.find(make_key(kernels[i].op), nullptr);
            const bool there = known == 0 || (found != nullptr && found->priority >= kernels[i].priority);
            const bool same_op = found == nullptr || std::string_view(found->op) == kernels[i].op;
            wrong += there && same_op ? 0 : 1;
        }
    };
    std::vector<std::thread> readers;
    for (size_t i = 0; i < 4; ++i) {
        readers.emplace_back(read, i * 1000);
    }
    std::string refusal;
    for (const auto& kernel : kernels) {
        const hal_kernel* const pointer = &kernel;
        refusal += registry.add("acme.npu", {&pointer, 1});
        added.fetch_add(1, std::memory_order_release);
    }
    for (auto& reader : readers) {
        reader.join();
    }
    CHECK(refusal == "");
    CHECK(wrong == 0);
    CHECK(registry.list().size() == kernels.size());
}

TEST_CASE("of two threads that add equal kernels one wins") {
    Registry registry;
    std::deque<hal_kernel> mine(100, make_kernel("x"));
    std::deque<std::string> names;
    for (size_t i = 0; i < mine.size(); ++i) {
        names.push_back("Op" + std::to_string(i));
        mine[i].op = names.back().c_str();
    }
    std::deque<hal_kernel> theirs = mine;
    std::atomic<int> accepted{0};
    const auto add_all = [&](const std::deque<hal_kernel>& kernels) {
        for (const auto& kernel : kernels) {
            const hal_kernel* const pointer = &kernel;
            accepted += registry.add("acme.npu", {&pointer, 1}).empty() ? 1 : 0;
        }
    };
    std::thread other(add_all, std::cref(theirs));
    add_all(mine);
    other.join();
    CHECK(accepted == 100);
    CHECK(registry.list().size() == 100);
}
