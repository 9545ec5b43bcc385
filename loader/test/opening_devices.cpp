// Which devices come, in what order, and the three ways of having none.
#include "opening_fixture.hpp"

using namespace hal::loader::test;

namespace {

// A variable for the length of a test.
class Variable {
  public:
    Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
    ~Variable() { unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
};

// A loader that reads the variables which the test has set.
class Open {
  public:
    explicit Open(const Scratch& dir, uint32_t flags = 0) {
        const std::string path = dir.path();
        const char* paths[] = {path.c_str()};
        const hal_loader_desc desc{
            .header = {sizeof desc, 0, nullptr},
            .manifest_paths = paths,
            .manifest_path_count = 1,
            .log = [](void* self, uint32_t level,
                      const char* text) { static_cast<Open*>(self)->log += std::to_string(level) + " " + text + "\n"; },
            .log_user_data = this,
            .flags = flags};
        status = hal_loader_open(&desc, &loader);
    }
    ~Open() { static_cast<void>(hal_loader_close(loader)); }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;

    // "id:n id:n"; the status in `status`.
    std::string devices() {
        hal_device_ref refs[16];
        uint64_t count = 0;
        status = hal_loader_devices(loader, refs, 16, &count);
        std::string text;
        for (uint64_t i = 0; status == HAL_OK && i < count; ++i) {
            text += (i == 0 ? "" : " ") + std::string(refs[i].id) + ":" + std::to_string(refs[i].device);
        }
        return text;
    }

