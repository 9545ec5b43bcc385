#include "power.hpp"

#include <set>

namespace hal::conformance {

size_t Power::mutants() const {
    std::set<std::string_view> names;
    for (const Pair& pair : pairs) {
        names.insert(pair.mutant);
    }
    return names.size();
}

std::vector<std::string> Power::survivors() const {
    std::set<std::string> names;
    for (const Pair& pair : pairs) {
        if (!pair.killed) {
            names.insert(pair.mutant);
        }
    }
    return {names.begin(), names.end()};
}

}  // namespace hal::conformance
