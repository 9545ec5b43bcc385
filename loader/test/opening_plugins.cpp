// Plug-ins that break the contract in what they return: refused with a reason, and nobody else is hurt.
#include "hal/reflect.hpp"
#include "opening_fixture.hpp"

using namespace hal::loader::test;

namespace {

struct Row {
    const char* fault;
    hal_backend_state state;
    hal_status status;
    const char* code;
    const char* text;
};

const Row rows[] = {
    {"null", HAL_STATE_INIT_FAILED, HAL_ERROR_INTERNAL, "L050", "refused this host: no reason given"},
    {"null-reason", HAL_STATE_INIT_FAILED, HAL_ERROR_DRIVER, "L050", "driver 5.0 < 5.1\\x1b[31m"},
    {"size-0", HAL_STATE_TABLE_INVALID, HAL_ERROR_ABI, "L033", "descriptor says that it has 0 bytes"},
    {"size-13", HAL_STATE_TABLE_INVALID, HAL_ERROR_ABI, "L033", "descriptor says that it has 13 bytes"},
    {"size-1M", HAL_STATE_TABLE_INVALID, HAL_ERROR_ABI, "L033", "descriptor says that it has 1048576 bytes"},
    {"size-odd", HAL_STATE_TABLE_INVALID, HAL_ERROR_ABI, "L033", "in whole pointers"},
    {"abi-2", HAL_STATE_ABI_MISMATCH, HAL_ERROR_ABI, "L032", "speaks ABI 2.1, this loader speaks 1.0 to 1.0"},
    {"abi-0", HAL_STATE_ABI_MISMATCH, HAL_ERROR_ABI, "L032", "install a newer version of the backend"},
    {"no-create", HAL_STATE_TABLE_INVALID, HAL_ERROR_ABI, "L033", "lacks create, destroy or get_table"},
    {"no-name", HAL_STATE_TABLE_INVALID, HAL_ERROR_ABI, "L033", "name must have 1 to 64 bytes"},
    {"endless-name", HAL_STATE_TABLE_INVALID, HAL_ERROR_ABI, "L033", "name must have 1 to 64 bytes"},
    {"create-null", HAL_STATE_TABLE_INVALID, HAL_ERROR_ABI, "L033", "create returned HAL_OK and no instance"},
    {"table-size 0", HAL_STATE_TABLE_INVALID, HAL_ERROR_ABI, "L033", "table memory says that it has 0 bytes"},
    {"table-size 13", HAL_STATE_TABLE_INVALID, HAL_ERROR_ABI, "L033", "table memory says that it has 13 bytes"},
    {"table-size 65544", HAL_STATE_TABLE_INVALID, HAL_ERROR_ABI, "L033", "table memory says that it has 65544 bytes"},
    {"table-size 1048576", HAL_STATE_TABLE_INVALID, HAL_ERROR_ABI, "L033", "table memory says that it has 1048576"},
    {"table-id", HAL_STATE_TABLE_INVALID, HAL_ERROR_ABI, "L033", "asked for table memory (2.1), got 2.9"},
    {"empty-graph", HAL_STATE_TABLE_INVALID, HAL_ERROR_ABI, "L033",
     "graph.graph_engine_generate, graph.graph_engine_execute"},
    {"duplicate-kernel", HAL_STATE_TABLE_INVALID, HAL_ERROR_ABI, "L033", "first.cpp:11"},
    {"duplicate-kernel", HAL_STATE_TABLE_INVALID, HAL_ERROR_ABI, "L033", "second.cpp:22"},
    {"null-kernels", HAL_STATE_TABLE_INVALID, HAL_ERROR_ABI, "L033", "register_kernel answered 2 kernels at NULL"},
};

}  // namespace

TEST_CASE("a plug-in that breaks the contract is refused with its reason", "[opening]") {
    const Row& row = GENERATE(from_range(std::begin(rows), std::end(rows)));
    INFO(row.fault);
    Setup setup(row.fault);
    setup.open();
    CHECK(setup.faulty() == nullptr);
    CHECK(setup.status == row.status);
    CHECK(says(hal_last_error(), row.text));

    const hal_backend_report report = setup.report("test.faulty");
    CHECK(report.state == row.state);
    CHECK(report.status == row.status);
    CHECK(report.code == std::string(row.code));
    CHECK(says(std::string(report.cause) + report.next_step, row.text));
    CHECK(says(report.cause, plugin_path("faulty")));
    CHECK(*report.next_step != '\0');
    CHECK(says(setup.log(), row.text));
    setup.check_healthy();
}

TEST_CASE("each required entry of the device and event tables is checked", "[opening]") {
    for (const hal::EntryInfo& entry : hal::entries) {
        if (entry.need != hal::Need::required || entry.table == "graph") {
            continue;
        }
        INFO(entry.name);
        Setup setup("hole " + std::string(entry.name));
        setup.open();
        CHECK(setup.faulty() == nullptr);
        CHECK(setup.status == HAL_ERROR_ABI);
        const std::string name = std::string(entry.table) + "." + std::string(entry.name);
        CHECK(says(setup.report("test.faulty").cause, "lacks mandatory functions: " + name));
        setup.check_healthy();
    }
}

