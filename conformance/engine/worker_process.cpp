#include "worker_process.hpp"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <thread>

#include "coordinator.hpp"
#include "events_json.hpp"
#include "stacks.hpp"

namespace hal::conformance {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

namespace {

std::chrono::milliseconds left(Clock::time_point end) {
    return std::max(std::chrono::milliseconds(0),
                    std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()));
}

}  // namespace

WorkerProcess::WorkerProcess(const Target& target) {
    process_.channel().send(json{{"open", {{"manifest", target.manifest.string()}, {"options", target.options}}}});
}

struct WorkerProcess::Seen {
    std::optional<json> answer;
    std::vector<Finding> findings;
    uint64_t garbage = 0;  // messages that are none of the worker's
    std::string fault;     // of the worker itself
    std::optional<Ending> ending;
};

// False when there will be no more.
bool WorkerProcess::take_message(Seen& seen, const char* wanted) {
    std::optional<json> message;
    try {
        message = process_.channel().receive();
    } catch (const json::exception&) {
        seen.findings.push_back(
            {"", "a file descriptor that is not the plug-in's", "untouched", "written to", authority::A});
        ++seen.garbage;
        return true;
    }
    if (!message) {
        return false;
    }
    if (message->contains("finding")) {
        seen.findings.push_back(message->at("finding").get<Finding>());
    } else if (message->contains("refused")) {
        refused_ = message->at("refused").get<std::string>();
    } else if (message->contains("fault")) {
        seen.fault = message->at("fault").get<std::string>();
    } else if (coordinator_ != nullptr && take_word_of_rank(*message)) {
        return true;
    } else if (message->contains(wanted)) {
        dies_ = message->contains("dies");
        seen.answer = std::move(message);
    }
    return true;
}

// What it says to the other ranks, or what it wants done to itself.
bool WorkerProcess::take_word_of_rank(const json& message) {
    if (message.contains("exchange")) {
        coordinator_->said(rank_, message.at("exchange").get<std::string>());
    } else if (message.contains("stop_ms")) {
        kill(process_.id(), SIGSTOP);
        std::this_thread::sleep_for(std::chrono::milliseconds(message.at("stop_ms").get<int64_t>()));
        kill(process_.id(), SIGCONT);
        process_.channel().send({{"continued", true}});
    } else {
        return false;
    }
    return true;
}

Ending WorkerProcess::hung(bool stacks) {
    Ending ending{Ending::Kind::limit, 0, process_.position(), stacks ? stacks_of(process_.id()) : std::string()};
    if (coordinator_ != nullptr) {
        coordinator_->about_to_kill(rank_);
    }
    process_.kill_group();
    (void)process_.gone();
    return ending;
}

WorkerProcess::Seen WorkerProcess::ask(const json& message, const char* wanted, std::chrono::milliseconds limit,
                                       bool stacks) {
    Seen seen;
    process_.channel().send(message);
    const auto end = Clock::now() + limit;
    int channel = process_.channel().fd();
    while (!seen.answer && !seen.ending) {
        std::array<pollfd, 4> waits{{{channel, POLLIN, 0},
                                     {process_.out().fd(), POLLIN, 0},
                                     {process_.err().fd(), POLLIN, 0},
                                     {process_.end_fd(), POLLIN, 0}}};
        if (poll(waits.data(), waits.size(), static_cast<int>(left(end).count())) < 0 && errno != EINTR) {
            throw std::system_error(errno, std::generic_category(), "poll");
        }
        process_.take_output();
        if (waits[0].revents != 0) {  // before the look at the process: what it said before it died counts
            channel = take_message(seen, wanted) ? channel : -1;
        } else if (waits[3].revents != 0) {
            seen.ending = process_.gone();
        } else if (left(end).count() == 0) {
            seen.ending = hung(stacks);
        }
        close_finished_pipes(waits[1].revents, waits[2].revents);
    }
    return seen;
}

// A pipe whose writers are gone is always ready: it is looked at no more.
void WorkerProcess::close_finished_pipes(short out_events, short err_events) {
    if ((out_events & POLLHUP) != 0) {
        process_.out().finish();
    }
    if ((err_events & POLLHUP) != 0) {
        process_.err().finish();
    }
}

