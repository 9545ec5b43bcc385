// The vendor's helpers at the boundary: exceptions, strings, structs of other sizes, chains.
#include "hal/sdk.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

namespace {
struct Host {
    hal_host table{};
    hal_status status = HAL_OK;
    int64_t vendor_code = 0;
    std::string text;
    std::map<std::string, std::string> options;

    Host() {
        table.size = sizeof table;
        table.abi_version = HAL_ABI_VERSION;
        table.set_error = [](const hal_host* host, hal_status error, int64_t driver_code, const char* message) {
            auto& self = of(host);
            self.status = error;
            self.vendor_code = driver_code;
            self.text = message;
        };
        table.get_option = [](const hal_host* host, const char* key, char* buffer, uint64_t capacity_bytes,
                              uint64_t* out_size_bytes) {
            const auto found = of(host).options.find(key);
            if (found == of(host).options.end()) {
                return HAL_ERROR_NOT_FOUND;
            }
            *out_size_bytes = found->second.size() + 1;
            if (capacity_bytes < *out_size_bytes) {
                return HAL_ERROR_BUFFER_TOO_SMALL;
            }
            std::memcpy(buffer, found->second.c_str(), *out_size_bytes);
            return HAL_OK;
        };
    }
    static Host& of(const hal_host* host) { return *reinterpret_cast<Host*>(const_cast<hal_host*>(host)); }
};

// A plug-in's instance class.
struct Instance {
    Host host_object;
    hal_status admission = HAL_OK;
    [[nodiscard]] const hal_host* host() const noexcept { return &host_object.table; }
    [[nodiscard]] hal_status admit() const noexcept { return admission; }
    hal_instance* handle() { return reinterpret_cast<hal_instance*>(this); }
};

hal_status double_it(Instance&, int32_t in, int32_t* out) {
    hal::sdk::require(out, "out") = 2 * in;
    return HAL_OK;
}
hal_status run_out_of_memory(Instance&) {
    throw std::bad_alloc();
}
hal_status throw_an_int(Instance&) {
    throw 3;
}
hal_status run_kernel(Instance&, const hal_kernel_call& call) {
    if (call.input_count != 1) {
        throw hal::sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "one input", 42);
    }
    return HAL_OK;
}

// The struct of an older and of a newer caller.
struct Query {
    hal_header header;
    uint64_t first;
    uint64_t second;
};
hal_status code_of(const std::function<void()>& f) {
    try {
        f();
    } catch (const hal::sdk::Error& error) {
        return error.status();
    }
    return HAL_OK;
}
}  // namespace

TEST_CASE("guard turns what is thrown into a status and a text", "[sdk]") {
    Host host;
    using hal::sdk::guard;
    CHECK(guard(&host.table, [] { return HAL_NOT_READY; }) == HAL_NOT_READY);
    CHECK(host.text.empty());

    CHECK(guard(&host.table, []() -> hal_status { throw hal::sdk::Error(HAL_ERROR_DRIVER, "driver says no", 17); }) ==
          HAL_ERROR_DRIVER);
    CHECK(host.status == HAL_ERROR_DRIVER);
    CHECK(host.vendor_code == 17);
    CHECK(host.text == "driver says no");

    CHECK(guard(&host.table, []() -> hal_status { throw std::bad_alloc(); }) == HAL_ERROR_OUT_OF_HOST_MEMORY);
    CHECK(guard(&host.table, []() -> hal_status { throw std::runtime_error("odd"); }) == HAL_ERROR_INTERNAL);
    CHECK(host.text == "odd");
    CHECK(guard(&host.table, []() -> hal_status { throw 3; }) == HAL_ERROR_INTERNAL);
    CHECK(host.text == "an exception of unknown type reached the boundary");
}

TEST_CASE("slot calls the function on its instance and lets nothing out", "[sdk]") {
    Instance instance;
    // The slot's type is that of a table's field.
    hal_status (*entry)(hal_instance*, int32_t, int32_t*) = hal::sdk::slot<double_it>;
    int32_t out = 0;
    CHECK(entry(instance.handle(), 21, &out) == HAL_OK);
    CHECK(out == 42);
    CHECK(entry(nullptr, 21, &out) == HAL_ERROR_INVALID_HANDLE);
    CHECK(entry(instance.handle(), 1, nullptr) == HAL_ERROR_INVALID_ARGUMENT);
    CHECK(instance.host_object.text == "out is NULL");
    CHECK(hal::sdk::slot<run_out_of_memory>(instance.handle()) == HAL_ERROR_OUT_OF_HOST_MEMORY);
    CHECK(hal::sdk::slot<throw_an_int>(instance.handle()) == HAL_ERROR_INTERNAL);

    instance.admission = HAL_ERROR_FORKED;
    out = 0;
    CHECK(entry(instance.handle(), 21, &out) == HAL_ERROR_FORKED);
    CHECK(out == 0);
}

