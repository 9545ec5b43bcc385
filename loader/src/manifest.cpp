#include "manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <nlohmann/json.hpp>

#include "file.hpp"
#include "json_text.hpp"
#include "manifest_problem.hpp"
#include "manifest_schema.hpp"
#include "text.hpp"

namespace hal::loader {

namespace {

using Json = nlohmann::json;

constexpr size_t largest_file = 256 * 1024;
constexpr uint32_t schema_major = 1;
constexpr uint32_t schema_minor = 0;

struct Version {
    uint32_t major;
    uint32_t minor;
};

// Digits without a leading zero, at most 65535: what fits HAL_MAKE_VERSION.
std::optional<uint32_t> version_part(std::string_view text) {
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size() && ascii_digit(text.front());
    const bool leading_zero = text.size() > 1 && text.front() == '0';
    return whole && !leading_zero && value <= 0xffff ? std::optional(value) : std::nullopt;
}

std::optional<Version> parse_version(std::string_view text) {
    const size_t dot = text.find('.');
    if (dot == std::string_view::npos || dot == 0 || dot + 1 == text.size()) {
        return std::nullopt;
    }
    const auto major = version_part(text.substr(0, dot));
    const auto minor = version_part(text.substr(dot + 1));
    return major && minor ? std::optional(Version{*major, *minor}) : std::nullopt;
}

class Reader {
  public:
    Reader(const Json& document, const std::string& path, Manifest& out, std::vector<Remark>& remarks)
        : document_(document), path_(path), out_(out), remarks_(remarks) {}

    void read() {
        read_id();  // first, so that every later refusal can name the backend
        const Version version = check_schema_version();
        for (const std::string& unknown : unknown_manifest_keys(document_)) {
            const bool newer = version.minor > schema_minor;
            remarks_.push_back(
                {newer ? HAL_LOG_INFO : HAL_LOG_WARN, fmt::format("{}: {}", printable(path_, 4096), unknown)});
        }
        check_manifest_schema(document_, path_);
        backend_ = &document_.at("backend");
        check_id();
        read_texts();
        read_numbers();
        read_lists();
        read_options();
    }

  private:
    [[noreturn]] void refuse(const std::string& pointer, const std::string& what) const {
        refuse_manifest("L012", path_, pointer, what);
    }

    static bool is_id(std::string_view id) {
        const auto allowed = [](char c) {
            return (c >= 'a' && c <= 'z') || ascii_digit(c) || c == '.' || c == '_' || c == '-';
        };
        const bool letter_first = !id.empty() && id.front() >= 'a' && id.front() <= 'z';
        return letter_first && id.size() <= 64 && std::all_of(id.begin(), id.end(), allowed);
    }

    void read_id() {
        const Json::json_pointer place("/backend/id");
        if (document_.is_object() && document_.contains(place) && document_.at(place).is_string()) {
            const auto& id = document_.at(place).get_ref<const std::string&>();
            out_.id = is_id(id) ? id : "";
        }
    }

    void check_id() const {
        const auto& id = backend_->at("id").get_ref<const std::string&>();
        if (!is_id(id)) {
            refuse("/backend/id",
                   fmt::format("\"{}\" is not a lower case letter followed by letters, digits, '.', '_' or '-'",
                               printable(id, 64)));
        }
    }

    // Before the schema of 1.x is applied: a file of another major is not wrong, it is for another loader.
    Version check_schema_version() const {
        const auto found = document_.is_object() ? document_.find("schema_version") : document_.end();
        if (found == document_.end() || !found->is_string()) {
            check_manifest_schema(document_, path_);  // says what is wrong
            refuse("", "does not fit the schema");
        }
        const auto& text = found->get_ref<const std::string&>();
        const auto version = parse_version(text);
        if (!version) {
            refuse("/schema_version", fmt::format("\"{}\" is not major.minor, such as \"1.0\"", printable(text, 40)));
        }
        if (version->major != schema_major) {
            throw Refusal({HAL_STATE_SCHEMA_UNSUPPORTED, HAL_ERROR_UNSUPPORTED, "L013",
                           fmt::format("{}: schema {}.{}, this loader reads {}.x", printable(path_, 4096),
                                       version->major, version->minor, schema_major),
                           fmt::format("use a hal that reads schema {}, or the manifest that the vendor made for {}.x",
                                       version->major, schema_major)});
        }
        return *version;
    }

