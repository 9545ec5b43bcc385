// What stands behind the slots: native, emulated, stub; shorter and longer tables.
#include <numeric>

#include "hal/reflect.hpp"
#include "opening_fixture.hpp"

using namespace hal::loader::test;

namespace {

uint32_t support(const hal_backend* backend, const char* entry) {
    uint32_t answer = 99;
    REQUIRE(hal_entry_support(backend, entry, &answer) == HAL_OK);
    return answer;
}

struct Block {
    Block(const hal_backend* owner, uint64_t bytes) : backend(owner), size(bytes) {
        REQUIRE(hal_device_memory_allocate(backend, 0, size, &ptr) == HAL_OK);
    }
    ~Block() { static_cast<void>(hal_device_memory_deallocate(backend, 0, ptr, size)); }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    void write(const std::vector<uint8_t>& data) const {
        REQUIRE(hal_memory_copy_h2d(backend, 0, ptr, data.data(), data.size()) == HAL_OK);
    }
    [[nodiscard]] std::vector<uint8_t> read() const {
        std::vector<uint8_t> data(size);
        REQUIRE(hal_memory_copy_d2h(backend, 0, data.data(), ptr, size) == HAL_OK);
        return data;
    }

    const hal_backend* backend;
    uint64_t size;
    hal_dptr ptr = 0;
};

std::vector<uint8_t> pattern(size_t size) {
    std::vector<uint8_t> data(size);
    for (size_t i = 0; i < size; ++i) {
        data[i] = static_cast<uint8_t>(i * 131 + (i >> 8) * 7 + 3);
    }
    return data;
}

constexpr size_t large = (1U << 20) * 3 + 17;  // several pieces of a staged copy, the last one odd

}  // namespace

TEST_CASE("no slot is NULL, and a stub says what is missing where", "[opening]") {
    Setup setup;
    const hal_backend* backend = setup.open().faulty();
    REQUIRE(backend != nullptr);
    size_t table_index = 0;
    const hal_table_header* const* heads = reinterpret_cast<const hal_table_header* const*>(&backend->device);
    for (const hal::TableInfo& table : hal::tables) {
        const hal_table_header* head = heads[table_index++];
        REQUIRE(head != nullptr);
        CHECK(head->size == table.size_bytes);
        CHECK(head->id_major == table.id_major());
        for (const hal::EntryInfo& entry : hal::entries_of(table)) {
            void* slot = nullptr;
            std::memcpy(&slot, reinterpret_cast<const char*>(head) + entry.offset, sizeof slot);
            INFO(entry.name);
            CHECK(slot != nullptr);
        }
    }
    hal_dptr ptr = 7;
    CHECK(hal_unified_memory_allocate(backend, 0, 64, &ptr) == HAL_ERROR_UNSUPPORTED);
    CHECK(ptr == 7);
    for (const char* part : {"backend test.faulty 1.2", "libloader_test_faulty.so", "memory.unified_memory_allocate",
                             "GB/T 45079-2024 6.2.1.2 table 2", "row 5", "optional"}) {
        INFO(part);
        CHECK(says(hal_last_error(), part));
    }
    CHECK(hal_xccl_abort(backend, nullptr) == HAL_ERROR_UNSUPPORTED);
    CHECK(says(hal_last_error(), "xccl_ext.xccl_abort (extension of table 10"));
}

TEST_CASE("support tells native, emulated and absent entries apart", "[opening]") {
    Setup setup;
    const hal_backend* backend = setup.open().faulty();
    REQUIRE(backend != nullptr);
    CHECK(support(backend, "memory_copy_h2d") == HAL_SUPPORT_NATIVE);
    CHECK(support(backend, "memory_copy_p2p") == HAL_SUPPORT_EMULATED);
    CHECK(support(backend, "async_memory_copy_d2d") == HAL_SUPPORT_ABSENT);
    CHECK(support(backend, "query_event") == HAL_SUPPORT_ABSENT);
    CHECK(support(backend, "finalize") == HAL_SUPPORT_ABSENT);  // half a pair is not emulated
    uint32_t answer = 99;
    CHECK(hal_entry_support(backend, "no_such_entry", &answer) == HAL_ERROR_NOT_FOUND);
    CHECK(answer == 99);
    CHECK(says(setup.log(), "4 backend test.faulty: memory.memory_copy_p2p is emulated by staging"));
}

TEST_CASE("without emulation the holes are stubs", "[opening]") {
    Setup setup;
    const hal_backend* backend = setup.flags(HAL_LOADER_NO_EMULATION).open().faulty();
    REQUIRE(backend != nullptr);
    for (const hal::EntryInfo& entry : hal::entries) {
        CHECK(support(backend, std::string(entry.name).c_str()) != HAL_SUPPORT_EMULATED);
    }
    CHECK(hal_device_memory_set(backend, 0, 0, 0, 0) == HAL_ERROR_UNSUPPORTED);
}

