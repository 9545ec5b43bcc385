#include "json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "manifest_problem.hpp"

namespace hal::loader {

namespace {

using Json = nlohmann::json;

constexpr size_t deepest = 16;
constexpr size_t longest_string = 4096;
constexpr size_t most_elements = 4096;

std::string line_and_column(std::string_view text, size_t place) {
    const std::string_view before = text.substr(0, std::min(place, text.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t newline = before.rfind('\n');
    const size_t column = newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
    return fmt::format("{}:{}", line, column);
}

class Builder final : public nlohmann::json_sax<Json> {
  public:
    Builder(std::string_view text, const std::string& path) : text_(text), path_(path) {}

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t& /*text*/) override { return add(value); }
    bool string(string_t& value) override {
        check_string(value, "string");
        return add(std::move(value));
    }
    bool binary(binary_t& /*value*/) override { return false; }
    bool start_object(size_t /*size*/) override { return open(Json::object()); }
    bool start_array(size_t /*size*/) override { return open(Json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(string_t& name) override {
        check_string(name, "key");
        auto [member, is_new] = open_.back()->emplace(name, nullptr);
        key_ = name;
        if (!is_new) {
            refuse("L014", fmt::format("key \"{}\" appears twice", printable(name, 64)));
        }
        slot_ = &*member;
        return true;
    }

    bool parse_error(size_t position, const std::string& token, const Json::exception& error) override {
        const std::string where = line_and_column(text_, position == 0 ? 0 : position - 1);
        constexpr int number_overflow = 406;
        if (error.id == number_overflow) {
            refuse_manifest("L012", path_, where, fmt::format("number {} is out of range", printable(token, 40)));
        }
        // nlohmann puts its own name and place first.
        std::string_view what(error.what());
        if (const size_t column = what.find(", column "); column != std::string_view::npos) {
            what.remove_prefix(std::min(what.find(": ", column) + 2, what.size()));
        }
        refuse_manifest("L011", path_, where, "invalid JSON: " + printable(what, 240));
    }

    JsonDocument take() { return std::move(document_); }

  private:
    bool add(Json value) {
        place(std::move(value));
        return true;
    }

    bool open(Json container) {
        if (open_.size() == deepest) {
            refuse("L014", fmt::format("nested deeper than {}", deepest));
        }
        pointers_.push_back(pointer());
        // Neither the root nor a member of an object moves, and an array grows only while none of its elements is open.
        open_.push_back(place(std::move(container)));
        slot_ = nullptr;
        return true;
    }

    bool close() {
        open_.pop_back();
        pointers_.pop_back();
        return true;
    }

    Json* place(Json value) {
        if (++elements_ > most_elements) {
            refuse("L014", fmt::format("more than {} elements", most_elements));
        }
        if (open_.empty()) {
            document_.root = std::move(value);
            return &document_.root;
        }
        if (open_.back()->is_array()) {
            open_.back()->push_back(std::move(value));
            return &open_.back()->back();
        }
        *slot_ = std::move(value);
        return slot_;
    }

    // Of the value that is placed next.
    std::string pointer() const {
        if (open_.empty()) {
            return "";
        }
        if (open_.back()->is_array()) {
            return fmt::format("{}/{}", pointers_.back(), open_.back()->size());
        }
        return member_pointer(pointers_.back(), key_);
    }

    void check_string(const std::string& value, const char* what) {
        if (value.size() > longest_string) {
            refuse("L014", fmt::format("{} of {} bytes, at most {}", what, value.size(), longest_string));
        }
        if (value.find('\0') != std::string::npos) {
            refuse("L012", fmt::format("{} contains a NUL character", what));
        }
    }

    [[noreturn]] void refuse(const char* code, const std::string& what) const {
        refuse_manifest(code, path_, pointer(), what);
    }

    std::string_view text_;
    const std::string& path_;
    JsonDocument document_;
    std::vector<Json*> open_;
    std::vector<std::string> pointers_;  // of the open containers
    Json* slot_ = nullptr;               // the member whose value comes next
    std::string key_;
    size_t elements_ = 0;
};

// Recursion ends at the depth that the parser allows.
void empty_from_the_leaves(Json& value) noexcept {
    if (auto* object = value.get_ptr<Json::object_t*>()) {
        for (auto& [key, member] : *object) {
            empty_from_the_leaves(member);
        }
        object->clear();
    } else if (auto* array = value.get_ptr<Json::array_t*>()) {
        for (Json& element : *array) {
            empty_from_the_leaves(element);
        }
        array->clear();
    }
}

// What the parser would take for the end of the text, or skip in silence.
void check_encoding(std::string_view text, const std::string& path) {
    if (text.empty()) {
        refuse_manifest("L011", path, "", "the file is empty (an empty file only hides one of the same name)");
    }
    if (text.starts_with("\xef\xbb\xbf")) {
        refuse_manifest("L011", path, "1:1", "invalid JSON: starts with a byte order mark; save it as plain UTF-8");
    }
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
        refuse_manifest("L011", path, "1:1", "invalid JSON: encoded as UTF-16; save it as UTF-8");
    }
    if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
        refuse_manifest("L011", path, line_and_column(text, nul), "invalid JSON: contains a NUL byte");
    }
}

}  // namespace

JsonDocument::~JsonDocument() {
    empty_from_the_leaves(root);
}

JsonDocument parse_json(std::string_view text, const std::string& path) {
    check_encoding(text, path);
    Builder builder(text, path);
    Json::sax_parse(text, &builder);
    return builder.take();
}

}  // namespace hal::loader
