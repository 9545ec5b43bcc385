// The same plug-in through the public loader: what is native stays native, what is absent says so, and neither another
// back end nor a broken one beside it makes a difference.
#include "hal/loader.h"

#include <unistd.h>

#include <fstream>

#include "harness/test.hpp"

namespace hal::conformance {
namespace {

// A back end of this program: three devices, and nothing that can be done with them.
namespace neighbour {

hal_status get_device_count(hal_instance*, int32_t* out) {
    *out = 3;
    return HAL_OK;
}
template <class... Args>
hal_status no(hal_instance*, Args...) {
    return HAL_ERROR_UNSUPPORTED;
}
hal_status create(const hal_host*, hal_instance** out) {
    static int state;
    *out = reinterpret_cast<hal_instance*>(&state);
    return HAL_OK;
}
void destroy(hal_instance*) {}
const hal_table_header* get_table(hal_instance*, uint32_t id_major) {
    static const hal_device_table device = [] {
        hal_device_table made{};
        made.header = {sizeof made, HAL_TABLE_device};
        made.get_device_count = &get_device_count;
        made.set_device = &no;
        made.get_device = &no;
        made.synchronize_device = &no;
        return made;
    }();
    static const hal_event_table event = [] {
        hal_event_table made{};
        made.header = {sizeof made, HAL_TABLE_event};
        made.create_event = &no;
        made.destroy_event = &no;
        made.record_event = &no;
        made.synchronize_event = &no;
        return made;
    }();
    return id_major == HAL_TABLE_device ? &device.header : id_major == HAL_TABLE_event ? &event.header : nullptr;
}
const hal_backend_descriptor* entry(const hal_host*) {
    static const hal_backend_descriptor descriptor{sizeof(hal_backend_descriptor),
                                                   HAL_ABI_VERSION,
                                                   0,
                                                   "test.neighbour",
                                                   "test",
                                                   "1",
                                                   "",
                                                   &create,
                                                   &destroy,
                                                   &get_table};
    return &descriptor;
}

}  // namespace neighbour

// A loader that sees the plug-in's manifest, what the case adds, and no environment.
class Loader {
  public:
    explicit Loader(Test& t, uint32_t flags = 0, const std::vector<std::string>& more_manifests = {},
                    const std::vector<hal_backend_entry_fn>& linked = {})
        : test_(t) {
        std::vector<std::string> paths{std::filesystem::absolute(t.target.manifest).string()};
        paths.insert(paths.end(), more_manifests.begin(), more_manifests.end());
        std::vector<const char*> path_texts;
        for (const std::string& path : paths) {
            path_texts.push_back(path.c_str());
        }
        std::vector<hal_option> options;
        for (const auto& [key, value] : t.target.options) {
            options.push_back({t.target.id.c_str(), key.c_str(), value.c_str()});
        }
        hal_loader_desc desc{};
        desc.header.size = sizeof desc;
        desc.manifest_paths = path_texts.data();
        desc.manifest_path_count = path_texts.size();
        desc.entries = linked.data();
        desc.entry_count = linked.size();
        desc.options = options.data();
        desc.option_count = options.size();
        desc.log = [](void*, uint32_t, const char*) {};  // standard error belongs to nobody here
        desc.flags = flags | HAL_LOADER_NO_ENVIRONMENT;
        ok(hal_loader_open(&desc, &loader_), "hal_loader_open");
    }
    ~Loader() { ok(hal_loader_close(loader_), "hal_loader_close"); }
    Loader(const Loader&) = delete;
    Loader& operator=(const Loader&) = delete;

    [[nodiscard]] hal_loader* get() const { return loader_; }
    // Opened and initialised; nullptr and a failed check otherwise.
    [[nodiscard]] const hal_backend* backend(const std::string& id) const {
        const hal_backend* found = nullptr;
        return ok(hal_backend_open(loader_, id.c_str(), &found), "hal_backend_open") ? found : nullptr;
    }
    bool ok(hal_status status, std::string_view what) const {
        return test_.check(status == HAL_OK,
                           std::string(what) + (status == HAL_OK ? "" : std::string(": ") + hal_last_error()));
    }

