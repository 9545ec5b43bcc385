// The files of a report against the model of its log.
#include <algorithm>
#include <boost/property_tree/xml_parser.hpp>
#include <fstream>
#include <set>
#include <sstream>

#include "engine/digest.hpp"
#include "escape.hpp"
#include "folder.hpp"
#include "json.hpp"
#include "render.hpp"
#include "text.hpp"
#include "verify.hpp"

namespace hal::conformance {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

void add(std::vector<Problem>& problems, Fault fault, std::string text) {
    problems.push_back({fault, std::move(text)});
}

std::string read_text(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

json counts_of(const Counts& counts) {
    json result;
    for (size_t i = 0; i < verdict_count; ++i) {
        result[std::string(name(static_cast<Verdict>(i)))] = counts.of[i];
    }
    return result;
}

std::map<std::string, json> by_key(const json& list, const char* key) {
    std::map<std::string, json> result;
    for (const json& one : list) {
        result.emplace(one.at(key).get<std::string>(), one);
    }
    return result;
}

// Verdicts test by test, so that the sentence names the one that was changed; then everything else.
void compare_json(std::vector<Problem>& problems, const json& found, const json& computed) {
    const auto is = by_key(found.at("tests"), "id");
    const auto should = by_key(computed.at("tests"), "id");
    for (const auto& [id, test] : should) {
        const auto other = is.find(id);
        if (other == is.end()) {
            add(problems, Fault::verdict_changed, "report.json lacks the test " + id);
        } else if (other->second.at("verdict") != test.at("verdict")) {
            add(problems, Fault::verdict_changed,
                "report.json says " + other->second.at("verdict").get<std::string>() + " of " + id +
                    ", and the log gives " + test.at("verdict").get<std::string>());
        } else if (other->second != test) {
            add(problems, Fault::verdict_changed, "report.json tells " + id + " differently from the log");
        }
    }
    for (const auto& [id, test] : is) {
        if (!should.contains(id)) {
            add(problems, Fault::verdict_changed,
                "report.json has the test " + one_line(id) + ", which the log does not have");
        }
    }
    for (const auto& [key, value] : computed.items()) {
        if (key != "tests" && found.at(key) != value) {
            add(problems, Fault::summary_changed, "report.json: '" + key + "' is not what the log gives");
        }
    }
}

void check_json(std::vector<Problem>& problems, const fs::path& file, const Model& model) {
    try {
        const json found = json::parse(read_text(file));
        // Through text, as the file was: a number keeps its value and a text its replaced characters.
        compare_json(problems, found, json::parse(json_text(model)));
    } catch (const json::exception& error) {
        add(problems, Fault::summary_changed, "report.json is damaged: " + one_line(error.what(), 300));
    }
}

void check_junit(std::vector<Problem>& problems, const fs::path& file, const Model& model) {
    json counts;
    uint64_t cases = 0;
    try {
        boost::property_tree::ptree tree;
        boost::property_tree::read_xml(file.string(), tree);
        for (const auto& [tag, suite] : tree.get_child("testsuites")) {
            cases += tag == "testsuite" ? suite.count("testcase") : 0;
            if (const auto properties = suite.get_child_optional("properties")) {
                for (const auto& [kind, property] : *properties) {
                    const auto verdict = property.get<std::string>("<xmlattr>.name");
                    counts[verdict.substr(verdict.find('.') + 1)] = property.get<uint64_t>("<xmlattr>.value");
                }
            }
        }
    } catch (const boost::property_tree::ptree_error& error) {
        add(problems, Fault::counts_differ, "junit.xml is damaged: " + one_line(error.what(), 300));
        return;
    }
    if (counts != counts_of(model.totals.all) || cases != model.totals.all.total()) {
        add(problems, Fault::counts_differ, "junit.xml counts other outcomes than the log gives");
    }
}

void check_html(std::vector<Problem>& problems, const std::string& page, const Model& model) {
    const std::string expected = "data-totals=\"" + escape_xml(counts_of(model.totals.all).dump()) + "\"";
    const bool headlines = page.find(">" + shown(model.standard.outcome).en + "<") != std::string::npos &&
                           page.find(">" + shown(model.abi.outcome).en + "<") != std::string::npos;
    if (page.find(expected) == std::string::npos || !headlines) {
        add(problems, Fault::counts_differ, "report.html counts other outcomes than the log gives");
    }
}

void check_text(std::vector<Problem>& problems, const fs::path& file, const std::string& expected) {
    if (read_text(file).find(expected) == std::string::npos) {
        add(problems, Fault::counts_differ, file.filename().string() + " counts other outcomes than the log gives");
    }
}

// The same page again: what differs was edited, or comes from another version of the program.
void check_bytes(std::vector<Problem>& problems, const fs::path& file, const std::string& expected) {
    if (read_text(file) != expected) {
        add(problems, Fault::summary_changed, file.filename().string() + " is not what the log gives");
    }
}

}  // namespace

void check_sums(std::vector<Problem>& problems, const fs::path& folder) {
    if (!fs::is_regular_file(folder / names::sums)) {
        add(problems, Fault::file_missing, "SHA256SUMS is missing");
        return;
    }
    std::set<std::string> listed{names::sums};
    std::istringstream lines(read_text(folder / names::sums));
    for (std::string line; std::getline(lines, line);) {
        const size_t gap = line.find("  ");
        const std::string file = gap == std::string::npos ? line : line.substr(gap + 2);
        listed.insert(file);
        const fs::path path = fs::path(file).lexically_normal();
        if (path.is_absolute() || path.empty() || *path.begin() == "..") {
            add(problems, Fault::file_changed, "SHA256SUMS names " + one_line(file) + ", which is outside the folder");
        } else if (!fs::is_regular_file(folder / path)) {
            add(problems, Fault::file_missing, one_line(file) + " is in SHA256SUMS and not in the folder");
        } else if (sha256_of_file(folder / path) != line.substr(0, gap)) {
            add(problems, Fault::file_changed, one_line(file) + " is not the file that SHA256SUMS was made of");
        }
    }
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        const std::string file = entry.path().lexically_relative(folder).generic_string();
        if (entry.is_regular_file() && !listed.contains(file)) {
            add(problems, Fault::file_changed, one_line(file) + " is in the folder and not in SHA256SUMS");
        }
    }
}

void check_files(std::vector<Problem>& problems, const fs::path& folder, const Model& model) {
    const auto there = [&](const char* file) { return fs::is_regular_file(folder / file); };
    if (there(names::json)) {
        check_json(problems, folder / names::json, model);
    } else {
        add(problems, Fault::file_missing, "report.json is missing");
    }
    const size_t before = problems.size();
    if (there(names::junit)) {
        check_junit(problems, folder / names::junit, model);
    }
    if (there(names::html)) {
        check_html(problems, read_text(folder / names::html), model);
    }
    for (const char* file : {names::markdown, names::tap}) {
        if (there(file)) {
            check_text(problems, folder / file, counts_line(model.totals.all));
        }
    }
    if (problems.size() != before) {
        return;  // that the rest differs, too, says nothing more
    }
    for (const auto& [file, text] : {std::pair{names::junit, &junit_text}, std::pair{names::html, &html_text},
                                     std::pair{names::markdown, &markdown_text}, std::pair{names::tap, &tap_text}}) {
        if (there(file)) {
            check_bytes(problems, folder / file, text(model));
        }
    }
    for (const auto& [file, text] : logs_of(model)) {
        check_bytes(problems, folder / file, text);
    }
}

}  // namespace hal::conformance
