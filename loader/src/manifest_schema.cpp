#include "manifest_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "manifest_problem.hpp"
#include "nearest.hpp"

namespace hal::loader {

namespace {

using Json = nlohmann::json;

constexpr std::string_view schema_text =
#include "backend_schema.inc"
    ;

// Parsed once and never destroyed: the loader has no static destructor.
const Json& rules() {
    static const Json* const parsed = new Json(Json::parse(schema_text));
    return *parsed;
}

std::string found(const Json& value) {
    switch (value.type()) {
        case Json::value_t::string:
            return fmt::format("string \"{}\"", printable(value.get_ref<const std::string&>(), 40));
        case Json::value_t::number_integer:
            return fmt::format("number {}", value.get<int64_t>());
        case Json::value_t::number_unsigned:
            return fmt::format("number {}", value.get<uint64_t>());
        case Json::value_t::number_float:
            return fmt::format("number {}", value.get<double>());
        case Json::value_t::boolean:
            return value.get<bool>() ? "boolean true" : "boolean false";
        default:
            return value.type_name();
    }
}

bool has_type(const Json& value, const std::string& type) {
    return type == "integer" ? value.is_number_integer() : type == value.type_name();
}

std::string type_complaint(const Json& schema, const Json& value) {
    const auto type = schema.find("type");
    if (type == schema.end()) {
        return "";
    }
    const std::vector<std::string> types =
        type->is_array() ? type->get<std::vector<std::string>>() : std::vector{type->get<std::string>()};
    for (const std::string& allowed : types) {
        if (has_type(value, allowed)) {
            return "";
        }
    }
    return fmt::format("expected {}, found {}", fmt::join(types, " or "), found(value));
}

std::string enum_complaint(const Json& schema, const Json& value) {
    const auto allowed = schema.find("enum");
    if (allowed == schema.end() || std::find(allowed->begin(), allowed->end(), value) != allowed->end()) {
        return "";
    }
    const auto names = allowed->get<std::vector<std::string>>();
    const std::vector<std::string_view> views(names.begin(), names.end());
    const std::string hint = value.is_string() ? did_you_mean(value.get_ref<const std::string&>(), views) : "";
    return fmt::format("{} is none of {}{}", found(value), fmt::join(names, ", "), hint);
}

// Numbers themselves; length or size of the rest. Strings are counted as JSON Schema does, in characters.
std::string range_complaint(const Json& schema, const Json& value) {
    struct Bound {
        const char* lowest;
        const char* highest;
        const char* what;
    };
    Bound bound{"minimum", "maximum", ""};
    double measure = 0;
    if (value.is_number()) {
        measure = value.get<double>();
    } else if (value.is_string()) {
        bound = {"minLength", "maxLength", "length "};
        const auto& text = value.get_ref<const std::string&>();
        measure =
            static_cast<double>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
    } else {
        bound = value.is_array() ? Bound{"minItems", "maxItems", "number of elements "}
                                 : Bound{"minProperties", "maxProperties", "number of keys "};
        measure = static_cast<double>(value.size());
    }
    const auto low = schema.find(bound.lowest);
    if (low != schema.end() && measure < low->get<double>()) {
        return fmt::format("{}{} is below {}", bound.what, measure, low->get<double>());
    }
    const auto high = schema.find(bound.highest);
    if (high != schema.end() && measure > high->get<double>()) {
        return fmt::format("{}{} is above {}", bound.what, measure, high->get<double>());
    }
    return "";
}

std::string required_complaint(const Json& schema, const Json& value) {
    const auto required = schema.find("required");
    if (required == schema.end() || !value.is_object()) {
        return "";
    }
    for (const auto& key : required->get<std::vector<std::string>>()) {
        if (!value.contains(key)) {
            return fmt::format("key \"{}\" is missing", key);
        }
    }
    return "";
}

// The schema's own words on a value; empty if nothing of the above is wrong.
std::string complaint(const Json& schema, const Json& value) {
    for (const auto& rule : {type_complaint, enum_complaint, range_complaint, required_complaint}) {
        if (std::string text = rule(schema, value); !text.empty()) {
            return text;
        }
    }
    return "";
}

// What the schema says of a member or element of a value that `schema` describes; nullptr: nothing.
const Json* subschema(const Json& schema, const Json& parent, const std::string& name) {
    const auto part = [&](const char* keyword) -> const Json* {
        const auto member = schema.find(keyword);
        return member == schema.end() ? nullptr : &*member;
    };
    if (parent.is_array()) {
        return part("items");
    }
    if (const Json* properties = part("properties"); properties != nullptr && properties->contains(name)) {
        return &properties->at(name);
    }
    return part("additionalProperties");
}

// The keywords that the schema uses, from the outside in; a test holds the verdicts against a full validator.
void check(const Json& schema, const Json& value, const std::string& pointer, const std::string& path) {
    if (const std::string text = complaint(schema, value); !text.empty()) {
        refuse_manifest("L012", path, pointer, text);
    }
    if (!value.is_structured()) {
        return;
    }
    for (const auto& [name, part] : value.items()) {
        if (const Json* rule = subschema(schema, value, name); rule != nullptr) {
            check(*rule, part, member_pointer(pointer, name), path);
        }
    }
}

void collect_unknown(const Json& schema, const Json& value, const std::string& pointer, std::vector<std::string>& out) {
    const auto properties = schema.find("properties");
    if (!value.is_object() || properties == schema.end()) {
        return;
    }
    std::vector<std::string_view> known;
    for (const auto& [key, rule] : properties->items()) {
        known.push_back(properties->find(key).key());
    }
    for (const auto& [key, member] : value.items()) {
        const auto rule = properties->find(key);
        if (rule != properties->end()) {
            collect_unknown(*rule, member, member_pointer(pointer, key), out);
        } else if (!key.starts_with("x-") && !(pointer.empty() && key == "$schema")) {
            out.push_back(fmt::format("{}: unknown key \"{}\"{}", pointer.empty() ? "/" : pointer, printable(key, 64),
                                      did_you_mean(key, known)));
        }
    }
}

}  // namespace

std::string_view manifest_schema_text() {
    return schema_text;
}

void check_manifest_schema(const nlohmann::json& document, const std::string& path) {
    check(rules(), document, "", path);
}

std::vector<std::string> unknown_manifest_keys(const nlohmann::json& document) {
    std::vector<std::string> unknown;
    collect_unknown(rules(), document, "", unknown);
    return unknown;
}

}  // namespace hal::loader
