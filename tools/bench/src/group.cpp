#include <algorithm>

#include "benchmark.hpp"

namespace hal::bench {
namespace {

// Inside a function, so that it exists before the first registration of any file.
std::vector<Group>& registered() {
    static std::vector<Group> list;
    return list;
}

}  // namespace

Registration::Registration(const Group& group) {
    registered().push_back(group);
}

std::vector<Group> groups() {
    auto list = registered();
    std::sort(list.begin(), list.end(), [](const Group& a, const Group& b) { return a.name < b.name; });
    return list;
}

}  // namespace hal::bench
