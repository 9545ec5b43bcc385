#include "places.hpp"

#include <set>

#include "text.hpp"

namespace hal::loader {

namespace {

constexpr std::string_view folder = "/hal/backends.d";

// Doubled and trailing slashes are normal input.
std::string tidy(std::string_view path) {
    std::string out;
    for (const char c : path) {
        if (c != '/' || out.empty() || out.back() != '/') {
            out += c;
        }
    }
    if (out.size() > 1 && out.back() == '/') {
        out.pop_back();
    }
    return out;
}

class Lister {
  public:
    Lister(const Environment& environment, const Settings& settings, const Roots& roots)
        : environment_(environment), settings_(settings), roots_(roots) {}

    std::vector<Spot> list() {
        for (const std::string& path : settings_.manifest_paths) {
            add_named(path, 1, "manifest_paths");
        }
        exclude_by(settings_.manifest_paths.empty() ? "" : "manifest_paths");
        add_named_list(2, "HAL_BACKEND_FILES");
        exclude_by(environment_.get("HAL_BACKEND_FILES") ? "HAL_BACKEND_FILES" : "");
        add_named_list(3, "HAL_ADD_BACKEND_FILES");
        add_home(4, "XDG_CONFIG_HOME", "/.config");
        add_directories(5, "XDG_CONFIG_DIRS", {"/etc/xdg"});
        add_system(6, roots_.sysconfdir, "installed configuration");
        add_system(6, "/etc", "system configuration");
        add_home(7, "XDG_DATA_HOME", "/.local/share");
        add_directories(8, "XDG_DATA_DIRS", {"/usr/local/share", "/usr/share"});
        add_system(9, roots_.datadir, "installed data");
        return std::move(spots_);
    }

  private:
    // From here on nothing is searched, if there is a name; the places are still listed.
    void exclude_by(std::string_view name) {
        if (exclusive_.empty()) {
            exclusive_ = name;
        }
    }

    // A second mention of one path is dropped in silence.
    void add(Spot spot, std::string_view path) {
        spot.place.path = tidy(path);
        if (spot.place.path.empty() || !seen_.insert(spot.place.path).second) {
            return;
        }
        if (!spot.dropped && !exclusive_.empty()) {
            spot.dropped = true;
            spot.complaint_level = HAL_LOG_DEBUG;
            spot.place.note = "not searched: " + std::string(exclusive_) + " excludes all else";
        } else if (!spot.dropped && spot.place.path.front() != '/') {
            spot.dropped = true;
            spot.complaint_level = spot.named ? HAL_LOG_ERROR : HAL_LOG_WARN;
            spot.place.note = "ignored: not an absolute path";
        }
        spots_.push_back(std::move(spot));
    }

    void add_named(std::string_view path, int rank, std::string_view origin) {
        add({.place = {.origin = std::string(origin), .rank = rank}, .named = true}, path);
    }

    void add_named_list(int rank, std::string_view variable) {
        for (const std::string_view path : split(environment_.get(variable).value_or(""), ':')) {
            add_named(path, rank, variable);
        }
    }

    // A directory of the user, which neither a privileged process nor root under sudo may trust.
    void add_home(int rank, std::string_view variable, std::string_view below_home) {
        Spot spot{.place = {.origin = std::string(variable), .rank = rank}};
        std::string path(environment_.get(variable).value_or(""));
        if (path.empty()) {
            spot.place.origin = "HOME";
            const std::string home(environment_.get("HOME").value_or(""));
            path = home.empty() ? "$HOME" : home;
            path += below_home;
            drop_if(spot, home.empty(), "HOME is not set");
            drop_if(spot, !home.empty() && home.front() != '/', "HOME is not an absolute path");
        }
        drop_if(spot, environment_.foreign_home(), "root, but HOME belongs to another user");
        drop_if(spot, environment_.elevated(), "the process has elevated privileges");
        add(std::move(spot), path.append(folder));
    }

    static void drop_if(Spot& spot, bool condition, std::string_view why) {
        if (condition) {
            spot.dropped = true;
            spot.complaint_level = HAL_LOG_DEBUG;
            spot.place.note = "ignored: " + std::string(why);
        }
    }

    // A list of empty elements is as good as none.
    void add_directories(int rank, std::string_view variable, const std::vector<std::string_view>& defaults) {
        bool any = false;
        for (const std::string_view directory : split(environment_.get(variable).value_or(""), ':')) {
            if (!directory.empty()) {
                add({.place = {.origin = std::string(variable), .rank = rank}}, std::string(directory).append(folder));
                any = true;
            }
        }
        for (const std::string_view directory : defaults) {
            if (!any) {
                add_system(rank, std::string(directory), std::string(variable) + " (default)");
            }
        }
    }

    void add_system(int rank, const std::string& directory, std::string origin) {
        add({.place = {.origin = std::move(origin), .rank = rank}, .system = true},
            (roots_.root + directory).append(folder));
    }

    const Environment& environment_;
    const Settings& settings_;
    const Roots& roots_;
    std::vector<Spot> spots_;
    std::set<std::string> seen_;
    std::string_view exclusive_;
};

}  // namespace

Roots installed_roots() {
    return {"", HAL_SYSCONFDIR, HAL_DATADIR};
}

std::vector<Spot> list_spots(const Environment& environment, const Settings& settings, const Roots& roots) {
    return Lister(environment, settings, roots).list();
}

}  // namespace hal::loader
