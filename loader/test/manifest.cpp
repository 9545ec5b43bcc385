#include "manifest.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "manifest_schema.hpp"
#include "problem.hpp"
#include "scratch.hpp"

using namespace hal::loader;
using namespace hal::loader::test;
using nlohmann::json;

namespace {

struct Outcome {
    std::string code;  // empty: accepted
    std::string cause;
    hal_backend_state state = HAL_STATE_DISCOVERED;
    Manifest manifest;
    std::vector<Remark> remarks;
};

Outcome parse(std::string_view text) {
    Outcome outcome;
    try {
        parse_manifest(text, "/m.json", outcome.manifest, outcome.remarks);
    } catch (const Refusal& refusal) {
        outcome.code = refusal.problem().code;
        outcome.cause = refusal.problem().cause;
        outcome.state = refusal.problem().state;
        CHECK_FALSE(refusal.problem().next_step.empty());
        CHECK(refusal.problem().status < 0);
    }
    return outcome;
}

bool says(const Outcome& outcome, std::string_view code, std::string_view part) {
    INFO("code " << outcome.code << ", cause " << outcome.cause);
    CHECK(outcome.code == code);
    CHECK(outcome.cause.find(part) != std::string::npos);
    return outcome.code == code && outcome.cause.find(part) != std::string::npos;
}

json good() {
    return json::parse(R"({
        "schema_version": "1.0",
        "backend": {
            "id": "acme.npu", "name": "Acme NPU", "version": "2.3.1", "vendor": "Acme",
            "library_path": "../lib/libacme.so", "arch": "x86_64",
            "abi": {"min": "1.0", "max": "1.2"}, "kinds": ["npu", "gpu"], "software": true, "priority": 700,
            "probe": "never-in-helper", "critical": true,
            "requires": {"files": ["/dev/acme0"], "hint": "install acme-driver >= 5.1"},
            "options": {"text": "a", "whole": 3, "negative": -4, "real": 0.5, "yes": true},
            "x-acme": {"anything": [1, 2]}
        }
    })");
}

json with(const std::string& pointer, const json& value) {
    json document = good();
    document[json::json_pointer(pointer)] = value;
    return document;
}

}  // namespace

TEST_CASE("a manifest with every key") {
    const Outcome outcome = parse(good().dump());
    REQUIRE(outcome.code.empty());
    CHECK(outcome.remarks.empty());
    const Manifest& manifest = outcome.manifest;
    CHECK(manifest.id == "acme.npu");
    CHECK(manifest.name == "Acme NPU");
    CHECK(manifest.version == "2.3.1");
    CHECK(manifest.vendor == "Acme");
    CHECK(manifest.library_path == "../lib/libacme.so");
    CHECK(manifest.arch == "x86_64");
    CHECK(manifest.abi_min == HAL_MAKE_VERSION(1, 0));
    CHECK(manifest.abi_max == HAL_MAKE_VERSION(1, 2));
    CHECK(manifest.kinds == std::vector<std::string>{"npu", "gpu"});
    CHECK(manifest.software);
    CHECK(manifest.critical);
    CHECK(manifest.priority == 700);
    CHECK(manifest.probe == Probe::never_in_helper);
    CHECK(manifest.required_files == std::vector<std::string>{"/dev/acme0"});
    CHECK(manifest.hint == "install acme-driver >= 5.1");
    const std::vector<std::pair<std::string, std::string>> options{
        {"negative", "-4"}, {"real", "0.5"}, {"text", "a"}, {"whole", "3"}, {"yes", "true"}};
    CHECK(manifest.options == options);
}

TEST_CASE("what a manifest leaves out has a default") {
    const Outcome outcome = parse(manifest_text("a", "./a.so"));
    REQUIRE(outcome.code.empty());
    CHECK(outcome.manifest.priority == 500);
    CHECK(outcome.manifest.probe == Probe::automatic);
    CHECK_FALSE(outcome.manifest.software);
    CHECK(outcome.manifest.options.empty());
}

