// The child of a fork: told so, not hung, and nothing of the plug-in is touched.
#include <sys/wait.h>

#include "opening_fixture.hpp"

using namespace hal::loader::test;

namespace {

// Runs f in a child; its return value must be true. SIGALRM ends a child that hangs.
template <class F>
bool in_child(F&& f) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(30);
        _exit(f() ? 0 : 1);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

hal_instance* destroyed = nullptr;
hal_status note_destroy(const char* stage, const hal_host*, hal_instance* instance) {
    destroyed = stage == std::string_view("destroy") ? instance : destroyed;
    return HAL_OK;
}

}  // namespace

TEST_CASE("in a forked child the loader answers FORKED and destroys nothing", "[opening]") {
    destroyed = nullptr;
    Setup setup;
    setup.hook(note_destroy).open();
    REQUIRE(setup.faulty() != nullptr);
    CHECK(in_child([&] {
        const hal_backend* backend = nullptr;
        uint64_t count = 0;
        hal_backend_report report{.header = {sizeof report, 0, nullptr}};
        return hal_backend_open(setup.loader, "test.healthy", &backend) == HAL_ERROR_FORKED &&
               says(hal_last_error(), "use spawn") && says(hal_last_error(), "[L061]") &&
               hal_loader_devices(setup.loader, nullptr, 0, &count) == HAL_ERROR_FORKED &&
               hal_loader_rescan(setup.loader) == HAL_ERROR_FORKED &&
               hal_loader_report(setup.loader, 0, &report) == HAL_ERROR_FORKED &&
               hal_loader_close(setup.loader) == HAL_ERROR_FORKED && destroyed == nullptr;
    }));
    setup.check_healthy();
    REQUIRE(hal_loader_close(setup.loader) == HAL_OK);
    setup.loader = nullptr;
    CHECK(destroyed != nullptr);
}

TEST_CASE("a child may use a loader in which everything open is fork safe, and one of its own", "[opening]") {
    Setup setup("fork-safe");
    setup.open();
    REQUIRE(setup.faulty() != nullptr);
    CHECK(in_child([&] {
        const hal_backend* backend = nullptr;
        return hal_backend_open(setup.loader, "test.faulty", &backend) == HAL_OK &&
               hal_set_device(backend, 1) == HAL_OK && hal_loader_close(setup.loader) == HAL_OK;
    }));
    CHECK(in_child([] {
        Setup own;
        const hal_backend* backend = nullptr;
        return own.try_open() == HAL_OK && hal_backend_open(own.loader, "test.healthy", &backend) == HAL_OK;
    }));
    setup.check_healthy();
}
