#include "group.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "signals_blocked.hpp"

namespace hal::xccl {
namespace {

thread_local std::map<uint64_t, Group> groups;  // by engine

void join_all(const std::vector<std::function<void()>>& joins) {
    std::mutex mutex;
    std::exception_ptr first;
    const auto join = [&](const std::function<void()>& one) {
        try {
            one();
        } catch (...) {
            const std::lock_guard lock(mutex);
            first = first ? first : std::current_exception();
        }
    };
    std::vector<std::thread> threads;
    {
        const shared::SignalsBlocked blocked;
        for (size_t i = 1; i < joins.size(); ++i) {
            threads.emplace_back([&, i] { join(joins[i]); });
        }
    }
    if (!joins.empty()) {
        join(joins[0]);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    if (first) {
        std::rethrow_exception(first);
    }
}

}  // namespace

namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T>& from) {
    std::move(from.begin(), from.end(), std::back_inserter(to));
}

}  // namespace

void Group::add(Part part) {
    const auto known = std::find_if(parts.begin(), parts.end(),
                                    [&](const Part& one) { return one.communicator == part.communicator; });
    if (known == parts.end()) {
        parts.push_back(std::move(part));
    } else {
        Communicator::Issue& issue = known->issue;
        for (const hal_stream stream : part.issue.streams) {
            if (std::find(issue.streams.begin(), issue.streams.end(), stream) == issue.streams.end()) {
                issue.streams.push_back(stream);
            }
        }
        append(issue.operations, part.issue.operations);
        append(issue.messages, part.issue.messages);
    }
}

void Group::run() {
    if (error) {
        throw sdk::Error(*error);
    }
    join_all(joins);
    for (Part& part : parts) {
        part.communicator->issue(std::move(part.issue));
    }
}

Group* current_group(uint64_t engine) noexcept {
    const auto found = groups.find(engine);
    return found == groups.end() ? nullptr : &found->second;
}

void start_group(uint64_t engine) {
    ++groups[engine].depth;
}

std::optional<Group> end_group(uint64_t engine) {
    const auto found = groups.find(engine);
    if (found == groups.end()) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT,
                         "xccl_group_end without an xccl_group_start of this thread; groups are per thread");
    }
    if (--found->second.depth != 0) {
        return std::nullopt;
    }
    Group group = std::move(found->second);
    groups.erase(found);
    return group;
}

}  // namespace hal::xccl
