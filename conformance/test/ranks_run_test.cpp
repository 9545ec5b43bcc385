// Cases that several processes run together: what they say to each other, and how each may fail. Part of the program
// of run_test.cpp, which is its own worker; the plug-in is the skeleton, which has no collectives.
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "engine/rank_group.hpp"
#include "engine/run.hpp"
#include "engine/temp_folder.hpp"
#include "harness/test.hpp"

namespace hal::conformance {
namespace {

const over three_processes{"ranks", {"3"}};

HAL_CASE("45079.X.engine.conc.rank_words", clauses{"hal/9"}, authority::S, needs{}, over("ranks", {"3", "1"}))
(Test& t) {
    for (int round = 0; round < 20; ++round) {
        const auto words = t.exchange(std::string(1, '\0') + std::to_string(10 * round + t.rank()));
        for (int rank = 0; rank < t.ranks(); ++rank) {
            t.eq(std::string(1, '\0') + std::to_string(10 * round + rank), words.at(static_cast<size_t>(rank)),
                 "word of a rank");
        }
        t.check(t.all_ranks(true), "all say yes");
        t.check(t.ranks() == 1 || !t.all_ranks(t.rank() != 1), "one says no");
    }
}
HAL_CASE("45079.X.engine.conc.rank_fails", clauses{"hal/9"}, authority::S, needs{}, three_processes)(Test& t) {
    t.check(t.rank() != 1, "not rank 1");
    t.rank_barrier();
}
HAL_CASE("45079.X.engine.conc.rank_segv", clauses{"hal/9"}, authority::S, needs{}, three_processes)(Test& t) {
    t.check(true, "fine");
    if (t.rank() == 2) {
        const Calling calling(static_cast<uint32_t>(E::xccl_barrier));
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    t.rank_barrier();
}
HAL_CASE("45079.X.engine.conc.rank_hang", clauses{"hal/9"}, authority::S, needs{}, three_processes)(Test& t) {
    t.check(true, "fine");
    if (t.rank() == 1) {
        const Calling calling(static_cast<uint32_t>(E::xccl_barrier));
        while (true) {
            pause();
        }
    }
    if (t.rank() == 0) {
        t.rank_barrier();
    }
}
HAL_CASE("45079.X.engine.conc.rank_dies", clauses{"hal/9"}, authority::S, needs{}, three_processes)(Test& t) {
    t.check(true, "fine");
    if (t.rank() == 0) {
        t.die();
    }
    t.eq(std::string(), t.exchange("alive").front(), "word of the dead");
}
HAL_CASE("45079.X.engine.conc.rank_stops", clauses{"hal/9"}, authority::S, needs{}, three_processes)(Test& t) {
    if (t.rank() == 0) {
        const auto begin = std::chrono::steady_clock::now();
        t.stop_process(std::chrono::milliseconds(50));
        t.check(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(50), "stood still");
    }
    t.eq(std::string("0"), t.exchange(std::to_string(t.rank())).front(), "word of the rank that stood still");
}

Log run_of(const std::string& filter, double mult = 1) {
    const TempFolder folder("ranks-test");
    RunOptions options;
    options.manifest = HAL_TEST_MANIFEST;
    options.choice.filters = {filter};
    options.log = folder.path() / "events.jsonl";
    options.stacks = false;
    options.timeout_mult = mult;
    return run(options, {});
}

Judgement judged(const Log& log) {
    return judgement_of(log.tests.at(0), authority::S);
}

}  // namespace

TEST_CASE("ranks hear each other, and a quick run takes the number that a case names first") {
    const Log log = run_of("*.rank_words");
    REQUIRE(log.tests.size() == 2);
    for (const TestEvent& event : log.tests) {
        CHECK(judgement_of(event, authority::S).verdict == Verdict::pass);
        const uint64_t ranks = event.id.ends_with("[ranks=3]") ? 3 : 1;
        CHECK(event.attempts.at(0).at(0).record.checks_ok == ranks * 20 * (ranks + 2));
    }
    Choice quick;
    quick.filters = {"*.rank_words"};
    quick.quick = true;
    CHECK(choose(quick).at(0).id == "45079.X.engine.conc.rank_words[ranks=3]");
    quick.quick = false;
    CHECK(choose(quick).size() == 2);
    quick.few_ranks = true;
    CHECK(quick.partial());
    REQUIRE(choose(quick).size() == 1);
    CHECK(choose(quick).at(0).id == "45079.X.engine.conc.rank_words[ranks=3]");
}

TEST_CASE("a case of ranks is as bad as its worst rank, which is named") {
    CHECK(judged(run_of("*.rank_fails")).reason == "rank 1: not rank 1: expected yes, got no");
    const Judgement segv = judged(run_of("*.rank_segv"));
    CHECK(segv.verdict == Verdict::crash);
    CHECK(segv.reason.find("rank 0: ended; rank 1: ended; rank 2: died of signal 11 in xccl_barrier") !=
          std::string::npos);
}

TEST_CASE("ranks that hang are killed together, and the table says where each was") {
    const auto begin = std::chrono::steady_clock::now();
    const Judgement hang = judged(run_of("*.rank_hang", 0.1));
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
    CHECK(hang.verdict == Verdict::hang);
    CHECK(hang.reason.find("rank 1: still in xccl_barrier; rank 2: ended") != std::string::npos);
    CHECK(hang.reason.find("rank 0: still in stage word 1") != std::string::npos);
}

TEST_CASE("a rank may die or stand still where its case wants it") {
    for (const char* const filter : {"*.rank_dies", "*.rank_stops"}) {
        const Judgement judgement = judged(run_of(filter));
        INFO(filter << ": " << judgement.reason);
        CHECK(judgement.verdict == Verdict::pass);
    }
}

TEST_CASE("what the ranks found is put together") {
    std::vector<Attempt> ranks(2);
    ranks[0].record.checks_ok = 3;
    ranks[1].record.checks_ok = 4;
    ranks[1].record.inconclusive = "too slow";
    ranks[0].stdout_bytes = 5;
    ranks[1].children_left = 1;
    ranks[0].meters["fds"] = 1;
    ranks[1].meters["fds"] = 2;
    const Attempt whole = merged(ranks);
    CHECK(whole.record.checks_ok == 7);
    CHECK(whole.record.inconclusive == "rank 1: too slow");
    CHECK(whole.stdout_bytes == 5);
    CHECK(whole.children_left == 1);
    CHECK(whole.meters.at("fds") == 2);
    CHECK(whole.ending.kind == Ending::Kind::end);
}

}  // namespace hal::conformance
