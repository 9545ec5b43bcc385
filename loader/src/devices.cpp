#include "devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "log.hpp"
#include "text.hpp"

namespace hal::loader {

namespace {

// A selector as written: "id", "id:n", "kind:npu", "uuid:...", "pci:dddd:bb:dd.f".
struct Selector {
    enum class By : uint8_t { backend, kind, uuid, pci } by = By::backend;
    std::string value;
    std::optional<hal_dev> ordinal;
};

constexpr auto kinds = std::to_array<std::pair<std::string_view, uint32_t>>({{"cpu", HAL_KIND_CPU},
                                                                             {"gpu", HAL_KIND_GPU},
                                                                             {"npu", HAL_KIND_NPU},
                                                                             {"fpga", HAL_KIND_FPGA},
                                                                             {"dsp", HAL_KIND_DSP},
                                                                             {"other", HAL_KIND_OTHER}});

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), ascii_lower);
    return result;
}

// Hex digits only: "f81d4fae-7dec-..." and the plain form are the same id.
std::string uuid_digits(std::string_view text) {
    std::string digits = lower(text);
    std::erase(digits, '-');
    return digits;
}

std::string uuid_digits(const uint8_t (&uuid)[16]) {
    return fmt::format("{:02x}", fmt::join(uuid, ""));
}

bool is_hex(std::string_view text) {
    return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_kind(std::string_view word) {
    return std::any_of(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.first == word; });
}

// Nothing, after a complaint, for a text that is no selector.
std::optional<Selector> parse(std::string_view text, std::string_view variable, const Complain& complain) {
    using By = Selector::By;
    const auto wrong = [&](const char* why) {
        complain(fmt::format("{}: '{}' is no selector: {}", variable, printable(text), why));
        return std::nullopt;
    };
    const size_t colon = text.find(':');
    const std::string_view head = text.substr(0, colon);
    const std::string_view tail = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    if (colon == std::string_view::npos) {
        return Selector{By::backend, std::string(text), std::nullopt};
    }
    if (head == "kind") {
        return is_kind(lower(tail)) ? std::optional(Selector{By::kind, lower(tail), std::nullopt})
                                    : wrong("a kind is cpu, gpu, npu, fpga, dsp or other");
    }
    if (head == "uuid") {
        const std::string digits = uuid_digits(tail);
        return digits.size() == 32 && is_hex(digits) ? std::optional(Selector{By::uuid, digits, std::nullopt})
                                                     : wrong("a uuid has 32 hexadecimal digits");
    }
    if (head == "pci") {
        return tail.empty() ? wrong("write pci:dddd:bb:dd.f")
                            : std::optional(Selector{By::pci, lower(tail), std::nullopt});
    }
    hal_dev ordinal = 0;
    const auto [end, error] = std::from_chars(tail.data(), tail.data() + tail.size(), ordinal);
    if (error != std::errc() || end != tail.data() + tail.size() || ordinal < 0) {
        return wrong("write backend-id:n with n = 0, 1, ...");
    }
    return Selector{By::backend, std::string(head), ordinal};
}

std::optional<hal_device_properties> properties(const Device& device) {
    const hal_backend* head = device.opened->head();
    hal_device_properties result{.header = {sizeof result, 0, nullptr}};
    if (device.opened->support(index_of("get_device_properties")) == HAL_SUPPORT_ABSENT ||
        head->device_ext->get_device_properties(head->instance, device.ordinal, &result) != HAL_OK) {
        return std::nullopt;
    }
    return result;
}

// The device's own word, else the manifest's.
bool of_kind(const Device& device, std::string_view word) {
    const auto known = properties(device);
    if (!known || known->kind == 0) {
        const auto& said = device.manifest->kinds;
        return std::find(said.begin(), said.end(), word) != said.end();
    }
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](const auto& kind) { return kind.first == word && kind.second == known->kind; });
}

bool matches(const Device& device, const Selector& selector) {
    switch (selector.by) {
        case Selector::By::backend:
            return (device.opened->id() == selector.value || device.manifest->id == selector.value) &&
                   selector.ordinal.value_or(device.ordinal) == device.ordinal;
        case Selector::By::kind:
            return of_kind(device, selector.value);
        case Selector::By::uuid: {
            const auto known = properties(device);
            return known && uuid_digits(known->uuid) == selector.value;
        }
        case Selector::By::pci: {
            const auto known = properties(device);
            return known && lower({known->pci, strnlen(known->pci, sizeof known->pci)}) == selector.value;
        }
    }
    return false;
}

std::string names(const std::vector<Device>& devices) {
    std::string text;
    for (const Device& device : devices) {
        text += fmt::format("{}{}:{}", text.empty() ? "" : ", ", device.opened->id(), device.ordinal);
    }
    return text.empty() ? "none" : text;
}

// Moves what one selector names from `rest` to the end of `chosen`, in the order of `rest`.
void choose(std::string_view text, std::string_view variable, std::vector<Device>& rest, std::vector<Device>& chosen,
            const Complain& complain) {
    const auto selector = parse(text, variable, complain);
    if (!selector) {
        return;
    }
    const auto named = [&](const Device& device) { return matches(device, *selector); };
    const auto split =
        std::stable_partition(rest.begin(), rest.end(), [&](const Device& device) { return !named(device); });
    if (split == rest.end() && std::none_of(chosen.begin(), chosen.end(), named)) {
        complain(fmt::format("{}: '{}' matches none of: {}", variable, printable(text), names(rest)));
    }
    chosen.insert(chosen.end(), split, rest.end());
    rest.erase(split, rest.end());
}

}  // namespace

bool is_software(const Device& device) {
    const auto known = properties(device);
    return device.manifest->software || (known && (known->flags & HAL_DEVICE_SOFTWARE) != 0);
}

std::vector<Device> select_devices(std::vector<Device> devices, std::optional<std::string_view> visible,
                                   std::optional<std::string_view> first, const Complain& complain) {
    if (visible && trimmed(*visible) == "none") {
        return {};
    }
    if (visible) {
        std::vector<Device> rest = std::exchange(devices, {});
        for (const std::string_view selector : list_elements(*visible, ',')) {
            choose(selector, "HAL_VISIBLE_DEVICES", rest, devices, complain);
        }
    }
    if (first) {
        std::vector<Device> front;
        choose(trimmed(*first), "HAL_DEFAULT_DEVICE", devices, front, complain);
        devices.insert(devices.begin(), front.begin(), front.end());
    }
    return devices;
}

}  // namespace hal::loader
