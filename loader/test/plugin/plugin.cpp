// A back end for tests whose faults come from its options:
//   fault    "what [detail]", see the uses of fault()
//   devices  their number, 2 by default
//   count-inside  after the start get_device_count answers how many threads were inside synchronize_device at one time
//   hook     the address of a Hook in the test; called at each stage, and what it returns is what the stage returns
// Device memory is host memory and everything completes inside the call. Compiled twice, with different PLUGIN_ID.
#include "plugin.hpp"

#include <array>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "hal/reflect.hpp"
#include "hal/sdk.hpp"

namespace {

using hal::sdk::option;

struct Faults {
    std::string what;
    std::string detail;
};

Faults read_fault(const hal_host* host) {
    const std::string text = option(host, "fault", "");
    const size_t blank = text.find(' ');
    return blank == std::string::npos ? Faults{text, ""} : Faults{text.substr(0, blank), text.substr(blank + 1)};
}

hal_status hook(const hal_host* host, const char* stage, hal_instance* instance) {
    const std::string text = option(host, "hook", "");
    uintptr_t address = 0;
    std::from_chars(text.data(), text.data() + text.size(), address);
    return address == 0 ? HAL_OK : reinterpret_cast<hal::loader::test::Hook>(address)(stage, host, instance);
}

template <class Table>
struct Longer {
    Table table;
    void (*newer[3])();
};

struct Instance {
    const hal_host* host_;
    Faults fault;
    int32_t devices;
    Longer<hal_device_table> device{};
    Longer<hal_memory_table> memory{};
    Longer<hal_stream_table> stream{};
    Longer<hal_event_table> event{};
    Longer<hal_kernel_table> kernel{};
    Longer<hal_device_ext_table> device_ext{};
    hal_graph_table graph{};
    std::atomic<int> inside{0};  // threads in synchronize_device
    std::atomic<int> most_inside{0};

