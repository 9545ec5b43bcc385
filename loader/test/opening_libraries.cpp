// Libraries that cannot be linked or are no back ends.
#include "opening_fixture.hpp"

using namespace hal::loader::test;

namespace {

struct Row {
    const char* library;
    hal_backend_state state;
    hal_status status;
    const char* code;
    const char* text;
};

const Row rows[] = {
    {"no_entry", HAL_STATE_ENTRY_MISSING, HAL_ERROR_NOT_FOUND, "L030",
     "has no hal_backend_entry_v1; it is not a hal backend"},
    {"data_entry", HAL_STATE_ENTRY_FOREIGN, HAL_ERROR_ABI, "L031", "hal_backend_entry_v1 is data, not a function"},
    {"needs_other", HAL_STATE_ENTRY_FOREIGN, HAL_ERROR_ABI, "L031", "libloader_test_healthy.so, not from this library"},
    {"undefined_symbol", HAL_STATE_LOAD_FAILED, HAL_ERROR_ABI, "L024", "undefined symbol acme_open"},
    {"missing_dependency", HAL_STATE_LOAD_FAILED, HAL_ERROR_NOT_FOUND, "L023", "needs libloader_test_gone.so.5"},
};

}  // namespace

TEST_CASE("a library that is no back end is refused with its reason", "[opening]") {
    const Row& row = GENERATE(from_range(std::begin(rows), std::end(rows)));
    INFO(row.library);
    Setup setup("", {}, plugin_path(row.library));
    setup.open();
    CHECK(setup.faulty() == nullptr);
    CHECK(setup.status == row.status);
    CHECK(says(hal_last_error(), row.text));
    const hal_backend_report report = setup.report("test.faulty");
    CHECK(report.state == row.state);
    CHECK(report.code == std::string(row.code));
    CHECK(says(report.cause, row.text));
    CHECK(*report.next_step != '\0');
    setup.check_healthy();
}

TEST_CASE("a library that was replaced by a text after the scan is refused when it is opened", "[opening]") {
    const Scratch scratch;
    const std::string copy = scratch.path("libcopy.so");
    std::filesystem::copy_file(plugin_path("faulty"), copy);
    Setup setup("", {}, copy);
    setup.open();
    std::filesystem::remove(copy);
    scratch.write("libcopy.so", "no ELF file at all, but long enough to hold the header of one: 0123456789abcdef");
    CHECK(setup.faulty() == nullptr);
    CHECK(setup.report("test.faulty").state == HAL_STATE_LIBRARY_DAMAGED);
    setup.check_healthy();
}
