// Every allocation of a scan fails once: the scan must end with bad_alloc, lose nothing, and work the next time.
#include <catch2/catch.hpp>
#include <new>

#include "discover.hpp"
#include "scratch.hpp"

namespace {

thread_local long allocations_left = -1;  // negative: no limit

void* allocate(std::size_t size, std::size_t alignment) {
    if (allocations_left == 0) {
        throw std::bad_alloc();
    }
    allocations_left -= allocations_left > 0 ? 1 : 0;
    void* memory = alignment > alignof(std::max_align_t)
                       ? std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                       : std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

void* allocate_or_null(std::size_t size) noexcept {
    try {
        return allocate(size, 1);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

}  // namespace

// All forms: a sanitizer's own would otherwise stand behind those that are left out.
#define EVERY_FORM(suffix)                                                              \
    void* operator new suffix(std::size_t size) {                                       \
        return allocate(size, 1);                                                       \
    }                                                                                   \
    void* operator new suffix(std::size_t size, std::align_val_t alignment) {           \
        return allocate(size, static_cast<std::size_t>(alignment));                     \
    }                                                                                   \
    void* operator new suffix(std::size_t size, const std::nothrow_t&) noexcept {       \
        return allocate_or_null(size);                                                  \
    }                                                                                   \
    void operator delete suffix(void* memory) noexcept {                                \
        std::free(memory);                                                              \
    }                                                                                   \
    void operator delete suffix(void* memory, std::size_t) noexcept {                   \
        std::free(memory);                                                              \
    }                                                                                   \
    void operator delete suffix(void* memory, std::align_val_t) noexcept {              \
        std::free(memory);                                                              \
    }                                                                                   \
    void operator delete suffix(void* memory, std::size_t, std::align_val_t) noexcept { \
        std::free(memory);                                                              \
    }                                                                                   \
    void operator delete suffix(void* memory, const std::nothrow_t&) noexcept {         \
        std::free(memory);                                                              \
    }
#define NO_SUFFIX
EVERY_FORM(NO_SUFFIX)
EVERY_FORM([])
#undef NO_SUFFIX
#undef EVERY_FORM

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