TEST_CASE("each key with each wrong type, from the schema itself") {
    const json schema = json::parse(manifest_schema_text());
    const std::vector<json> samples{nullptr, true, 7, 1.5, "text", json::array(), json::object()};
    size_t tried = 0;
    // Of every value that the schema describes: all samples whose type it does not allow.
    const std::function<void(const json&, const std::string&)> visit = [&](const json& rule,
                                                                           const std::string& pointer) {
        if (rule.contains("type") && !pointer.empty()) {
            const json types = rule["type"].is_array() ? rule["type"] : json::array({rule["type"]});
            for (const json& sample : samples) {
                const bool allowed = std::any_of(types.begin(), types.end(), [&](const json& type) {
                    return type == sample.type_name() || (type == "integer" && sample.is_number_integer());
                });
                if (!allowed) {
                    ++tried;
                    CHECK(says(parse(with(pointer, sample).dump()), "L012", pointer + ": expected "));
                }
            }
        }
        const json properties = rule.value("properties", json::object());
        for (const auto& [key, member] : properties.items()) {
            visit(member, pointer + "/" + key);
        }
        if (rule.contains("items")) {
            visit(rule["items"], pointer + "/0");
        }
        if (rule.contains("additionalProperties")) {
            visit(rule["additionalProperties"], pointer + "/text");
        }
    };
    visit(schema, "");
    CHECK(tried > 80);
}

TEST_CASE("each required key missing") {
    for (const std::string key : {"/schema_version", "/backend", "/backend/id", "/backend/library_path", "/backend/abi",
                                  "/backend/abi/min", "/backend/abi/max"}) {
        json document = good();
        const json::json_pointer pointer(key);
        document[pointer.parent_pointer()].erase(pointer.back());
        const std::string parent = pointer.parent_pointer().to_string();
        CHECK(says(parse(document.dump()), "L012",
                   (parent.empty() ? ": key \"" : parent + ": key \"") + pointer.back() + "\" is missing"));
    }
}

TEST_CASE("priority: nothing wraps around") {
    const auto [text, part] = GENERATE(table<const char*, const char*>({
        {"-1", "-1 is below 0"},
        {"1001", "1001 is above 1000"},
        {"4294967296", "is above 1000"},
        {"4294967796", "is above 1000"},  // 2^32 + 500
        {"18446744073709551615", "is above 1000"},
        {"-9223372036854775808", "is below 0"},
        {"99999999999999999999999999", "expected integer, found number 1e+26"},
        {"1.9", "expected integer, found number 1.9"},
        {"\"5\"", "expected integer, found string \"5\""},
        {"true", "expected integer, found boolean true"},
    }));
    CHECK(says(parse(manifest_text("a", "./a.so", std::string(", \"priority\": ") + text)), "L012",
               std::string("/m.json: /backend/priority: ")));
    CHECK(says(parse(manifest_text("a", "./a.so", std::string(", \"priority\": ") + text)), "L012", part));
}

TEST_CASE("a number beyond a double") {
    const std::string text = manifest_text("a", "./a.so", ", \"priority\": 1e400");
    CHECK(says(parse(text), "L012", "number 1e400 is out of range"));
    CHECK(says(parse(manifest_text("a", "./a.so", ", \"x-free\": -1e999")), "L012", "number -1e999 is out of range"));
}

TEST_CASE("schema versions") {
    const auto [version, code] = GENERATE(table<json, const char*>({
        {"1.0", ""},         {"1.7", ""},
        {"1.65535", ""},     {"0.9", "L013"},
        {"2.0", "L013"},     {"65535.0", "L013"},
        {"1", "L012"},       {1.0, "L012"},
        {1, "L012"},         {"1.0.0", "L012"},
        {"1.0 ", "L012"},    {" 1.0", "L012"},
        {"01.0", "L012"},    {"1.00", "L012"},
        {"+1.0", "L012"},    {"-1.0", "L012"},
        {"1.", "L012"},      {".0", "L012"},
        {".", "L012"},       {"", "L012"},
        {"1.65536", "L012"}, {"99999999999999999999.0", "L012"},
        {nullptr, "L012"},
    }));
    const Outcome outcome = parse(with("/schema_version", version).dump());
    INFO(version);
    CHECK(outcome.code == code);
    CHECK((outcome.state == HAL_STATE_SCHEMA_UNSUPPORTED) == (std::string_view(code) == "L013"));
}

TEST_CASE("a manifest of another major is not judged by this schema") {
    json document = good();
    document["schema_version"] = "2.0";
    document["backend"] = json::array();
    CHECK(says(parse(document.dump()), "L013", "schema 2.0, this loader reads 1.x"));
}

TEST_CASE("unknown keys: a word in the same minor, less in a newer one, nothing for x-") {
    json document = with("/backend/pririty", 5);
    document["x-top"] = 1;
    document["backend"]["abi"]["x-more"] = 1;
    document["backend"]["requires"]["file"] = json::array();
    document["$schema"] = "https://example.org/backend-1.json";
    const Outcome same = parse(document.dump());
    REQUIRE(same.code.empty());
    REQUIRE(same.remarks.size() == 2);
    CHECK(same.remarks[0].level == HAL_LOG_WARN);
    CHECK(same.remarks[0].text == "/m.json: /backend: unknown key \"pririty\"; did you mean priority?");
    CHECK(same.remarks[1].text == "/m.json: /backend/requires: unknown key \"file\"; did you mean files?");
    document["schema_version"] = "1.1";
    const Outcome newer = parse(document.dump());
    REQUIRE(newer.remarks.size() == 2);
    CHECK(newer.remarks[0].level == HAL_LOG_INFO);
}

