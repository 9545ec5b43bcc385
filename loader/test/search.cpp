#include "search.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "hal/loader.h"
#include "scratch.hpp"

using namespace hal::loader;
using namespace hal::loader::test;

namespace {

// A machine of its own: what is "installed" lies below the scratch directory too.
class World {
  public:
    SearchResult find(Variables variables, bool elevated = false, bool foreign_home = false) {
        recorder.lines.clear();
        const Environment environment(
            {.variables = std::move(variables), .elevated = elevated, .foreign_home = foreign_home});
        Log log(environment, recorder.settings);
        return search(environment, recorder.settings, log, roots);
    }

    std::string put(const std::string& directory, const std::string& name = "50-a.json",
                    std::string_view text = "{}") const {
        return scratch.write(directory + "/hal/backends.d/" + name, text);
    }

    [[nodiscard]] std::string at(const std::string& below) const { return scratch.path(below); }

    Scratch scratch;
    Recorder recorder;
    Roots roots{scratch.path("root"), "/opt/etc", "/opt/share"};
};

std::vector<std::string> paths(const SearchResult& result) {
    std::vector<std::string> list;
    for (const FoundManifest& file : result.files) {
        list.push_back(file.path);
    }
    return list;
}

const Place& place(const SearchResult& result, const std::string& path) {
    for (const Place& one : result.places) {
        if (one.path == path) {
            return one;
        }
    }
    throw std::runtime_error("no place " + path);
}

using Paths = std::vector<std::string>;

}  // namespace

TEST_CASE("every rank in its order") {
    World world;
    const Variables variables{{"HAL_ADD_BACKEND_FILES", world.at("add.json") + ":" + world.at("add")},
                              {"HOME", world.at("home")},
                              {"XDG_CONFIG_DIRS", world.at("config1") + ":" + world.at("config2")},
                              {"XDG_DATA_DIRS", world.at("data")}};
    const Paths expected{world.scratch.write("add.json", "{}"), world.scratch.write("add/99-z.json", "{}"),
                         world.put("home/.config", "10.json"),  world.put("config1", "11.json"),
                         world.put("config2", "12.json"),       world.put("root/opt/etc", "13.json"),
                         world.put("root/etc", "14.json"),      world.put("home/.local/share", "15.json"),
                         world.put("data", "16.json"),          world.put("root/opt/share", "17.json")};
    const SearchResult result = world.find(variables);
    CHECK(paths(result) == expected);
    std::vector<int> ranks;
    for (const FoundManifest& file : result.files) {
        ranks.push_back(file.rank);
        CHECK(file.named == (file.rank == 3));
        CHECK(file.system == (file.rank == 6 || file.rank == 9));
    }
    CHECK(ranks == std::vector<int>{3, 3, 4, 5, 5, 6, 6, 7, 8, 9});
}

TEST_CASE("defaults of the system, and that they count as such") {
    World world;
    world.put("root/etc/xdg", "1.json");
    world.put("root/usr/local/share", "2.json");
    world.put("root/usr/share", "3.json");
    for (const char* empty : {"", ":", "::::"}) {
        const SearchResult result = world.find({{"XDG_CONFIG_DIRS", empty}, {"XDG_DATA_DIRS", empty}});
        REQUIRE(result.files.size() == 3);
        CHECK(result.files[0].system);
        CHECK(result.files[0].rank == 5);
        CHECK(result.files[2].rank == 8);
    }
}

TEST_CASE("odd lists of directories: each directory once, nothing said") {
    World world;
    world.put("a", "1.json");
    const std::string a = world.at("a");
    std::string many;
    for (int i = 0; i < 200; ++i) {
        many += a + "/:";
    }
    for (const std::string& list : {a, a + ":", ":" + a, a + "//", a + "/:" + a, "::" + a + "::", many}) {
        const SearchResult result = world.find({{"XDG_DATA_DIRS", list}});
        CHECK(paths(result) == Paths{a + "/hal/backends.d/1.json"});
        CHECK(world.recorder.count(HAL_LOG_WARN, "") == 0);
    }
    std::string huge = a;
    while (huge.size() < 100000) {
        huge += ":/nowhere/" + std::to_string(huge.size());
    }
    CHECK(paths(world.find({{"XDG_DATA_DIRS", huge}})).size() == 1);
    CHECK(paths(world.find({{"XDG_DATA_DIRS", "/" + std::string(100000, 'x')}})).empty());
}