TEST_CASE("an instance that is in use already is refused and not destroyed", "[opening]") {
    Setup first("create-shared");
    Setup second("create-shared");
    first.open();
    second.open();
    const hal_backend* owner = first.faulty();
    REQUIRE(owner != nullptr);
    CHECK(second.faulty() == nullptr);
    CHECK(says(hal_last_error(), "an instance that backend test.faulty uses already"));
    CHECK(hal_set_device(owner, 0) == HAL_OK);
    second.check_healthy();
}

TEST_CASE("a newer minor, another name and endless texts are taken with a warning or a cut", "[opening]") {
    SECTION("minor") {
        Setup setup("abi-minor");
        CHECK(setup.open().faulty() != nullptr);
        CHECK(says(setup.log(), "2 backend test.faulty: the manifest says ABI 1.0 to 1.0"));
    }
    SECTION("name") {
        Setup setup("other-name");
        const hal_backend* backend = setup.open().faulty();
        REQUIRE(backend != nullptr);
        CHECK(says(setup.log(), "calls itself other.name"));
        CHECK(setup.backend("other.name") == backend);
        CHECK(setup.report("other.name").state == HAL_STATE_READY);
    }
    SECTION("version") {
        Setup setup("endless-version");
        REQUIRE(setup.open().faulty() != nullptr);
        CHECK(std::string_view(setup.report("test.faulty").version).size() <= 256);
    }
}

TEST_CASE("no device is no defect: the instance stays and is asked again after a rescan", "[opening]") {
    Setup setup("", {{"devices", "0"}});
    setup.open();
    CHECK(setup.faulty() == nullptr);
    CHECK(setup.status == HAL_ERROR_NO_DEVICE);
    CHECK(setup.report("test.faulty").state == HAL_STATE_NO_DEVICE);
    CHECK(setup.report("test.faulty").code == std::string("L051"));
    CHECK(says(setup.log(), "3 backend test.faulty"));
    CHECK(hal_loader_rescan(setup.loader) == HAL_OK);
    CHECK(setup.report("test.faulty").state == HAL_STATE_DISCOVERED);
    CHECK(setup.faulty() == nullptr);
    CHECK(setup.status == HAL_ERROR_NO_DEVICE);
    setup.check_healthy();
}

namespace {

std::string failing_stage;
hal_status failing_status = HAL_OK;
int tries = 0;

hal_status fail_once(const char* stage, const hal_host* host, hal_instance*) {
    if (stage != failing_stage || tries++ > 0) {
        return HAL_OK;
    }
    host->set_error(host, failing_status, 42, "first try fails");
    return failing_status;
}

}  // namespace

TEST_CASE("a start that fails is final until a rescan", "[opening]") {
    failing_stage = GENERATE("create", "initialize", "count");
    failing_status = HAL_ERROR_DRIVER;
    tries = 0;
    INFO(failing_stage);
    Setup setup;
    setup.hook(fail_once).open();
    CHECK(setup.faulty() == nullptr);
    CHECK(setup.status == HAL_ERROR_DRIVER);
    hal_error_info info{.header = {sizeof info, 0, nullptr}};
    REQUIRE(hal_last_error_info(&info) == HAL_OK);
    CHECK(info.status == HAL_ERROR_DRIVER);
    CHECK(info.vendor_code == 42);
    CHECK(info.backend == std::string("test.faulty"));
    CHECK(says(info.text, "HAL_ERROR_DRIVER: \"first try fails\""));
    CHECK(setup.report("test.faulty").state == HAL_STATE_INIT_FAILED);
    CHECK(setup.faulty() == nullptr);
    CHECK(tries == 1);
    setup.check_healthy();

    REQUIRE(hal_loader_rescan(setup.loader) == HAL_OK);
    CHECK(setup.faulty() != nullptr);
    CHECK(setup.report("test.faulty").state == HAL_STATE_READY);
    CHECK(setup.report("test.faulty").device_count == 2);
}

TEST_CASE("out of memory is returned as such and may be tried again at once", "[opening]") {
    failing_stage = GENERATE("create", "initialize");
    failing_status = HAL_ERROR_OUT_OF_HOST_MEMORY;
    tries = 0;
    Setup setup;
    setup.hook(fail_once).open();
    CHECK(setup.faulty() == nullptr);
    CHECK(setup.status == HAL_ERROR_OUT_OF_HOST_MEMORY);
    CHECK(setup.report("test.faulty").state == HAL_STATE_DISCOVERED);
    CHECK(setup.report("test.faulty").status == HAL_ERROR_OUT_OF_HOST_MEMORY);
    CHECK(setup.faulty() != nullptr);
}

TEST_CASE("an exception out of create is a failure to start, not the end of the process", "[opening]") {
    Setup setup;
    setup.hook([](const char* stage, const hal_host*, hal_instance*) -> hal_status {
        if (stage == std::string_view("create")) {
            throw std::runtime_error("thrown");
        }
        return HAL_OK;
    });
    CHECK(setup.open().faulty() == nullptr);
    CHECK(setup.status == HAL_ERROR_INTERNAL);
    CHECK(says(hal_last_error(), "let an exception out: thrown"));
    setup.check_healthy();
}