    void read_texts() {
        // Made safe here, once: reports, logs and tools show them as they are.
        out_.name = printable(backend_->value("name", ""), 1024);
        out_.vendor = printable(backend_->value("vendor", ""), 1024);
        out_.version = printable(backend_->value("version", ""), 1024);
        out_.arch = backend_->value("arch", "");
        out_.library_path = backend_->at("library_path").get<std::string>();
        if (out_.library_path.size() > 4095) {
            refuse("/backend/library_path", "longer than 4095 bytes");
        }
        if (out_.library_path.find('/') == std::string::npos) {
            refuse("/backend/library_path", fmt::format("\"{0}\" is a bare name; write \"./{0}\" or an absolute path",
                                                        printable(out_.library_path, 200)));
        }
        if (out_.library_path.back() == '/') {
            refuse("/backend/library_path", fmt::format("\"{}\" names a directory", printable(out_.library_path, 200)));
        }
    }

    uint32_t abi_version(const char* end) const {
        const auto& text = backend_->at("abi").at(end).get_ref<const std::string&>();
        const auto version = parse_version(text);
        if (!version) {
            refuse(fmt::format("/backend/abi/{}", end),
                   fmt::format("\"{}\" is not major.minor, such as \"1.0\"", printable(text, 40)));
        }
        return HAL_MAKE_VERSION(version->major, version->minor);
    }

    void read_numbers() {
        out_.abi_min = abi_version("min");
        out_.abi_max = abi_version("max");
        if (out_.abi_min > out_.abi_max) {
            refuse("/backend/abi", "min is above max");
        }
        if (const auto priority = backend_->find("priority"); priority != backend_->end()) {
            // The schema has checked type and range; a narrowing must not depend on that.
            const auto value = priority->get<int64_t>();
            if (value < 0 || value > 1000) {
                refuse("/backend/priority", fmt::format("{} is not within 0 to 1000", value));
            }
            out_.priority = static_cast<uint32_t>(value);
        }
        out_.software = backend_->value("software", false);
        out_.critical = backend_->value("critical", false);
        const std::string probe = backend_->value("probe", "auto");
        out_.probe = probe == "always" ? Probe::always : probe == "auto" ? Probe::automatic : Probe::never_in_helper;
    }

    void read_lists() {
        out_.kinds = backend_->value("kinds", std::vector<std::string>{});
        const auto requirements = backend_->find("requires");
        if (requirements == backend_->end()) {
            return;
        }
        out_.hint = requirements->value("hint", "");
        out_.required_files = requirements->value("files", std::vector<std::string>{});
        for (size_t i = 0; i < out_.required_files.size(); ++i) {
            if (out_.required_files[i].front() != '/') {
                refuse(fmt::format("/backend/requires/files/{}", i),
                       fmt::format("\"{}\" is not an absolute path", printable(out_.required_files[i], 200)));
            }
        }
    }

    static std::string option_text(const Json& value) {
        if (value.is_string()) {
            return value.get<std::string>();
        }
        if (value.is_boolean()) {
            return value.get<bool>() ? "true" : "false";
        }
        // Shortest text that reads back as the same number, whatever the locale is.
        return value.is_number_unsigned()  ? fmt::format("{}", value.get<uint64_t>())
               : value.is_number_integer() ? fmt::format("{}", value.get<int64_t>())
                                           : fmt::format("{}", value.get<double>());
    }

    void read_options() {
        const auto options = backend_->find("options");
        if (options == backend_->end()) {
            return;
        }
        for (const auto& [key, value] : options->items()) {
            out_.options.emplace_back(key, option_text(value));
        }
    }

    const Json& document_;
    const std::string& path_;
    Manifest& out_;
    std::vector<Remark>& remarks_;
    const Json* backend_ = nullptr;
};

std::string read_text(const std::string& path) {
    try {
        return read_all(open_regular(path), largest_file);
    } catch (const FileError& error) {
        if (error.number == EFBIG) {
            refuse_manifest("L014", path, "", error.text);
        }
        const hal_status status = error.number == ENOENT   ? HAL_ERROR_NOT_FOUND
                                  : error.number == EACCES ? HAL_ERROR_PERMISSION
                                                           : HAL_ERROR_INVALID_ARGUMENT;
        throw Refusal({HAL_STATE_MANIFEST_UNREADABLE, status, "L010", printable(path, 4096) + ": " + error.text,
                       "correct the path, the file or its permissions"});
    }
}

}  // namespace

void parse_manifest(std::string_view text, const std::string& path, Manifest& out, std::vector<Remark>& remarks) {
    const JsonDocument document = parse_json(text, path);
    Reader(document.root, path, out, remarks).read();
}

void read_manifest(const std::string& path, Manifest& out, std::vector<Remark>& remarks) {
    parse_manifest(read_text(path), path, out, remarks);
}

}  // namespace hal::loader