TEST_CASE("ids") {
    for (const char* id :
         {"a", "acme.npu", "a-b_c.9", "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl"}) {
        CHECK(parse(manifest_text(id, "./a.so")).code.empty());
    }
    for (const char* id : {"", "A", "9a", ".a", "-a", "a b", "a/b", "a:b", "gr\xc3\xbcn", "a\\n",
                           "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklm"}) {
        CHECK(says(parse(manifest_text(id, "./a.so")), "L012", "/backend/id: "));
    }
}

TEST_CASE("library_path as written") {
    for (const std::string& path :
         {std::string("/a"), std::string("./a.so"), std::string("../../x/../a.so"), "/" + std::string(4094, 'a')}) {
        CHECK(parse(manifest_text("a", path)).code.empty());
    }
    const auto [path, part] = GENERATE_COPY(table<std::string, const char*>({
        {"", "length 0 is below 1"},
        {"/", "\"/\" names a directory"},
        {"x/", "\"x/\" names a directory"},
        {"liba.so", "\"liba.so\" is a bare name; write \"./liba.so\" or an absolute path"},
        {"a\\u0000b/c", "contains a NUL character"},
        {"/" + std::string(4095, 'a'), "length 4096 is above 4095"},
    }));
    CHECK(says(parse(manifest_text("a", path)), "L012", std::string("/backend/library_path: ")));
    CHECK(says(parse(manifest_text("a", path)), "L012", part));
    // More bytes than characters: no path of the system may be longer than PATH_MAX.
    std::string wide = "/";
    for (int i = 0; i < 2000; ++i) {
        wide += "\xc3\xbc";
    }
    CHECK(parse(manifest_text("a", wide)).code.empty());
    CHECK(parse(manifest_text("a", wide + wide)).code == "L014");  // the limit of all strings comes first
}

TEST_CASE("ABI ranges") {
    const auto [min, max, part] = GENERATE(table<const char*, const char*, const char*>({
        {"1.1", "1.0", "/backend/abi: min is above max"},
        {"1", "1.0", "/backend/abi/min: length 1 is below 3"},
        {"one", "1.0", "/backend/abi/min: \"one\" is not major.minor"},
        {"1.0", "1.70000", "/backend/abi/max: \"1.70000\" is not major.minor"},
        {"1.0", "4294967297.0", "/backend/abi/max: "},
    }));
    json document = with("/backend/abi/min", min);
    document["backend"]["abi"]["max"] = max;
    CHECK(says(parse(document.dump()), "L012", part));
}

TEST_CASE("values outside a list, relative files, options that are no scalars") {
    CHECK(says(parse(with("/backend/kinds", {"npu", "gpx"}).dump()), "L012",
               "/backend/kinds/1: string \"gpx\" is none of cpu, gpu, npu, fpga, dsp, other; did you mean gpu"));
    CHECK(says(parse(with("/backend/probe", "never").dump()), "L012", "/backend/probe: string \"never\" is none of "));
    CHECK(says(parse(with("/backend/requires/files", {"/a", "b"}).dump()), "L012",
               "/backend/requires/files/1: \"b\" is not an absolute path"));
    CHECK(says(parse(with("/backend/options/o~0~1x", json::object()).dump()), "L012",
               "/backend/options/o~0~1x: expected string or number or boolean, found object"));
    CHECK(says(parse(with("/backend/name", std::string(257, 'a')).dump()), "L012",
               "/backend/name: length 257 is above 256"));
}

TEST_CASE("a refused manifest still tells its id, if that is one") {
    CHECK(parse(with("/backend/priority", -1).dump()).manifest.id == "acme.npu");
    CHECK(parse(with("/schema_version", "2.0").dump()).manifest.id == "acme.npu");
    CHECK(parse(with("/backend/id", "NO").dump()).manifest.id.empty());
}

TEST_CASE("the installed schema is the compiled one") {
    std::ifstream stream(HAL_TEST_SCHEMA_FILE);
    const std::string file((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    CHECK(file == manifest_schema_text());
    // std::regex overflows the stack on long strings: the schema must do without it.
    CHECK(file.find("\"pattern") == std::string::npos);
}
