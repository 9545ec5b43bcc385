// Mutants of create-structs: headers, chains and reserved fields, as create_event reads them.
#include "overlay.hpp"

namespace hal::mutants {

namespace {
template <class Real>
hal_status with_desc(const hal_event_desc* desc, Real create, void (*change)(hal_event_desc&)) {
    if (desc == nullptr) {
        return create(desc);
    }
    hal_event_desc other{};
    other.header = desc->header;
    if (desc->header.size >= sizeof other) {
        other = *desc;
    }
    change(other);
    return create(&other);
}
}  // namespace

void event_reserved_checked(Plugin& plugin) {
    plugin.event.create_event = [](hal_instance* self, hal_dev device, const hal_event_desc* desc, hal_event* out) {
        return desc != nullptr && desc->header.size >= sizeof *desc && desc->reserved != 0
                   ? refuse(self, HAL_ERROR_INVALID_ARGUMENT, "a reserved field is not 0")
                   : base.event.create_event(self, device, desc, out);
    };
}

void event_any_chain_refused(Plugin& plugin) {
    plugin.event.create_event = [](hal_instance* self, hal_dev device, const hal_event_desc* desc, hal_event* out) {
        return desc != nullptr && desc->header.next != nullptr
                   ? refuse(self, HAL_ERROR_UNSUPPORTED, "chained structs are not known here")
                   : base.event.create_event(self, device, desc, out);
    };
}

void event_chain_not_read(Plugin& plugin) {
    plugin.event.create_event = [](hal_instance* self, hal_dev device, const hal_event_desc* desc, hal_event* out) {
        return with_desc(
            desc, [&](const hal_event_desc* other) { return base.event.create_event(self, device, other, out); },
            [](hal_event_desc& other) { other.header.next = nullptr; });
    };
}

// Believes that every caller was built with today's struct.
void event_flags_always_read(Plugin& plugin) {
    plugin.event.create_event = [](hal_instance* self, hal_dev device, const hal_event_desc* desc, hal_event* out) {
        constexpr uint32_t known = HAL_EVENT_TIMING | HAL_EVENT_IPC;
        return desc != nullptr && (desc->flags & ~known) != 0
                   ? refuse(self, HAL_ERROR_INVALID_ARGUMENT, "unknown flags of an event")
                   : base.event.create_event(self, device, desc, out);
    };
}

}  // namespace hal::mutants
