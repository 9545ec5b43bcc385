// Programs on disk: what is read is what was written for that key, or nothing.
#include "program_cache.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

using Catch::Matchers::Contains;

namespace hal::opencl::test {
namespace {

namespace fs = std::filesystem;

class Folder {
  public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "hal-cache-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] const fs::path& path() const { return path_; }
    [[nodiscard]] fs::path only_file() const { return fs::directory_iterator(path_)->path(); }

  private:
    fs::path path_;
};

const std::string binary("the\0binary", 10);

}  // namespace

TEST_CASE("a program is found by its key and by no other") {
    const Folder folder;
    const ProgramCache cache((folder.path() / "deep" / "er").string());
    CHECK(cache.read("key").empty());
    CHECK_THAT(cache.write("key", binary), Contains("kept as"));
    CHECK(cache.read("key") == binary);
    CHECK(cache.read("kez").empty());
    CHECK_THAT(cache.write("key", "another"), Contains("kept as"));
    CHECK(cache.read("key") == "another");
}

TEST_CASE("a file that was damaged or that others may write is not used") {
    const Folder folder;
    const ProgramCache cache(folder.path().string());
    REQUIRE_THAT(cache.write("key", binary), Contains("kept as"));
    const fs::path file = folder.only_file();
    SECTION("cut off") {
        fs::resize_file(file, fs::file_size(file) - 1);
    }
    SECTION("empty") {
        fs::resize_file(file, 0);
    }
    SECTION("one bit") {
        std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
        stream.seekp(-1, std::ios::end);
        stream.put('X');
    }
    SECTION("of another key with the same name") {
        const ProgramCache other((folder.path() / "other").string());
        REQUIRE_THAT(other.write("another key", binary), Contains("kept as"));
        fs::copy_file(fs::directory_iterator(folder.path() / "other")->path(), file,
                      fs::copy_options::overwrite_existing);
    }
    SECTION("writable by all") {
        fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
    }
    SECTION("a link") {
        fs::rename(file, folder.path() / "real");
        fs::create_symlink(folder.path() / "real", file);
    }
    CHECK(cache.read("key").empty());
    fs::remove(file);
    CHECK_THAT(cache.write("key", binary), Contains("kept as"));  // and is made anew
    CHECK(cache.read("key") == binary);
}

TEST_CASE("where nothing can be kept the reason is told") {
    const Folder folder;
    CHECK_THAT(ProgramCache("off").write("key", binary), Contains("program_cache"));
    CHECK(ProgramCache("off").read("key").empty());
    CHECK_THAT(ProgramCache(folder.path().string()).write("key", ""), Contains("no binary"));
    std::ofstream(folder.path() / "file") << "in the way";
    CHECK_THAT(ProgramCache((folder.path() / "file").string()).write("key", binary), Contains("not kept"));
}

}  // namespace hal::opencl::test
