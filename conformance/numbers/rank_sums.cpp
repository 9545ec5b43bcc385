#include "rank_sums.hpp"

#include <cmath>
#include <sstream>

namespace hal::conformance {

// n - 1 additions, in any order, each of which rounds; the result may round once more where it was kept wider.
RankSums rank_sums(const Element& type, int ranks, uint64_t count, const Random& random) {
    RankSums sums{type, std::vector<std::vector<Real>>(static_cast<size_t>(ranks)), {}, {}};
    const Real u = unit_roundoff(type);
    for (uint64_t i = 0; i < count; ++i) {
        Real sum = 0;
        for (auto& given : sums.given) {
            const Real fraction = static_cast<Real>(random() >> 11U) * 0x1p-53L;
            given.push_back(rounded(type, 1 + fraction));
            sum += given.back();
        }
        sums.expected.push_back(sum);
        sums.allowed.push_back((static_cast<Real>(ranks) - 1) * u * sum + u * sum);
    }
    return sums;
}

std::optional<std::string> judge_sums(const RankSums& sums, uint64_t first, const std::vector<uint8_t>& got) {
    const uint64_t count = got.size() / sums.type.bytes();
    if (got.size() % sums.type.bytes() != 0 || first + count > sums.expected.size()) {
        return "a result of " + std::to_string(got.size()) + " bytes";
    }
    for (uint64_t i = 0; i < count; ++i) {
        const Real value = decode(sums.type, got.data() + i * sums.type.bytes());
        const Real expected = sums.expected[first + i];
        const Real allowed = sums.allowed[first + i];
        if (!(std::abs(value - expected) <= allowed)) {  // NaN too
            std::ostringstream text;
            text.precision(12);
            text << "element " << i << " is " << value << " instead of " << expected << ", which is further than "
                 << allowed;
            return text.str();
        }
    }
    return std::nullopt;
}

}  // namespace hal::conformance
