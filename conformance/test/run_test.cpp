// Whole runs with worker processes. This program is its own worker, with cases that do what a bad plug-in does to its
// process; the plug-in itself is the skeleton.
#define CATCH_CONFIG_RUNNER
#include "engine/run.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <set>

#include "engine/temp_folder.hpp"
#include "engine/worker.hpp"
#include "harness/test.hpp"

using namespace hal::conformance;
namespace fs = std::filesystem;

// ---- Cases of this program ----

namespace hal::conformance {
namespace {

HAL_CASE("45079.X.engine.norm.pass", clauses{"hal/3"}, authority::S, needs{}, over("n", {"1", "2", "3"}))
(Test& t) {
    t.check(true, "fine");
    t.metric("answer", 42, "1");
}
HAL_CASE("45079.X.engine.norm.fail", clauses{"hal/3"}, authority::S, needs{})(Test& t) {
    t.eq(1, 2, "the number");
}
HAL_CASE("45079.X.engine.norm.no_check", clauses{"hal/3"}, authority::S, needs{})(Test&) {}
HAL_CASE("45079.X.engine.norm.two_devices", clauses{"hal/3"}, authority::S, needs{devices(1000)})(Test& t) {
    t.check(false, "never called");
}
HAL_CASE("45079.X.engine.life.crash", clauses{"hal/3"}, authority::S, needs{})(Test& t) {
    t.check(true, "fine");
    t.check(false, "found before the crash");
    const Calling calling(static_cast<uint32_t>(E::memory_copy_h2d));
    signal(SIGSEGV, SIG_DFL);  // a sanitizer would turn the signal into an exit
    raise(SIGSEGV);
}
HAL_CASE("45079.X.engine.life.exit0", clauses{"hal/3"}, authority::S, needs{})(Test& t) {
    t.check(true, "fine");
    _exit(0);
}
HAL_CASE("45079.X.engine.life.hang", clauses{"hal/3"}, authority::S, needs{})(Test& t) {
    t.check(true, "fine");
    signal(SIGTERM, SIG_IGN);
    const Calling calling(static_cast<uint32_t>(E::synchronize_event));
    while (true) {
        pause();
    }
}
HAL_CASE("45079.X.engine.life.throws", clauses{"hal/3"}, authority::S, needs{})(Test& t) {
    t.check(true, "fine");
    const Slot<hal_status (*)(hal_instance*)> slot{
        [](hal_instance*) -> hal_status { throw std::runtime_error("over the wall"); }, nullptr, E::initialize};
    (void)slot();
}
HAL_CASE("45079.X.engine.life.child", clauses{"hal/3"}, authority::S, needs{})(Test& t) {
    t.check(true, "fine");
    if (fork() == 0) {
        while (true) {
            pause();
        }
    }
}
HAL_CASE("45079.X.engine.life.daemon", clauses{"hal/3"}, authority::S, needs{})(Test& t) {
    t.check(true, "fine");
    if (fork() == 0) {
        (void)setsid();
        if (fork() != 0) {
            _exit(0);
        }
        while (true) {
            pause();
        }
    }
}
HAL_CASE("45079.X.engine.env.writes_out", clauses{"hal/3"}, authority::S, needs{})(Test& t) {
    t.check(true, "fine");
    t.check(write(STDOUT_FILENO, "hello", 5) == 5, "written");
}
HAL_CASE("45079.X.engine.env.writes_err", clauses{"hal/3"}, authority::S, needs{})(Test& t) {
    t.check(write(STDERR_FILENO, "hello", 5) == 5, "written");
}
HAL_CASE("45079.X.engine.env.floods", clauses{"hal/3"}, authority::S, needs{}, cls::medium)(Test& t) {
    const std::string block(1U << 20U, 'x');
    for (int i = 0; i < 64; ++i) {
        for (size_t done = 0; done < block.size();) {
            const ssize_t wrote = write(STDOUT_FILENO, block.data() + done, block.size() - done);
            done += static_cast<size_t>(std::max<ssize_t>(wrote, 0));
        }
    }
    t.check(true, "fine");
}
HAL_CASE("45079.X.engine.env.closes_channel", clauses{"hal/3"}, authority::S, needs{})(Test& t) {
    t.check(true, "fine");
    close(3);
}
HAL_CASE("45079.X.engine.env.garbage_on_channel", clauses{"hal/3"}, authority::S, needs{})(Test& t) {
    t.check(write(3, "garbage", 7) == 7, "written");
}
HAL_CASE("45079.X.engine.conc.inconclusive", clauses{"hal/3"}, authority::S, needs{})(Test& t) {
    t.check(false, "not to be believed");
    t.recorder().inconclusive("too slow");
}
HAL_CASE("45079.X.engine.conc.flaky", clauses{"hal/3"}, authority::S, needs{})(Test& t) {
    t.check((t.random() & 1U) != 0, "odd");
}
HAL_CASE("45079.X.engine.conc.alone", clauses{"hal/3"}, authority::S, needs{}, exclusive)(Test& t) {
    t.check(true, "fine");
}

}  // namespace
}  // namespace hal::conformance

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], worker_word) == 0) {
        worker_main();
    }
    return Catch::Session().run(argc, argv);
}

