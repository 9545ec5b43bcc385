#include <catch2/catch.hpp>
#include <sstream>

#include "json.hpp"
#include "schema.hpp"
#include "table.hpp"

using namespace hal::bench;

namespace {

Row measured(std::string name, Verdict verdict) {
    Row row;
    row.benchmark = {std::move(name), "ours", "peer", "ns", Better::lower, {GoalKind::ratio_at_most, 1.05}, nullptr};
    row.ours = {{2, 4, 3}, 3, 2};
    row.peer = Side{{1, 2, 1.5}, 1.5, 1};
    row.ratio = 2;
    row.best_ratio = 2;
    row.verdict = verdict;
    row.before.round_trip_ns = 120;
    row.tries = 1;
    return row;
}

Row skipped() {
    Row row;
    row.benchmark = {"test/skipped", "ours", "", "ns", Better::lower, {}, nullptr};
    row.reason = "memory_trim: HAL_ERROR_UNSUPPORTED, \"quoted\"";
    return row;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
}

}  // namespace

TEST_CASE("the JSON of every kind of row is valid by its schema") {
    std::vector<Row> rows{skipped()};
    for (const Verdict verdict :
         {Verdict::reached, Verdict::missed, Verdict::inconclusive, Verdict::information, Verdict::error}) {
        rows.push_back(measured("test/row", verdict));
    }
    const auto document = nlohmann::json::parse(to_json(rows, {"cpu.ref", "1.0", Settings{}}));
    CHECK_THAT(schema_violations(document), Catch::Equals(""));
    CHECK(document["rows"].size() == rows.size());
    CHECK(document["rows"][1]["goal"]["text"] == "<= 1.05x");
    CHECK(document["rows"][0]["ours"].is_null());
}

TEST_CASE("the schema refuses what is wrong") {
    auto document =
        nlohmann::json::parse(to_json({measured("test/row", Verdict::reached)}, {"cpu.ref", "1.0", Settings{}}));
    SECTION("unknown verdict") {
        document["rows"][0]["verdict"] = "fine";
    }
    SECTION("missing ratio") {
        document["rows"][0].erase("ratio");
    }
    SECTION("unknown key") {
        document["rows"][0]["extra"] = 1;
    }
    SECTION("text for a number") {
        document["rows"][0]["ours"]["median"] = "3";
    }
    CHECK_FALSE(schema_violations(document).empty());
}

TEST_CASE("the table is aligned and names figure, peer, ratio, goal and result") {
    const auto lines =
        lines_of(to_table({measured("test/a", Verdict::missed), measured("test/longer-name", Verdict::reached)}));
    REQUIRE(lines.size() == 3);
    CHECK(lines[1].find("3.00 (2.00) ns") == lines[2].find("3.00 (2.00) ns"));
    CHECK(lines[1].find("<= 1.05x") == lines[0].find("goal"));
    CHECK(lines[1].ends_with("missed"));
    CHECK(lines[2].ends_with("reached"));
}

TEST_CASE("remarks follow the table") {
    const std::string text = to_table({skipped()});
    CHECK(text.find("remarks\n  test/skipped skipped: memory_trim") != std::string::npos);
}

TEST_CASE("rows that the same cause spoiled share one remark") {
    auto first = measured("test/a", Verdict::inconclusive);
    auto second = measured("test/b", Verdict::inconclusive);
    first.reason = second.reason = "others used 1.7 cores";
    const std::string text = to_table({first, second});
    CHECK(text.find("remarks\n  2 rows inconclusive: others used 1.7 cores\n") != std::string::npos);
}

TEST_CASE("CSV quotes texts and keeps one line a row") {
    const auto lines = lines_of(to_csv({measured("test/a", Verdict::missed), skipped()}));
    REQUIRE(lines.size() == 3);
    CHECK(lines[0].starts_with("name,unit,ours,"));
    CHECK(lines[1].find("\"test/a\",\"ns\",\"ours\",3,2,\"peer\",1.5,1,2,2,\"<= 1.05x\",missed,") == 0);
    CHECK(lines[2].find("\"\"quoted\"\"") != std::string::npos);
}

TEST_CASE("the summary counts verdicts") {
    CHECK(to_summary({measured("a", Verdict::reached), measured("b", Verdict::reached), skipped()}) ==
          "3 rows: 2 reached, 1 skipped\n");
}
