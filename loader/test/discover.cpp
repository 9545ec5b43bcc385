#include "discover.hpp"

#include <poll.h>
#include <sys/inotify.h>

#include <catch2/catch.hpp>
#include <random>

#include "hal/loader.h"
#include "scratch.hpp"

using namespace hal::loader;
using namespace hal::loader::test;

namespace {

// Manifests in one directory of the system; libraries are files of any content, as nothing opens them here.
class World {
  public:
    World() {
        recorder.settings.manifest_paths.clear();
        library("libgood.so");
        manifest("10-good.json", manifest_text("good", "./libgood.so"));
    }

    Scan run(Variables variables = {}) {
        recorder.lines.clear();
        const Environment environment({.variables = std::move(variables)});
        Log log(environment, recorder.settings);
        return discover(environment, recorder.settings, log, roots);
    }

    std::string library(const std::string& name) const { return scratch.write(directory + name, "library " + name); }
    std::string manifest(const std::string& name, std::string_view text) const {
        return scratch.write(directory + name, text);
    }
    [[nodiscard]] std::string at(const std::string& name) const { return scratch.path(directory + name); }

    Scratch scratch;
    Recorder recorder;
    std::string directory = "root/etc/hal/backends.d/";
    Roots roots{scratch.path("root"), "/opt/etc", "/opt/share"};
};

const Candidate& by_file(const Scan& scan, std::string_view name) {
    for (const Candidate& candidate : scan.candidates) {
        if (base_name(candidate.manifest_path) == name) {
            return candidate;
        }
    }
    throw std::runtime_error("no candidate of " + std::string(name));
}

hal_backend_state state(const Candidate& candidate) {
    return candidate.problem ? candidate.problem->state : hal_backend_state{HAL_STATE_DISCOVERED};
}

std::string code(const Candidate& candidate) {
    return candidate.problem ? candidate.problem->code : "";
}

std::vector<std::string> ids(const Scan& scan) {
    std::vector<std::string> list;
    for (const Candidate& candidate : scan.candidates) {
        list.push_back(candidate.manifest.id);
    }
    return list;
}

using Ids = std::vector<std::string>;

const hal_backend_descriptor* no_backend(const hal_host*) {
    return nullptr;
}

}  // namespace

TEST_CASE("a sound manifest") {
    World world;
    const Scan scan = world.run();
    REQUIRE(scan.candidates.size() == 1);
    const Candidate& good = scan.candidates[0];
    CHECK_FALSE(good.problem);
    CHECK(good.manifest.id == "good");
    CHECK(good.manifest_path == world.at("10-good.json"));
    CHECK(good.library_path == world.at("libgood.so"));
    CHECK(good.rank == 6);
    CHECK_FALSE(good.named);
    CHECK(world.recorder.count(HAL_LOG_DEBUG, "found backend good") == 1);
    CHECK(world.recorder.count(HAL_LOG_WARN, "") + world.recorder.count(HAL_LOG_ERROR, "") == 0);
}

TEST_CASE("no manifest anywhere") {
    World world;
    world.roots.root = world.scratch.path("elsewhere");
    CHECK(world.run().candidates.empty());
    CHECK(world.recorder.count(HAL_LOG_WARN, "L001 no backend manifests in ") == 1);
    CHECK(world.recorder.count(HAL_LOG_WARN, world.scratch.path("elsewhere/usr/share/hal/backends.d")) == 1);
}

