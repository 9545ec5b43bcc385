#include "escape.hpp"
#include "fill.hpp"
#include "render.hpp"
#include "view.hpp"

namespace hal::conformance {

std::string html_text(const Model& model) {
    nlohmann::json view = page_view(model);
    for (auto& table : view["grid"]) {
        table["size"] = table["rows"].size();
    }
    for (auto& test : view["bad"]) {
        test["has_findings"] = !test["findings"].empty();
    }
    view["has_unknown"] = !view["unknown"].empty();
    view["has_waivers"] = !view["waivers"].empty() || !view["waiver_faults"].empty();
    view["cell"] = template_text("cell.html");
    view["css"] = template_text("report.css");
    view["js"] = template_text("report.js");
    return fill("report.html", view, escape_xml);
}

}  // namespace hal::conformance
