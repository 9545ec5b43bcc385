// Arguments of the C functions, names, texts, the last error.
#include <thread>

#include "opening_fixture.hpp"

using namespace hal::loader::test;

TEST_CASE("a NULL argument is named and the output untouched", "[opening]") {
    Setup setup;
    setup.open();
    const auto refused = [](hal_status status, const char* name) {
        return status == HAL_ERROR_INVALID_ARGUMENT && says(hal_last_error(), std::string(name) + " is NULL");
    };
    const hal_backend* backend = nullptr;
    uint64_t count = 0;
    uint32_t support = 0;
    hal_backend_report report{.header = {sizeof report, 0, nullptr}};
    CHECK(refused(hal_loader_open(nullptr, nullptr), "out_loader"));
    CHECK(refused(hal_loader_rescan(nullptr), "loader"));
    CHECK(refused(hal_loader_report_count(nullptr, &count), "loader"));
    CHECK(refused(hal_loader_report_count(setup.loader, nullptr), "out_count"));
    CHECK(refused(hal_loader_report(setup.loader, 0, nullptr), "out_report"));
    CHECK(refused(hal_loader_search_count(setup.loader, nullptr), "out_count"));
    CHECK(refused(hal_loader_search(setup.loader, 0, nullptr), "out_place"));
    CHECK(refused(hal_loader_variable_count(setup.loader, nullptr), "out_count"));
    CHECK(refused(hal_backend_open(setup.loader, nullptr, &backend), "id"));
    CHECK(refused(hal_backend_open(setup.loader, "test.faulty", nullptr), "out_backend"));
    CHECK(refused(hal_backend_open(nullptr, "test.faulty", &backend), "loader"));
    CHECK(refused(hal_loader_devices(setup.loader, nullptr, 1, &count), "devices"));
    CHECK(refused(hal_loader_devices(setup.loader, nullptr, 0, nullptr), "out_count"));
    CHECK(refused(hal_entry_support(nullptr, "initialize", &support), "backend"));
    CHECK(refused(hal_status_to_gb45280(HAL_OK, nullptr), "out_code"));
    CHECK(hal_loader_report(setup.loader, 2, &report) == HAL_ERROR_INVALID_ARGUMENT);
    CHECK(says(hal_last_error(), "index is 2, there are 2"));
    report.header.size = 3;
    CHECK(hal_loader_report(setup.loader, 0, &report) == HAL_ERROR_INVALID_ARGUMENT);
    CHECK(hal_set_device(nullptr, 0) == HAL_ERROR_INVALID_HANDLE);
    CHECK(says(hal_last_error(), "hal_set_device: backend is NULL"));
}

TEST_CASE("a description with unknown bits, NULL elements or NULL arrays is refused", "[opening]") {
    hal_loader* loader = nullptr;
    hal_loader_desc desc{.header = {sizeof desc, 0, nullptr}, .flags = 1U << 20};
    CHECK(hal_loader_open(&desc, &loader) == HAL_ERROR_INVALID_ARGUMENT);
    desc.flags = HAL_LOADER_NO_ENVIRONMENT;
    desc.manifest_path_count = 1;
    CHECK(hal_loader_open(&desc, &loader) == HAL_ERROR_INVALID_ARGUMENT);
    const char* path = nullptr;
    desc.manifest_paths = &path;
    CHECK(hal_loader_open(&desc, &loader) == HAL_ERROR_INVALID_ARGUMENT);
    CHECK(says(hal_last_error(), "desc.manifest_paths[0] is NULL"));
    hal_header chained{sizeof chained, HAL_MUST_UNDERSTAND | 5, nullptr};
    desc = {.header = {sizeof desc, 0, &chained}, .flags = HAL_LOADER_NO_ENVIRONMENT};
    CHECK(hal_loader_open(&desc, &loader) == HAL_ERROR_UNSUPPORTED);
    CHECK(loader == nullptr);
}

TEST_CASE("an unknown id is answered with the nearest one", "[opening]") {
    Setup setup;
    CHECK(setup.open().backend("test.fauty") == nullptr);
    CHECK(setup.status == HAL_ERROR_UNKNOWN_ID);
    CHECK(says(hal_last_error(), "did you mean test.faulty"));
}

