#include "search.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>

#include "file.hpp"
#include "log.hpp"
#include "places.hpp"

namespace hal::loader {

namespace {

constexpr int last_named_rank = 3;

bool is_manifest_name(const std::string& name) {
    return name.ends_with(".json") && !name.starts_with('.');
}

// An empty file or a link to /dev/null: the administrator's off-switch for what has the same name further down.
bool is_mask(const struct stat& status) {
    return (S_ISREG(status.st_mode) && status.st_size == 0) ||
           (S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3));
}

// Not std::filesystem::directory_iterator: libstdc++'s ends the process when it runs out of memory.
std::vector<std::string> list_manifests(const std::string& directory, int& error) {
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(opendir(directory.c_str()), closedir);
    std::vector<std::string> names;
    if (stream == nullptr) {
        error = errno;
        return names;
    }
    errno = 0;
    while (const dirent* entry = readdir(stream.get())) {
        if (std::string name(entry->d_name); is_manifest_name(name)) {
            names.push_back(std::move(name));
        }
        errno = 0;
    }
    error = errno;
    return names;
}

class Searcher {
  public:
    explicit Searcher(Log& log) : log_(log) {}

    SearchResult run(std::vector<Spot> spots) {
        for (Spot& spot : spots) {
            if (spot.dropped) {
                complain(spot.complaint_level, spot);
            } else {
                look_at(spot);
            }
            result_.places.push_back(std::move(spot.place));
        }
        const auto scanned = std::find_if(result_.files.begin(), result_.files.end(),
                                          [](const FoundManifest& file) { return file.rank > last_named_rank; });
        // So 10-vendor.json precedes 50-other.json wherever it lies; the sort is stable, so that ties keep the rank.
        std::stable_sort(scanned, result_.files.end(), [](const FoundManifest& a, const FoundManifest& b) {
            return base_name(a.path) < base_name(b.path);
        });
        return std::move(result_);
    }

  private:
    void complain(uint32_t level, const Spot& spot) {
        const auto text = [&] {
            return fmt::format("L005 {} ({}): {}", spot.place.path, spot.place.origin, spot.place.note);
        };
        if (level < HAL_LOG_DEBUG) {
            log_.write(level, text());
        } else if (log_.wants(Subject::search)) {
            log_.debug(Subject::search, text());
        }
    }

    void look_at(Spot& spot) {
        struct stat status {};
        const int error = stat(spot.place.path.c_str(), &status) == 0 ? 0 : errno;
        if (error == 0 && S_ISDIR(status.st_mode)) {
            scan_once(spot, status);
        } else if (spot.named) {
            // Whatever it is, the reader of manifests says what is wrong with it.
            spot.place.used = error == 0;
            spot.place.note = error == 0 ? "1 manifest" : error_text(error);
            add_file(spot, spot.place.path);
        } else {
            const bool absent = error == ENOENT || error == ENOTDIR;
            spot.place.note = absent ? "does not exist" : error != 0 ? error_text(error) : "is not a directory";
            complain(absent ? HAL_LOG_DEBUG : HAL_LOG_WARN, spot);
        }
    }

    void scan_once(Spot& spot, const struct stat& status) {
        const auto [known, is_new] = directories_.try_emplace({status.st_dev, status.st_ino}, spot.place.path);
        if (!is_new) {
            spot.place.note = "the same directory as " + known->second;
            complain(HAL_LOG_DEBUG, spot);
            return;
        }
        int error = 0;
        std::vector<std::string> names = list_manifests(spot.place.path, error);
        if (error != 0) {
            spot.place.note = error_text(error);
            complain(spot.named ? HAL_LOG_ERROR : HAL_LOG_WARN, spot);
        }
        spot.place.used = error == 0;
        std::sort(names.begin(), names.end());
        const size_t before = result_.files.size();
        for (const std::string& name : names) {
            take(spot, name);
        }
        if (error == 0) {
            const size_t count = result_.files.size() - before;
            spot.place.note = fmt::format("{} manifest{}", count, count == 1 ? "" : "s");
        }
    }

    void take(const Spot& spot, const std::string& name) {
        const std::string path = spot.place.path + "/" + name;
        struct stat status {};
        if (stat(path.c_str(), &status) != 0) {
            const bool broken_link = errno == ENOENT;
            log_.write(spot.named ? HAL_LOG_ERROR : HAL_LOG_WARN,
                       fmt::format("L010 {}: {}; skipped", path, broken_link ? "broken link" : error_text(errno)));
        } else if (is_mask(status)) {
            const bool is_first = first_of_name_.try_emplace(name, path).second;
            log_.info(fmt::format("L071 {}: empty, {}", path,
                                  is_first ? "hides manifests of this name in lower directories" : "hidden itself"));
        } else if (!S_ISREG(status.st_mode)) {
            log_.write(spot.named ? HAL_LOG_ERROR : HAL_LOG_WARN,
                       fmt::format("L010 {}: is {}, not a regular file; skipped", path, file_kind(status.st_mode)));
        } else {
            add_file(spot, path);
        }
    }

    // What the user named is never hidden, though it hides others.
    void add_file(const Spot& spot, const std::string& path) {
        const auto [first, is_new] = first_of_name_.try_emplace(base_name(path), path);
        const bool masked = !is_new && spot.place.rank > last_named_rank;
        result_.files.push_back({path, spot.place.rank, spot.named, spot.system, masked ? first->second : ""});
    }

    Log& log_;
    SearchResult result_;
    std::map<std::pair<dev_t, ino_t>, std::string> directories_;
    std::map<std::string, std::string> first_of_name_;
};

}  // namespace

std::string base_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

SearchResult search(const Environment& environment, const Settings& settings, Log& log, const Roots& roots) {
    return Searcher(log).run(list_spots(environment, settings, roots));
}

}  // namespace hal::loader