TEST_CASE("kernel is guarded as a slot", "[sdk]") {
    Instance instance;
    const hal_kernel_fn kernel = hal::sdk::kernel<run_kernel>;
    hal_kernel_call call{};
    call.instance = instance.handle();
    CHECK(kernel(&call) == HAL_ERROR_INVALID_ARGUMENT);
    CHECK(instance.host_object.vendor_code == 42);
    call.input_count = 1;
    CHECK(kernel(&call) == HAL_OK);
    CHECK(kernel(nullptr) == HAL_ERROR_INVALID_ARGUMENT);
    call.instance = nullptr;
    CHECK(kernel(&call) == HAL_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("write_string reports the size always and writes only what fits", "[sdk]") {
    char buffer[] = "?????";
    uint64_t size = 0;
    using hal::sdk::write_string;
    CHECK(code_of([&] { (void)write_string("abc", nullptr, 0, &size); }) == HAL_ERROR_BUFFER_TOO_SMALL);
    CHECK(size == 4);
    size = 0;
    CHECK(code_of([&] { (void)write_string("abc", buffer, 3, &size); }) == HAL_ERROR_BUFFER_TOO_SMALL);
    CHECK(size == 4);
    CHECK(std::string(buffer) == "?????");
    CHECK(write_string("abc", buffer, 4, &size) == HAL_OK);
    CHECK(std::memcmp(buffer, "abc\0?", 6) == 0);
    CHECK(write_string("", buffer, 1, &size) == HAL_OK);
    CHECK(size == 1);
    CHECK(buffer[0] == '\0');
    CHECK(code_of([&] { (void)write_string("abc", buffer, 5, nullptr); }) == HAL_ERROR_INVALID_ARGUMENT);
    CHECK(code_of([&] { (void)write_string("abc", nullptr, 5, &size); }) == HAL_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("write_struct writes as far as both sides know", "[sdk]") {
    const Query answer{{}, 1, 2};
    hal_header last{sizeof(hal_header), 5, nullptr};
    struct Longer {
        Query query;
        uint64_t beyond;
    } out{{{0, 0, &last}, 7, 7}, 7};
    Query& query = out.query;

    SECTION("the same size") {
        query.header.size = sizeof(Query);
        CHECK(hal::sdk::write_struct(answer, &query, "out_query") == HAL_OK);
        CHECK(query.first == 1);
        CHECK(query.second == 2);
    }
    SECTION("an older, shorter caller") {
        query.header.size = offsetof(Query, second);
        CHECK(hal::sdk::write_struct(answer, &query, "out_query") == HAL_OK);
        CHECK(query.first == 1);
        CHECK(query.second == 7);
    }
    SECTION("a newer, longer caller") {
        query.header.size = sizeof(Longer);
        CHECK(hal::sdk::write_struct(answer, &query, "out_query") == HAL_OK);
        CHECK(query.second == 2);
        CHECK(out.beyond == 7);
    }
    SECTION("sizes that are none leave it untouched") {
        for (const uint32_t size : {0u, 15u}) {
            query.header.size = size;
            CHECK(code_of([&] { (void)hal::sdk::write_struct(answer, &query, "out_query"); }) ==
                  HAL_ERROR_INVALID_ARGUMENT);
        }
        CHECK(query.first == 7);
        CHECK(code_of([&] { (void)hal::sdk::write_struct<Query>(answer, nullptr, "out_query"); }) ==
              HAL_ERROR_INVALID_ARGUMENT);
    }
    SECTION("a chained struct that must be understood is refused before anything is written") {
        query.header.size = sizeof(Query);
        last.kind |= HAL_MUST_UNDERSTAND;
        CHECK(code_of([&] { (void)hal::sdk::write_struct(answer, &query, "out_query"); }) == HAL_ERROR_UNSUPPORTED);
        CHECK(query.first == 7);
    }
    // The header is the caller's.
    CHECK(query.header.next == &last);
}

TEST_CASE("read_struct gives zero for what the caller does not have", "[sdk]") {
    using hal::sdk::read_struct;
    CHECK(read_struct<Query>(nullptr, "desc").second == 0);
    Query desc{{sizeof(Query), 0, nullptr}, 1, 2};
    CHECK(read_struct(&desc, "desc").second == 2);
    desc.header.size = offsetof(Query, second);
    CHECK(read_struct(&desc, "desc").first == 1);
    CHECK(read_struct(&desc, "desc").second == 0);
    desc.header.size = sizeof(Query) + 64;
    CHECK(read_struct(&desc, "desc").second == 2);
    desc.header.size = 0;
    CHECK(code_of([&] { read_struct(&desc, "desc"); }) == HAL_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("check_chain refuses only what must be understood and is not known", "[sdk]") {
    hal_header second{sizeof(hal_header), HAL_MUST_UNDERSTAND | 9u, nullptr};
    hal_header first{sizeof(hal_header), 4, &second};
    const hal_header head{sizeof(hal_header), 0, &first};
    CHECK(code_of([&] { hal::sdk::check_chain(head); }) == HAL_ERROR_UNSUPPORTED);
    CHECK(code_of([&] { hal::sdk::check_chain(head, {HAL_MUST_UNDERSTAND | 9u}); }) == HAL_OK);
    second.kind = 9;
    CHECK(code_of([&] { hal::sdk::check_chain(head); }) == HAL_OK);
}

TEST_CASE("option reads texts of any length", "[sdk]") {
    Host host;
    host.options["short"] = "2";
    host.options["long"] = std::string(1000, 'x');
    CHECK(hal::sdk::option(&host.table, "short", "1") == "2");
    CHECK(hal::sdk::option(&host.table, "long", "") == std::string(1000, 'x'));
    CHECK(hal::sdk::option(&host.table, "absent", "1") == "1");
}
