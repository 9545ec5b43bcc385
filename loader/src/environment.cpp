#include "environment.hpp"

#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "hal/loader.h"
#include "nearest.hpp"
#include "text.hpp"

namespace hal::loader {

namespace {

// What is left of a variable in a process with elevated privileges, whose caller is not trusted.
enum class Elevated : uint8_t { ignored, levels_only };

// Reserved names belong to parts that this version does not have: setting one must not look as if it worked.
enum class Status : uint8_t { active, reserved };

struct Variable {
    std::string_view name;
    std::string_view meaning;
    Elevated elevated = Elevated::ignored;
    Status status = Status::active;
};

constexpr Elevated ignored = Elevated::ignored;
constexpr Status reserved = Status::reserved;

constexpr std::array variables{
    Variable{"HAL_BACKEND_FILES", "manifest files or directories, ':' between them; nothing else is searched"},
    Variable{"HAL_ADD_BACKEND_FILES", "manifest files or directories before those that are searched, ':' between them"},
    Variable{"HAL_BACKENDS_SELECT", "patterns of ids or manifest names, ',' between them; only these are used"},
    Variable{"HAL_BACKENDS_DISABLE", "patterns of ids or manifest names, ',' between them; these are never used"},
    Variable{"HAL_BACKENDS_ORDER", "patterns of ids or manifest names, ',' between them; these come first"},
    Variable{"HAL_BACKEND_OPTIONS", "options of backends: id:key=value;id:key=value"},
    Variable{"HAL_VISIBLE_DEVICES",
             "devices that are shown, in this order: id, id:n, uuid:..., pci:..., kind:...; or none"},
    Variable{"HAL_DEFAULT_DEVICE", "the device that comes first: one selector of HAL_VISIBLE_DEVICES"},
    Variable{"HAL_LOG",
             "error, warn (default), info, debug, or subjects: search, manifest, load, probe, dispatch, layer, all",
             Elevated::levels_only},
    Variable{"HAL_LOG_FILE", "absolute path of a file that messages are appended to"},
    Variable{"HAL_STRICT", "1: a defect of a selected backend makes hal_loader_open fail"},
    Variable{"HAL_NO_EMULATION", "1: what a backend does not offer stays unsupported"},
    Variable{"HAL_UNLOAD", "1: really unload libraries (for leak tools)", ignored, reserved},
    Variable{"HAL_PROBE", "auto, always, never: try libraries in a process of their own first", ignored, reserved},
    Variable{"HAL_PROBE_TIMEOUT_MS", "time limit of a probe", ignored, reserved},
    Variable{"HAL_CACHE", "off, or the directory of the probe's verdicts", ignored, reserved},
    Variable{"HAL_LAYER_FILES", "manifests of layers", ignored, reserved},
    Variable{"HAL_ADD_LAYER_FILES", "more manifests of layers", ignored, reserved},
    Variable{"HAL_LAYERS", "layers between the application and the backends", ignored, reserved},
    Variable{"HAL_LAYERS_DISABLE", "layers that are never used", ignored, reserved},
    Variable{"HAL_FAULT", "faults of the fault layer", ignored, reserved},
    Variable{"HAL_TRACE_FILE", "output of the trace layer", ignored, reserved},
    Variable{"HAL_VALIDATION", "settings of the validation layer", ignored, reserved},
    Variable{"HOME", "~/.config and ~/.local/share are searched"},
    Variable{"XDG_CONFIG_HOME", "configuration of the user, instead of ~/.config"},
    Variable{"XDG_CONFIG_DIRS", "configuration of the system, instead of /etc/xdg"},
    Variable{"XDG_DATA_HOME", "data of the user, instead of ~/.local/share"},
    Variable{"XDG_DATA_DIRS", "data of the system, instead of /usr/local/share:/usr/share"},
};

constexpr auto names = [] {
    std::array<std::string_view, variables.size()> list;
    std::transform(variables.begin(), variables.end(), list.begin(), [](const Variable& v) { return v.name; });
    return list;
}();

const Variable* find_variable(std::string_view name) {
    const auto* found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? nullptr : &variables[static_cast<size_t>(found - names.begin())];
}

bool belongs_to_root_or_nobody(const std::string& directory) {
    struct stat status {};
    return stat(directory.c_str(), &status) != 0 || status.st_uid == 0;
}

}  // namespace

Process read_process(uint32_t loader_flags) {
    Process process;
    process.elevated = getauxval(AT_SECURE) != 0;
    if ((loader_flags & HAL_LOADER_NO_ENVIRONMENT) != 0) {
        return process;
    }
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const size_t equals = text.find('=');
        if (equals == std::string_view::npos) {
            continue;
        }
        const std::string_view name = text.substr(0, equals);
        if (name.starts_with("HAL_") || find_variable(name) != nullptr) {
            // Of two entries of one name the first counts, as for getenv.
            process.variables.emplace(name, text.substr(equals + 1));
        }
    }
    const auto home = process.variables.find("HOME");
    process.foreign_home =
        geteuid() == 0 && home != process.variables.end() && !belongs_to_root_or_nobody(home->second);
    return process;
}