TEST_CASE("one directory under two names is read once") {
    World world;
    world.put("a", "1.json");
    std::filesystem::create_symlink(world.at("a"), world.at("b"));
    const SearchResult result = world.find({{"XDG_DATA_DIRS", world.at("a") + ":" + world.at("b")}});
    CHECK(result.files.size() == 1);
    CHECK(place(result, world.at("b/hal/backends.d")).note == "the same directory as " + world.at("a/hal/backends.d"));
    CHECK_FALSE(place(result, world.at("b/hal/backends.d")).used);
    CHECK(place(result, world.at("a/hal/backends.d")).note == "1 manifest");
}

TEST_CASE("relative directories are dropped, aloud") {
    World world;
    CHECK(world.find({{"XDG_DATA_DIRS", "a:.:../b"}}).files.empty());
    CHECK(world.recorder.count(HAL_LOG_WARN, "L005 ") == 3);
    CHECK(world.recorder.count(HAL_LOG_WARN, "L005 a/hal/backends.d (XDG_DATA_DIRS): ignored: not an absolute path") ==
          1);
    CHECK(world.find({{"HAL_BACKEND_FILES", "x.json:./y.json"}}).files.empty());
    CHECK(world.recorder.count(HAL_LOG_ERROR, "L005 ") == 2);
}

TEST_CASE("HOME unset, empty or relative drops the user's directories without noise") {
    World world;
    for (const Variables& variables : {Variables{}, Variables{{"HOME", ""}}, Variables{{"HOME", "home"}}}) {
        const SearchResult result = world.find(variables);
        CHECK(world.recorder.count(HAL_LOG_WARN, "") == 0);
        CHECK(world.recorder.count(HAL_LOG_DEBUG, "HOME is not ") == 2);
        CHECK(std::count_if(result.places.begin(), result.places.end(),
                            [](const Place& one) { return one.rank == 4 || one.rank == 7; }) == 2);
    }
}

TEST_CASE("XDG_CONFIG_HOME and XDG_DATA_HOME stand in for HOME") {
    World world;
    world.put("config", "1.json");
    world.put("data", "2.json");
    world.put("home/.config", "3.json");
    const SearchResult result = world.find(
        {{"HOME", world.at("home")}, {"XDG_CONFIG_HOME", world.at("config")}, {"XDG_DATA_HOME", world.at("data")}});
    CHECK(paths(result) == Paths{world.at("config/hal/backends.d/1.json"), world.at("data/hal/backends.d/2.json")});
}

TEST_CASE("elevated privileges leave the system's own directories; sudo drops the user's") {
    World world;
    const Variables variables{{"HAL_BACKEND_FILES", world.scratch.write("f.json", "{}")},
                              {"HAL_ADD_BACKEND_FILES", world.scratch.write("g.json", "{}")},
                              {"HOME", world.at("home")},
                              {"XDG_DATA_HOME", world.at("data_home")},
                              {"XDG_CONFIG_DIRS", world.at("config")},
                              {"XDG_DATA_DIRS", world.at("data")}};
    for (const char* directory : {"home/.config", "home/.local/share", "data_home", "config", "data"}) {
        world.put(directory,
                  std::string(directory).substr(0, 4) + "-" + std::to_string(std::string(directory).size()) + ".json");
    }
    const Paths system{world.put("root/etc/xdg", "1.json"), world.put("root/etc", "2.json"),
                       world.put("root/usr/share", "3.json"), world.put("root/opt/share", "4.json")};
    const SearchResult elevated = world.find(variables, true);
    CHECK(paths(elevated) == system);
    CHECK(world.recorder.count(HAL_LOG_WARN, "L002 ") == 1);
    CHECK(std::all_of(elevated.files.begin(), elevated.files.end(),
                      [](const FoundManifest& file) { return file.system; }));

    Variables sudo = variables;
    sudo.erase("HAL_BACKEND_FILES");
    const SearchResult foreign = world.find(sudo, false, true);
    for (const FoundManifest& file : foreign.files) {
        CHECK(file.rank != 4);
        CHECK(file.rank != 7);
    }
    CHECK(place(foreign, world.at("data_home/hal/backends.d")).note ==
          "ignored: root, but HOME belongs to another user");
}

