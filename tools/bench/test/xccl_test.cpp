#include <poll.h>

#include <catch2/catch.hpp>
#include <future>
#include <thread>

#include "benchmark.hpp"
#include "descendants.hpp"
#include "pattern.hpp"
#include "rank.hpp"
#include "scratch_directory.hpp"
#include "xccl/collective.hpp"
#include "xccl/command.hpp"
#include "xccl/plot.hpp"
#include "xccl/points.hpp"
#include "xccl/team.hpp"

using namespace hal::bench;
using namespace hal::bench::xccl;

TEST_CASE("counts and bus factors are those of nccl-tests") {
    constexpr uint64_t bytes = 64;
    const Operation operation = GENERATE(Operation::all_reduce, Operation::broadcast, Operation::all_gather,
                                         Operation::reduce_scatter, Operation::alltoall);
    const Collective collective{operation, bytes, 4};
    const bool whole = operation == Operation::all_reduce || operation == Operation::broadcast;
    CHECK(collective.call_count() == (whole ? 16 : 4));
    CHECK(collective.send_count() == (operation == Operation::all_gather ? 4 : 16));
    CHECK(collective.receive_count() == (operation == Operation::reduce_scatter ? 4 : 16));
    CHECK(collective.bus_factor() == (operation == Operation::all_reduce  ? 1.5
                                      : operation == Operation::broadcast ? 1.0
                                                                          : 0.75));
}

TEST_CASE("a row's name says its collective") {
    const Collective collective{Operation::reduce_scatter, 64 << 10, 2};
    CHECK(row_name(collective) == "xccl/r2-reduce_scatter-64KiB");
    CHECK(row_name({Operation::all_reduce, 8, 4}, "sync") == "xccl/r4-all_reduce-8B-sync");
    for (const char* special : {"", "gloo"}) {
        const auto parsed = collective_of_row(row_name(collective, special));
        REQUIRE(parsed);
        CHECK(parsed->collective == collective);
        CHECK(parsed->special == special);
    }
    CHECK_FALSE(collective_of_row("streams/enqueue"));
    CHECK_FALSE(collective_of_row("xccl/r2-all_reduce"));
    CHECK_FALSE(collective_of_row("xccl/r2-all_reduce-8Bx"));
}

TEST_CASE("a command survives the pipe, and what is none is refused") {
    const Command command{{Operation::alltoall, 1 << 20, 4}, 17, true};
    CHECK(parse_command(text(command)) == command);
    CHECK_THROWS_AS(parse_command("all_reduce 8"), std::invalid_argument);
    CHECK_THROWS_AS(parse_command("all_produce 8 2 1 end"), std::invalid_argument);
}

TEST_CASE("a wrong element is counted wherever it is") {
    const Operation operation = GENERATE(Operation::all_reduce, Operation::broadcast, Operation::all_gather,
                                         Operation::reduce_scatter, Operation::alltoall);
    const Collective collective{operation, 48, 3};
    std::vector<float> received(collective.receive_count());
    fill_poison(received);
    CHECK(count_wrong(received, 0, collective, 1) == received.size());
    // By what the ranks send, element by element, as the standard of each operation says it.
    const auto sent = [](int rank, uint64_t index) {
        float value = 0;
        fill_input(std::span(&value, 1), index, rank);
        return value;
    };
    const uint64_t block = collective.call_count();
    for (uint64_t i = 0; i < received.size(); ++i) {
        const auto from = static_cast<int>(i / block);
        switch (operation) {
            case Operation::all_reduce:
                received[i] = sent(0, i) + sent(1, i) + sent(2, i);
                break;
            case Operation::broadcast:
                received[i] = sent(0, i);
                break;
            case Operation::all_gather:
                received[i] = sent(from, i % block);
                break;
            case Operation::reduce_scatter:
                received[i] = sent(0, block + i) + sent(1, block + i) + sent(2, block + i);
                break;
            case Operation::alltoall:
                received[i] = sent(from, block + i % block);
                break;
        }
    }
    CHECK(count_wrong(received, 0, collective, 1) == 0);
    CHECK(count_wrong(std::span(received).subspan(1), 1, collective, 1) == 0);
    received.back() += 1;
    CHECK(count_wrong(received, 0, collective, 1) == 1);
}

