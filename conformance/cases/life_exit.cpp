// How a process ends that has the plug-in open: by return, by exit, from a handler, and with the image unloaded.
// Child processes, because it is their end that is looked at.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "harness/child.hpp"
#include "harness/test.hpp"

// What these processes leave behind they leave on purpose, and threads still run when they end, which a leak checker
// does not survive: it asks this.
static bool leaks_are_meant = false;
#if defined(__SANITIZE_ADDRESS__)
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off();  // NOLINT: its name is the sanitizer's
extern "C" int __lsan_is_turned_off() {
    return leaks_are_meant ? 1 : 0;
}
#endif

namespace hal::conformance {
namespace {

constexpr std::chrono::seconds most_time{5};

// An instance that nobody ends, in one of several states.
Backend& live_instance(const Target& target, std::string_view state) {
    leaks_are_meant = true;
    auto& backend = *new Backend(target);  // NOLINT(cppcoreguidelines-owning-memory): the process ends with it
    if (backend.initialize() != HAL_OK || state == "idle") {
        return backend;
    }
    const Api& api = backend.api();
    hal_event event = nullptr;
    hal_stream stream = nullptr;
    hal_dptr memory = 0;
    (void)api.create_event(0, nullptr, &event);
    if (api.create_stream) {
        (void)api.create_stream(0, nullptr, &stream);
    }
    if (api.device_memory_allocate) {
        (void)api.device_memory_allocate(0, 1U << 20U, &memory);
    }
    if (state == "busy" && api.stream_add_callback) {
        for (int i = 0; i < 1000; ++i) {
            (void)api.stream_add_callback(
                0, stream, [](void*, hal_dev, hal_stream, hal_status) { usleep(100); }, nullptr);
        }
    }
    (void)api.record_event(0, stream, event);
    return backend;
}

// Made before main begins, so that it is destroyed after whatever the plug-in has left for the end of the process.
struct AtTheEnd {
    Backend* backend = nullptr;
    ~AtTheEnd() {
        if (backend != nullptr) {
            int32_t count = 0;
            (void)backend->api().get_device_count(&count);  // any answer, but an answer
        }
    }
};
AtTheEnd at_the_end;

Backend* for_the_handler = nullptr;

// Arguments: how, state, manifest, key, value, ...
std::string leave(const Backend&, const std::vector<std::string>& arguments) {
    const std::string& how = arguments.at(0);
    Options options;
    for (size_t i = 3; i + 1 < arguments.size(); i += 2) {
        options[arguments[i]] = arguments[i + 1];
    }
    Backend& backend = live_instance(load_target(arguments.at(2), options), arguments.at(1));
    if (how == "call") {
        std::exit(7);
    }
    if (how == "at_once") {
        _exit(7);
    }
    if (how == "handler") {
        for_the_handler = &backend;
        std::atexit([] { for_the_handler->destroy(); });
        std::exit(7);
    }
    if (how == "static") {
        at_the_end.backend = &backend;
    }
    return "";  // main returns
}
const ChildRegistration leave_role("leave", &leave);

void check_leaves(Test& t, const std::string& how, bool by_exit) {
    std::vector<std::string> arguments{how, std::string(t.param("state")), t.target.manifest.string()};
    for (const auto& [key, value] : t.target.options) {
        arguments.insert(arguments.end(), {key, value});
    }
    const auto begin = std::chrono::steady_clock::now();
    const std::string result = run_child(t.target, "leave", arguments, t.limits.finish);
    t.check(std::chrono::steady_clock::now() - begin < most_time, "the process ends within 5 s");
    t.eq(std::string(by_exit ? "leave: left with status 7" : ""), result, "how the process ended");
}

over states() {
    return {"state", {"idle", "objects", Value("busy", {need_entry(E::stream_add_callback)})}};
}

#define LEAVES(id, how, by_exit)                                                                                \
    HAL_CASE("45079.X.life.norm." id, clauses{"hal/10"}, authority::A, needs{E::create_event, E::record_event}, \
             cls::medium, states())                                                                             \
    (Test & t) {                                                                                                \
        check_leaves(t, how, by_exit);                                                                          \
    }

LEAVES("exit_return", "return", false)
LEAVES("exit_call", "call", true)
LEAVES("exit_at_once", "at_once", true)
LEAVES("exit_handler", "handler", true)
LEAVES("static_destructor", "static", false)

HAL_CASE("45079.T1.finalize.life.exit_without_finalize", clauses{"45079/T1.12", "hal/10"}, authority::A,
         needs{E::finalize, E::create_event, E::record_event}, cls::medium, states())
(Test& t) {
    check_leaves(t, "call", true);
}

// ---- Unloading ----

bool is_mapped(const std::string& path) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.find(path) != std::string::npos) {
            return true;
        }
    }
    return false;
}

// A copy of the library, which nothing else keeps open.
std::string unload(const Backend& backend, const std::vector<std::string>& arguments) {
    const std::string& copy = arguments.at(0);
    for (int i = 0; i < 5; ++i) {
        void* library = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            return std::string("dlopen: ") + dlerror();
        }
        const auto entry = reinterpret_cast<hal_backend_entry_fn>(dlsym(library, HAL_BACKEND_ENTRY_SYMBOL));
        Target target;
        target.entry = entry;
        {
            const Backend own(target);
            int32_t count = 0;
            if (own.initialize() != HAL_OK || own.api().get_device_count(&count) != HAL_OK ||
                own.finalize() != HAL_OK) {
                return "the reopened library does not work: " + Host::last_error().text;
            }
        }
        if (dlclose(library) != 0) {
            return std::string("dlclose: ") + dlerror();
        }
        if (is_mapped(copy)) {
            return "the image is still mapped after dlclose";
        }
    }
    int32_t count = 0;
    return backend.api().get_device_count(&count) == HAL_OK ? "" : "the first image does not work any more";
}
const ChildRegistration unload_role("unload", &unload);

HAL_CASE("45079.X.life.norm.unload", clauses{"hal/10"}, authority::A, needs{claim("unloadable")}, cls::medium)
(Test& t) {
    const auto copy = std::filesystem::temp_directory_path() / ("hal_unload_" + std::to_string(getpid()) + ".so");
    std::filesystem::copy_file(t.target.library, copy, std::filesystem::copy_options::overwrite_existing);
    t.eq(std::string(), run_child(t.target, "unload", {copy.string()}, t.limits.finish), "opened and closed 5 times");
    std::filesystem::remove(copy);
}

// ---- Beginning again ----

HAL_CASE("45079.X.life.norm.init_cycle50", clauses{"hal/5"}, authority::A, needs{E::get_device_count}, cls::medium)
(Test& t) {
    t.no_leak(10, [&] {
        const auto other = t.another();
        int32_t count = 0;
        t.ok(other->initialize());
        t.ok(other->api().get_device_count(&count));
        t.eq(t.facts.device_count, count, "devices");
        t.ok(other->finalize());
    });
}

}  // namespace
}  // namespace hal::conformance
