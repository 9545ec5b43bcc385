// From nothing to a device, inside the process and as a whole process. Every first time needs a process of its own: the
// children are small programs that lie beside this one.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "benchmark.hpp"
#include "clock.hpp"
#include "context.hpp"
#include "paths.hpp"
#include "process.hpp"
#include "scratch_directory.hpp"

namespace hal::bench {
namespace {

namespace fs = std::filesystem;

// A directory of manifests of made-up back ends whose libraries exist and are never opened.
class ManifestDirectory {
  public:
    explicit ManifestDirectory(int count) {
        for (int i = 0; i < count; ++i) {
            const std::string id = fmt::format("bench.described{}", i);
            std::ofstream(path() / (id + ".so")) << "not opened";
            const nlohmann::json manifest{{"schema_version", "1.0"},
                                          {"backend",
                                           {{"id", id},
                                            {"name", "Described only"},
                                            {"vendor", "hal"},
                                            {"version", "1.0"},
                                            {"library_path", "./" + id + ".so"},
                                            {"abi", {{"min", "1.0"}, {"max", "1.0"}}},
                                            {"kinds", {"other"}},
                                            {"priority", 500}}}};
            std::ofstream(path() / (id + ".json")) << manifest.dump(2);
        }
    }
    [[nodiscard]] const fs::path& path() const { return directory_.path(); }

  private:
    ScratchDirectory directory_;
};

std::string part(const char* name) {
    return (parts_directory() / name).string();
}

// The number behind "<step> " in what hal-bench-device prints, in milliseconds.
double step_ms(const std::string& output, std::string_view step) {
    const size_t place = output.find(fmt::format("{} ", step));
    if (place == std::string::npos) {
        throw std::runtime_error(fmt::format("hal-bench-device printed no step {}: {}", step, output));
    }
    return std::stod(output.substr(place + step.size() + 1)) / 1e6;
}

// A step of a fresh process, by the child's own clock.
Sampler step_of_child(std::vector<std::string> arguments, std::string step) {
    return [arguments = std::move(arguments), step = std::move(step)] {
        return step_ms(run_child_checked(arguments, Output::capture).output, step);
    };
}

Sampler whole_child(std::vector<std::string> arguments) {
    return [arguments = std::move(arguments)] {
        return static_cast<double>(run_child_checked(arguments, Output::capture).wall_ns) / 1e6;
    };
}

std::vector<std::string> device_child(const Settings& settings) {
    std::vector<std::string> arguments{part("hal-bench-device"), "device", settings.backend};
    arguments.insert(arguments.end(), settings.manifests.begin(), settings.manifests.end());
    return arguments;
}

// The least that reading manifests can cost: the same files through the same parser, nothing checked.
Sampler parse_files(std::shared_ptr<const ManifestDirectory> directory) {
    return [directory = std::move(directory)] {
        return static_cast<double>(timed([&] {
                   for (const auto& entry : fs::directory_iterator(directory->path())) {
                       if (entry.path().extension() == ".json") {
                           std::ifstream file(entry.path());
                           if (nlohmann::json::parse(file).empty()) {
                               throw std::runtime_error("empty manifest");
                           }
                       }
                   }
               })) /
               1e6;
    };
}

Contest open_first(int manifests) {
    const auto directory = std::make_shared<const ManifestDirectory>(manifests);
    const Sampler open = step_of_child({part("hal-bench-device"), "open", directory->path().string()}, "open");
    Contest contest;
    contest.ours = [directory, open] { return open(); };
    contest.peer = parse_files(directory);
    contest.note = "first open of a fresh process; the ceiling is warm";
    return contest;
}

Contest open_again(int manifests) {
    const auto directory = std::make_shared<const ManifestDirectory>(manifests);
    Contest contest;
    contest.ours = [directory] {
        return static_cast<double>(timed([&] { static_cast<void>(open_loader({directory->path().string()})); })) / 1e6;
    };
    contest.peer = parse_files(directory);
    contest.note = "open and close, warm";
    return contest;
}

Contest load_backend(Context& context) {
    const std::string library = context.backend().library();
    Contest contest;
    contest.ours = step_of_child(device_child(context.settings()), "load");
    contest.peer = step_of_child({part("hal-bench-device"), "dlopen", library}, "dlopen");
    contest.note = "hal_backend_open and get_device_count";
    return contest;
}

Contest process_against(Context& context, std::vector<std::string> peer, std::string note) {
    static_cast<void>(context.backend());  // one clear failure here instead of many in the children
    Contest contest;
    contest.ours = whole_child(device_child(context.settings()));
    contest.peer = whole_child(std::move(peer));
    contest.note = std::move(note);
    return contest;
}

Contest process_against_opencl(Context& context) {
    std::string absence;
    if (!context.opencl(&absence)) {
        throw Unavailable(absence);
    }
    return process_against(context, {part("hal-bench-opencl")}, "clGetPlatformIDs and clGetDeviceIDs");
}

std::vector<Benchmark> benchmarks(const Settings&) {
    return {{"start-up/open-2-first",
             "hal_loader_open of 2 manifests",
             "nlohmann parses the files",
             "ms",
             Better::lower,
             {GoalKind::value_at_most, 0.15},
             [](Context&) { return open_first(2); }},
            {"start-up/open-2-again",
             "the same, in a running process",
             "nlohmann parses the files",
             "ms",
             Better::lower,
             {GoalKind::value_at_most, 0.15},
             [](Context&) { return open_again(2); }},
            {"start-up/open-100-first",
             "hal_loader_open of 100 manifests",
             "nlohmann parses the files",
             "ms",
             Better::lower,
             {GoalKind::value_at_most, 3.5},
             [](Context&) { return open_first(100); }},
            {"start-up/load-backend",
             "back end loaded, devices known",
             "dlopen of its library",
             "ms",
             Better::lower,
             {GoalKind::value_at_most, 0.3},
             load_backend},
            {"start-up/process",
             "process that finds a device",
             "empty C++ process",
             "ms",
             Better::lower,
             {GoalKind::ratio_at_most, 1.3},
             [](Context& context) { return process_against(context, {part("hal-bench-empty")}, "spawn to end"); }},
            {"start-up/process-opencl",
             "process that finds a device",
             "the same with OpenCL",
             "ms",
             Better::lower,
             {},
             process_against_opencl}};
}

const Registration registration({"start-up", "from nothing to a device", benchmarks});

}  // namespace
}  // namespace hal::bench
