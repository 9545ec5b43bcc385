// Free blocks by size: two-level segregated lists (TLSF), constant time to add, remove and find.
// Sizes below 32 granules have a list each, larger ones 32 lists per power of two, so a fit is within 3 % of the best
// one. No link lies in device memory: other processes map that, and free pages must stay untouched.
#pragma once

#include <array>
#include <cstdint>

#include "block_map.hpp"

namespace hal::cpu {

class FreeLists {
  public:
    static constexpr uint32_t none = UINT32_MAX;

    explicit FreeLists(BlockMap& map) : map_(map) { heads_.fill(none); }

    void add(uint32_t start, uint32_t granules) noexcept;
    void remove(uint32_t start, uint32_t granules) noexcept;

    // The start of a block of at least `granules`, still in its list, or none.
    [[nodiscard]] uint32_t find(uint32_t granules) const noexcept;

    // The largest block (to within its list), or none.
    [[nodiscard]] uint32_t find_largest() const noexcept;

    // Calls f(start) for the free blocks, the lists of large ones first, until f returns false. f must not change the
    // lists.
    template <class F>
    void for_each_largest_first(F&& f) const {
        for (uint32_t index = list_count; index-- > 0;) {
            for (uint32_t start = heads_[index]; start != none; start = map_.links(start).next) {
                if (!f(start)) {
                    return;
                }
            }
        }
    }

  private:
    static constexpr uint32_t lists_per_row = 32;
    static constexpr uint32_t row_count = 28;  // row 0: one list a size; row r: sizes of r + 5 bits
    static constexpr uint32_t list_count = row_count * lists_per_row;

    static uint32_t list_of(uint32_t granules) noexcept;
    [[nodiscard]] uint32_t first_list_from(uint32_t list) const noexcept;
    [[nodiscard]] uint32_t scan(uint32_t list, uint32_t granules, uint32_t most) const noexcept;

    BlockMap& map_;
    std::array<uint32_t, list_count> heads_;
    std::array<uint32_t, row_count> used_lists_{};  // of each row, a bit per list that is not empty
    uint32_t used_rows_ = 0;
};

}  // namespace hal::cpu