TEST_CASE("faulty manifests leave the sound one usable, each with its own code") {
    World world;
    world.manifest("20-syntax.json", "{");
    world.manifest("30-schema.json", manifest_text("s", "bare.so"));
    world.manifest("40-newer.json", R"({"schema_version": "2.0"})");
    world.manifest("50-large.json", std::string(300000, ' '));
    world.manifest("60-gone.json", manifest_text("gone", "./no/such.so"));
    const Scan scan = world.run();
    CHECK_FALSE(by_file(scan, "10-good.json").problem);
    const std::vector<std::tuple<const char*, const char*, hal_backend_state>> expected{
        {"20-syntax.json", "L011", HAL_STATE_MANIFEST_INVALID},
        {"30-schema.json", "L012", HAL_STATE_MANIFEST_INVALID},
        {"40-newer.json", "L013", HAL_STATE_SCHEMA_UNSUPPORTED},
        {"50-large.json", "L014", HAL_STATE_MANIFEST_INVALID},
        {"60-gone.json", "L020", HAL_STATE_LIBRARY_NOT_FOUND}};
    for (const auto& [file, wanted, wanted_state] : expected) {
        INFO(file);
        CHECK(code(by_file(scan, file)) == wanted);
        CHECK(state(by_file(scan, file)) == wanted_state);
        CHECK(world.recorder.count(HAL_LOG_WARN, wanted) == 1);
    }
    CHECK(by_file(scan, "60-gone.json").problem->cause == "backend gone: library not found: " + world.at("no/such.so") +
                                                              " (no such file or directory; from \"./no/such.so\" in " +
                                                              world.at("60-gone.json") + ")");
}

TEST_CASE("what the user named is an error, not a warning") {
    World world;
    REQUIRE(mkfifo(world.scratch.path("fifo").c_str(), 0600) == 0);
    const std::string files = world.scratch.path("absent.json") + ":" + world.scratch.path("fifo") +
                              ":/dev/zero:" + world.scratch.write("bad.json", "{") + ":" + world.at("10-good.json");
    const Scan scan = world.run({{"HAL_BACKEND_FILES", files}});
    REQUIRE(scan.candidates.size() == 5);
    for (size_t i = 0; i < 3; ++i) {
        CHECK(code(scan.candidates[i]) == "L010");
        CHECK(state(scan.candidates[i]) == HAL_STATE_MANIFEST_UNREADABLE);
    }
    CHECK(world.recorder.count(HAL_LOG_ERROR, "L010") == 3);
    CHECK(world.recorder.count(HAL_LOG_ERROR, "L011") == 1);
    CHECK(world.recorder.count(HAL_LOG_WARN, "") == 0);
    CHECK_FALSE(scan.candidates[4].problem);
}

TEST_CASE("library_path is relative to where the manifest really lies") {
    World world;
    const std::string real = world.scratch.write("pack/share/m.json", manifest_text("packed", "../lib/libp.so"));
    const std::string library = world.scratch.write("pack/lib/libp.so", "x");
    std::filesystem::create_symlink(real, world.at("20-packed.json"));
    CHECK(by_file(world.run(), "20-packed.json").library_path == library);
    RealPaths real_paths;
    CHECK(locate_library(world.at("20-packed.json"), "../lib/libp.so", real_paths) ==
          world.scratch.path("pack/share/../lib/libp.so"));
    CHECK(locate_library(world.at("20-packed.json"), "/abs/lib.so", real_paths) == "/abs/lib.so");

    // A directory on the way may be a link as well.
    std::filesystem::create_directory_symlink(world.scratch.path("pack"), world.scratch.path("alias"));
    const Scan scan = world.run({{"HAL_BACKEND_FILES", world.scratch.path("alias/share/m.json")}});
    CHECK(scan.candidates[0].library_path == library);

    std::string far;
    for (int i = 0; i < 200; ++i) {
        far += "../";
    }
    world.manifest("30-far.json", manifest_text("far", far + library.substr(1)));
    CHECK(by_file(world.run(), "30-far.json").problem->code == "L070");  // the same library by a long way
}

