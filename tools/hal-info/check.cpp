// --check: the loader's own code on one manifest, for vendors and their CI.
#include <filesystem>

#include "hal/reflect.hpp"
#include "info.hpp"

namespace hal::tool {

// "a, b, c" with breaks at 100 columns, each further line behind `indent` blanks.
static std::string wrapped(const std::vector<std::string>& words, size_t indent) {
    std::string text;
    size_t column = indent;
    for (const auto& word : words) {
        if (column > indent && column + word.size() > 100) {
            text += fmt::format("\n{:{}}", "", indent);
            column = indent;
        }
        text += word;
        text += &word == &words.back() ? "" : ", ";
        column += word.size() + 2;
    }
    return text;
}

// Which entries are the plug-in's own, which the loader emulates, and which only explain themselves.
static void print_tables(const Backend& backend) {
    std::vector<std::string> absent_tables;
    for (const auto& table : tables) {
        std::vector<std::string> absent;
        std::vector<std::string> emulated;
        for (const auto& entry : entries_of(table)) {
            const uint32_t support = backend.support(entry.name.data()).value_or(HAL_SUPPORT_ABSENT);
            if (support != HAL_SUPPORT_NATIVE) {
                (support == HAL_SUPPORT_EMULATED ? emulated : absent).emplace_back(entry.name);
            }
        }
        if (absent.size() == table.count) {
            absent_tables.push_back(fmt::format("{} {}", table.id, table.name));
            continue;
        }
        fmt::print("  table {:>3} {:<12} {:>2} of {:>2} native\n", table.id, table.name,
                   table.count - absent.size() - emulated.size(), table.count);
        if (!emulated.empty()) {
            fmt::print("    emulated  {}\n", wrapped(emulated, 14));
        }
        if (!absent.empty()) {
            fmt::print("    absent    {}\n", wrapped(absent, 14));
        }
    }
    if (!absent_tables.empty()) {
        fmt::print("  absent tables {}\n", wrapped(absent_tables, 16));
    }
}

static hal_backend_report report_at(Loader& loader, uint64_t index) {
    auto report = sized<hal_backend_report>();
    if (Status status = hal_loader_report(loader.get(), index, &report); !status.ok()) {
        throw std::runtime_error(status.text());
    }
    return report;
}

// A back end that works without its hardware is a good one.
static bool check_candidate(Loader& loader, uint64_t index) {
    hal_backend_report report = report_at(loader, index);
    std::optional<Backend> backend;
    const bool opened = report.state == HAL_STATE_DISCOVERED;
    if (opened) {
        auto result = loader.backend(report.id);
        report = report_at(loader, index);
        if (result.ok()) {
            backend = *result;
        }
    }
    print_candidate(report);
    if (!opened) {
        print_field("note", "the library was not opened");
    }
    if (backend) {
        print_tables(*backend);
    }
    return report.state == HAL_STATE_READY || (opened && report.state == HAL_STATE_NO_DEVICE);
}

int check_manifest(const std::string& path, hal_log_fn log) {
    const std::string absolute = std::filesystem::absolute(path).string();
    const char* const paths[] = {absolute.c_str()};
    auto desc = sized<hal_loader_desc>();
    desc.manifest_paths = paths;
    desc.manifest_path_count = 1;
    desc.log = log;
    desc.flags = HAL_LOADER_NO_ENVIRONMENT;
    auto opened = Loader::open(&desc);
    if (!opened.ok()) {
        fmt::print("{}: {}\n", path, opened.text());
        return exit_refused;
    }
    Loader loader = std::move(opened).value();
    const size_t count = required(loader.reports()).size();
    if (count == 0) {
        fmt::print("{}: no manifest here\n", path);
        print_search(loader);
        return exit_refused;
    }
    bool good = true;
    for (uint64_t index = 0; index < count; ++index) {
        good = check_candidate(loader, index) && good;
    }
    return good ? exit_ok : exit_refused;
}

}  // namespace hal::tool
