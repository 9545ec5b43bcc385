#include "list.hpp"

#include <iostream>
#include <nlohmann/json.hpp>

namespace hal::conformance {
namespace {

constexpr std::string_view authority_letters = "SDAQ";

nlohmann::json json_of(const Instance& instance) {
    const Case& one = *instance.origin;
    std::vector<std::string> needs;
    for (const Need& need : instance.needs) {
        needs.push_back(text_of(need));
    }
    return {
        {"id", instance.id},      {"case", one.id},
        {"clauses", one.clauses}, {"authority", std::string(1, authority_letters[static_cast<size_t>(one.authority)])},
        {"class", name(one.cls)}, {"alone", one.exclusive},
        {"needs", needs}};
}

void print(const Instance& instance) {
    const auto value = json_of(instance);
    std::cout << instance.id << "\n    " << value["authority"].get<std::string>() << "  "
              << value["class"].get<std::string>();
    for (const char* const key : {"clauses", "needs"}) {
        std::cout << "  " << key << ":";
        for (const auto& text : value[key]) {
            std::cout << ' ' << text.get<std::string>() << (&text == &value[key].back() ? "" : ",");
        }
    }
    std::cout << '\n';
}

}  // namespace

void add_list(CLI::App& app, ListCommand& command) {
    add_choice(app, command.choice);
    app.add_flag("--json", command.json, "as JSON");
}

int list_command(const ListCommand& command) {
    const auto chosen = choose(command.choice);
    if (command.json) {
        nlohmann::json all = nlohmann::json::array();
        for (const Instance& instance : chosen) {
            all.push_back(json_of(instance));
        }
        std::cout << all.dump(2) << '\n';
        return 0;
    }
    for (const Instance& instance : chosen) {
        print(instance);
    }
    return 0;
}

}  // namespace hal::conformance