TEST_CASE("a caller with a shorter report struct gets its prefix", "[opening]") {
    Setup setup;
    setup.open();
    hal_backend_report report{.header = {offsetof(hal_backend_report, name), 0, nullptr}, .name = "untouched"};
    REQUIRE(hal_loader_report(setup.loader, 0, &report) == HAL_OK);
    CHECK(report.id == std::string("test.faulty"));
    CHECK(report.name == std::string("untouched"));
}

TEST_CASE("the places that were searched and the variables are listed", "[opening]") {
    Setup setup;
    setup.open();
    uint64_t count = 0;
    REQUIRE(hal_loader_search_count(setup.loader, &count) == HAL_OK);
    bool found = false;
    for (uint64_t i = 0; i < count; ++i) {
        hal_search_place place{.header = {sizeof place, 0, nullptr}};
        REQUIRE(hal_loader_search(setup.loader, i, &place) == HAL_OK);
        found = found || (place.path == setup.dir().path() && place.used == 1 && place.rank == 1);
    }
    CHECK(found);
    hal_search_place place{.header = {sizeof place, 0, nullptr}};
    CHECK(hal_loader_search(setup.loader, count, &place) == HAL_ERROR_INVALID_ARGUMENT);

    REQUIRE(hal_loader_variable_count(setup.loader, &count) == HAL_OK);
    REQUIRE(count > 0);
    hal_variable variable{.header = {sizeof variable, 0, nullptr}};
    REQUIRE(hal_loader_variable(setup.loader, 0, &variable) == HAL_OK);
    CHECK(says(variable.name, "HAL_"));
    CHECK(variable.use == HAL_VARIABLE_UNSET);  // no environment is read
    CHECK(hal_loader_variable(setup.loader, count, &variable) == HAL_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("every status and state has a name and a text", "[opening]") {
    CHECK(hal_status_name(HAL_ERROR_TIMEOUT) == std::string("HAL_ERROR_TIMEOUT"));
    CHECK(says(hal_status_text(HAL_ERROR_FORKED), "use spawn"));
    CHECK(hal_status_name(static_cast<hal_status>(-9999)) == std::string("unknown status"));
    CHECK(hal_state_name(HAL_STATE_READY) == std::string("READY"));
    CHECK(says(hal_state_text(HAL_STATE_MASKED), "hidden"));
    CHECK(hal_state_name(12345) == std::string("unknown state"));
    int32_t code = 5;
    CHECK(hal_status_to_gb45280(HAL_OK, &code) == HAL_ERROR_UNSUPPORTED);
    CHECK(code == 5);
}

TEST_CASE("the last error is the thread's own, is kept by a success and cut when endless", "[opening]") {
    CHECK(hal_set_device(nullptr, 0) == HAL_ERROR_INVALID_HANDLE);
    std::string other = "not run";
    std::thread([&] { other = hal_last_error(); }).join();
    CHECK(other.empty());
    Setup setup;
    setup.open();
    CHECK(says(hal_last_error(), "hal_set_device"));

    static const hal_host* lent = nullptr;
    setup.check_healthy();
    Setup lending;
    lending.hook([](const char* stage, const hal_host* host, hal_instance*) {
        lent = stage == std::string_view("create") ? host : lent;
        return HAL_OK;
    });
    REQUIRE(lending.open().faulty() != nullptr);
    std::string endless;
    while (endless.size() < 10'000) {
        endless += "\xc3\xa9";  // two bytes a character
    }
    lent->set_error(lent, HAL_ERROR_DRIVER, -3, endless.c_str());
    const std::string_view kept = hal_last_error();
    CHECK(kept.size() < 4000);
    CHECK(kept.size() > 2000);
    lent->set_error(lent, static_cast<hal_status>(-777), 0, "odd");
    hal_error_info info{.header = {sizeof info, 0, nullptr}};
    REQUIRE(hal_last_error_info(&info) == HAL_OK);
    CHECK(info.status == HAL_ERROR_INTERNAL);
    CHECK(says(info.text, "-777"));
    lent->set_error(lent, HAL_ERROR_DRIVER, 0, nullptr);
    CHECK(says(hal_last_error(), "no text"));
    lent->log(lent, 77, "a level\nthat is none");
    CHECK(says(lending.log(), "test.faulty: a level"));
}