TEST_CASE("exclusive lists") {
    World world;
    world.put("data", "1.json");
    const std::string file = world.scratch.write("f.json", "{}");
    const Variables variables{{"HAL_BACKEND_FILES", file},
                              {"HAL_ADD_BACKEND_FILES", world.scratch.write("g.json", "{}")},
                              {"XDG_DATA_DIRS", world.at("data")}};
    const SearchResult by_variable = world.find(variables);
    CHECK(paths(by_variable) == Paths{file});
    CHECK(place(by_variable, world.at("data/hal/backends.d")).note ==
          "not searched: HAL_BACKEND_FILES excludes all else");

    world.recorder.settings.manifest_paths = {world.scratch.write("api.json", "{}")};
    const SearchResult by_application = world.find(variables);
    CHECK(paths(by_application) == Paths{world.at("api.json")});
    CHECK(by_application.files[0].rank == 1);
    CHECK(by_application.files[0].named);
}

TEST_CASE("named places that are no files are passed on to the reader, which says why") {
    World world;
    REQUIRE(mkfifo(world.at("fifo").c_str(), 0600) == 0);
    const Paths named{world.at("absent.json"), world.at("fifo"), "/dev/zero", "/proc/self/mem"};
    const SearchResult result =
        world.find({{"HAL_BACKEND_FILES", named[0] + ":" + named[1] + ":" + named[2] + "::" + named[3] + ":"}});
    CHECK(paths(result) == named);
    CHECK_FALSE(place(result, named[0]).used);
    CHECK(place(result, named[0]).note == "no such file or directory");
}

TEST_CASE("file names") {
    World world;
    for (const char* name : {"a.json", ".hidden.json", "b.JSON", "c.json.dpkg-new", "json", ".json", "d.json~"}) {
        world.put("data", name);
    }
    world.put("data", "\xff\xfe.json");
    world.scratch.directory("data/hal/backends.d/deeper");
    world.scratch.write("data/hal/backends.d/deeper/e.json", "{}");
    const SearchResult result = world.find({{"XDG_DATA_DIRS", world.at("data")}});
    CHECK(paths(result) ==
          Paths{world.at("data/hal/backends.d/a.json"), world.at("data/hal/backends.d/\xff\xfe.json")});
}

TEST_CASE("what is no regular file is skipped, aloud") {
    World world;
    world.put("data", "good.json");
    const std::string directory = world.at("data/hal/backends.d/");
    REQUIRE(mkfifo((directory + "fifo.json").c_str(), 0600) == 0);
    std::filesystem::create_directory(directory + "dir.json");
    std::filesystem::create_symlink("nowhere", directory + "broken.json");
    std::filesystem::create_symlink("loop.json", directory + "loop.json");
    std::filesystem::create_symlink("good.json", directory + "link.json");
    const SearchResult result = world.find({{"XDG_DATA_DIRS", world.at("data")}});
    CHECK(paths(result) == Paths{directory + "good.json", directory + "link.json"});
    CHECK(world.recorder.count(HAL_LOG_WARN, "fifo.json: is a FIFO") == 1);
    CHECK(world.recorder.count(HAL_LOG_WARN, "dir.json: is a directory") == 1);
    CHECK(world.recorder.count(HAL_LOG_WARN, "broken.json: broken link") == 1);
    CHECK(world.recorder.count(HAL_LOG_WARN, "loop.json: too many levels") == 1);
}