// ---- Tests ----

namespace {

struct Folder : TempFolder {
    Folder() : TempFolder("run-test") {}
    [[nodiscard]] fs::path log() const { return path() / "events.jsonl"; }
};

RunOptions options_for(const Folder& folder, const std::vector<std::string>& filters) {
    RunOptions options;
    options.manifest = HAL_TEST_MANIFEST;
    options.choice.filters = filters;
    options.log = folder.log();
    options.stacks = false;
    options.jobs = 2;
    return options;
}

std::map<std::string, Judgement> judgements(const Log& log) {
    std::map<std::string, Judgement> result;
    for (const TestEvent& event : log.tests) {
        CHECK(result.count(event.id) == 0);
        result[event.id] = judgement_of(event, authority::S);
    }
    return result;
}

const TestEvent& event_of(const Log& log, const std::string& id) {
    for (const TestEvent& event : log.tests) {
        if (event.id == id) {
            return event;
        }
    }
    throw std::out_of_range(id);
}

// Every case but the one that costs ten seconds.
const std::map<std::string, Verdict> expected{
    {"45079.X.engine.norm.pass[n=1]", Verdict::pass},
    {"45079.X.engine.norm.pass[n=2]", Verdict::pass},
    {"45079.X.engine.norm.pass[n=3]", Verdict::pass},
    {"45079.X.engine.norm.fail", Verdict::fail},
    {"45079.X.engine.norm.no_check", Verdict::harness_error},
    {"45079.X.engine.norm.two_devices", Verdict::not_applicable},
    {"45079.X.engine.life.crash", Verdict::crash},
    {"45079.X.engine.life.exit0", Verdict::crash},
    {"45079.X.engine.life.throws", Verdict::crash},
    {"45079.X.engine.life.child", Verdict::fail},
    {"45079.X.engine.life.daemon", Verdict::fail},
    {"45079.X.engine.env.writes_out", Verdict::fail},
    {"45079.X.engine.env.writes_err", Verdict::quality},
    {"45079.X.engine.env.floods", Verdict::fail},
    {"45079.X.engine.env.closes_channel", Verdict::crash},
    {"45079.X.engine.env.garbage_on_channel", Verdict::fail},
    {"45079.X.engine.conc.inconclusive", Verdict::harness_error},
    {"45079.X.engine.conc.alone", Verdict::pass},
};

}  // namespace

