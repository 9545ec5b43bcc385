#include "clauses.hpp"

#include <algorithm>

namespace hal::conformance {
namespace {

void add_rows(std::vector<Clause>& all) {
    for (const EntryInfo& entry : entries) {
        if (const TableInfo& table = table_of(entry); table.standard()) {
            const std::string need = entry.need == hal::Need::required ? "必选" : "可选";
            all.push_back({"45079/" + row_name(entry),
                           std::string(chinese_name(entry.name)),
                           {std::string(entry.effect),
                            "表" + std::to_string(table.id) + "第" + std::to_string(entry.row) + "行，" + need},
                           true});
        }
    }
}

std::vector<Clause> read() {
    std::vector<Clause> all;
    add_rows(all);
#define HAL_CLAUSE(id, name, en, zh) all.push_back({id, name, {en, zh}, true});
#define HAL_NO_TEXT(id, zh, en) all.push_back({id, zh, {en, zh}, false});
#include "clauses.def"
#undef HAL_CLAUSE
#undef HAL_NO_TEXT
    return all;
}

}  // namespace

const std::vector<Clause>& all_clauses() {
    static const std::vector<Clause> all = read();
    return all;
}

const Clause* find_clause(std::string_view id) {
    const auto& all = all_clauses();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Clause& one) { return one.id == id; });
    return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> clause_faults(const std::vector<Case>& cases) {
    std::vector<std::string> faults;
    for (const Case& one : cases) {
        for (const std::string_view id : one.clauses) {
            const Clause* clause = find_clause(id);
            if (clause == nullptr || !clause->available) {
                faults.push_back(
                    std::string(one.id) + ": cites clause " + std::string(id) +
                    (clause == nullptr ? ", which clauses.def does not know" : ", whose text is not available"));
            }
        }
    }
    return faults;
}

}  // namespace hal::conformance
