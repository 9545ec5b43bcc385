#include "folder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "engine/digest.hpp"
#include "json.hpp"
#include "render.hpp"
#include "view.hpp"

namespace hal::conformance {
namespace {

namespace fs = std::filesystem;

struct Format {
    const char* word;
    const char* file;
    std::string (*text)(const Model&);
};

constexpr std::array<Format, 5> all_formats{{{"json", names::json, &json_text},
                                             {"junit", names::junit, &junit_text},
                                             {"html", names::html, &html_text},
                                             {"md", names::markdown, &markdown_text},
                                             {"tap", names::tap, &tap_text}}};

// Through another name, so that a full disk leaves no half file under the right one.
void write_file(const fs::path& file, const std::string& text) {
    const fs::path part = file.string() + ".part";
    std::ofstream stream(part, std::ios::binary | std::ios::trunc);
    stream << text;
    stream.close();
    std::error_code failed;
    if (stream) {
        fs::rename(part, file, failed);
    }
    if (!stream || failed) {
        const std::string why = failed ? failed.message() : std::strerror(errno);
        fs::remove(part, failed);
        throw WriteError("cannot write " + file.string() + ": " + why);
    }
}

void write_logs(const fs::path& folder, const Model& model) {
    fs::remove_all(folder / "logs");
    const auto logs = logs_of(model);
    std::error_code failed;
    if (!logs.empty()) {
        fs::create_directories(folder / "logs", failed);
    }
    if (failed) {
        throw WriteError("cannot create " + (folder / "logs").string() + ": " + failed.message());
    }
    for (const auto& [file, text] : logs) {
        write_file(folder / file, text);
    }
}

// In the form that `sha256sum -c` reads.
std::string sums_of(const fs::path& folder) {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        const std::string file = entry.path().lexically_relative(folder).generic_string();
        if (entry.is_regular_file() && file != names::sums) {
            files.push_back(file);
        }
    }
    std::sort(files.begin(), files.end());
    std::string text;
    for (const std::string& file : files) {
        text += sha256_of_file(folder / file) + "  " + file + "\n";
    }
    return text;
}

}  // namespace

const Formats& default_formats() {
    static const Formats formats{"json", "junit", "html", "md"};
    return formats;
}

Formats formats_of(const std::string& text) {
    Formats formats;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        if (std::none_of(all_formats.begin(), all_formats.end(), [&](const Format& one) { return word == one.word; })) {
            throw std::invalid_argument("there is no format '" + word + "'; there are json, junit, html, md, tap");
        }
        formats.insert(word);
        begin = end + 1;
    }
    return formats;
}

std::string log_name(const std::string& id) {
    std::string name;
    for (const char c : id) {
        name += std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("._-[]=,", c) != nullptr ? c : '_';
    }
    // Two ids differ in length or hash, never in the file system's case folding alone.
    return (name.size() > 200 ? name.substr(0, 180) + "-" + sha256_of(id).substr(0, 16) : name) + ".txt";
}

std::map<std::string, std::string> logs_of(const Model& model) {
    std::map<std::string, std::string> logs;
    for (const TestResult& test : model.tests) {
        if (test.is_bad() || test.verdict() == Verdict::harness_error) {
            logs["logs/" + log_name(test.id)] = std::string(name(test.verdict())) + ": " + details_of(test);
        }
    }
    return logs;
}

Power read_power(const fs::path& file) {
    try {
        std::ifstream stream(file);
        std::string text(std::istreambuf_iterator<char>(stream), {});
        Power power = nlohmann::json::parse(text).get<Power>();
        power.text = std::move(text);
        return power;
    } catch (const std::exception& error) {
        throw LogError(file.string() + ": " + error.what());
    }
}

Evidence read_evidence(const fs::path& folder) {
    Evidence evidence;
    if (fs::exists(folder / names::waivers)) {
        evidence.waivers = read_waivers(folder / names::waivers);
    }
    if (fs::exists(folder / names::selftest)) {
        evidence.power = read_power(folder / names::selftest);
    }
    return evidence;
}

Model read_model(const fs::path& folder, const Catalogue& catalogue) {
    const Log log = read_log(folder / names::events);
    if (log.begin.suite.catalogue != catalogue.hash) {
        throw LogError((folder / names::events).string() + " was made with the catalogue " +
                       log.begin.suite.catalogue.substr(0, 12) + ", and this program has " +
                       catalogue.hash.substr(0, 12) + "; use the hal-conformance " + log.begin.suite.version +
                       " that made it");
    }
    return build(log, catalogue, read_evidence(folder));
}

void write_folder(const fs::path& folder, const Model& model, const Formats& formats) {
    for (const Format& format : all_formats) {
        std::error_code ignored;
        fs::remove(folder / format.file, ignored);
        if (formats.contains(format.word)) {
            write_file(folder / format.file, format.text(model));
        }
    }
    if (!model.waivers.list.empty()) {
        write_file(folder / names::waivers, model.waivers.text);
    }
    if (model.power && !fs::exists(folder / names::selftest)) {
        write_file(folder / names::selftest, model.power->text);
    }
    write_logs(folder, model);
    write_file(folder / names::sums, sums_of(folder));
}

}  // namespace hal::conformance
