// Every allocation of opening fails once: OUT_OF_HOST_MEMORY each time, no crash, no leak, and the next try succeeds.
#include "failing_new.hpp"
#include "opening_fixture.hpp"

using namespace hal::loader::test;

namespace {

template <class F>
hal_status with_allocations(int64_t count, F&& f) {
    allocations_left = count;
    const hal_status status = f();
    allocations_left = -1;
    return status;
}

}  // namespace

TEST_CASE("out of memory at any point of scanning and opening is survived", "[opening]") {
    const Scratch dir;
    // A file, because libstdc++ itself terminates when std::filesystem::directory_iterator finds no memory.
    const std::string path = dir.write("10-faulty.json", manifest_text("test.faulty", plugin_path("faulty")));
    const char* paths[] = {path.c_str()};
    const hal_loader_desc desc{.header = {sizeof desc, 0, nullptr},
                               .manifest_paths = paths,
                               .manifest_path_count = 1,
                               .log = [](void*, uint32_t, const char*) {},
                               .flags = HAL_LOADER_NO_ENVIRONMENT};
    hal_loader* loader = nullptr;
    REQUIRE(hal_loader_open(&desc, &loader) == HAL_OK);  // what a process makes once, the schema, is made here
    REQUIRE(hal_loader_close(loader) == HAL_OK);
    loader = nullptr;
    int64_t scan = 0;
    for (;; ++scan) {
        const hal_status status = with_allocations(scan, [&] { return hal_loader_open(&desc, &loader); });
        if (status == HAL_OK) {
            break;
        }
        REQUIRE(status == HAL_ERROR_OUT_OF_HOST_MEMORY);
        REQUIRE(loader == nullptr);
    }
    CHECK(scan > 20);  // it does allocate

    // The same loader all the time: a failed try leaves it ready for the next.
    const hal_backend* backend = nullptr;
    int64_t opening = 0;
    for (;; ++opening) {
        const hal_status status =
            with_allocations(opening, [&] { return hal_backend_open(loader, "test.faulty", &backend); });
        if (status == HAL_OK) {
            break;
        }
        INFO(opening << ": " << hal_last_error());
        REQUIRE(status == HAL_ERROR_OUT_OF_HOST_MEMORY);
        REQUIRE(backend == nullptr);
    }
    CHECK(opening > 10);
    CHECK(hal_set_device(backend, 1) == HAL_OK);
    CHECK(hal_loader_close(loader) == HAL_OK);
}
