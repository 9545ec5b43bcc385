// Is a lock of an earlier day still kept?
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hal::tool {

// One sentence for each line of `old_lock` that `now` does not keep, with its line number in old_lock, what it was,
// what it is and why that breaks. Empty if `now` only appends lines to groups, or adds groups. `name` is that of the
// old lock's file.
std::vector<std::string> broken_lines(std::string_view old_lock, std::string_view now, std::string_view name);

}  // namespace hal::tool
