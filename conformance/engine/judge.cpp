#include "judge.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

namespace hal::conformance {
namespace {

Judgement suite_fault(std::string reason) {
    return {Verdict::harness_error, false, std::move(reason)};
}

std::string in(const Ending& ending) {
    return ending.text.empty() ? "" : ", in " + ending.text;
}

std::string signal_name(int signal) {
    const char* name = sigabbrev_np(signal);
    return name == nullptr ? "signal " + std::to_string(signal) : std::string("SIG") + name;
}

bool of_standard(enum authority authority) {
    return authority == authority::S || authority == authority::D;
}

std::string summary(const Record& record) {
    if (record.findings.empty()) {
        return std::to_string(record.bad()) + " checks failed";
    }
    const Finding& first = record.findings.front();
    std::string text = first.what + ": expected " + first.expected + ", got " + first.got;
    return record.bad() == 1 ? text : text + " (and " + std::to_string(record.bad() - 1) + " more)";
}

// A case that came to its end.
Judgement by_checks(const Attempt& attempt) {
    const Record& record = attempt.record;
    if (!record.harness_error.empty()) {
        return suite_fault(record.harness_error);
    }
    if (!record.inconclusive.empty()) {
        return suite_fault("inconclusive each time: " + record.inconclusive);
    }
    const auto bad = [&](enum authority a) { return record.checks_bad[static_cast<size_t>(a)] != 0; };
    if (bad(authority::S) || bad(authority::D) || bad(authority::A)) {
        return {Verdict::fail, bad(authority::S) || bad(authority::D), summary(record)};
    }
    if (attempt.stdout_bytes != 0) {
        return {Verdict::fail, false,
                "the plug-in wrote " + std::to_string(attempt.stdout_bytes) +
                    " bytes to standard output, which belongs to the application"};
    }
    if (attempt.children_left != 0) {
        return {Verdict::fail, false,
                "the plug-in left " + std::to_string(attempt.children_left) + " processes behind"};
    }
    if (bad(authority::Q)) {
        return {Verdict::quality, false, summary(record)};
    }
    if (attempt.stderr_bytes != 0) {
        return {Verdict::quality, false,
                "the plug-in wrote " + std::to_string(attempt.stderr_bytes) +
                    " bytes to standard error instead of logging through hal_host.log"};
    }
    return record.checks_ok == 0 ? suite_fault("the case made no check") : Judgement{};
}

}  // namespace

std::optional<Judgement> not_applicable(const Instance& instance, const Facts& facts) {
    const EntryInfo* own = entry_of(instance.origin->id);
    std::optional<std::string> first;
    for (const Need& need : instance.needs) {
        auto reason = unmet(need, facts);
        if (!reason) {
            continue;
        }
        // The absence of the entry itself is said before the absence of what else the case would use.
        if ((need.kind == Need::Kind::entry || need.kind == Need::Kind::offered) && own != nullptr &&
            entries[need.value].name == own->name) {
            return mandatory(*own) ? Judgement{Verdict::blocked, of_standard(instance.origin->authority),
                                               "the required entry is absent"}
                                   : Judgement{Verdict::not_implemented, false, "the entry is absent"};
        }
        if (!first) {
            first = std::move(reason);
        }
    }
    return first ? std::optional(Judgement{Verdict::not_applicable, false, std::move(*first)}) : std::nullopt;
}

Judgement judge(enum authority authority, std::span<const Attempt> attempts) {
    if (attempts.empty()) {
        return {Verdict::not_run, false, "not run"};
    }
    const Attempt& last = attempts.back();
    const bool standard = of_standard(authority);
    switch (last.ending.kind) {
        case Ending::Kind::end:
            return by_checks(last);
        case Ending::Kind::exited:
            return {Verdict::crash, standard,
                    "the process left with status " + std::to_string(last.ending.code) + in(last.ending) +
                        "; a plug-in must never end the host's process"};
        case Ending::Kind::signalled:
            return {Verdict::crash, standard, "died of " + signal_name(last.ending.code) + in(last.ending)};
        case Ending::Kind::limit:
            return {Verdict::hang, standard, "no end within the limit" + in(last.ending)};
        case Ending::Kind::refused:
            return suite_fault(last.ending.text);
    }
    return suite_fault("an attempt ended in no known way");
}

Judgement repeated(std::span<const Judgement> each) {
    if (each.empty()) {
        return {Verdict::not_run, false, "not run"};
    }
    Judgement worst = *std::max_element(each.begin(), each.end(),
                                        [](const Judgement& a, const Judgement& b) { return a.verdict < b.verdict; });
    const auto count = [&](Verdict verdict) {
        return std::count_if(each.begin(), each.end(), [&](const Judgement& one) { return one.verdict == verdict; });
    };
    const auto passed = count(Verdict::pass);
    if (!bad(worst.verdict) || passed == 0) {
        return worst;
    }
    std::string outcomes;
    for (size_t i = 0; i < verdict_count; ++i) {
        if (const auto times = count(static_cast<Verdict>(i)); times != 0) {
            outcomes += (outcomes.empty() ? "" : ", ") + std::to_string(times) + " " +
                        std::string(name(static_cast<Verdict>(i)));
        }
    }
    return {Verdict::flaky, worst.breaks_standard, outcomes + " of the same case; the worst: " + worst.reason};
}

}  // namespace hal::conformance
