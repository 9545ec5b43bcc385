// Every allocation of a scan fails once: the scan must end with bad_alloc, lose nothing, and work the next time.
#include <catch2/catch.hpp>
#include <new>

#include "discover.hpp"
#include "failing_new.hpp"
#include "scratch.hpp"

namespace hal::loader::test {

TEST_CASE("the Nth allocation of a scan fails") {
    const Scratch scratch;
    const std::string directory = "root/etc/hal/backends.d/";
    scratch.write(directory + "libgood.so", "x");
    scratch.write(directory + "10-good.json", manifest_text("good", "./libgood.so", R"(, "options": {"a": 1})"));
    scratch.write(directory + "20-same.json", manifest_text("same", "./libgood.so"));
    scratch.write(directory + "30-bad.json", "{\"schema_version\": ");
    scratch.write(directory + "40-schema.json",
                  manifest_text("schema", "./x.so", ", \"priority\": 1.5, \"pririty\": 1"));
    scratch.write(directory + "50-gone.json", manifest_text("gone", "./gone.so"));
    const Roots roots{scratch.path("root"), "/opt/etc", "/opt/share"};
    const Variables variables{{"HAL_BACKENDS_ORDER", "s*,nothing"},
                              {"XDG_DATA_DIRS", scratch.path("no") + ":relative"}};
    const auto count_problems = [&](const Scan& scan) {
        return std::count_if(scan.candidates.begin(), scan.candidates.end(),
                             [](const Candidate& candidate) { return candidate.problem.has_value(); });
    };

    Settings settings;
    settings.log = [](void*, uint32_t, const char*) {};
    const Environment environment({.variables = variables});
    Log log(environment, settings);
    REQUIRE(discover(environment, settings, log, roots).candidates.size() == 5);  // and the schema is built

    long failures = 0;
    for (long limit = 0;; ++limit) {
        std::optional<Scan> scan;
        bool out_of_memory = false;
        allocations_left = limit;
        try {
            scan = discover(environment, settings, log, roots);
        } catch (const std::bad_alloc&) {
            out_of_memory = true;
        }
        const bool exhausted = allocations_left == 0;
        allocations_left = -1;
        if (!exhausted) {
            REQUIRE(scan);
            CHECK(count_problems(*scan) == 4);
            break;
        }
        // Only a message may be lost without ending the scan.
        if (scan) {
            REQUIRE(count_problems(*scan) == 4);
        }
        failures += out_of_memory ? 1 : 0;
    }
    CHECK(failures > 200);
    CHECK(count_problems(discover(environment, settings, log, roots)) == 4);
}

}  // namespace hal::loader::test
