// Files and texts that want to hurt the reader of manifests.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <catch2/catch.hpp>
#include <random>

#include "manifest.hpp"
#include "problem.hpp"
#include "scratch.hpp"

using namespace hal::loader;
using namespace hal::loader::test;

namespace {

struct Refused {
    std::string code;
    std::string cause;
};

Refused parse(std::string_view text) {
    Manifest manifest;
    std::vector<Remark> remarks;
    try {
        parse_manifest(text, "/m.json", manifest, remarks);
    } catch (const Refusal& refusal) {
        return {refusal.problem().code, refusal.problem().cause};
    }
    return {};
}

Refused read(const std::string& path) {
    Manifest manifest;
    std::vector<Remark> remarks;
    try {
        read_manifest(path, manifest, remarks);
    } catch (const Refusal& refusal) {
        return {refusal.problem().code, refusal.problem().cause};
    }
    return {};
}

void check(const Refused& refused, std::string_view code, std::string_view part) {
    INFO("code " << refused.code << ", cause " << refused.cause);
    CHECK(refused.code == code);
    CHECK(refused.cause.find(part) != std::string::npos);
}

const std::string good =
    manifest_text("acme.npu", "./a.so", R"(, "kinds": ["npu"], "requires": {"files": ["/dev/x"]})");

std::string repeated(std::string_view text, size_t times) {
    std::string out;
    for (size_t i = 0; i < times; ++i) {
        out += text;
    }
    return out;
}

}  // namespace

TEST_CASE("texts that are no JSON in UTF-8") {
    check(parse(""), "L011", "the file is empty");
    check(parse("{"), "L011", "/m.json:1:");
    check(parse(" \n\t "), "L011", "/m.json:2:");
    check(parse("\xef\xbb\xbf" + good), "L011", "/m.json:1:1: invalid JSON: starts with a byte order mark");
    check(parse(std::string("\xff\xfe{\0}\0", 6)), "L011", "UTF-16");
    check(parse(good + std::string(1, '\0')), "L011", "contains a NUL byte");
    check(parse(std::string(4, '\0')), "L011", "/m.json:1:1: invalid JSON: contains a NUL byte");
    check(parse(good + "\n// end"), "L011", "/m.json:2:");
    check(parse(good + good), "L011", "/m.json:1:");
    check(parse("{\n  \"schema_version\" \"1.0\"}"), "L011", "/m.json:2:");
    check(parse("{\"a\": \"\xff\"}"), "L011", "/m.json:1:8: invalid JSON: ");
    check(parse("{\"a\": NaN}"), "L011", "invalid JSON");
    check(parse("{\"a\": 0x10}"), "L011", "invalid JSON");
    check(parse("{\"a\": 1,}"), "L011", "invalid JSON");
    check(parse("{'a': 1}"), "L011", "invalid JSON");
}

TEST_CASE("line ends of other systems are fine") {
    std::string text = good;
    for (size_t place = text.find(' '); place != std::string::npos; place = text.find(' ', place + 2)) {
        text.replace(place, 1, "\r\n");
    }
    CHECK(parse(text).code.empty());
}

TEST_CASE("the top level is an object") {
    check(parse("[]"), "L012", "/m.json: expected object, found array");
    check(parse("5"), "L012", "expected object, found number 5");
    check(parse("null"), "L012", "expected object, found null");
    check(parse("\"x\""), "L012", "expected object, found string \"x\"");
    check(parse("{}"), "L012", "key \"schema_version\" is missing");
}

TEST_CASE("cut short at every byte") {
    REQUIRE(parse(good).code.empty());
    for (size_t length = 0; length < good.size(); ++length) {
        INFO(length);
        CHECK(parse(std::string_view(good).substr(0, length)).code == "L011");
    }
}

TEST_CASE("depth") {
    const auto nested = [](size_t depth) {
        return manifest_text("a", "./a.so", ", \"x-deep\": " + repeated("[", depth) + repeated("]", depth));
    };
    CHECK(parse(nested(14)).code.empty());  // two objects around it
    check(parse(nested(15)), "L014", "nested deeper than 16");
    check(parse(nested(100000)), "L014", "/m.json: /backend/x-deep/0/0/");
    check(parse(repeated("[", 100000)), "L014", "nested deeper than 16");
    check(parse(repeated("{\"a\":", 40000)), "L014", "nested deeper than 16");
}