    [[nodiscard]] const hal_host* host() const noexcept { return host_; }
};

thread_local hal_dev current = 0;

hal_status set_device(Instance& self, hal_dev device) {
    if (device < 0 || device >= self.devices) {
        throw hal::sdk::Error(HAL_ERROR_INVALID_DEVICE, "no such device");
    }
    current = device;
    return HAL_OK;
}
hal_status get_device(Instance&, hal_dev* out_device) {
    *out_device = current;
    return HAL_OK;
}

// Counts the threads that are inside at one time. With a timeout it leaves only when that many have been: a test that
// wants two at once waits for two, without a clock.
hal_status synchronize_device(Instance& self, hal_dev, uint64_t timeout_ns) {
    const int now = ++self.inside;
    int most = self.most_inside.load();
    while (now > most && !self.most_inside.compare_exchange_weak(most, now)) {
    }
    do {
        std::this_thread::yield();
    } while (self.most_inside.load() < static_cast<int>(timeout_ns));
    --self.inside;
    return HAL_OK;
}
hal_status get_device_count(Instance& self, int32_t* out_count) {
    const bool counted = self.most_inside > 0 && option(self.host_, "count-inside", "") == "1";
    *out_count = counted ? self.most_inside.load() : self.devices;
    return hook(self.host_, "count", reinterpret_cast<hal_instance*>(&self));
}
hal_status initialize(Instance& self) {
    return hook(self.host_, "initialize", reinterpret_cast<hal_instance*>(&self));
}

hal_status allocate(Instance&, hal_dev, uint64_t size_bytes, hal_dptr* out_ptr) {
    *out_ptr = reinterpret_cast<hal_dptr>(new char[size_bytes]);
    return HAL_OK;
}
hal_status deallocate(Instance&, hal_dev, hal_dptr ptr, uint64_t) {
    delete[] reinterpret_cast<char*>(ptr);
    return HAL_OK;
}
hal_status copy_h2d(Instance&, hal_dev, hal_dptr dst, const void* src, uint64_t size_bytes) {
    std::memcpy(reinterpret_cast<void*>(dst), src, size_bytes);
    return HAL_OK;
}
hal_status copy_d2h(Instance&, hal_dev, void* dst, hal_dptr src, uint64_t size_bytes) {
    std::memcpy(dst, reinterpret_cast<const void*>(src), size_bytes);
    return HAL_OK;
}

// Inside the call, or with a stream of 1 on a thread that this call waits for: what a serialised back end may do worst.
hal_status add_callback(Instance&, hal_dev device, hal_stream stream, hal_stream_callback callback, void* user_data) {
    if (stream == nullptr) {
        callback(user_data, device, stream, HAL_OK);
    } else {
        std::thread(callback, user_data, device, stream, HAL_OK).join();
    }
    return HAL_OK;
}

hal_status create_event(Instance&, hal_dev, const hal_event_desc*, hal_event* out_event) {
    *out_event = reinterpret_cast<hal_event>(new char);
    return HAL_OK;
}
hal_status destroy_event(Instance&, hal_dev, hal_event event) {
    delete reinterpret_cast<char*>(event);
    return HAL_OK;
}
hal_status record_event(Instance&, hal_dev, hal_stream, hal_event) {
    return HAL_OK;
}
hal_status synchronize_event(Instance&, hal_dev, hal_event, uint64_t) {
    return HAL_OK;
}

hal_status run(Instance& self, const hal_kernel_call& call) {
    const bool own = call.instance == reinterpret_cast<hal_instance*>(&self) && call.kernel->op == std::string("Test");
    return own ? synchronize_device(self, 0, 0) : HAL_ERROR_INTERNAL;
}
constexpr std::array kernels{hal_kernel{.size = sizeof(hal_kernel),
                                        .line = 11,
                                        .op = "Test",
                                        .backend = PLUGIN_ID,
                                        .layout = HAL_LAYOUT_ANY,
                                        .dtype = HAL_F32,
                                        .run = hal::sdk::kernel<run>,
                                        .file = "first.cpp"},
                             hal_kernel{.size = sizeof(hal_kernel),
                                        .line = 22,
                                        .op = "Test",
                                        .backend = PLUGIN_ID,
                                        .layout = HAL_LAYOUT_ANY,
                                        .dtype = HAL_F32,
                                        .run = hal::sdk::kernel<run>,
                                        .file = "second.cpp"}};
constexpr std::array<const hal_kernel*, 2> kernel_list{&kernels[0], &kernels[1]};
hal_status register_kernel(Instance& self, const hal_kernel* const** out_kernels, uint64_t* out_count) {
    *out_kernels = self.fault.what == "null-kernels" ? nullptr : kernel_list.data();
    // Under another name the kernels would be another back end's.
    *out_count = self.fault.what == "other-name" ? 0 : 1;
    if (self.fault.what == "duplicate-kernel" || self.fault.what == "null-kernels") {
        *out_count = 2;
    }
    return HAL_OK;
}

hal_status get_device_properties(Instance& self, hal_dev device, hal_device_properties* out_properties) {
    hal_device_properties answer{.kind = device == 0 ? HAL_KIND_NPU : HAL_KIND_GPU};
    if (self.fault.what == "software-device" && device == 0) {
        answer.flags = HAL_DEVICE_SOFTWARE;
    }
    answer.uuid[15] = static_cast<uint8_t>(device + 1);
    std::snprintf(answer.pci, sizeof answer.pci, "0000:0%d:00.0", device);
    return hal::sdk::write_struct(answer, out_properties, "out_properties");
}

template <class Table>
constexpr hal_table_header header(uint32_t id) {
    return hal::sdk::header<Table>(id);
}

void fill(Instance& self) {
    using hal::sdk::slot;
    self.device.table = {.header = header<hal_device_table>(HAL_TABLE_device),
                         .set_device = slot<set_device>,
                         .get_device = slot<get_device>,
                         .synchronize_device = slot<synchronize_device>,
                         .get_device_count = slot<get_device_count>,
                         .initialize = slot<initialize>};
    self.memory.table = {.header = header<hal_memory_table>(HAL_TABLE_memory),
                         .device_memory_allocate = slot<allocate>,
                         .device_memory_deallocate = slot<deallocate>,
                         .memory_copy_h2d = slot<copy_h2d>,
                         .memory_copy_d2h = slot<copy_d2h>};
    self.stream.table = {.header = header<hal_stream_table>(HAL_TABLE_stream),
                         .stream_add_callback = slot<add_callback>};
    self.event.table = {.header = header<hal_event_table>(HAL_TABLE_event),
                        .create_event = slot<create_event>,
                        .destroy_event = slot<destroy_event>,
                        .record_event = slot<record_event>,
                        .synchronize_event = slot<synchronize_event>};
    self.kernel.table = {.header = header<hal_kernel_table>(HAL_TABLE_kernel),
                         .register_kernel = slot<register_kernel>};
    self.device_ext.table = {.header = header<hal_device_ext_table>(HAL_TABLE_device_ext),
                             .get_device_properties = slot<get_device_properties>};
    self.graph.header = header<hal_graph_table>(HAL_TABLE_graph);
}

hal_table_header* table_of(Instance& self, uint32_t id) {
    switch (id) {
        case HAL_TABLE_device:
            return &self.device.table.header;
        case HAL_TABLE_memory:
            return &self.memory.table.header;
        case HAL_TABLE_stream:
            return &self.stream.table.header;
        case HAL_TABLE_event:
            return &self.event.table.header;
        case HAL_TABLE_kernel:
            return &self.kernel.table.header;
        case HAL_TABLE_device_ext:
            return &self.device_ext.table.header;
        case HAL_TABLE_graph:
            return self.fault.what == "empty-graph" ? &self.graph.header : nullptr;
        default:
            return nullptr;
    }
}

void apply_fault(Instance& self) {
    const auto& [what, detail] = self.fault;
    if (what == "table-size") {
        self.memory.table.header.size = static_cast<uint32_t>(std::stoul(detail));
    } else if (what == "table-id") {
        self.memory.table.header.id_major = HAL_TABLE_ID(2, 9);
    } else if (what == "short") {  // an older plug-in: the device table ends behind its last required entry
        self.device.table.header.size = offsetof(hal_device_table, get_device_list);
    } else if (what == "long") {  // a newer plug-in: entries that nobody here knows
        self.device.table.header.size = sizeof self.device;
        self.event.table.header.size = sizeof self.event;
        self.memory.table.header.size = sizeof self.memory;
    } else if (what == "hole") {
        const hal::EntryInfo& entry = *hal::find_entry(detail);
        char* table = reinterpret_cast<char*>(table_of(self, hal::find_table(entry.table)->id_major()));
        std::memset(table + entry.offset, 0, sizeof(void*));
    }
}

Instance shared{};  // of the fault create-shared

hal_status create(const hal_host* host, hal_instance** out_instance) {
    if (const hal_status status = hook(host, "create", nullptr); status != HAL_OK) {
        return status;
    }
    const Faults fault = read_fault(host);
    if (fault.what == "create-null") {
        *out_instance = nullptr;
        return HAL_OK;
    }
    if (fault.what == "create-shared") {
        if (shared.host_ == nullptr) {
            shared.host_ = host;
            shared.devices = 1;
            fill(shared);
        }
        *out_instance = reinterpret_cast<hal_instance*>(&shared);
        return HAL_OK;
    }
    auto* self = new Instance{.host_ = host, .fault = fault, .devices = std::stoi(option(host, "devices", "2"))};
    fill(*self);
    apply_fault(*self);
    *out_instance = reinterpret_cast<hal_instance*>(self);
    return HAL_OK;
}

void destroy(hal_instance* instance) {
    auto* self = reinterpret_cast<Instance*>(instance);
    static_cast<void>(hook(self->host_, "destroy", instance));
    if (self != &shared) {
        delete self;
    }
}

const hal_table_header* get_table(hal_instance* instance, uint32_t id_major) {
    return table_of(*reinterpret_cast<Instance*>(instance), id_major);
}

constexpr hal_backend_descriptor good{
    sizeof(hal_backend_descriptor), HAL_ABI_VERSION, 0, PLUGIN_ID, "Test", "1.2", "", create, destroy, get_table};

constexpr hal_backend_descriptor with(void (*change)(hal_backend_descriptor&)) {
    hal_backend_descriptor descriptor = good;
    change(descriptor);
    return descriptor;
}
using D = hal_backend_descriptor;
constexpr auto endless = [] {
    std::array<char, 300> text{};
    text.fill('x');  // and no terminator
    return text;
}();

struct Variant {
    std::string_view fault;
    hal_backend_descriptor descriptor;
};
constexpr std::array variants{
    Variant{"size-0", with([](D& d) { d.size = 0; })},
    Variant{"size-13", with([](D& d) { d.size = 13; })},
    Variant{"size-1M", with([](D& d) { d.size = 1U << 20; })},
    Variant{"size-odd", with([](D& d) { d.size += 4; })},
    Variant{"abi-2", with([](D& d) { d.abi_version = HAL_MAKE_VERSION(2, 1); })},
    Variant{"abi-0", with([](D& d) { d.abi_version = HAL_MAKE_VERSION(0, 9); })},
    Variant{"abi-minor", with([](D& d) { d.abi_version = HAL_MAKE_VERSION(1, 7); })},
    Variant{"no-create", with([](D& d) { d.create = nullptr; })},
    Variant{"no-name", with([](D& d) { d.name = nullptr; })},
    Variant{"endless-name", with([](D& d) { d.name = endless.data(); })},
    Variant{"other-name", with([](D& d) { d.name = "other.name"; })},
    Variant{"endless-version", with([](D& d) { d.version = endless.data(); })},
    Variant{"serialize-all", with([](D& d) { d.flags = HAL_BACKEND_SERIALIZE_ALL; })},
    Variant{"serialize-stream", with([](D& d) { d.flags = HAL_BACKEND_SERIALIZE_STREAM; })},
    Variant{"fork-safe", with([](D& d) { d.flags = HAL_BACKEND_FORK_SAFE; })},
};
constexpr hal_backend_descriptor sound = good;

}  // namespace

const hal_backend_descriptor* hal_backend_entry_v1(const hal_host* host) {
    const Faults fault = read_fault(host);
    if (fault.what == "null") {
        return nullptr;
    }
    if (fault.what == "null-reason") {
        host->set_error(host, HAL_ERROR_DRIVER, 77, "driver 5.0 < 5.1\x1b[31m");
        return nullptr;
    }
    for (const Variant& variant : variants) {
        if (variant.fault == fault.what) {
            return &variant.descriptor;
        }
    }
    return &sound;
}