TEST_CASE("an emulation needs its native entries", "[opening]") {
    Setup setup("hole memory_copy_d2h");
    const hal_backend* backend = setup.open().faulty();
    REQUIRE(backend != nullptr);
    CHECK(support(backend, "device_memory_set") == HAL_SUPPORT_EMULATED);
    CHECK(support(backend, "memory_copy_d2d") == HAL_SUPPORT_ABSENT);
    CHECK(support(backend, "memory_copy_2d") == HAL_SUPPORT_ABSENT);
}

TEST_CASE("emulated device entries count", "[opening]") {
    Setup setup("hole initialize");
    const hal_backend* backend = setup.open().faulty();
    REQUIRE(backend != nullptr);
    CHECK(hal_finalize(backend) == HAL_OK);  // of the loader's own initialize
    CHECK(hal_finalize(backend) == HAL_ERROR_NOT_INITIALIZED);
    CHECK(hal_initialize(backend) == HAL_OK);
    CHECK(hal_init_device(backend, 1) == HAL_OK);
    CHECK(hal_deinit_device(backend, 0) == HAL_ERROR_NOT_INITIALIZED);
    CHECK(hal_deinit_device(backend, 1) == HAL_OK);
    CHECK(hal_deinit_device(backend, 1) == HAL_ERROR_NOT_INITIALIZED);
    CHECK(hal_init_device(backend, 2) == HAL_ERROR_INVALID_DEVICE);
    CHECK(hal_init_device(backend, -1) == HAL_ERROR_INVALID_DEVICE);

    hal_dev devices[3] = {-5, -5, -5};
    uint32_t count = 0;
    CHECK(hal_get_device_list(backend, devices, 3, &count) == HAL_OK);
    CHECK(count == 2);
    CHECK(devices[0] == 0);
    CHECK(devices[1] == 1);
    CHECK(devices[2] == -5);
    CHECK(hal_get_device_list(backend, devices, 1, &count) == HAL_INCOMPLETE);
    CHECK(count == 2);
    CHECK(hal_get_device_list(backend, nullptr, 0, &count) == HAL_INCOMPLETE);
    CHECK(hal_get_device_list(backend, nullptr, 1, &count) == HAL_ERROR_INVALID_ARGUMENT);
    CHECK(hal_get_device_list(backend, devices, 1, nullptr) == HAL_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("emulated set and copies move every byte, over pieces and over themselves", "[opening]") {
    Setup setup;
    const hal_backend* backend = setup.open().faulty();
    REQUIRE(backend != nullptr);
    const std::vector<uint8_t> data = pattern(large);
    const Block a(backend, large);
    const Block b(backend, large);

    a.write(data);
    CHECK(hal_device_memory_set(backend, 0, a.ptr + 1, 0x1234ab, large - 2) == HAL_OK);
    std::vector<uint8_t> expected(large, 0xab);
    expected.front() = data.front();
    expected.back() = data.back();
    CHECK(a.read() == expected);
    CHECK(hal_device_memory_set(backend, 0, a.ptr, 1, 0) == HAL_OK);
    CHECK(a.read() == expected);

    a.write(data);
    CHECK(hal_memory_copy_d2d(backend, 0, b.ptr, a.ptr, large) == HAL_OK);
    CHECK(b.read() == data);
    CHECK(hal_memory_copy_p2p(backend, 1, b.ptr, 0, a.ptr + 5, large - 5) == HAL_OK);
    CHECK(std::memcmp(b.read().data(), data.data() + 5, large - 5) == 0);

    const size_t shift = GENERATE(size_t{1}, size_t{4096}, (size_t{1} << 20) + 1);
    std::vector<uint8_t> moved = data;
    a.write(data);
    std::memmove(moved.data() + shift, moved.data(), large - shift);
    CHECK(hal_memory_copy_d2d(backend, 0, a.ptr + shift, a.ptr, large - shift) == HAL_OK);
    CHECK(a.read() == moved);
    moved = data;
    a.write(data);
    std::memmove(moved.data(), moved.data() + shift, large - shift);
    CHECK(hal_memory_copy_p2p(backend, 0, a.ptr, 0, a.ptr + shift, large - shift) == HAL_OK);
    CHECK(a.read() == moved);
}

TEST_CASE("the emulated copy of rows keeps what lies between them", "[opening]") {
    Setup setup;
    const hal_backend* backend = setup.open().faulty();
    REQUIRE(backend != nullptr);
    const Block block(backend, 100);
    block.write(std::vector<uint8_t>(100, 9));
    const std::vector<uint8_t> rows = pattern(30);
    hal_copy_2d copy{.header = {sizeof copy, 0, nullptr},
                     .direction = HAL_COPY_H2D,
                     .dst = block.ptr,
                     .dst_pitch_bytes = 20,
                     .src = reinterpret_cast<uint64_t>(rows.data()),
                     .src_pitch_bytes = 10,
                     .width_bytes = 7,
                     .height = 3};
    REQUIRE(hal_memory_copy_2d(backend, 0, &copy) == HAL_OK);
    std::vector<uint8_t> expected(100, 9);
    for (size_t row = 0; row < 3; ++row) {
        std::copy_n(rows.begin() + static_cast<ptrdiff_t>(row * 10), 7,
                    expected.begin() + static_cast<ptrdiff_t>(row * 20));
    }
    CHECK(block.read() == expected);

    copy.width_bytes = 11;
    CHECK(hal_memory_copy_2d(backend, 0, &copy) == HAL_ERROR_INVALID_ARGUMENT);
    CHECK(says(hal_last_error(), "width_bytes 11 is above a pitch"));
    copy.width_bytes = 7;
    copy.height = UINT64_MAX / 2;
    CHECK(hal_memory_copy_2d(backend, 0, &copy) == HAL_ERROR_INVALID_ARGUMENT);
    copy.height = 0;
    CHECK(hal_memory_copy_2d(backend, 0, &copy) == HAL_OK);
    copy.direction = 7;
    CHECK(hal_memory_copy_2d(backend, 0, &copy) == HAL_ERROR_INVALID_ARGUMENT);
    CHECK(hal_memory_copy_2d(backend, 0, nullptr) == HAL_ERROR_INVALID_ARGUMENT);
    CHECK(block.read() == expected);
}

TEST_CASE("an older, shorter and a newer, longer table work", "[opening]") {
    SECTION("short") {
        Setup setup("short");
        const hal_backend* backend = setup.open().faulty();
        REQUIRE(backend != nullptr);
        CHECK(support(backend, "get_device_count") == HAL_SUPPORT_NATIVE);
        CHECK(support(backend, "initialize") == HAL_SUPPORT_EMULATED);  // the plug-in has it, behind its table's end
        hal_compute_capability capability{.header = {sizeof capability, 0, nullptr}};
        CHECK(hal_get_compute_capability(backend, 0, &capability) == HAL_ERROR_UNSUPPORTED);
        CHECK(says(hal_last_error(), "6.2.1.1 table 1, row 10"));
        setup.check_healthy();
    }
    SECTION("long") {
        Setup setup("long");
        const hal_backend* backend = setup.open().faulty();
        REQUIRE(backend != nullptr);
        CHECK(backend->device->header.size == sizeof(hal_device_table));
        CHECK(hal_set_device(backend, 1) == HAL_OK);
        hal_dev device = 0;
        CHECK(hal_get_device(backend, &device) == HAL_OK);
        CHECK(device == 1);
        setup.check_healthy();
    }
}

TEST_CASE("kernels of the plug-in are found, and a miss explains itself", "[opening]") {
    Setup setup;
    const hal_backend* backend = setup.open().faulty();
    REQUIRE(backend != nullptr);
    hal_kernel_key key{.size = sizeof key, .dtype = HAL_F32, .op = "Test"};
    const hal_kernel* kernel = nullptr;
    REQUIRE(hal_kernel_find(backend, &key, nullptr, &kernel) == HAL_OK);
    CHECK(kernel->op == std::string("Test"));
    const hal_kernel* next = nullptr;
    CHECK(hal_kernel_find(backend, &key, kernel, &next) == HAL_ERROR_NOT_FOUND);
    CHECK(next == nullptr);
    key.op = "Tset";
    CHECK(hal_kernel_find(backend, &key, nullptr, &next) == HAL_ERROR_NOT_FOUND);
    CHECK(says(hal_last_error(), "Test"));
    key.op = nullptr;
    CHECK(hal_kernel_find(backend, &key, nullptr, &next) == HAL_ERROR_INVALID_ARGUMENT);
    key.size = 8;
    CHECK(hal_kernel_find(backend, &key, nullptr, &next) == HAL_ERROR_INVALID_ARGUMENT);
    CHECK(hal_kernel_find(nullptr, &key, nullptr, &next) == HAL_ERROR_INVALID_ARGUMENT);

    uint64_t count = 0;
    CHECK(hal_kernel_list(backend, nullptr, 0, &count) == HAL_INCOMPLETE);
    CHECK(count == 1);
    CHECK(hal_kernel_list(backend, &next, 1, &count) == HAL_OK);
    CHECK(next == kernel);
}