TEST_CASE("each way to end a worker has its verdict, and spoils no other case") {
    for (const Isolation isolation : {Isolation::test, Isolation::interface}) {
        const Folder folder;
        RunOptions options = options_for(folder, {});
        options.isolation = isolation;
        options.choice.excludes = {"*hang", "*flaky"};
        if (isolation == Isolation::interface) {  // processes left behind count for the last case of a group
            options.choice.excludes.insert(options.choice.excludes.end(), {"*child", "*daemon"});
        }
        const Log log = run(options, {});
        const auto seen = judgements(log);
        INFO(name(isolation) << ": " << log.end->failure << (log.end->device_lost ? " device lost" : ""));
        for (const auto& [id, verdict] : expected) {
            INFO(id);
            if (seen.count(id) == 0) {
                CHECK(isolation == Isolation::interface);
                continue;
            }
            INFO(name(isolation) << " " << id << ": " << seen.at(id).reason);
            CHECK(name(seen.at(id).verdict) == name(verdict));
        }
        CHECK(seen.size() == log.begin.planned.size());
        CHECK_FALSE(log.end->interrupted);
        CHECK_FALSE(log.end->device_lost);
        CHECK(log.end->failure.empty());
    }
}

TEST_CASE("what is told of a dead worker: where it was, what it had found, how it ended") {
    const Folder folder;
    const Log log = run(options_for(folder, {"*crash", "*exit0", "*throws", "*floods"}), {});
    const auto seen = judgements(log);
    CHECK(seen.at("45079.X.engine.life.crash").reason == "died of SIGSEGV, in memory_copy_h2d");
    const Attempt& crash = event_of(log, "45079.X.engine.life.crash").attempts.at(0).at(0);
    REQUIRE(crash.record.findings.size() == 1);
    CHECK(crash.record.findings[0].what == "found before the crash");
    CHECK(seen.at("45079.X.engine.life.exit0").reason.find("the process left with status 0") != std::string::npos);
    CHECK(seen.at("45079.X.engine.life.throws").reason.find("initialize: an exception left an entry: over the wall") !=
          std::string::npos);
    const Attempt& flood = event_of(log, "45079.X.engine.env.floods").attempts.at(0).at(0);
    CHECK(flood.stdout_bytes == 64U << 20U);
    CHECK(flood.output.size() < 1U << 20U);
}

TEST_CASE("a worker that hangs is killed at its limit, and its entry is named") {
    const Folder folder;
    RunOptions options = options_for(folder, {"*hang", "*pass*"});
    options.timeout_mult = 0.1;
    options.stacks = true;
    const Log log = run(options, {});
    const auto seen = judgements(log);
    CHECK(seen.at("45079.X.engine.life.hang").verdict == Verdict::hang);
    CHECK(seen.at("45079.X.engine.life.hang").reason == "no end within the limit, in synchronize_event");
    CHECK_FALSE(event_of(log, "45079.X.engine.life.hang").attempts.at(0).at(0).ending.stacks.empty());
    CHECK(seen.at("45079.X.engine.norm.pass[n=1]").verdict == Verdict::pass);
}

TEST_CASE("an inconclusive case is tried three times") {
    const Folder folder;
    const Log log = run(options_for(folder, {"*inconclusive"}), {});
    CHECK(log.tests.at(0).attempts.at(0).size() == 3);
    CHECK(judgement_of(log.tests.at(0), authority::S).reason == "inconclusive each time: too slow");
}

TEST_CASE("repetitions have data of their own, and differing ones are flaky") {
    const Folder folder;
    RunOptions options = options_for(folder, {"*flaky"});
    options.repeat = 20;
    const Log log = run(options, {});
    CHECK(log.tests.at(0).attempts.size() == 20);
    CHECK(judgement_of(log.tests.at(0), authority::S).verdict == Verdict::flaky);

    const Folder second;
    options.log = second.log();
    options.until_fail = true;
    const Log until = run(options, {});
    CHECK(until.tests.at(0).attempts.size() < 20);
    CHECK(bad(judge(authority::S, until.tests.at(0).attempts.back()).verdict));
}

