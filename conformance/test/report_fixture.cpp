#include "report_fixture.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "engine/digest.hpp"
#include "report/folder.hpp"

namespace hal::conformance {

namespace fs = std::filesystem;

SmallCatalogue& SmallCatalogue::add(std::string_view id, enum authority authority,
                                    std::initializer_list<NeedGroup> needed, std::initializer_list<over> axes) {
    Case one;
    one.id = id;
    one.file = "small.cpp";
    one.line = static_cast<int>(cases_.size()) + 1;
    one.clauses = {"45079/T2.7"};
    one.authority = authority;
    one.needs = needs(needed).list;
    one.axes = axes;
    cases_.push_back(std::move(one));
    return *this;
}

Catalogue SmallCatalogue::catalogue() const {
    Catalogue catalogue;
    catalogue.hash = "0123456789abcdef";
    for (const Case& one : cases_) {
        auto some = expand(one);
        std::move(some.begin(), some.end(), std::back_inserter(catalogue.instances));
    }
    std::sort(catalogue.instances.begin(), catalogue.instances.end(),
              [](const Instance& a, const Instance& b) { return a.id < b.id; });
    return catalogue;
}

Attempt good_attempt() {
    Attempt attempt;
    attempt.record.checks_ok = 3;
    attempt.ms = 7;
    return attempt;
}

Attempt bad_attempt(enum authority authority, std::string what) {
    Attempt attempt = good_attempt();
    attempt.record.checks_bad[static_cast<size_t>(authority)] = 1;
    attempt.record.findings.push_back({"small.cpp:9", std::move(what), "0x17", "0x00", authority});
    return attempt;
}

LogMaker::LogMaker(const Catalogue& catalogue) : catalogue_(catalogue) {
    log.begin.time = "2026-03-01T10:00:00.000Z";
    log.begin.suite = {"0.1.0", catalogue.hash, "gcc 12, release"};
    log.begin.target = {"acme.npu",           "/opt/acme/50-acme.npu.json",
                        std::string(64, 'a'), "/opt/acme/libacme.so",
                        std::string(64, 'b'), {{"devices", "2"}}};
    log.begin.host = {{"system", "Linux 6.1"}, {"cpu", "a cpu"}};
    log.begin.run.command = {"hal-conformance", "run", "--manifest", "50-acme.npu.json"};
    log.begin.run.seed = 0x5EED;
    log.begin.run.isolation = "test";
    log.begin.run.profile = "full";
    log.begin.planned = catalogue.ids();
    FactsEvent facts;
    facts.facts.device_count = 2;
    for (const TableInfo& table : tables) {
        for (size_t i = table.first; table.id <= 5 && i < table.first + table.count; ++i) {
            facts.facts.present.set(i);
            facts.facts.claimed.emplace(entries[i].name);
        }
    }
    facts.facts.ops = {"matmul"};
    facts.identity = {"Acme NPU", "acme", "3.1", "b42", "1.0", {}, {{"npu-910b", "910b", "5.2.0", "5.2.0", "9.1 da"}}};
    log.facts = facts;
}

LogMaker& LogMaker::test(const std::string& id, Verdict verdict, enum authority broken) {
    TestEvent event;
    event.id = id;
    event.seed = log.begin.run.seed;
    event.time = log.begin.time;
    event.ms = 12;
    const auto ended = [&](Ending ending) {
        Attempt attempt;
        attempt.ending = std::move(ending);
        return attempt;
    };
    switch (verdict) {
        case Verdict::pass:
            event.attempts = {{good_attempt()}};
            break;
        case Verdict::quality:
            event.attempts = {{bad_attempt(authority::Q)}};
            break;
        case Verdict::flaky:
            event.attempts = {{good_attempt()}, {bad_attempt(broken)}};
            break;
        case Verdict::fail:
            event.attempts = {{bad_attempt(broken)}};
            break;
        case Verdict::hang:
            event.attempts = {
                {ended({Ending::Kind::limit, 0, "synchronize_event", "#0 acme_wait at wait.c:17\n#1 main"})}};
            break;
        case Verdict::crash:
            event.attempts = {{ended({Ending::Kind::signalled, 11, "memory_copy_h2d", ""})}};
            break;
        case Verdict::harness_error:
            event.attempts = {{Attempt{}}};  // no check
            break;
        case Verdict::blocked:
        case Verdict::not_run:
            event.not_run = Judgement{verdict, verdict == Verdict::blocked, "a case before it failed"};
            break;
        default:
            event.not_run = not_applicable(*catalogue_.find(id), log.facts->facts);
    }
    log.tests.push_back(std::move(event));
    return *this;
}

LogMaker& LogMaker::pass_all() {
    for (const std::string& id : log.begin.planned) {
        const bool there =
            std::any_of(log.tests.begin(), log.tests.end(), [&](const TestEvent& one) { return one.id == id; });
        if (!there) {
            const bool applies = !not_applicable(*catalogue_.find(id), log.facts->facts);
            test(id, applies ? Verdict::pass : Verdict::not_applicable);
        }
    }
    return *this;
}

namespace {

void add_figures(LogMaker& maker) {
    for (const auto& [size, ns] : {std::pair{"8", 900.0}, std::pair{"4096", 1400.0}, std::pair{"1048576", 52000.0}}) {
        TestEvent event;
        event.id = std::string("perf.copy.h2d[size=") + size + "]";
        event.attempts = {{good_attempt()}};
        event.attempts[0][0].metrics = {{"median", ns, "ns"}, {"p5", ns * 0.9, "ns"}, {"p95", ns * 1.1, "ns"}};
        maker.log.tests.push_back(event);
    }
}

// What a plug-in may write to break a page, a terminal or a parser.
void add_hostile_texts(LogMaker& maker) {
    TestEvent event;
    event.id = "45079.T2.memory_copy_d2h.norm.full";
    event.attempts = {
        {bad_attempt(authority::S, "<script>alert('x')</script> ]]> & \"quotes\" | `tick` {{mustache}}")}};
    event.attempts[0][0].output = "raw \xff\xfe bytes, \x1b[31mred\x1b[0m, a bell \a and \xe4\xb8\xad\xe6\x96\x87\n";
    event.attempts[0][0].stderr_bytes = 40;
    maker.log.tests.push_back(event);
    maker.log.facts->identity.name = "Acme <b>NPU</b> \xff";
}

constexpr const char* waiver_text = R"([[waiver]]
id = "acme-0017"
tests = "45079.T3.stream_add_callback.order.after_prior_work[src=*]"
verdict = "FAIL"
message = "callback before copy"
vendor = "acme"
device = "npu-910*"
driver = ">=5.1,<5.4"
reason = "firmware reorders peer copies"
tracker = "https://bugs.example/17"
owner = "A. Person <a@example>"
created = 2026-02-01
expires = 2026-07-01
)";

}  // namespace

