// check_json SCHEMA FILE: prints where FILE breaks SCHEMA. Exit code 0 if nowhere.
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

static nlohmann::json read(const char* path) {
    std::ifstream file(path);
    return nlohmann::json::parse(file);
}

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: check_json SCHEMA FILE\n";
        return 2;
    }
    try {
        const auto schema_json = read(argv[1]);
        const auto value = read(argv[2]);
        valijson::Schema schema;
        valijson::SchemaParser(valijson::SchemaParser::kDraft7)
            .populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_json), schema);
        valijson::ValidationResults results;
        const bool valid =
            valijson::Validator().validate(schema, valijson::adapters::NlohmannJsonAdapter(value), &results);
        valijson::ValidationResults::Error error;
        while (results.popError(error)) {
            for (const auto& step : error.context) {
                std::cerr << step;
            }
            std::cerr << ": " << error.description << "\n";
        }
        return valid ? 0 : 1;
    } catch (const std::exception& error) {
        std::cerr << argv[2] << ": " << error.what() << "\n";
        return 2;
    }
}
