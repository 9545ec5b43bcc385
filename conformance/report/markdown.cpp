#include "escape.hpp"
#include "fill.hpp"
#include "render.hpp"
#include "view.hpp"

namespace hal::conformance {

std::string markdown_text(const Model& model) {
    nlohmann::json view = page_view(model);
    // Inside a code span nothing is escaped, and a back tick would end it.
    for (auto& test : view["bad"]) {
        std::string command = test["reproduce"];
        std::replace(command.begin(), command.end(), '`', '\'');
        test["again"] = command;
    }
    return fill("report.md", view, escape_markdown);
}

}  // namespace hal::conformance
