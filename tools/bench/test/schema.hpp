// Validates what hal-bench writes against the installed schema.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

// The violations, one a line; empty for a valid document.
inline std::string schema_violations(const nlohmann::json& document) {
    std::ifstream file(HAL_BENCH_SCHEMA);
    const auto text = nlohmann::json::parse(file);
    valijson::Schema schema;
    valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(text), schema);
    valijson::Validator validator;
    valijson::ValidationResults results;
    validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(document), &results);
    std::string violations;
    for (valijson::ValidationResults::Error error; results.popError(error);) {
        for (const auto& step : error.context) {
            violations += step;
        }
        violations += ": " + error.description + "\n";
    }
    return violations;
}
