// hal-conformance show ID
#include <algorithm>
#include <array>
#include <iostream>
#include <set>
#include <string>

#include "catalogue/clauses.hpp"
#include "catalogue/titles.hpp"
#include "harness/filter.hpp"
#include "list.hpp"
#include "mutants/catalogue.hpp"
#include "report/model.hpp"
#include "reports.hpp"
#include "run.hpp"

namespace hal::conformance {
namespace {

std::string_view meaning(enum authority authority) {
    static constexpr std::array<std::string_view, 4> meanings{
        "S: the words of a standard", "D: a necessary consequence of the standard's words",
        "A: this project's contract; never a breach of the standard", "Q: quality; never a failure"};
    return meanings[static_cast<size_t>(authority)];
}

void show_clauses(const Case& one) {
    for (const std::string_view id : one.clauses) {
        std::cout << "clause      " << id;
        if (const Clause* clause = find_clause(id)) {
            std::cout << "  " << clause->name_zh << "\n            " << clause->gloss.en << "\n            "
                      << clause->gloss.zh;
        }
        std::cout << '\n';
    }
}

void show_parameters(const Case& one) {
    for (const over& axis : one.axes) {
        std::cout << "parameter   " << axis.name << " =";
        for (const Value& value : axis.values) {
            std::cout << ' ' << value.text;
        }
        std::cout << '\n';
    }
}

// Faulty plug-ins that this case must find.
void show_mutants(const Case& one) {
    for (const Mutant& mutant : all_mutants()) {
        const auto killers = parts(mutant.killers, ' ');
        if (std::any_of(killers.begin(), killers.end(),
                        [&](std::string_view killer) { return matches(killer.substr(0, killer.find('[')), one.id); })) {
            std::cout << "catches     " << mutant.name << ": " << mutant.what << '\n';
        }
    }
}

void show_needs(const std::vector<Need>& needs) {
    std::set<std::string> texts;  // groups of needs overlap
    for (const Need& need : needs) {
        texts.insert(text_of(need));
    }
    std::cout << "applies     " << (texts.empty() ? "always" : "if there is ");
    for (const std::string& text : texts) {
        std::cout << text << (text == *texts.rbegin() ? "" : ", ");
    }
    std::cout << '\n';
}

}  // namespace

void add_show(CLI::App& app, ShowCommand& command) {
    app.add_option("id", command.id, "id of a case, with or without parameters")->required();
}

int show_command(const ShowCommand& command) {
    const auto& cases = all_cases();
    const std::string id = command.id.substr(0, command.id.find('['));
    const auto found = std::find_if(cases.begin(), cases.end(), [&](const Case& one) { return one.id == id; });
    if (found == cases.end()) {
        std::cerr << "hal-conformance: no case is called " << command.id << "; the nearest are\n";
        for (const std::string& near : nearest(command.id, compiled_in().ids(), 3)) {
            std::cerr << "    " << near << '\n';
        }
        return exit_nothing_ran;
    }
    std::cout << found->id << '\n';
    const Title title = title_of(found->id);
    for (const std::string_view text : {title.en, title.zh}) {
        if (!text.empty()) {
            std::cout << "            " << text << '\n';
        }
    }
    show_clauses(*found);
    std::cout << "authority   " << meaning(found->authority) << '\n'
              << "class       " << name(found->cls) << (found->exclusive ? ", runs alone" : "") << '\n';
    show_needs(found->needs);
    show_parameters(*found);
    show_mutants(*found);
    std::cout << "source      " << found->file << ':' << found->line << '\n'
              << "alone       hal-conformance run --manifest FILE --filter '" << found->id << "'\n";
    return exit_good;
}

}  // namespace hal::conformance