TEST_CASE("number of elements") {
    check(parse(manifest_text("a", "./a.so", ", \"x-many\": [" + repeated("1,", 100000) + "1]")), "L014",
          "more than 4096 elements");
    CHECK(parse(manifest_text("a", "./a.so", ", \"x-many\": [" + repeated("1,", 4000) + "1]")).code.empty());
    check(parse(manifest_text("a", "./a.so", ", \"kinds\": [" + repeated("\"npu\",", 16) + "\"npu\"]")), "L012",
          "/backend/kinds: number of elements 17 is above 16");
}

TEST_CASE("long strings and keys") {
    const std::string long_text(200000, 'x');
    check(parse(manifest_text("a", "./a.so", ", \"name\": \"" + long_text + "\"")), "L014",
          "/backend/name: string of 200000 bytes, at most 4096");
    check(parse(manifest_text(long_text, "./a.so")), "L014", "/backend/id: string of 200000 bytes");
    check(parse("{\"" + long_text + "\": 1}"), "L014", "key of 200000 bytes, at most 4096");
    check(parse("{\"a\": " + std::string(200000, '9') + "}"), "L012", "is out of range");
    check(parse("{\"a\": \"" + long_text), "L011", "missing closing quote");
    CHECK(parse("{\"a\": \"" + long_text).cause.size() < 1000);
}

TEST_CASE("keys that appear twice") {
    check(parse(R"({"schema_version": "1.0", "schema_version": "2.0"})"), "L014",
          "key \"schema_version\" appears twice");
    check(parse(R"({"schema_version": "1.0", "backend": {"id": "a", "id": "b"}})"), "L014",
          "/backend/id: key \"id\" appears twice");
    check(parse(R"({"a": 1, "\u0061": 2})"), "L014", "key \"a\" appears twice");
    CHECK(parse(R"({"a": {"b": 1}, "c": {"b": 2}})").code == "L012");  // two objects, one key each
}