TEST_CASE("real paths are those of the system") {
    const Scratch scratch;
    const std::string file = scratch.write("a/b/file", "x");
    std::filesystem::create_directory_symlink("a/b", scratch.path("dir"));
    std::filesystem::create_symlink("dir/file", scratch.path("link"));
    std::filesystem::create_symlink("loop", scratch.path("loop"));
    std::filesystem::create_symlink("gone", scratch.path("broken"));
    RealPaths real_paths;
    for (const char* path : {"a/b/file", "dir/file", "link", "dir", "a//b/../b/file", "dir/..", "dir/.",
                             "dir/../b/file", "a/", "loop", "broken", "gone", "gone/file", "a/b/file/x", "dir/../a"}) {
        INFO(path);
        std::error_code error;
        const std::string expected = std::filesystem::canonical(scratch.path() + "/" + path, error).string();
        for (int twice = 0; twice < 2; ++twice) {
            errno = 0;
            CHECK(real_paths.resolve(scratch.path() + "/" + path) == expected);
            CHECK((expected.empty() ? errno : 0) == error.value());
        }
    }
    CHECK(real_paths.resolve("/") == "/");
    CHECK(real_paths.resolve("/usr") == "/usr");
    CHECK(real_paths.resolve("").empty());
}

TEST_CASE("machine, ABI and required files decide before the library is looked at") {
    World world;
    world.manifest("20-arch.json", manifest_text("arch", "./none.so", R"(, "arch": "aarch65")"));
    world.manifest(
        "30-files.json",
        manifest_text("files", "./none.so", R"(, "requires": {"files": ["/", "/dev/acme0"], "hint": "install it"})"));
    std::string newer = manifest_text("newer", "./none.so");
    newer.replace(newer.find("\"1.0\", \"max\": \"1.0\""), 19, "\"2.0\", \"max\": \"2.1\"");
    world.manifest("40-newer.json", newer);
    const Scan scan = world.run();
    CHECK(code(by_file(scan, "20-arch.json")) == "L021");
    CHECK(state(by_file(scan, "20-arch.json")) == HAL_STATE_ARCH_MISMATCH);
    CHECK(by_file(scan, "20-arch.json").problem->next_step == "unknown machine name; did you mean aarch64?");
    CHECK(code(by_file(scan, "30-files.json")) == "L051");
    CHECK(by_file(scan, "30-files.json").problem->cause == "backend files: no device (missing /dev/acme0)");
    CHECK(by_file(scan, "30-files.json").problem->next_step == "install it");
    CHECK(code(by_file(scan, "40-newer.json")) == "L032");
    CHECK(by_file(scan, "40-newer.json").problem->cause.find("says ABI 2.0 to 2.1, this loader speaks 1.0 to 1.0") !=
          std::string::npos);
    CHECK(world.recorder.count(HAL_LOG_INFO, "L021") == 1);
    CHECK(world.recorder.count(HAL_LOG_INFO, "L051") == 1);
    CHECK(world.recorder.count(HAL_LOG_WARN, "L032") == 1);
}

TEST_CASE("duplicates: the first one wins, a refused one claims nothing") {
    World world;
    world.library("libother.so");
    world.manifest("05-stale.json", manifest_text("good", "./gone.so"));
    world.manifest("20-id.json", manifest_text("good", "./libother.so"));
    world.manifest("30-library.json", manifest_text("third", "../backends.d/libgood.so"));
    std::filesystem::create_symlink("libgood.so", world.at("libalias.so"));
    world.manifest("40-link.json", manifest_text("fourth", "./libalias.so"));
    std::filesystem::create_hard_link(world.at("libgood.so"), world.at("libhard.so"));
    world.manifest("50-hard.json", manifest_text("fifth", "./libhard.so"));
    std::filesystem::copy_file(world.at("libgood.so"), world.at("libcopy.so"));
    world.manifest("60-copy.json", manifest_text("sixth", "./libcopy.so"));
    const Scan scan = world.run();
    CHECK(code(by_file(scan, "05-stale.json")) == "L020");
    CHECK_FALSE(by_file(scan, "10-good.json").problem);
    for (const char* file : {"20-id.json", "30-library.json", "40-link.json", "50-hard.json"}) {
        INFO(file);
        CHECK(code(by_file(scan, file)) == "L070");
        CHECK(state(by_file(scan, file)) == HAL_STATE_DUPLICATE);
        CHECK(by_file(scan, file).problem->cause.find("as " + world.at("10-good.json")) != std::string::npos);
    }
    CHECK_FALSE(by_file(scan, "60-copy.json").problem);
    CHECK(world.recorder.count(HAL_LOG_INFO, "L070") == 4);
}