TEST_CASE("masking: the same name in a higher directory, an empty file, a link to /dev/null") {
    World world;
    const std::string high = world.put("high", "50-a.json");
    const std::string low = world.put("low", "50-a.json");
    world.put("high", "60-off.json", "");
    world.put("low", "60-off.json");
    std::filesystem::create_symlink("/dev/null", world.at("high/hal/backends.d/70-null.json"));
    world.put("low", "70-null.json");
    world.put("low", "80-alone.json", "");
    const SearchResult result = world.find({{"XDG_DATA_DIRS", world.at("high") + ":" + world.at("low")}});
    REQUIRE(result.files.size() == 4);
    CHECK(result.files[0].path == high);
    CHECK(result.files[0].masked_by.empty());
    CHECK(result.files[1].path == low);
    CHECK(result.files[1].masked_by == high);
    CHECK(result.files[2].masked_by == world.at("high/hal/backends.d/60-off.json"));
    CHECK(result.files[3].masked_by == world.at("high/hal/backends.d/70-null.json"));
    CHECK(world.recorder.count(HAL_LOG_INFO, "L071 ") == 3);
}

TEST_CASE("what the user adds hides the rest and is itself never hidden") {
    World world;
    world.put("data", "50-a.json");
    const std::string one = world.scratch.write("one/50-a.json", "{}");
    const std::string two = world.scratch.write("two/50-a.json", "{}");
    const SearchResult result =
        world.find({{"HAL_ADD_BACKEND_FILES", one + ":" + two}, {"XDG_DATA_DIRS", world.at("data")}});
    REQUIRE(result.files.size() == 3);
    CHECK(result.files[0].masked_by.empty());
    CHECK(result.files[1].masked_by.empty());
    CHECK(result.files[2].masked_by == one);
}

TEST_CASE("order does not depend on the order of the listing") {
    std::vector<std::string> names;
    for (int i = 0; i < 30; ++i) {
        names.push_back(std::to_string(i) + "-x.json");
    }
    std::vector<std::string> sorted = names;
    std::sort(sorted.begin(), sorted.end());
    std::mt19937 random(7);
    for (int run = 0; run < 10; ++run) {
        World world;
        std::shuffle(names.begin(), names.end(), random);
        for (size_t i = 0; i < names.size(); ++i) {
            world.put(i % 2 == 0 ? "a" : "b", names[i]);
        }
        const SearchResult result = world.find({{"XDG_DATA_DIRS", world.at("a") + ":" + world.at("b")}});
        std::vector<std::string> found;
        for (const FoundManifest& file : result.files) {
            found.push_back(base_name(file.path));
        }
        CHECK(found == sorted);
    }
}

TEST_CASE("a directory without permission, and thousands of files") {
    World world;
    world.put("closed", "1.json");
    for (int i = 0; i < 2000; ++i) {
        world.put("many", std::to_string(10000 + i) + ".json");
    }
    const std::string closed = world.at("closed/hal/backends.d");
    REQUIRE(chmod(closed.c_str(), 0) == 0);
    const SearchResult result = world.find({{"XDG_DATA_DIRS", world.at("closed") + ":" + world.at("many")}});
    CHECK(place(result, world.at("many/hal/backends.d")).note == "2000 manifests");
    if (geteuid() != 0) {
        CHECK(place(result, closed).note == "permission denied");
        CHECK(world.recorder.count(HAL_LOG_WARN, "permission denied") == 1);
    }
    chmod(closed.c_str(), 0700);
    world.scratch.write("file/hal/backends.d", "not a directory");
    world.find({{"XDG_DATA_DIRS", world.at("file")}});
    CHECK(world.recorder.count(HAL_LOG_WARN, "is not a directory") == 1);
}
