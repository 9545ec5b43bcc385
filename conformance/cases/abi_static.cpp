// The library file and the manifest, read without running code of the plug-in.
#include <sys/utsname.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/elf.hpp"
#include "harness/test.hpp"

namespace hal::conformance {
namespace {

using nlohmann::json;

std::string list_of(const auto& names) {
    std::string text;
    for (const std::string& name : names) {
        text += (text.empty() ? "" : " ") + name;
    }
    return text;
}

#define STATIC(id, rights, ...)                                               \
    HAL_CASE("45079.X.abi.static." id, clauses{"hal/3"}, rights, __VA_ARGS__) \
    (Test & t)

STATIC("class_and_machine", authority::A, needs{}) {
    const ElfImage image = read_elf(t.target.library);
    t.check(image.elf64, "a 64-bit ELF file");
    t.check(image.shared_object, "a shared object");
    t.eq(read_elf("/proc/self/exe").machine, image.machine, "machine of the library, as of this program");
}

STATIC("one_symbol_exported", authority::A, needs{}) {
    const ElfImage image = read_elf(t.target.library);
    t.eq(std::string(HAL_BACKEND_ENTRY_SYMBOL), list_of(image.exported), "symbols that the library exports");
}

STATIC("nothing_undefined", authority::A, needs{}) {
    t.eq(std::string(), list_of(unresolved_symbols(read_elf(t.target.library))),
         "symbols that no library in DT_NEEDED defines");
}

STATIC("no_text_relocations", authority::A, needs{}) {
    t.check(!read_elf(t.target.library).text_relocations, "no relocation writes into code");
}

STATIC("no_executable_stack", authority::A, needs{}) {
    const ElfImage image = read_elf(t.target.library);
    t.check(image.stack_marked && !image.executable_stack, "marked as needing no executable stack");
}

// Initial-exec TLS takes from a small reserve of the process: whether the library can be opened late is then luck.
STATIC("no_static_tls", authority::A, needs{}) {
    t.check(!read_elf(t.target.library).static_tls, "no DF_STATIC_TLS");
}

STATIC("no_unique_symbols", authority::A, needs{claim("unloadable")}) {
    t.eq(std::string(), list_of(read_elf(t.target.library).unique), "symbols that keep the image mapped for ever");
}

// ---- The manifest ----

json manifest_of(const Test& t) {
    std::ifstream file(t.target.manifest);
    return json::parse(file);
}

// "1.0" as a number that compares, or nothing.
std::optional<uint32_t> version_of(const json& text) {
    unsigned major = 0;
    unsigned minor = 0;
    char rest = 0;
    if (!text.is_string() || std::sscanf(text.get<std::string>().c_str(), "%5u.%5u%c", &major, &minor, &rest) != 2) {
        return {};
    }
    return (major << 16U) | minor;
}

STATIC("manifest_schema", authority::A, needs{}) {
    const json document = manifest_of(t);
    const auto schema = version_of(document.value("schema_version", json()));
    t.check(schema && *schema >> 16U == 1, "schema_version is 1.<minor>");
    const json& backend = document.at("backend");
    const std::string id = backend.value("id", "");
    t.check(!id.empty() && id.size() <= 64 && std::islower(static_cast<unsigned char>(id[0])) != 0 &&
                id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-") == std::string::npos,
            "id: a letter, then letters, digits, '.', '_', '-', all lower case");
    t.check(backend.value("library_path", "").find('/') != std::string::npos, "library_path has a '/'");
    for (const json& kind : backend.value("kinds", json::array())) {
        t.check(kind == "cpu" || kind == "gpu" || kind == "npu" || kind == "fpga" || kind == "dsp" || kind == "other",
                "each kind is a known word");
    }
    for (const char* key : {"name", "version", "vendor"}) {
        const json text = backend.value(key, json(""));
        t.check(text.is_string() && valid_text(text.get<std::string>()), "a text without control characters");
    }
}

STATIC("manifest_abi", authority::A, needs{}) {
    const json backend = manifest_of(t).at("backend");
    const auto least = version_of(backend.value("/abi/min"_json_pointer, json()));
    const auto most = version_of(backend.value("/abi/max"_json_pointer, json()));
    if (t.check(least && most && *least <= *most, "abi.min and abi.max are versions in order")) {
        const uint32_t speaks = t.backend().descriptor().abi_version;
        const uint32_t version = (HAL_VERSION_MAJOR_OF(speaks) << 16U) | HAL_VERSION_MINOR_OF(speaks);
        t.check(*least <= version && version <= *most, "the ABI that the library speaks lies between them");
    }
}

STATIC("manifest_arch", authority::A, needs{}) {
    utsname machine{};
    uname(&machine);
    const std::string arch = manifest_of(t).at("backend").value("arch", std::string(machine.machine));
    t.eq(std::string(machine.machine), arch, "arch of the manifest");
}

// Every entry claimed exists and every entry there is claimed; a route that is claimed is complete.
STATIC("manifest_truth", authority::A, needs{}) {
    for (size_t i = 0; i < entries.size(); ++i) {
        const std::string name(entries[i].name);
        t.eq(t.facts.claimed.contains(entries[i].name), static_cast<bool>(t.facts.present[i]),
             name + " in the tables, as claimed");
    }
    if (t.target.entries) {
        for (const std::string& name : *t.target.entries) {
            t.check(find_entry(name) != nullptr, "the claimed entry " + name + " is one of the tables");
        }
    }
    for (const json& route : manifest_of(t).at("backend").value("/claims/routes"_json_pointer, json::array())) {
        t.check(route != "op" || (t.facts.has(E::register_kernel) && !t.facts.ops.empty()), "route op: has kernels");
        t.check(route != "graph" || (t.facts.has(E::graph_engine_generate) && t.facts.has(E::graph_engine_execute)),
                "route graph: generates and executes");
        t.check(route != "compiler" || (t.facts.has(E::high_level_ir_compile) && t.facts.has(E::lower_ir)),
                "route compiler: builds and lowers");
    }
    t.eq(t.target.id, std::string(t.backend().descriptor().name), "name of the descriptor, id of the manifest");
}

STATIC("unloadable_truth", authority::A, needs{}) {
    t.eq(t.facts.behaviour.contains("unloadable"), (t.facts.backend_flags & HAL_BACKEND_UNLOADABLE) != 0,
         "flag UNLOADABLE of the descriptor, as the manifest claims");
}

// What a device is follows from the manifest's kinds.
HAL_CASE("45079.T1.get_device_name.norm.matches_manifest_kind", clauses{"45079/T1.1"}, authority::Q,
         needs{E::get_device_name, E::get_device_properties})
(Test& t) {
    static constexpr const char* kinds[] = {"", "cpu", "gpu", "npu", "fpga", "dsp", "other"};
    const json listed = manifest_of(t).at("backend").value("kinds", json::array());
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        hal_device_properties properties{};
        properties.header.size = sizeof properties;
        t.ok(t.api.get_device_properties(dev, &properties));
        const char* kind = properties.kind < std::size(kinds) ? kinds[properties.kind] : "";
        t.check(listed.empty() || std::find(listed.begin(), listed.end(), kind) != listed.end(),
                "the manifest names the kind of the device");
    }
}

}  // namespace
}  // namespace hal::conformance