    hal_loader* loader = nullptr;
    hal_status status = HAL_OK;
    std::string log;
};

// test.faulty before test.healthy, two devices each: 0 is an npu, 1 a gpu.
Scratch& both(Scratch& dir, const char* faulty = "", const char* healthy = "") {
    dir.write("10-faulty.json", manifest_text("test.faulty", plugin_path("faulty"), faulty));
    dir.write("20-healthy.json", manifest_text("test.healthy", plugin_path("healthy"), healthy));
    return dir;
}

const char* const all_four = "test.faulty:0 test.faulty:1 test.healthy:0 test.healthy:1";

}  // namespace

TEST_CASE("devices come hardware first, then by priority, then in the candidates' order", "[opening]") {
    Scratch dir;
    SECTION("candidates' order") {
        CHECK(Open(both(dir)).devices() == all_four);
    }
    SECTION("software behind") {
        CHECK(Open(both(dir, R"(, "software": true, "priority": 1000)")).devices() ==
              "test.healthy:0 test.healthy:1 test.faulty:0 test.faulty:1");
    }
    SECTION("one device that says so itself behind") {
        CHECK(Open(both(dir, R"(, "options": {"fault": "software-device"})")).devices() ==
              "test.faulty:1 test.healthy:0 test.healthy:1 test.faulty:0");
    }
    SECTION("priority") {
        CHECK(Open(both(dir, "", R"(, "priority": 501)")).devices() ==
              "test.healthy:0 test.healthy:1 test.faulty:0 test.faulty:1");
    }
    SECTION("an order that is asked for beats priority") {
        const Variable order("HAL_BACKENDS_ORDER", "test.faulty");
        CHECK(Open(both(dir, "", R"(, "priority": 501)")).devices() == all_four);
    }
}

TEST_CASE("HAL_VISIBLE_DEVICES selects and orders", "[opening]") {
    struct Row {
        const char* visible;
        const char* expected;
    };
    const Row row = GENERATE(Row{"test.healthy", "test.healthy:0 test.healthy:1"},
                             Row{"test.healthy:1,test.faulty:0", "test.healthy:1 test.faulty:0"},
                             Row{" test.healthy:1 , , test.healthy", "test.healthy:1 test.healthy:0"},
                             Row{"kind:gpu", "test.faulty:1 test.healthy:1"},
                             Row{"kind:NPU,kind:gpu", "test.faulty:0 test.healthy:0 test.faulty:1 test.healthy:1"},
                             Row{"uuid:00000000-0000-0000-0000-000000000002", "test.faulty:1 test.healthy:1"},
                             Row{"pci:0000:01:00.0,test.healthy:0", "test.faulty:1 test.healthy:1 test.healthy:0"},
                             Row{"test.faulty:1,test.faulty:1", "test.faulty:1"});
    INFO(row.visible);
    Scratch dir;
    const Variable visible("HAL_VISIBLE_DEVICES", row.visible);
    CHECK(Open(both(dir)).devices() == row.expected);
}

TEST_CASE("a selector that is wrong or matches nothing is a warning", "[opening]") {
    const std::string selector = GENERATE("test.healthy:x", "test.healthy:-1", "kind:toaster", "uuid:12",
                                          "pci:", "nobody", "test.healthy:99", "test.healthy:99999999999");
    INFO(selector);
    Scratch dir;
    const Variable visible("HAL_VISIBLE_DEVICES", (selector + ",test.faulty:1").c_str());
    Open open(both(dir));
    CHECK(open.devices() == "test.faulty:1");
    CHECK(open.devices() == "test.faulty:1");
    const std::string warning = "2 HAL_VISIBLE_DEVICES: '" + selector + "'";
    REQUIRE(says(open.log, warning));
    CHECK(open.log.find(warning) == open.log.rfind(warning));  // once
}

TEST_CASE("HAL_DEFAULT_DEVICE moves a device to the front", "[opening]") {
    Scratch dir;
    const Variable first("HAL_DEFAULT_DEVICE", "test.healthy:1");
    CHECK(Open(both(dir)).devices() == "test.healthy:1 test.faulty:0 test.faulty:1 test.healthy:0");
}

TEST_CASE("no device, no back end and failing back ends are three different things", "[opening]") {
    Scratch dir;
    SECTION("hidden") {
        const Variable visible("HAL_VISIBLE_DEVICES", "none");
        Open open(both(dir));
        CHECK(open.devices().empty());
        CHECK(open.status == HAL_ERROR_NO_DEVICE);
        CHECK(says(hal_last_error(), "HAL_VISIBLE_DEVICES='none' hides every device"));
    }
    SECTION("no manifest") {
        Open open(dir);
        CHECK(open.devices().empty());
        CHECK(open.status == HAL_ERROR_NO_BACKEND);
        CHECK(says(hal_last_error(), dir.path()));
        CHECK(says(hal_last_error(), "[L001]"));
    }
    SECTION("none has a device") {
        const Variable options("HAL_BACKEND_OPTIONS", "test.faulty:devices=0;test.healthy:fault=null");
        Open open(both(dir));
        CHECK(open.devices().empty());
        CHECK(open.status == HAL_ERROR_NO_DEVICE);
        CHECK(says(hal_last_error(), "test.healthy: "));
        CHECK(says(hal_last_error(), "loaded, no device"));
        CHECK(says(open.log, "1 no device"));
    }
    SECTION("all fail") {
        const Variable options("HAL_BACKEND_OPTIONS", "test.faulty:fault=size-0;test.healthy:fault=null");
        Open open(both(dir));
        CHECK(open.devices().empty());
        CHECK(open.status == HAL_ERROR_ALL_BACKENDS_FAILED);
        for (const char* part : {"descriptor says that it has 0 bytes", "refused this host", "searched: "}) {
            CHECK(says(hal_last_error(), part));
        }
    }
}

TEST_CASE("the list is cut to the capacity", "[opening]") {
    Scratch dir;
    Open open(both(dir));
    uint64_t count = 0;
    CHECK(hal_loader_devices(open.loader, nullptr, 0, &count) == HAL_INCOMPLETE);
    CHECK(count == 4);
    hal_device_ref refs[4] = {};
    CHECK(hal_loader_devices(open.loader, refs, 3, &count) == HAL_INCOMPLETE);
    CHECK(refs[2].id == std::string("test.healthy"));
    CHECK(refs[3].id == nullptr);
}

TEST_CASE("strict and critical make hal_loader_open fail on a defect, and only on a defect", "[opening]") {
    Scratch dir;
    SECTION("strict, defect") {
        const Variable options("HAL_BACKEND_OPTIONS", "test.faulty:fault=size-13");
        CHECK(Open(both(dir)).status == HAL_OK);
        CHECK(Open(both(dir), HAL_LOADER_STRICT).status == HAL_ERROR_ABI);
        CHECK(says(hal_last_error(), "has 13 bytes"));
        const Variable strict("HAL_STRICT", "1");
        CHECK(Open(both(dir)).status == HAL_ERROR_ABI);
    }
    SECTION("critical counts only in the directories of the system") {
        const Variable options("HAL_BACKEND_OPTIONS", "test.faulty:fault=size-13");
        CHECK(Open(both(dir, R"(, "critical": true)")).status == HAL_OK);
    }
    SECTION("strict, nothing wrong") {
        const Variable options("HAL_BACKEND_OPTIONS", "test.faulty:devices=0");
        CHECK(Open(both(dir), HAL_LOADER_STRICT).status == HAL_OK);
    }
}

TEST_CASE("options: the application's beat the environment's, which beat the manifest's", "[opening]") {
    Scratch dir;
    both(dir, R"(, "options": {"devices": "1"})");
    const auto count = [](hal_loader* loader) {
        const hal_backend* backend = nullptr;
        int32_t devices = -1;
        REQUIRE(hal_backend_open(loader, "test.faulty", &backend) == HAL_OK);
        REQUIRE(hal_get_device_count(backend, &devices) == HAL_OK);
        return devices;
    };
    CHECK(count(Open(dir).loader) == 1);
    const Variable options("HAL_BACKEND_OPTIONS", "test.faulty:devices=3");
    CHECK(count(Open(dir).loader) == 3);
    const std::string path = dir.path();
    const char* paths[] = {path.c_str()};
    const hal_option option{"test.faulty", "devices", "4"};
    const hal_loader_desc desc{.header = {sizeof desc, 0, nullptr},
                               .manifest_paths = paths,
                               .manifest_path_count = 1,
                               .options = &option,
                               .option_count = 1};
    hal_loader* loader = nullptr;
    REQUIRE(hal_loader_open(&desc, &loader) == HAL_OK);
    CHECK(count(loader) == 4);
    CHECK(hal_loader_close(loader) == HAL_OK);
}