TEST_CASE("a masked manifest is a candidate too, with its id") {
    World world;
    world.scratch.write("root/usr/share/hal/backends.d/10-good.json", manifest_text("older", "./x.so"));
    const Scan scan = world.run();
    REQUIRE(scan.candidates.size() == 2);
    CHECK(scan.candidates[1].manifest.id == "older");
    CHECK(state(scan.candidates[1]) == HAL_STATE_MASKED);
    CHECK(scan.candidates[1].problem->code == "L071");
}

TEST_CASE("filters") {
    World world;
    for (const char* id : {"acme.npu", "acme.gpu", "zeta"}) {
        world.library(std::string(id) + ".so");
        world.manifest(std::string("50-") + id + ".json", manifest_text(id, "./" + std::string(id) + ".so"));
    }
    const auto usable = [&](Variables variables) {
        Ids list;
        for (const Candidate& candidate : world.run(std::move(variables)).candidates) {
            if (!candidate.problem) {
                list.push_back(candidate.manifest.id);
            } else {
                CHECK(code(candidate) == "L072");
                CHECK(state(candidate) == HAL_STATE_FILTERED);
            }
        }
        return list;
    };
    CHECK(usable({}) == Ids{"good", "acme.gpu", "acme.npu", "zeta"});
    CHECK(usable({{"HAL_BACKENDS_SELECT", "ACME.*"}}) == Ids{"acme.gpu", "acme.npu"});
    CHECK(usable({{"HAL_BACKENDS_SELECT", " zeta , ,good"}}) == Ids{"good", "zeta"});
    CHECK(usable({{"HAL_BACKENDS_SELECT", "10-*"}}) == Ids{"good"});
    CHECK(usable({{"HAL_BACKENDS_DISABLE", "*"}}).empty());
    CHECK(usable({{"HAL_BACKENDS_SELECT", "*.npu"}, {"HAL_BACKENDS_DISABLE", "acme*"}}).empty());
    CHECK(usable({{"HAL_BACKENDS_SELECT", ","}}) == Ids{"good", "acme.gpu", "acme.npu", "zeta"});
    CHECK(usable({{"HAL_BACKENDS_ORDER", "zeta,*.npu"}}) == Ids{"zeta", "acme.npu", "good", "acme.gpu"});
    CHECK(world.recorder.count(HAL_LOG_WARN, "") == 0);

    CHECK(usable({{"HAL_BACKENDS_SELECT", "acne.npu"}}).empty());
    CHECK(world.recorder.count(HAL_LOG_WARN,
                               "L004 HAL_BACKENDS_SELECT: 'acne.npu' matches none of: acme.gpu, acme.npu, good, "
                               "zeta; did you mean acme.npu") == 1);
    std::string many;
    for (int i = 0; i < 10000; ++i) {
        many += "x" + std::to_string(i) + "*,";
    }
    CHECK(usable({{"HAL_BACKENDS_DISABLE", many + "zeta"}}) == Ids{"good", "acme.gpu", "acme.npu"});
    CHECK(world.recorder.count(HAL_LOG_WARN, "L004 HAL_BACKENDS_DISABLE: 'x0*', 'x1*'") == 1);
}

TEST_CASE("an exact selection names a backend; filters silence what they exclude") {
    World world;
    world.manifest("20-bad.json", manifest_text("bad", "./gone.so", ", \"pririty\": 1"));
    world.run({{"HAL_BACKENDS_SELECT", "bad"}});
    CHECK(world.recorder.count(HAL_LOG_ERROR, "L020") == 1);
    world.run({{"HAL_BACKENDS_SELECT", "ba*"}});
    CHECK(world.recorder.count(HAL_LOG_WARN, "L020") == 1);
    CHECK(world.recorder.count(HAL_LOG_WARN, "unknown key \"pririty\"") == 1);
    world.manifest("20-bad.json", "{");
    world.run({{"HAL_BACKENDS_DISABLE", "20-bad.json"}});
    CHECK(world.recorder.count(HAL_LOG_WARN, "") == 0);
}

