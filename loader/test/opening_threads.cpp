// Many threads, the same thread again, and threads in each other's way: one opening, defined codes, no deadlock.
#include <condition_variable>
#include <thread>

#include "opening_fixture.hpp"

using namespace hal::loader::test;

namespace {

// A gate that a test opens; plug-in code waits behind it.
class Latch {
  public:
    void open() {
        const std::lock_guard lock(mutex_);
        opened_ = true;
        changed_.notify_all();
    }
    void wait() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return opened_; });
    }
    void reset() {
        const std::lock_guard lock(mutex_);
        opened_ = false;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool opened_ = false;
};

std::atomic<int> creations{0};
Latch entered;
Latch leave;
hal_loader* nested_loader = nullptr;
std::atomic<hal_status> nested_status{HAL_OK};

hal_status count_creations(const char* stage, const hal_host*, hal_instance*) {
    creations += stage == std::string_view("create") ? 1 : 0;
    return HAL_OK;
}

hal_status wait_in_create(const char* stage, const hal_host*, hal_instance*) {
    if (stage == std::string_view("create")) {
        ++creations;
        entered.open();
        leave.wait();
    }
    return HAL_OK;
}

}  // namespace

TEST_CASE("64 threads open at once: one creation, one head", "[opening]") {
    creations = 0;
    Setup setup;
    setup.hook(count_creations).open();
    std::vector<const hal_backend*> heads(64);
    std::vector<std::thread> threads;
    for (const hal_backend*& head : heads) {
        threads.emplace_back([&setup, &head] {
            if (hal_backend_open(setup.loader, "test.faulty", &head) != HAL_OK) {
                head = nullptr;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(creations == 1);
    CHECK(heads.front() != nullptr);
    CHECK(std::count(heads.begin(), heads.end(), heads.front()) == 64);
    setup.check_healthy();
}

TEST_CASE("others stay usable, and the report answers, while one hangs in its start", "[opening]") {
    entered.reset();
    leave.reset();
    creations = 0;
    Setup setup;
    setup.hook(wait_in_create).open();
    const hal_backend* first = nullptr;
    const hal_backend* second = nullptr;
    std::thread opener([&] { static_cast<void>(hal_backend_open(setup.loader, "test.faulty", &first)); });
    entered.wait();
    CHECK(setup.report("test.faulty").state == HAL_STATE_OPENING);
    CHECK(setup.report("test.faulty").status == HAL_IN_PROGRESS);
    setup.check_healthy();
    std::thread waiter([&] { static_cast<void>(hal_backend_open(setup.loader, "test.faulty", &second)); });
    leave.open();
    opener.join();
    waiter.join();
    CHECK(creations == 1);
    REQUIRE(first != nullptr);
    CHECK(first == second);
}

TEST_CASE("a plug-in that calls hal from inside its start gets REENTRANT", "[opening]") {
    using Call = hal_status (*)();
    const Call call = GENERATE(Call([] {
                                   const hal_backend* backend = nullptr;
                                   return hal_backend_open(nested_loader, "test.faulty", &backend);
                               }),
                               Call([] {
                                   uint64_t count = 0;
                                   return hal_loader_devices(nested_loader, nullptr, 0, &count);
                               }),
                               Call([] { return hal_loader_rescan(nested_loader); }),
                               Call([] { return hal_loader_close(nested_loader); }));
    static Call current = nullptr;
    static std::string text;
    current = call;
    Setup setup;
    setup.hook([](const char* stage, const hal_host*, hal_instance*) {
        if (stage == std::string_view("create")) {
            nested_status.store(current());
            text = hal_last_error();
        }
        return HAL_OK;
    });
    setup.open();
    nested_loader = setup.loader;
    CHECK(setup.faulty() != nullptr);
    CHECK(nested_status == HAL_ERROR_REENTRANT);
    CHECK(says(text, "from inside the initialisation of test.faulty on the same thread"));
    CHECK(says(text, "[L060]"));
    setup.check_healthy();
}

TEST_CASE("a plug-in may open another back end from inside its start", "[opening]") {
    Setup setup;
    setup.hook([](const char* stage, const hal_host*, hal_instance*) {
        if (stage == std::string_view("create")) {
            const hal_backend* other = nullptr;
            nested_status.store(hal_backend_open(nested_loader, "test.healthy", &other));
        }
        return HAL_OK;
    });
    setup.open();
    nested_loader = setup.loader;
    CHECK(setup.faulty() != nullptr);
    CHECK(nested_status == HAL_OK);
}

TEST_CASE("late kernels are refused inside create and taken later", "[opening]") {
    static hal_status early = HAL_OK;
    static hal_status late = HAL_ERROR_INTERNAL;
    static hal_status again = HAL_OK;
    static hal_status foreign = HAL_OK;
    Setup setup;
    setup.hook([](const char* stage, const hal_host* host, hal_instance* instance) {
        static const hal_kernel kernel{.size = sizeof(hal_kernel),
                                       .op = "Late",
                                       .backend = "test.faulty",
                                       .dtype = HAL_F32,
                                       .run = [](const hal_kernel_call*) { return HAL_OK; },
                                       .file = "late.cpp"};
        static hal_kernel stranger = kernel;
        stranger.backend = "test.healthy";
        const hal_kernel* list[] = {&kernel};
        const hal_kernel* strange[] = {&stranger};
        if (stage == std::string_view("create")) {
            early = host->add_kernels(host, instance, list, 1);
        } else if (stage == std::string_view("initialize")) {
            late = host->add_kernels(host, instance, list, 1);
            again = host->add_kernels(host, instance, list, 1);
            foreign = host->add_kernels(host, instance, strange, 1);
        }
        return HAL_OK;
    });
    const hal_backend* backend = setup.open().faulty();
    REQUIRE(backend != nullptr);
    CHECK(early == HAL_ERROR_REENTRANT);
    CHECK(late == HAL_OK);
    CHECK(again == HAL_ERROR_ALREADY_EXISTS);
    CHECK(foreign == HAL_ERROR_INVALID_ARGUMENT);
    const hal_kernel_key key{.size = sizeof key, .dtype = HAL_F32, .op = "Late"};
    const hal_kernel* kernel = nullptr;
    CHECK(hal_kernel_find(backend, &key, nullptr, &kernel) == HAL_OK);
}

TEST_CASE("two back ends that open each other on two threads do not deadlock", "[opening]") {
    // The faulty one's start waits until the healthy one's opener is inside its start too; that is an entry of the
    // application here, which then opens the faulty one.
    static Latch faulty_inside;
    static Latch other_inside;
    faulty_inside.reset();
    other_inside.reset();
    static std::atomic<hal_status> from_other{HAL_OK};
    static std::atomic<hal_status> from_faulty{HAL_OK};
    static const hal_backend_descriptor descriptor{
        .size = sizeof(hal_backend_descriptor),
        .abi_version = HAL_ABI_VERSION,
        .name = "test.other",
        .create =
            [](const hal_host* host, hal_instance**) {
                other_inside.open();
                faulty_inside.wait();
                const hal_backend* backend = nullptr;
                from_other.store(hal_backend_open(nested_loader, "test.faulty", &backend));
                host->set_error(host, HAL_ERROR_DRIVER, 0, "no more of this one");
                return HAL_ERROR_DRIVER;
            },
        .destroy = [](hal_instance*) {},
        .get_table = [](hal_instance*, uint32_t) -> const hal_table_header* { return nullptr; }};
    const Scratch dir;
    dir.write("10-faulty.json", manifest_text("test.faulty", plugin_path("faulty")));
    const std::string path = dir.path();
    const char* paths[] = {path.c_str()};
    const hal_backend_entry_fn entries[] = {[](const hal_host*) { return &descriptor; }};
    const std::string hook =
        std::to_string(reinterpret_cast<uintptr_t>(Hook([](const char* stage, const hal_host*, hal_instance*) {
            if (stage == std::string_view("create")) {
                faulty_inside.open();
                other_inside.wait();
                const hal_backend* backend = nullptr;
                from_faulty.store(hal_backend_open(nested_loader, "test.other", &backend));
            }
            return HAL_OK;
        })));
    const hal_option option{"test.faulty", "hook", hook.c_str()};
    const hal_loader_desc desc{.header = {sizeof desc, 0, nullptr},
                               .manifest_paths = paths,
                               .manifest_path_count = 1,
                               .entries = entries,
                               .entry_count = 1,
                               .options = &option,
                               .option_count = 1,
                               .log = [](void*, uint32_t, const char*) {},
                               .flags = HAL_LOADER_NO_ENVIRONMENT};
    REQUIRE(hal_loader_open(&desc, &nested_loader) == HAL_OK);
    const hal_backend* faulty = nullptr;
    std::thread first([&] { static_cast<void>(hal_backend_open(nested_loader, "test.faulty", &faulty)); });
    const hal_backend* other = nullptr;
    CHECK(hal_backend_open(nested_loader, "test.other", &other) == HAL_ERROR_DRIVER);
    first.join();
    CHECK(faulty != nullptr);
    // One of the two had to be told; which one depends on who came last.
    CHECK((from_other == HAL_ERROR_REENTRANT || from_faulty == HAL_ERROR_REENTRANT));
    CHECK(hal_loader_close(nested_loader) == HAL_OK);
}