// A loop of three calls of each operation: right results, or a reason why it is not measured here.
void run_all(Team& team, int ranks, std::string& lacking) {
    for (const auto operation : {Operation::all_reduce, Operation::broadcast, Operation::all_gather,
                                 Operation::reduce_scatter, Operation::alltoall}) {
        for (const uint64_t elements : {uint64_t{6}, uint64_t{3} << 12, uint64_t{3} << 18}) {
            try {
                const double took_ns = team.run({{operation, elements * sizeof(float), ranks}, 3, false});
                CHECK(took_ns > 0);
            } catch (const Unavailable& missing) {
                lacking = missing.what();
            }
        }
    }
}

TEST_CASE("every peer that is here gives right results") {
    const Library library = GENERATE(Library::open_mpi, Library::gloo, Library::limit);
    const int ranks = GENERATE(2, 3);
    std::string lacking;
    try {
        Team team(library, ranks, 1, {});
        run_all(team, ranks, lacking);
    } catch (const Unavailable& missing) {
        lacking = missing.what();
    }
    if (!lacking.empty()) {
        WARN(name(library) << ", " << ranks << " ranks: " << lacking);
    }
}

Row measured(std::string name, std::string unit, double ours, double peer) {
    Row row;
    row.benchmark = {std::move(name), "ours", "Peer", std::move(unit), Better::lower, {}, nullptr};
    row.ours = {{ours}, ours, ours};
    row.peer = Side{{peer}, peer, peer};
    return row;
}

TEST_CASE("rows of collectives become points, each library once") {
    const std::vector<Row> rows{
        measured("xccl/r2-all_reduce-8B", "us", 0.2, 0.4), measured("streams/tasks", "us", 1, 1),
        measured("xccl/r2-all_reduce-8B-sync", "us", 0.5, 0.4), measured("xccl/r4-all_gather-1MiB", "GB/s", 3, 1)};
    const auto list = points(rows);
    REQUIRE(list.size() == 5);
    CHECK(list[0].library == "HAL");
    CHECK(list[0].seconds == Approx(0.2e-6));
    CHECK(list[2].library == "HAL, waiting");
    CHECK(list[3].bus_rate() == Approx(3));
    CHECK(list[3].buffer_rate() == Approx(4));
    CHECK(to_collectives(rows).find("all_gather") != std::string::npos);
    CHECK(to_collectives({}).empty());
}

TEST_CASE("a plot has a line for each library, and needs an all-reduce") {
    const std::string svg =
        to_svg({measured("xccl/r2-all_reduce-8B", "us", 0.2, 0.4), measured("xccl/r2-all_reduce-64MiB", "GB/s", 9, 2)});
    CHECK(svg.starts_with("<svg"));
    CHECK(svg.find(">Peer</text>") != std::string::npos);
    CHECK(svg.find("nan") == std::string::npos);
    CHECK_THROWS_AS(to_svg({}), std::runtime_error);
}

TEST_CASE("the work of a child counts as our own while it still runs") {
    const std::filesystem::path nowhere = "/dev/null";
    const int64_t before = descendants_cpu_ns();
    Companion child({"sh", "-c", "while :; do :; done"}, nowhere, std::chrono::milliseconds(0));
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (descendants_cpu_ns() <= before && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(descendants_cpu_ns() > before);
    CHECK(child.running());
}

TEST_CASE("the end of a program wakes who waits for it") {
    const std::filesystem::path nowhere = "/dev/null";
    Companion child({"true"}, nowhere, std::chrono::milliseconds(0));
    pollfd end{child.end(), POLLIN, 0};
    CHECK(poll(&end, 1, 20'000) == 1);
    CHECK_FALSE(child.running());
}

TEST_CASE("a rank waits for what another one writes, and no longer") {
    const ScratchDirectory directory;
    const auto file = directory.path() / "word";
    auto word = std::async(std::launch::async, [&] { return read_shared(file); });
    write_shared(directory.path() / "other", "no");
    CHECK(word.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout);
    write_shared(file, "yes");
    CHECK(word.get() == "yes");
    CHECK(read_shared(file) == "yes");
}

TEST_CASE("a team whose helper refuses to start says why") {
    CHECK_THROWS_WITH(Team(Library::hal, 2, 1, {"no.such.backend"}), Catch::Contains("no.such.backend"));
}
