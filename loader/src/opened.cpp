#include "opened.hpp"

#include <fmt/format.h>

#include "environment.hpp"
#include "error.hpp"
#include "log.hpp"

namespace hal::loader {

namespace {

// No real back end registers more; a count beyond it is a count that was never written.
constexpr uint64_t most_kernels = 1u << 20;

[[noreturn]] void refuse_start(const std::string& what, hal_status status, uint64_t errors) {
    if (status == HAL_ERROR_OUT_OF_HOST_MEMORY) {
        throw std::bad_alloc();
    }
    if (status == HAL_ERROR_NO_DEVICE) {
        throw Refusal({HAL_STATE_NO_DEVICE, status, "L051", fmt::format("{}: {}", what, reason_since(errors)),
                       "plug the device in or install its driver, then rescan"});
    }
    const hal_status passed = known_status(status) && status < HAL_OK ? status : HAL_ERROR_INTERNAL;
    throw Refusal({HAL_STATE_INIT_FAILED, passed, "L050",
                   fmt::format("{} failed: {}: \"{}\"", what, hal_status_name(status), reason_since(errors)),
                   "act on the reason that the backend gives, then rescan"});
}

[[noreturn]] void refuse_contract(std::string cause) {
    throw Refusal({HAL_STATE_TABLE_INVALID, HAL_ERROR_ABI, "L033", std::move(cause),
                   "the library breaks the contract of hal/plugin.h; tell the vendor"});
}

}  // namespace

Opened::Opened(const Services& services, Host& host, Description description, std::string where)
    : services_(services),
      host_(host),
      plugin_(std::move(description)),
      where_(std::move(where)),
      text_(fmt::format("backend {}{}{} ({})", plugin_.name, plugin_.version.empty() ? "" : " ", plugin_.version,
                        where_)) {
    create();
    try {
        prepare();
        register_kernels();
        initialize();
    } catch (...) {
        destroy();
        throw;
    }
}

Opened::~Opened() {
    destroy();
}

void Opened::create() {
    Head& head = acquire_head();
    head_ = &head;
    const uint64_t errors = error_count();
    hal_instance* made = nullptr;
    hal_status status = HAL_OK;
    try {
        status = plugin_.create(&host_.api(), &made);
    } catch (...) {
        retire_head(head);
        throw;
    }
    if (status != HAL_OK || made == nullptr) {
        retire_head(head);
        if (status == HAL_OK) {
            refuse_contract(fmt::format("{}: create returned HAL_OK and no instance", where_));
        }
        refuse_start(where_ + ": create", status, errors);
    }
    if (const std::string_view owner = claim_instance(head, made, *this, plugin_.name); !owner.empty()) {
        const std::string cause = fmt::format(
            "{}: create returned an instance that backend {} uses already; each needs an "
            "address of its own",
            where_, owner);
        retire_head(head);  // and no destroy: the instance is the other one's
        refuse_contract(cause);
    }
    instance_ = made;
}

void Opened::destroy() noexcept {
    host_.admit_kernels(nullptr);
    retire_head(*head_);
    plugin_.destroy(instance_);
}

void Opened::prepare() {
    native_ = read_tables(plugin_, instance_, where_);
    const bool emulate =
        (services_.settings.flags & HAL_LOADER_NO_EMULATION) == 0 && !services_.environment.flag("HAL_NO_EMULATION");
    completed_ = complete(native_, emulate);
    for (size_t entry = 0; services_.log.wants(Subject::load) && entry < entries.size(); ++entry) {
        if (support(entry) == HAL_SUPPORT_EMULATED) {
            services_.log.debug(Subject::load,
                                fmt::format("backend {}: {}.{} is emulated {}", id(), entries[entry].table,
                                            entries[entry].name, emulation_means(entry)));
        }
    }
    if (plugin_.has(HAL_BACKEND_SERIALIZE_ALL | HAL_BACKEND_SERIALIZE_STREAM)) {
        serializer_ = std::make_unique<Serializer>(completed_.tables, instance_, id());
        point_at(*head_, serialized_tables, serializer_->instance());
    } else {
        point_at(*head_, completed_.tables, instance_);
    }
}

void Opened::register_kernels() {
    if (native_.kernel.register_kernel != nullptr) {
        const hal_kernel* const* kernels = nullptr;
        uint64_t count = 0;
        const uint64_t errors = error_count();
        if (const hal_status status = native_.kernel.register_kernel(instance_, &kernels, &count); status != HAL_OK) {
            refuse_start(where_ + ": register_kernel", status, errors);
        }
        if (count > most_kernels || (kernels == nullptr && count > 0)) {
            refuse_contract(fmt::format("{}: register_kernel answered {} kernels at {}", where_, count,
                                        kernels == nullptr ? "NULL" : "an address"));
        }
        if (const std::string defect = add_kernels({kernels, count}); !defect.empty()) {
            refuse_contract(fmt::format("{}: {}", where_, defect));
        }
    }
    head_->registry.store(&registry_);
    host_.admit_kernels(this);
}

std::string Opened::add_kernels(std::span<const hal_kernel* const> kernels) {
    if (serializer_ == nullptr) {
        return registry_.add(id(), kernels);
    }
    const auto wrapped = serializer_->wrap(kernels);
    return registry_.add(id(), wrapped);
}

void Opened::initialize() {
    const size_t entry = index_of("initialize");
    if (support(entry) == HAL_SUPPORT_ABSENT) {
        return;
    }
    const uint64_t errors = error_count();
    if (const hal_status status = tables().device.initialize(instance_); status != HAL_OK) {
        refuse_start(where_ + ": initialize", status, errors);
    }
}

int32_t Opened::count_devices() {
    int32_t count = -1;
    const uint64_t errors = error_count();
    if (const hal_status status = native_.device.get_device_count(instance_, &count); status != HAL_OK) {
        refuse_start(where_ + ": get_device_count", status, errors);
    }
    if (count < 0) {
        refuse_contract(fmt::format("{}: get_device_count answered {} devices", where_, count));
    }
    return count;
}

}  // namespace hal::loader