TEST_CASE("backends of the application come first, with an id they are filtered like others") {
    World world;
    world.recorder.settings.entries = {no_backend, no_backend};
    const Scan unnamed = world.run({{"HAL_BACKENDS_SELECT", "good"}});
    REQUIRE(unnamed.candidates.size() == 3);
    CHECK(unnamed.candidates[0].entry == no_backend);
    CHECK(unnamed.candidates[0].rank == 0);
    CHECK(unnamed.candidates[0].named);
    CHECK(unnamed.candidates[0].manifest_path.empty());

    world.recorder.settings.entry_ids = {"good", "inner"};
    const Scan named = world.run({{"HAL_BACKENDS_DISABLE", "inner"}});
    CHECK(ids(named) == Ids{"good", "inner", "good"});
    CHECK_FALSE(named.candidates[0].problem);
    CHECK(state(named.candidates[1]) == HAL_STATE_FILTERED);
    CHECK(code(named.candidates[2]) == "L070");
    CHECK(named.candidates[2].problem->cause.find("same id as a backend of the application") != std::string::npos);
}

TEST_CASE("only directories of the system make a backend critical") {
    World world;
    const std::string text = manifest_text("c", "./libgood.so", ", \"critical\": true");
    world.manifest("10-good.json", text);
    CHECK(world.run().candidates[0].manifest.critical);
    const std::string elsewhere = world.scratch.write("mine/hal/backends.d/10.json", text);
    CHECK_FALSE(world.run({{"HAL_BACKEND_FILES", elsewhere}}).candidates[0].manifest.critical);
}

TEST_CASE("the working directory is never looked into") {
    World world;
    const std::string planted = world.scratch.directory("planted");
    world.scratch.write("planted/50-evil.json", manifest_text("evil", "./libgood.so"));
    world.scratch.write("planted/libgood.so", "evil");
    world.scratch.write("planted/hal/backends.d/50-evil.json", manifest_text("evil", "./libgood.so"));
    world.manifest("20-bare.json", manifest_text("bare", "libgood.so"));
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(planted);

    const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    REQUIRE(watch >= 0);
    REQUIRE(inotify_add_watch(watch, planted.c_str(), IN_OPEN | IN_ACCESS) >= 0);
    REQUIRE(inotify_add_watch(watch, (planted + "/hal/backends.d").c_str(), IN_OPEN | IN_ACCESS) >= 0);
    const Scan scan = world.run({{"XDG_DATA_DIRS", ".:"},
                                 {"XDG_CONFIG_HOME", "."},
                                 {"HOME", "."},
                                 {"HAL_ADD_BACKEND_FILES", "50-evil.json:./50-evil.json:."}});
    pollfd event{.fd = watch, .events = POLLIN};
    CHECK(poll(&event, 1, 0) == 0);
    // The watch works: an open is seen.
    std::ifstream(planted + "/50-evil.json").get();
    CHECK(poll(&event, 1, 1000) == 1);
    close(watch);
    std::filesystem::current_path(before);

    CHECK(ids(scan) == Ids{"good", "bare"});
    CHECK(code(scan.candidates[1]) == "L012");
}

TEST_CASE("control characters of a manifest do not reach the log") {
    World world;
    world.manifest("20-ansi.json", manifest_text("ansi", "./\\u001b[31m.so", ", \"arch\": \"\\u001b[2J\""));
    world.manifest("30-ansi.json", manifest_text("ansi2", "./\\u001b[31m.so"));
    world.run();
    CHECK(world.recorder.count(HAL_LOG_INFO, "\\x1b[2J") == 1);
    CHECK(world.recorder.count(HAL_LOG_WARN, "\\x1b[31m") == 1);
    CHECK(world.recorder.all().find('\x1b') == std::string::npos);
}

TEST_CASE("two scans of one tree are equal") {
    World world;
    world.manifest("20-syntax.json", "{");
    const Scan first = world.run();
    const std::string said = world.recorder.all();
    const Scan second = world.run();
    CHECK(ids(first) == ids(second));
    CHECK(said == world.recorder.all());
}
