#include "titles.hpp"

#include <algorithm>

namespace hal::conformance {

const std::vector<Title>& all_titles() {
    static const std::vector<Title> titles = [] {
        std::vector<Title> list{
#define HAL_TITLE(id, en, zh) {id, en, zh},
#include "titles_hal.def"
#include "titles_t1.def"
#include "titles_t10.def"
#include "titles_t2.def"
#include "titles_t3.def"
#include "titles_t4.def"
#include "titles_t5.def"
#include "titles_t7.def"
#include "titles_t8.def"
#include "titles_t9.def"
#include "titles_x.def"
#undef HAL_TITLE
        };
        std::sort(list.begin(), list.end(), [](const Title& a, const Title& b) { return a.id < b.id; });
        return list;
    }();
    return titles;
}

Title title_of(std::string_view id) {
    id = id.substr(0, id.find('['));
    const auto& titles = all_titles();
    const auto found = std::lower_bound(titles.begin(), titles.end(), id,
                                        [](const Title& title, std::string_view key) { return title.id < key; });
    return found != titles.end() && found->id == id ? *found : Title{id, "", ""};
}

}  // namespace hal::conformance