TEST_CASE("what a stranger writes reaches the message escaped") {
    const Refused refused = parse(R"({"schema_version": "1.0", "backend": {"id": "\u001b[31mred\u0007"}})");
    CHECK(refused.cause.find('\x1b') == std::string::npos);
    check(parse(manifest_text("\\u001b[31m", "./a.so")), "L012", "\\x1b[31m");
    check(parse("{\"\\u001b]0;x\": 1, \"\\u001b]0;x\": 2}"), "L014", "key \"\\x1b]0;x\" appears twice");
    Manifest manifest;
    std::vector<Remark> remarks;
    parse_manifest(manifest_text("a", "./a.so", ", \"\\u001bk\": 1"), "/m.json", manifest, remarks);
    REQUIRE(remarks.size() == 1);
    CHECK(remarks[0].text.find("\\x1bk") != std::string::npos);
}

TEST_CASE("sizes of files") {
    const Scratch scratch;
    const std::string most = good + std::string(256 * 1024 - good.size(), ' ');
    CHECK(read(scratch.write("most.json", most)).code.empty());
    check(read(scratch.write("more.json", most + " ")), "L014", "more.json: larger than 256 KiB");
    const std::string sparse = scratch.write("sparse.json", good);
    std::filesystem::resize_file(sparse, 1u << 30);
    check(read(sparse), "L014", "sparse.json: larger than 256 KiB");
    check(read(scratch.write("empty.json", "")), "L011", "the file is empty");
    // A file that says it is empty and is not: of the kernel.
    check(read("/proc/self/status"), "L011", "/proc/self/status:1:");
}

TEST_CASE("things that are no regular files return at once") {
    const Scratch scratch;
    REQUIRE(mkfifo(scratch.path("fifo.json").c_str(), 0600) == 0);
    check(read(scratch.path("fifo.json")), "L010", "fifo.json: is a FIFO, not a regular file");
    check(read(scratch.directory("dir.json")), "L010", "is a directory, not a regular file");
    check(read("/dev/zero"), "L010", "/dev/zero: is a device, not a regular file");
    check(read("/proc/self/mem"), "L010", "/proc/self/mem: ");
    check(read(scratch.path("absent.json")), "L010", "absent.json: no such file or directory");
    std::filesystem::create_symlink("loop.json", scratch.path("loop.json"));
    check(read(scratch.path("loop.json")), "L010", "too many levels of symbolic links");

    const int socket_file = socket(AF_UNIX, SOCK_STREAM, 0);
    REQUIRE(socket_file >= 0);
    sockaddr_un address{.sun_family = AF_UNIX};
    const std::string path = scratch.path("socket.json");
    REQUIRE(path.size() < sizeof(address.sun_path));
    path.copy(address.sun_path, path.size());
    REQUIRE(bind(socket_file, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
    check(read(path), "L010", "is a socket, not a regular file");
    close(socket_file);
}

TEST_CASE("a file without permission") {
    const Scratch scratch;
    const std::string file = scratch.write("secret.json", good);
    REQUIRE(chmod(file.c_str(), 0) == 0);
    if (geteuid() == 0) {
        CHECK(read(file).code.empty());  // root may read everything
    } else {
        check(read(file), "L010", "secret.json: permission denied");
    }
}

namespace {

// Seeds that reach every branch of the reader; mutations of one byte, a block, or a splice of two.
std::vector<std::string> seeds() {
    return {
        good,
        manifest_text("a", "/a.so"),
        manifest_text("b.c", "../lib/b.so", R"(, "options": {"a": 1, "b": true, "c": "t", "d": -1.5e3})"),
        manifest_text("d", "./d.so", R"(, "priority": 1000, "probe": "always", "software": true, "critical": false)"),
        manifest_text("e", "./e.so", R"(, "x-y": {"z": [[[{"a": null}]]], "\u00e9": "\ud83d\ude00"})"),
        R"({"schema_version": "2.0", "backend": [1e300, -0, 1E-5]})"};
}

std::string mutated(std::string text, const std::vector<std::string>& all, std::mt19937& random) {
    constexpr std::string_view alphabet = "{}[]\",:0123456789eE+-.\\u\x01\x80\xff truefalsnx";
    const auto below = [&](size_t limit) { return limit == 0 ? 0 : random() % limit; };
    for (size_t edits = 1 + below(4); edits > 0; --edits) {
        const size_t place = below(text.size() + 1);
        switch (below(5)) {
            case 0:
                text.insert(place, 1, alphabet[below(alphabet.size())]);
                break;
            case 1:
                text.erase(place, below(8));
                break;
            case 2:
                text.insert(place, text.substr(below(text.size() + 1), below(40)));
                break;
            case 3: {
                const std::string& other = all[below(all.size())];
                text = text.substr(0, place) + other.substr(below(other.size()));
                break;
            }
            default:
                if (place < text.size()) {
                    text[place] = static_cast<char>(random());
                }
        }
    }
    return text;
}

void mutate(size_t runs) {
    const std::vector<std::string> all = seeds();
    std::mt19937 random(7);
    size_t accepted = 0;
    for (size_t run = 0; run < runs; ++run) {
        const std::string text = mutated(all[run % all.size()], all, random);
        const Refused first = parse(text);
        const Refused second = parse(text);
        const bool known_code = first.code.empty() || (first.code >= "L011" && first.code <= "L014");
        if (!known_code || first.cause != second.cause || printable(first.cause, 10000) != first.cause) {
            FAIL("run " << run << ": " << first.code << " " << first.cause << " for " << text);
        }
        accepted += first.code.empty() ? 1 : 0;
    }
    // The mutations must neither all be refused at the door nor all be harmless.
    CHECK(accepted > runs / 100);
    CHECK(accepted < runs / 2);
}

}  // namespace

TEST_CASE("mutated manifests never crash and always give the same answer") {
    mutate(3000);
}

TEST_CASE("many mutated manifests", "[.nightly]") {
    mutate(100000);
}