std::unique_ptr<RichReport> rich_report() {
    auto rich = std::make_unique<RichReport>();
    SmallCatalogue& cases = rich->cases;
    for (const EntryInfo& entry : entries) {
        if (table_of(entry).id <= 5) {
            const std::string table = "45079.T" + std::to_string(table_of(entry).id);
            const auto own = static_cast<E>(&entry - entries.data());
            cases.add(rich->ids.emplace_back(table + "." + std::string(entry.name) + ".norm.works"), authority::S,
                      {own}, {over("size", {"1", "4097"})});
        }
    }
    cases.add("45079.T1.set_device.sig.present", authority::S)
        .add("45079.T2.memory_copy_h2d.norm.full", authority::S, {E::memory_copy_h2d})
        .add("45079.T2.memory_copy_d2h.norm.full", authority::S, {E::memory_copy_d2h})
        .add("45079.T2.memory_copy_d2d.err.bad_device", authority::A, {E::memory_copy_d2d})
        .add("45079.T2.memory_copy_p2p.norm.full", authority::S, {E::memory_copy_p2p, devices(9)})
        .add("45079.T2.async_memory_copy_h2d.norm.returns_at_once", authority::Q, {E::async_memory_copy_h2d})
        .add("45079.T3.create_stream.leak.trend", authority::D, {E::create_stream})
        .add("45079.T3.stream_add_callback.order.after_prior_work", authority::S, {E::stream_add_callback},
             {over("src", {"d2d", "p2p"})})
        .add("45079.T3.stream_wait_event.order.blocks_consumer", authority::S, {E::stream_wait_event})
        .add("45079.T4.synchronize_event.order.blocks_while_gate_closed", authority::S, {E::synchronize_event})
        .add("45079.T4.query_event.norm.ready", authority::S, {E::query_event})
        .add("45079.T7.graph_engine_execute.norm.equals_interpreter", authority::S, {E::graph_engine_execute})
        .add("45079.T10.xccl_all_reduce.num.exact", authority::S, {E::xccl_all_reduce})
        .add("45079.X.life.exit_return.life.code", authority::A)
        .add("45079.X.env.locale.env.unchanged", authority::A)
        .add("46345.A6.c_usage_falls", authority::S)
        .add("perf.copy.h2d", authority::A, {E::memory_copy_h2d}, {over("size", {"8", "4096", "1048576"})});
    rich->catalogue = cases.catalogue();
    LogMaker maker(rich->catalogue);
    maker.test("45079.T2.memory_copy_h2d.norm.full", Verdict::crash)
        .test("45079.T2.memory_copy_d2d.err.bad_device", Verdict::fail, authority::A)
        .test("45079.T2.async_memory_copy_h2d.norm.returns_at_once", Verdict::quality)
        .test("45079.T3.create_stream.leak.trend", Verdict::flaky, authority::D)
        .test("45079.T3.stream_wait_event.order.blocks_consumer", Verdict::blocked)
        .test("45079.T4.synchronize_event.order.blocks_while_gate_closed", Verdict::hang)
        .test("45079.T4.query_event.norm.ready", Verdict::harness_error);
    for (const char* source : {"d2d", "p2p"}) {
        TestEvent waived;
        waived.id = std::string("45079.T3.stream_add_callback.order.after_prior_work[src=") + source + "]";
        waived.attempts = {{bad_attempt(authority::S, "callback before copy")}};
        maker.log.tests.push_back(waived);
    }
    add_hostile_texts(maker);
    add_figures(maker);
    maker.pass_all().end();
    std::erase_if(maker.log.tests, [](const TestEvent& one) { return one.id == "45079.X.env.locale.env.unchanged"; });
    rich->log = maker.log;
    rich->evidence.waivers = parse_waivers(waiver_text, "waivers.toml");
    rich->evidence.power = Power{rich->catalogue.hash,
                                 {{"null.all", "45079.T2.memory_copy_h2d.norm.full", "FAIL", true},
                                  {"event.early", "45079.T4.record_event.order.not_early", "FAIL", true}},
                                 {"odd.bursts"},
                                 {}};
    return rich;
}

