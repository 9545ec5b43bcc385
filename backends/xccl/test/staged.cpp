// Device memory on its way to other ranks: what comes out, in which order, and a copy that fails. The device is memory
// of this process, and copies when it is waited for.
#include "staged.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>
#include <string>

#include "hal/sdk.hpp"
#include "staging_memory.hpp"

namespace hal::xccl {
namespace {

using Log = std::vector<std::string>;

class FakePort final : public Port {
  public:
    Arena arena(hal_dev) override { return memory.arena(); }
    void require_memory(hal_dev, hal_dptr, uint64_t, const char*) override {}
    void require_stream(hal_dev, hal_stream) override {}
    void enqueue(hal_dev, hal_stream, const Work&) override {}
    void refuse_on_stream(const char*) const override {}
    StagingMemory* staging(hal_dev) override { return &memory; }
    std::unique_ptr<Copy> copy_in(hal_dev, std::byte* to, hal_dptr from, uint64_t bytes) override {
        return begin("in", to, reinterpret_cast<const std::byte*>(from), bytes, ins++);
    }
    std::unique_ptr<Copy> copy_out(hal_dev, hal_dptr to, const std::byte* from, uint64_t bytes) override {
        return begin("out", reinterpret_cast<std::byte*>(to), from, bytes, outs++);
    }

    StagingMemory memory;
    Log log;
    int ins = 0;
    int outs = 0;
    int live = 0;
    int failing_in = -1;  // the number of the copy

  private:
    class FakeCopy final : public Copy {
      public:
        FakeCopy(FakePort& port, std::string name, std::function<void()> move)
            : port_(port), name_(std::move(name)), move_(std::move(move)) {
            ++port_.live;
            port_.log.push_back(name_ + " begins");
        }
        ~FakeCopy() override { --port_.live; }
        void wait() override {
            port_.log.push_back(name_ + " ends");
            move_();
        }

      private:
        FakePort& port_;
        const std::string name_;
        const std::function<void()> move_;
    };
    std::unique_ptr<Copy> begin(const std::string& direction, std::byte* to, const std::byte* from, uint64_t bytes,
                                int number) {
        const bool fails = direction == "in" && number == failing_in;
        return std::make_unique<FakeCopy>(*this, direction + " " + std::to_string(number), [=] {
            if (fails) {
                throw sdk::Error(HAL_ERROR_DRIVER, "the copy");
            }
            std::memcpy(to, from, bytes);
        });
    }
};

constexpr uint64_t mib_of_floats = (uint64_t{1} << 20U) / sizeof(float);

Operation operation_of(Kind kind, uint64_t count, std::vector<float>& send, std::vector<float>& recv) {
    Operation operation;
    operation.call = {.kind = kind, .dtype = HAL_F32, .op = HAL_REDUCE_SUM, .root = 0, .count = count};
    operation.send = reinterpret_cast<std::byte*>(send.data());
    operation.recv = reinterpret_cast<std::byte*>(recv.data());
    return operation;
}

// All-reduces of one rank that add 1.
Log chunks_of(FakePort& port, uint64_t count, bool overlap) {
    std::vector<float> send(count);
    std::vector<float> recv(count);
    std::iota(send.begin(), send.end(), 0.0F);
    const Operation operation = operation_of(Kind::all_reduce, count, send, recv);
    int runs = 0;
    run_staged({port, port.memory, 0, 0, 1, overlap}, operation, [&](const Operation& part) {
        port.log.push_back("run " + std::to_string(runs++));
        for (uint64_t i = 0; i < part.call.count; ++i) {
            reinterpret_cast<float*>(part.recv)[i] = reinterpret_cast<const float*>(part.send)[i] + 1;
        }
    });
    for (uint64_t i = 0; i < count; ++i) {
        REQUIRE(recv[i] == send[i] + 1);
    }
    CHECK(port.live == 0);
    return port.log;
}

TEST_CASE("a chunk comes and another one goes while one is with the other ranks") {
    FakePort port;
    CHECK(chunks_of(port, 2 * mib_of_floats + 3, true) ==
          Log{"in 0 begins", "in 1 begins", "in 0 ends", "run 0", "out 0 begins",                //
              "in 2 begins", "in 1 ends", "run 1", "out 1 begins",                               //
              "in 2 ends", "out 0 ends", "run 2", "out 2 begins", "out 2 ends", "out 1 ends"});  // 0 and 2 share memory
}

TEST_CASE("where copies take cores from the collective nothing goes on beside it") {
    FakePort port;
    CHECK(chunks_of(port, mib_of_floats + 1, false) ==
          Log{"in 0 begins", "in 0 ends", "run 0", "out 0 begins", "out 0 ends",  //
              "in 1 begins", "in 1 ends", "run 1", "out 1 begins", "out 1 ends"});
}

TEST_CASE("a small call is one chunk") {
    FakePort port;
    CHECK(chunks_of(port, 5, true) == Log{"in 0 begins", "in 0 ends", "run 0", "out 0 begins", "out 0 ends"});
}

TEST_CASE("each block of a chunk keeps its place") {
    const bool overlap = GENERATE(false, true);
    constexpr uint64_t ranks = 3;
    constexpr uint64_t count = mib_of_floats + 7;
    FakePort port;
    std::vector<float> send(ranks * count);
    std::vector<float> recv(ranks * count);
    std::iota(send.begin(), send.end(), 0.0F);
    const Operation operation = operation_of(Kind::alltoall, count, send, recv);
    run_staged({port, port.memory, 0, 1, ranks, overlap}, operation, [&](const Operation& part) {
        for (uint64_t block = 0; block < ranks; ++block) {  // the first block becomes the last one
            const uint64_t bytes = part.call.count * sizeof(float);
            std::memcpy(part.recv + (ranks - 1 - block) * bytes, part.send + block * bytes, bytes);
        }
    });
    for (uint64_t block = 0; block < ranks; ++block) {
        const auto* const from = send.data() + block * count;
        REQUIRE(std::equal(from, from + count, recv.data() + (ranks - 1 - block) * count));
    }
}

TEST_CASE("a copy that fails is told, and none goes on behind it") {
    FakePort port;
    port.failing_in = 1;
    std::vector<float> data(3 * mib_of_floats);
    const Operation operation = operation_of(Kind::all_reduce, data.size(), data, data);
    int runs = 0;
    hal_status status = HAL_OK;
    try {
        run_staged({port, port.memory, 0, 0, 1, true}, operation, [&](const Operation&) { ++runs; });
    } catch (const sdk::Error& error) {
        status = error.status();
    }
    CHECK(status == HAL_ERROR_DRIVER);
    CHECK(runs == 1);
    CHECK(port.live == 0);
}

TEST_CASE("messages of one group are copied together") {
    FakePort port;
    std::vector<float> first{1, 2};
    std::vector<float> second{3};
    std::vector<float> third(1);
    const auto message = [](bool send, std::vector<float>& data) {
        return Message{send, 1, reinterpret_cast<std::byte*>(data.data()), data.size(), HAL_F32, 1};
    };
    std::vector<Message> messages{message(true, first), message(true, second), message(false, third)};
    StagedMessages staged(port, 0, messages);
    CHECK(port.log == Log{"in 0 begins", "in 1 begins", "in 0 ends", "in 1 ends"});
    std::memcpy(messages[2].data, messages[1].data, sizeof(float));
    staged.finish();
    CHECK(third[0] == 3);
}

}  // namespace
}  // namespace hal::xccl
