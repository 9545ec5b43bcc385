#include "target.hpp"

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#define BOOST_DLL_USE_STD_FS
#include <boost/dll/shared_library.hpp>

#include "elf.hpp"
#include "environment.hpp"

namespace hal::conformance {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

[[noreturn]] void reject(const fs::path& where, const std::string& what) {
    throw LoadError(where.string() + ": " + what);
}

json read_json(const fs::path& path) {
    std::error_code failed;
    if (!fs::is_regular_file(path, failed)) {
        reject(path, "no such file; --manifest wants the JSON file of a back end");
    }
    std::ifstream stream(path);
    try {
        return json::parse(stream);
    } catch (const json::exception& error) {
        reject(path, std::string("not a JSON file: ") + error.what());
    }
}

std::string text_at(const json& object, const char* key, const fs::path& where) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_string() || found->get_ref<const std::string&>().empty()) {
        reject(where, std::string("/backend/") + key + " is missing or no text");
    }
    return found->get<std::string>();
}

Options options_of(const json& backend, const fs::path& where) {
    Options options;
    const auto found = backend.find("options");
    if (found == backend.end()) {
        return options;
    }
    if (!found->is_object()) {
        reject(where, "/backend/options is no object");
    }
    for (const auto& [key, value] : found->items()) {
        options[key] = value.is_string() ? value.get<std::string>() : value.dump();
    }
    return options;
}

// A list of texts in /backend/claims; nothing if it is not there.
std::optional<std::set<std::string, std::less<>>> claimed(const json& backend, const char* key, const fs::path& where) {
    const json claims = backend.value("claims", json::object());
    const json list = claims.is_object() ? claims.value(key, json()) : claims;
    if (list.is_null()) {
        return {};
    }
    if (!list.is_array() || std::any_of(list.begin(), list.end(), [](const json& one) { return !one.is_string(); })) {
        reject(where, std::string("/backend/claims/") + key + " is no list of texts");
    }
    return list.get<std::set<std::string, std::less<>>>();
}

hal_backend_entry_fn open_library(const fs::path& path) {
    if (const std::string why = why_unfit(path); !why.empty()) {
        reject(path, "cannot be opened as a plug-in: " + why);
    }
    try {
        namespace load_mode = boost::dll::load_mode;
        // Kept until the process ends: objects of the plug-in may outlive everything of ours.
        static auto* const kept = new std::vector<std::unique_ptr<boost::dll::shared_library>>;
        const auto mode = load_mode::rtld_now | load_mode::rtld_local;
        auto& library = kept->emplace_back(std::make_unique<boost::dll::shared_library>(path, mode));
        return &library->get<const hal_backend_descriptor*(const hal_host*)>(HAL_BACKEND_ENTRY_SYMBOL);
    } catch (const std::exception& error) {
        reject(path, std::string("cannot be opened as a plug-in: ") + error.what());
    }
}

}  // namespace

Target read_target(const fs::path& manifest, const Options& options) {
    const json document = read_json(manifest);
    if (!document.is_object() || !document.contains("backend") || !document["backend"].is_object()) {
        reject(manifest, "has no object /backend");
    }
    const json& backend = document["backend"];
    Target target;
    target.manifest = manifest;
    target.id = text_at(backend, "id", manifest);
    target.options = options_of(backend, manifest);
    for (const auto& [key, value] : options) {
        target.options[key] = value;
    }
    target.behaviour = claimed(backend, "behaviour", manifest).value_or(std::set<std::string, std::less<>>());
    target.entries = claimed(backend, "entries", manifest);
    target.routes = claimed(backend, "routes", manifest).value_or(std::set<std::string, std::less<>>());
    const fs::path named = text_at(backend, "library_path", manifest);
    if (!named.has_parent_path()) {
        reject(manifest, "/backend/library_path is a bare name; write ./" + named.string() + " or an absolute path");
    }
    target.library = named.is_absolute() ? named : fs::canonical(manifest).parent_path() / named;
    if (!fs::exists(target.library)) {
        reject(manifest,
               "the library " + target.library.string() + " does not exist; build or install the back end first");
    }
    target.library = fs::canonical(target.library);
    return target;
}

void open_target(Target& target) {
    Environment::remember_before_load();
    target.entry = open_library(target.library);
}

Target load_target(const fs::path& manifest, const Options& options) {
    Target target = read_target(manifest, options);
    open_target(target);
    return target;
}

}  // namespace hal::conformance