void write_log(const fs::path& folder, const Log& log, const Evidence& evidence) {
    fs::create_directories(folder);
    LogWriter writer(folder / names::events);
    writer.add(log.begin);
    if (log.facts) {
        writer.add(*log.facts);
    }
    for (const TestEvent& event : log.tests) {
        writer.add(event);
    }
    if (log.end) {
        writer.add(*log.end);
    }
    if (!evidence.waivers.text.empty()) {
        std::ofstream(folder / names::waivers) << evidence.waivers.text;
    }
    if (evidence.power) {
        std::ofstream(folder / names::selftest) << nlohmann::json(*evidence.power).dump(1);
    }
}

ReportFolder::ReportFolder(const Log& log, const Catalogue& catalogue, const Evidence& evidence)
    : TempFolder("report") {
    write_log(path(), log, evidence);
    write_folder(path(), build(read_log(path() / names::events), catalogue, read_evidence(path())),
                 {"json", "junit", "html", "md", "tap"});
}

std::string ReportFolder::read(const std::string& file) const {
    std::ifstream stream(path() / file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

void ReportFolder::write(const std::string& file, const std::string& text) const {
    std::ofstream(path() / file, std::ios::binary | std::ios::trunc) << text;
}

void ReportFolder::edit(const std::string& file, const std::string& from, const std::string& to) const {
    std::string text = read(file);
    const size_t place = text.find(from);
    if (place == std::string::npos) {
        throw std::runtime_error(file + " does not hold " + from);
    }
    write(file, text.replace(place, from.size(), to));
}

void ReportFolder::renew_sums() const {
    std::string text;
    for (const auto& entry : fs::recursive_directory_iterator(path())) {
        const std::string file = entry.path().lexically_relative(path()).generic_string();
        if (entry.is_regular_file() && file != names::sums) {
            text += sha256_of_file(entry.path()) + "  " + file + "\n";
        }
    }
    write(names::sums, text);
}

}  // namespace hal::conformance
