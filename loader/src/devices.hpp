// Which devices a framework sees and in what order: HAL_VISIBLE_DEVICES, HAL_DEFAULT_DEVICE, and the rule without them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opened.hpp"

namespace hal::loader {

struct Device {
    const Opened* opened;
    const Manifest* manifest;
    hal_dev ordinal;
};

// Runs on the host's processors: all devices of the manifest do, or this one says so.
bool is_software(const Device& device);

// Gets each message about a selector that is wrong or matches nothing.
using Complain = std::function<void(const std::string&)>;

// The devices that the selectors of a list name, in that order; all of them without a list. `first` moves the first
// device that it names to the front. Throws only std::bad_alloc.
std::vector<Device> select_devices(std::vector<Device> devices, std::optional<std::string_view> visible,
                                   std::optional<std::string_view> first, const Complain& complain);

}  // namespace hal::loader