  private:
    Test& test_;
    hal_loader* loader_ = nullptr;
};

const void* slot_in(const hal_table_header* table, const EntryInfo& entry) {
    const void* slot = nullptr;
    if (table != nullptr && entry.offset + sizeof slot <= table->size) {
        std::memcpy(&slot, reinterpret_cast<const char*>(table) + entry.offset, sizeof slot);
    }
    return slot;
}

// The completed table that the loader hands out.
const hal_table_header* completed(const hal_backend& backend, std::string_view table) {
#define HAL_TABLE(name, id, clause, effect)                             \
    if (table == #name) {                                               \
        return reinterpret_cast<const hal_table_header*>(backend.name); \
    }
#include "hal/tables/all.def"
    return nullptr;
}

constexpr uint64_t serialized = HAL_BACKEND_SERIALIZE_ALL | HAL_BACKEND_SERIALIZE_STREAM;

#define LOADED(id, ...)                                                              \
    HAL_CASE("45079.X.loader.norm." id, clauses{"hal/4"}, authority::A, __VA_ARGS__) \
    (Test & t)

// The very functions of the plug-in, unless it asks for a lock around them.
LOADED("native_stays_native", needs{}) {
    const Loader loader(t);
    const hal_backend* backend = loader.backend(t.target.id);
    if (backend == nullptr) {
        return;
    }
    const auto& d = t.backend().descriptor();
    for (const EntryInfo& entry : entries) {
        if (!t.facts.present[static_cast<size_t>(&entry - entries.data())]) {
            continue;
        }
        uint32_t support = HAL_SUPPORT_ABSENT;
        const std::string name(entry.name);
        loader.ok(hal_entry_support(backend, name.c_str(), &support), "hal_entry_support");
        t.eq(uint32_t{HAL_SUPPORT_NATIVE}, support, "support of " + name + ", which the plug-in has");
        const void* raw = slot_in(d.get_table(t.backend().instance(), find_table(entry.table)->id_major()), entry);
        const void* loaded = slot_in(completed(*backend, entry.table), entry);
        t.check(loaded != nullptr && (loaded == raw || (d.flags & serialized) != 0),
                name + " in the loader's table is the plug-in's own");
    }
}

template <class... Args>
hal_status call_with_nothing(hal_status (*function)(hal_instance*, Args...), hal_instance* instance) {
    return function(instance, Args{}...);
}

// With emulation off an absent entry is a stub that names the table and the entry.
LOADED("absent_says_so", needs{}) {
    const Loader loader(t, HAL_LOADER_NO_EMULATION);
    const hal_backend* backend = loader.backend(t.target.id);
    if (backend == nullptr) {
        return;
    }
    const auto check = [&](const EntryInfo& entry, const std::function<hal_status()>& call) {
        const std::string name(entry.name);
        uint32_t support = HAL_SUPPORT_NATIVE;
        loader.ok(hal_entry_support(backend, name.c_str(), &support), "hal_entry_support");
        t.eq(uint32_t{HAL_SUPPORT_ABSENT}, support, "support of " + name + ", which the plug-in lacks");
        t.eq(HAL_ERROR_UNSUPPORTED, call(), "status of " + name);
        const std::string text = hal_last_error();
        t.check(text.find(name) != std::string::npos && text.find(t.target.id) != std::string::npos,
                "the text names the back end and " + name);
        t.check(!find_table(entry.table)->standard() || text.find("table ") != std::string::npos,
                "the text names the table and the row of " + name);
    };
#define HAL_FN(table, entry, need, clause, since, effect, params)                                           \
    if (!t.facts.has(E::entry)) {                                                                           \
        check(info(E::entry), [&] { return call_with_nothing(backend->table->entry, backend->instance); }); \
    }
#include "hal/tables/all.def"
    t.check(backend->instance != nullptr, "an instance");
}

LOADED("manifest_accepted", needs{}) {
    const Loader loader(t);
    (void)loader.backend(t.target.id);
    uint64_t count = 0;
    loader.ok(hal_loader_report_count(loader.get(), &count), "hal_loader_report_count");
    for (uint64_t i = 0; i < count; ++i) {
        hal_backend_report report{};
        report.header.size = sizeof report;
        loader.ok(hal_loader_report(loader.get(), i, &report), "hal_loader_report");
        t.eq(std::string(), std::string(report.code) + report.cause, "what the loader finds wrong");
        t.eq(t.facts.device_count, report.device_count, "devices that the loader counts");
    }
    t.eq(uint64_t{1}, count, "candidates");
}

void expect_works(Test& t, const hal_backend* backend) {
    if (backend == nullptr) {
        return;
    }
    int32_t count = 0;
    t.eq(HAL_OK, backend->device->get_device_count(backend->instance, &count), "get_device_count");
    t.eq(t.facts.device_count, count, "devices");
    hal_event event = nullptr;
    t.eq(HAL_OK, backend->event->create_event(backend->instance, 0, nullptr, &event), "create_event");
    t.eq(HAL_OK, backend->event->record_event(backend->instance, 0, nullptr, event), "record_event");
    t.eq(HAL_OK, backend->event->synchronize_event(backend->instance, 0, event, HAL_NO_TIMEOUT), "synchronize_event");
    t.eq(HAL_OK, backend->event->destroy_event(backend->instance, 0, event), "destroy_event");
}

LOADED("two_side_by_side",
       needs{E::get_device_count, E::create_event, E::destroy_event, E::record_event, E::synchronize_event}) {
    const Loader loader(t, 0, {}, {&neighbour::entry});
    const hal_backend* other = loader.backend("test.neighbour");
    const hal_backend* mine = loader.backend(t.target.id);
    expect_works(t, mine);
    if (other != nullptr) {
        int32_t count = 0;
        t.eq(HAL_OK, other->device->get_device_count(other->instance, &count), "get_device_count of the neighbour");
        t.eq(3, count, "devices of the neighbour");
        hal_stream stream = nullptr;
        t.eq(HAL_ERROR_UNSUPPORTED, other->stream->create_stream(other->instance, 0, nullptr, &stream),
             "a stream of the neighbour, which has none");
    }
    expect_works(t, mine);
    t.check(mine != other, "two back ends");
}

hal_status refuse(const hal_host* host, hal_instance**) {
    host->set_error(host, HAL_ERROR_DRIVER, 0, "broken on purpose");
    return HAL_ERROR_DRIVER;
}

const hal_backend_descriptor* broken_entry(const hal_host*) {
    static const hal_backend_descriptor descriptor{sizeof(hal_backend_descriptor),
                                                   HAL_ABI_VERSION,
                                                   0,
                                                   "test.broken",
                                                   "test",
                                                   "1",
                                                   "",
                                                   &refuse,
                                                   &neighbour::destroy,
                                                   &neighbour::get_table};
    return &descriptor;
}

// A manifest that is no JSON, one whose library is missing, and a back end that cannot start.
LOADED("broken_neighbour",
       needs{E::get_device_count, E::create_event, E::destroy_event, E::record_event, E::synchronize_event}) {
    const auto folder = std::filesystem::temp_directory_path() / ("hal_broken_" + std::to_string(getpid()));
    std::filesystem::create_directory(folder);
    const auto damaged = (folder / "10-damaged.json").string();
    const auto missing = (folder / "20-missing.json").string();
    std::ofstream(damaged) << "{ this is no JSON";
    std::ofstream(missing) << R"({"schema_version": "1.0", "backend": {"id": "test.missing", )"
                           << R"("library_path": "./none.so", "abi": {"min": "1.0", "max": "1.0"}}})";
    {
        const Loader loader(t, 0, {damaged, missing}, {&broken_entry});
        const hal_backend* broken = nullptr;
        t.check(hal_backend_open(loader.get(), "test.broken", &broken) != HAL_OK && broken == nullptr,
                "the broken back end is refused");
        t.check(std::string(hal_last_error()).find("broken on purpose") != std::string::npos, "with its own text");
        t.check(hal_backend_open(loader.get(), "test.missing", &broken) != HAL_OK, "the missing library is refused");
        expect_works(t, loader.backend(t.target.id));
    }
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace hal::conformance