TEST_CASE("the log on the disk says what the run said") {
    const Folder folder;
    const Log log = run(options_for(folder, {"*pass*", "*fail", "*two_devices"}), {});
    const Log again = read_log(folder.log());
    CHECK(again.begin.planned == log.begin.planned);
    CHECK(again.begin.run.seed == log.begin.run.seed);
    CHECK(again.begin.target.library_sha256.size() == 64);
    CHECK(again.facts->facts.present == log.facts->facts.present);
    CHECK(again.facts->identity.name == "skeleton");
    REQUIRE(again.tests.size() == log.tests.size());
    const auto left = judgements(log);
    const auto right = judgements(again);
    for (const auto& [id, judgement] : left) {
        CHECK(right.at(id).verdict == judgement.verdict);
        CHECK(right.at(id).reason == judgement.reason);
    }
    CHECK(event_of(again, "45079.X.engine.norm.pass[n=1]").attempts.at(0).at(0).metrics.at(0).value == 42);
    CHECK(again.end.has_value());
    CHECK_THROWS_AS(run(options_for(folder, {"*pass*"}), {}), LogError);  // nothing is overwritten
}

TEST_CASE("a full disk ends the run, and says so") {
    const Folder folder;
    RunOptions options = options_for(folder, {});
    options.choice.excludes = {"*hang"};
    signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    Progress progress;
    progress.begun = [&](const BeginEvent&, const FactsEvent&) {  // room for less than one more line
        const rlimit small{fs::file_size(folder.log()) + 20, before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &small);
    };
    const Log log = run(options, progress);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    CHECK(log.end->failure.find("cannot write " + folder.log().string()) != std::string::npos);
    CHECK(log.tests.size() < log.begin.planned.size());
}

TEST_CASE("an interrupted run ends with what ran") {
    const Folder folder;
    RunOptions options = options_for(folder, {});
    options.choice.excludes = {"*hang"};
    options.jobs = 1;
    Progress progress;
    progress.tested = [](const TestEvent&, const Judgement&, size_t done, size_t) {
        if (done == 2) {
            interrupt_run();
        }
    };
    const Log log = run(options, progress);
    CHECK(log.end->interrupted);
    CHECK(log.tests.size() == 2);
    CHECK(read_log(folder.log()).end->interrupted);
}

TEST_CASE("--fail-fast stops at the first bad case") {
    const Folder folder;
    RunOptions options = options_for(folder, {"*fail", "*pass*", "*crash"});
    options.fail_fast = true;
    options.jobs = 1;
    const Log log = run(options, {});
    CHECK(bad(judgement_of(log.tests.back(), authority::S).verdict));
    for (size_t i = 0; i + 1 < log.tests.size(); ++i) {
        CHECK_FALSE(bad(judgement_of(log.tests[i], authority::S).verdict));
    }
}

TEST_CASE("no order loses a case, and what must run alone comes last") {
    Choice choice;
    const auto all = choose(choice);
    std::set<std::vector<std::string>> orders;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        auto shuffled = all;
        shuffle(shuffled, seed);
        std::vector<std::string> order;
        std::set<std::string> ids;
        for (const Instance& instance : shuffled) {
            order.push_back(instance.id);
            ids.insert(instance.id);
        }
        CHECK(ids.size() == all.size());
        CHECK(shuffled.back().origin->exclusive);
        orders.insert(order);
    }
    CHECK(orders.size() > 15);
}

TEST_CASE("shards share all cases without overlap") {
    Choice choice;
    choice.shards = 3;
    std::multiset<std::string> ids;
    for (choice.shard = 0; choice.shard < 3; ++choice.shard) {
        for (const Instance& instance : choose(choice)) {
            ids.insert(instance.id);
        }
    }
    CHECK(ids.size() == choose(Choice{}).size());
    CHECK(std::set<std::string>(ids.begin(), ids.end()).size() == ids.size());
}

TEST_CASE("words that select nothing are refused with the nearest ids") {
    Choice choice;
    choice.filters = {"*pass*", "45079.X.engine.life.crush"};
    CHECK_THROWS_WITH(choose(choice),
                      Catch::Contains("'45079.X.engine.life.crush'") && Catch::Contains("45079.X.engine.life.crash"));
    choice.filters = {"*pass*"};
    choice.categories = {"stress"};
    CHECK_THROWS_AS(choose(choice), NoMatch);
}

TEST_CASE("a plug-in that cannot be used is named with the reason") {
    const Folder folder;
    RunOptions options = options_for(folder, {});
    options.manifest = "/nowhere/manifest.json";
    CHECK_THROWS_AS(run(options, {}), LoadError);
}
