#include "fill.hpp"

#include <array>
#include <kainjow/mustache.hpp>
#include <stdexcept>
#include <utility>

namespace hal::conformance {
namespace {

using nlohmann::json;
namespace mustache = kainjow::mustache;

mustache::data data_of(const json& value) {
    if (value.is_object()) {
        mustache::data object(mustache::data::type::object);
        for (const auto& [key, child] : value.items()) {
            object.set(key, data_of(child));
        }
        return object;
    }
    if (value.is_array()) {
        mustache::data list(mustache::data::type::list);
        for (const json& child : value) {
            list << data_of(child);
        }
        return list;
    }
    // An empty text, null and 0 open no section; a number is written as it is.
    if (value.is_boolean()) {
        return mustache::data(value.get<bool>() ? mustache::data::type::bool_true : mustache::data::type::bool_false);
    }
    if (value.is_null() || value == "") {
        return mustache::data(mustache::data::type::bool_false);
    }
    return mustache::data(value.is_string() ? value.get<std::string>() : value.dump());
}

}  // namespace

std::string_view template_text(std::string_view name) {
    static constexpr auto texts = std::to_array<std::pair<std::string_view, std::string_view>>({
#include "report_templates.inc"
    });
    for (const auto& [key, text] : texts) {
        if (key == name) {
            return text;
        }
    }
    throw std::logic_error("there is no template " + std::string(name));
}

std::string fill(std::string_view name, const json& values, const Escape& escape) {
    mustache::mustache page{std::string(template_text(name))};
    if (!page.is_valid()) {
        throw std::logic_error(std::string(name) + ": " + page.error_message());
    }
    page.set_custom_escape(escape);
    return page.render(data_of(values));
}

}  // namespace hal::conformance
