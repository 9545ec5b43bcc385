// Opening and closing, again and again; several loaders; pointers kept too long.
#include <malloc.h>

#include <filesystem>

#include "opening_fixture.hpp"

using namespace hal::loader::test;

namespace {

size_t entries_of(const char* directory) {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        static_cast<void>(entry);
        ++count;
    }
    return count;
}

struct Usage {
    size_t bytes = mallinfo2().uordblks + mallinfo2().hblkhd;
    size_t files = entries_of("/proc/self/fd");
    size_t threads = entries_of("/proc/self/task");
};

std::vector<std::string> destroyed;
hal_status note_destroy(const char* stage, const hal_host*, hal_instance*) {
    if (stage == std::string_view("destroy")) {
        destroyed.emplace_back("test.faulty");
    }
    return HAL_OK;
}

}  // namespace

TEST_CASE("10,000 openings and closings leave nothing behind", "[opening]") {
    const Scratch dir;
    dir.write("10-faulty.json", manifest_text("test.faulty", plugin_path("faulty")));
    const std::string path = dir.path();
    const char* paths[] = {path.c_str()};
    const hal_loader_desc desc{.header = {sizeof desc, 0, nullptr},
                               .manifest_paths = paths,
                               .manifest_path_count = 1,
                               .log = [](void*, uint32_t, const char*) {},
                               .flags = HAL_LOADER_NO_ENVIRONMENT};
    const auto cycle = [&] {
        hal_loader* loader = nullptr;
        const hal_backend* backend = nullptr;
        return hal_loader_open(&desc, &loader) == HAL_OK &&
               hal_backend_open(loader, "test.faulty", &backend) == HAL_OK && hal_loader_close(loader) == HAL_OK;
    };
    int failures = 0;
    for (int i = 0; i < 200; ++i) {  // fills the quarantine of the heads
        failures += cycle() ? 0 : 1;
    }
    const Usage before;
    for (int i = 0; i < 10'000; ++i) {
        failures += cycle() ? 0 : 1;
    }
    const Usage after;
    CHECK(failures == 0);
    CHECK(after.files == before.files);
    CHECK(after.threads == before.threads);
    // One leaked byte a cycle would be 10,000. Under a sanitizer the counters stand still and its own leak check
    // decides.
    CHECK(after.bytes <= before.bytes + 4096);
}

TEST_CASE("a closed back end answers SHUTDOWN, and says which", "[opening]") {
    Setup setup;
    const hal_backend* backend = setup.open().faulty();
    REQUIRE(backend != nullptr);
    REQUIRE(hal_loader_close(setup.loader) == HAL_OK);
    setup.loader = nullptr;
    int32_t count = -7;
    CHECK(hal_get_device_count(backend, &count) == HAL_ERROR_SHUTDOWN);
    CHECK(count == -7);
    CHECK(says(hal_last_error(), "device.get_device_count was called on backend 'test.faulty'"));
    CHECK(hal_xccl_group_start(backend) == HAL_ERROR_SHUTDOWN);
    uint32_t answer = 0;
    CHECK(hal_entry_support(backend, "initialize", &answer) == HAL_ERROR_SHUTDOWN);
    const hal_kernel_key key{.size = sizeof key, .dtype = HAL_F32, .op = "Test"};
    const hal_kernel* kernel = nullptr;
    CHECK(hal_kernel_find(backend, &key, nullptr, &kernel) == HAL_ERROR_SHUTDOWN);
    uint64_t kernels = 0;
    CHECK(hal_kernel_list(backend, nullptr, 0, &kernels) == HAL_ERROR_SHUTDOWN);

    // The next back ends do not get its head.
    Setup next;
    CHECK(next.open().faulty() != backend);
    CHECK(hal_get_device_count(backend, &count) == HAL_ERROR_SHUTDOWN);
}

TEST_CASE("two loaders at once are independent", "[opening]") {
    Setup first;
    Setup second("", {{"devices", "5"}});
    const hal_backend* a = first.open().faulty();
    const hal_backend* b = second.open().faulty();
    REQUIRE(a != nullptr);
    REQUIRE(b != nullptr);
    CHECK(a != b);
    CHECK(a->instance != b->instance);
    int32_t count = 0;
    CHECK(hal_get_device_count(a, &count) == HAL_OK);
    CHECK(count == 2);
    CHECK(hal_loader_close(first.loader) == HAL_OK);
    first.loader = nullptr;
    CHECK(hal_get_device_count(b, &count) == HAL_OK);
    CHECK(count == 5);
    CHECK(hal_get_device_count(a, &count) == HAL_ERROR_SHUTDOWN);
}

TEST_CASE("instances are destroyed once, in close", "[opening]") {
    destroyed.clear();
    Setup setup;
    setup.hook(note_destroy).open();
    REQUIRE(setup.faulty() != nullptr);
    setup.check_healthy();
    CHECK(destroyed.empty());
    REQUIRE(hal_loader_close(setup.loader) == HAL_OK);
    setup.loader = nullptr;
    CHECK(destroyed.size() == 1);
    CHECK(hal_loader_close(nullptr) == HAL_OK);
}

TEST_CASE("a rescan adds what is new and leaves what is open", "[opening]") {
    Setup setup;
    const hal_backend* backend = setup.open().faulty();
    REQUIRE(backend != nullptr);
    CHECK(setup.backend("test.new") == nullptr);
    CHECK(setup.status == HAL_ERROR_UNKNOWN_ID);
    const Scratch scratch;
    std::filesystem::copy_file(plugin_path("healthy"), scratch.path("libnew.so"));
    setup.dir().write("05-new.json", manifest_text("test.new", scratch.path("libnew.so")));
    std::filesystem::copy_file(plugin_path("faulty"), scratch.path("libtwin.so"));
    setup.dir().write("04-twin.json", manifest_text("test.faulty", scratch.path("libtwin.so")));
    REQUIRE(hal_loader_rescan(setup.loader) == HAL_OK);
    CHECK(setup.backend("test.new") != nullptr);
    CHECK(setup.faulty() == backend);  // although a manifest of the same id now precedes it
    uint64_t count = 0;
    CHECK(hal_loader_report_count(setup.loader, &count) == HAL_OK);
    CHECK(count == 4);
    hal_backend_report report{.header = {sizeof report, 0, nullptr}};
    REQUIRE(hal_loader_report(setup.loader, 0, &report) == HAL_OK);
    CHECK(report.state == HAL_STATE_READY);  // the order of the first scan stays
}
