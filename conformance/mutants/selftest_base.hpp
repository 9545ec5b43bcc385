// The overlay and the back ends that it stands on: how a mutant is started, and what there is to be wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "catalogue.hpp"
#include "jobs.hpp"

namespace hal::conformance {

class SelftestBase {
  public:
    static constexpr uint32_t usual_mib = 256;  // of each device

    // Empty: the manifest of this installation. Throws HarnessError if there is none.
    explicit SelftestBase(const std::filesystem::path& manifest);

    [[nodiscard]] Job job(const Mutant& mutant, uint32_t mib) const;
    // Of the overlay with one that has no entry in the lists of mutants; without a name, of the base.
    [[nodiscard]] Job job(const std::string& mutant) const;

    // Asked once, as the overlay without a mutant says.
    [[nodiscard]] bool offers(const EntryInfo& entry);
    // Something of the table that the case is about: where there is nothing no mutant can be wrong.
    [[nodiscard]] bool offers_table_of(std::string_view id);

    // Why there is no device whose memory the host cannot reach, "" if there is one. Asked once.
    [[nodiscard]] const std::string& why_none_separate();

  private:
    [[nodiscard]] Job job(std::string_view library, const std::string& mutant, uint32_t mib) const;

    std::filesystem::path overlay_;
    std::optional<Facts> facts_;
    std::optional<std::string> none_separate_;
};

}  // namespace hal::conformance
