// The loader checks manifests with a walker of its own: building a full validator took 0.24 ms of the first open, more
// than all else together. Here a full validator judges beside it.
#include "manifest_schema.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "problem.hpp"

using namespace hal::loader;
using Json = nlohmann::json;

namespace {

bool walker_accepts(const Json& document) {
    try {
        check_manifest_schema(document, "/m.json");
        return true;
    } catch (const Refusal&) {
        return false;
    }
}

class Oracle {
  public:
    Oracle() { valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(text_), schema_); }
    bool accepts(const Json& document) const {
        return valijson::Validator().validate(schema_, valijson::adapters::NlohmannJsonAdapter(document), nullptr);
    }

  private:
    Json text_ = Json::parse(manifest_schema_text());
    valijson::Schema schema_;
};

const Json complete = Json::parse(R"({
  "schema_version": "1.0",
  "backend": {
    "id": "acme.npu", "name": "Acme", "version": "2", "vendor": "Acme", "library_path": "./a.so", "arch": "x86_64",
    "abi": {"min": "1.0", "max": "1.2"}, "kinds": ["npu", "cpu"], "software": false, "priority": 500, "probe": "auto",
    "requires": {"files": ["/dev/acme0"], "hint": "install it"}, "critical": false,
    "options": {"a": "x", "b": 1, "c": true, "d": 1.5}, "x-acme": {"free": [1, null]}
  }
})");

const std::vector<Json> strange = {nullptr,
                                   true,
                                   -1,
                                   0,
                                   1000,
                                   1001,
                                   1.5,
                                   1e300,
                                   "",
                                   "x",
                                   std::string(5000, 'x'),
                                   Json::array(),
                                   Json::array({1}),
                                   Json::object(),
                                   Json::object({{"a", nullptr}}),
                                   Json(std::vector<std::string>(40, "cpu"))};

// Calls f with a place of every value inside, the document itself included.
void for_each_place(const Json& value, const Json::json_pointer& place,
                    const std::function<void(Json::json_pointer)>& f) {
    f(place);
    if (value.is_structured()) {
        for (const auto& [name, part] : value.items()) {
            for_each_place(part, value.is_array() ? place / std::stoul(name) : place / name, f);
        }
    }
}

void collect_keywords(const Json& schema, std::set<std::string>& out) {
    for (const auto& [keyword, value] : schema.items()) {
        out.insert(keyword);
        if (keyword == "properties") {
            for (const auto& [name, rule] : value.items()) {
                collect_keywords(rule, out);
            }
        } else if (value.is_object()) {
            collect_keywords(value, out);
        }
    }
}

}  // namespace

TEST_CASE("the schema uses only what the walker knows") {
    std::set<std::string> used;
    collect_keywords(Json::parse(manifest_schema_text()), used);
    const std::set<std::string> known = {"$schema",       "title",        "description",
                                         "type",          "enum",         "required",
                                         "properties",    "items",        "additionalProperties",
                                         "minimum",       "maximum",      "minLength",
                                         "maxLength",     "minItems",     "maxItems",
                                         "minProperties", "maxProperties"};
    for (const std::string& keyword : used) {
        INFO(keyword);
        CHECK(known.contains(keyword));
    }
}

TEST_CASE("the walker and a full validator agree on every value put in every place, and on every key left out") {
    const Oracle oracle;
    REQUIRE(oracle.accepts(complete));
    REQUIRE(walker_accepts(complete));
    size_t refused = 0;
    const auto compare = [&](const Json& document) {
        INFO(document.dump().substr(0, 1000));
        const bool accepted = walker_accepts(document);
        refused += accepted ? 0 : 1;
        CHECK(accepted == oracle.accepts(document));
    };
    for_each_place(complete, Json::json_pointer(), [&](const Json::json_pointer& place) {
        for (const Json& value : strange) {
            Json document = complete;
            document[place] = value;
            compare(document);
        }
        if (!place.empty() && complete.at(place.parent_pointer()).is_object()) {
            Json document = complete;
            document.at(place.parent_pointer()).erase(place.back());
            compare(document);
        }
    });
    CHECK(refused > 100);
}