Attempt WorkerProcess::run(const CaseJob& job) {
    const auto begin = Clock::now();
    process_.out().forget();
    process_.err().forget();
    const Seen seen = ask(json{{"case", job.id},
                               {"seed", job.seed},
                               {"timeout_mult", job.timeout_mult},
                               {"facts", *job.facts},
                               {"rank", rank_},
                               {"ranks", ranks_},
                               {"place", place_}},
                          "end", job.limit, job.stacks);
    if (dies_) {  // whoever hears that it is gone may rely on it
        (void)process_.leaves();
    }
    Attempt attempt = attempt_of(seen);
    attempt.ms =
        static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count());
    process_.take_output();  // what it wrote before its last message
    note_traces(attempt);
    return attempt;
}

Attempt WorkerProcess::attempt_of(const Seen& seen) const {
    Attempt attempt;
    if (seen.answer) {
        attempt.record = seen.answer->at("end").get<Record>();
        attempt.metrics = seen.answer->at("metrics").get<std::vector<Metric>>();
        attempt.meters = seen.answer->at("meters").get<std::map<std::string, int64_t>>();
        if (seen.garbage != 0) {
            attempt.record.findings = seen.findings;
            attempt.record.checks_bad[static_cast<size_t>(authority::A)] += seen.garbage;
        }
    } else {
        attempt.ending = *seen.ending;
        attempt.record.findings = seen.findings;
        for (const Finding& finding : seen.findings) {
            ++attempt.record.checks_bad[static_cast<size_t>(finding.authority)];
        }
        const std::string fault = refused_ ? "the library cannot be opened again: " + *refused_ : seen.fault;
        if (!fault.empty()) {
            attempt.ending = Ending{Ending::Kind::refused, 0, fault, {}};
        }
    }
    return attempt;
}

// What the process has written and left behind since the case began.
void WorkerProcess::note_traces(Attempt& attempt) const {
    attempt.stdout_bytes = process_.out().bytes();
    attempt.stderr_bytes = process_.err().bytes();
    attempt.output = process_.out().text() + process_.err().text();
    attempt.children_left = process_.children_left();
}

FactsEvent WorkerProcess::introduce(std::chrono::milliseconds limit) {
    const Seen seen = ask(json{{"introduce", true}}, "introduction", limit, true);
    if (seen.answer) {
        return seen.answer->at("introduction").get<FactsEvent>();
    }
    if (refused_) {
        throw LoadError(*refused_);
    }
    if (!seen.fault.empty()) {
        throw LoadError("the plug-in cannot be asked what it offers: " + seen.fault);
    }
    const Judgement how = judge(authority::A, std::array{Attempt{*seen.ending, {}, 0, 0, {}, 0, {}, {}, 0}});
    throw LoadError("the plug-in cannot be asked what it offers: while it was opened and asked, " + how.reason +
                    (seen.ending->stacks.empty() ? "" : "\n" + seen.ending->stacks) +
                    (process_.err().bytes() == 0 ? "" : "\nIt wrote: " + process_.err().text().substr(0, 2000)));
}

bool WorkerProcess::probe(std::chrono::milliseconds limit) {
    const Seen seen = ask(json{{"probe", true}}, "healthy", limit, false);
    return seen.answer && seen.answer->at("healthy").get<bool>();
}

void WorkerProcess::join(Coordinator& coordinator, size_t rank, size_t ranks, int place) {
    coordinator.join(rank, process_.channel());
    coordinator_ = &coordinator;
    rank_ = rank;
    ranks_ = ranks;
    place_ = place;
}

bool WorkerProcess::meet(std::chrono::milliseconds limit) {
    const Seen seen = ask(json{{"meet", true}, {"rank", rank_}, {"ranks", ranks_}}, "met", limit, false);
    return seen.answer && seen.answer->at("met").get<bool>();
}

void WorkerProcess::end(Attempt& last) {
    if (process_.alive()) {
        process_.dismiss();
        if (!process_.leaves()) {
            last.ending =
                Ending{Ending::Kind::limit, 0, "leaving the process, after the case", stacks_of(process_.id())};
            process_.kill_group();
        }
        const Ending how = process_.gone();
        const bool well = dies_ ? how.kind == Ending::Kind::signalled && how.code == SIGKILL
                                : how.kind == Ending::Kind::exited && how.code == 0;
        if (last.ending.kind == Ending::Kind::end && !well) {
            last.ending = how;
            last.ending.text = "the end of the process, after the case";
        }
    }
    note_traces(last);
}

}  // namespace hal::conformance