Environment::Environment(Process process) : process_(std::move(process)) {
    report_known();
    report_unknown();
    read_backend_options();
}

std::optional<std::string_view> Environment::get(std::string_view name) const {
    const auto found = process_.variables.find(name);
    const Variable* variable = find_variable(name);
    if (found == process_.variables.end() || found->second.empty() || variable == nullptr) {
        return std::nullopt;
    }
    if (process_.elevated && variable->elevated == Elevated::ignored) {
        return std::nullopt;
    }
    return found->second;
}

std::optional<std::string_view> Environment::backend_option(std::string_view backend, std::string_view key) const {
    const auto options = backend_options_.find(backend);
    if (options == backend_options_.end()) {
        return std::nullopt;
    }
    const auto option = options->second.find(key);
    return option == options->second.end() ? std::nullopt : std::optional<std::string_view>(option->second);
}

void Environment::report_known() {
    std::string ignored_names;
    for (const Variable& variable : variables) {
        const std::string name(variable.name);
        VariableReport report{name, {}, std::string(variable.meaning), HAL_VARIABLE_UNSET};
        const auto found = process_.variables.find(variable.name);
        if (found != process_.variables.end() && !found->second.empty()) {
            report.value = found->second;
            report.use = HAL_VARIABLE_USED;
            if (process_.elevated && variable.elevated == Elevated::ignored) {
                report.use = HAL_VARIABLE_IGNORED;
                report.note = "ignored: the process has elevated privileges";
                ignored_names += (ignored_names.empty() ? "" : ", ") + name;
            } else if (variable.status == Status::reserved) {
                report.use = HAL_VARIABLE_UNKNOWN;
                report.note = "no effect: this version does not have what it controls (" + report.note + ")";
                warnings_.push_back("L003 " + name + " has no effect: this version does not have what it controls");
            }
        }
        report_.push_back(std::move(report));
    }
    if (!ignored_names.empty()) {
        warnings_.insert(warnings_.begin(), "L002 running with elevated privileges: ignoring " + ignored_names);
    }
}

void Environment::report_unknown() {
    for (const auto& [name, value] : process_.variables) {
        // HAL_X_ is for vendors.
        if (!name.starts_with("HAL_") || name.starts_with("HAL_X_") || find_variable(name) != nullptr) {
            continue;
        }
        const std::string hint = did_you_mean(name, names);
        report_.push_back({name, value, "unknown" + hint, HAL_VARIABLE_UNKNOWN});
        warnings_.push_back("L003 unknown variable " + name + hint);
    }
}

void Environment::read_backend_options() {
    const auto text = get("HAL_BACKEND_OPTIONS");
    for (const std::string_view element : list_elements(text.value_or(""), ';')) {
        const size_t equals = element.find('=');
        const size_t colon = element.substr(0, equals).find(':');
        const std::string_view id = trimmed(element.substr(0, colon));
        if (equals == std::string_view::npos || colon == std::string_view::npos || id.empty() || colon + 1 == equals) {
            warnings_.push_back("L003 HAL_BACKEND_OPTIONS: '" + std::string(element) +
                                "' is ignored, it is not id:key=value");
            continue;
        }
        const std::string_view key = trimmed(element.substr(colon + 1, equals - colon - 1));
        backend_options_[std::string(id)].insert_or_assign(std::string(key), element.substr(equals + 1));
    }
}

}  // namespace hal::loader
