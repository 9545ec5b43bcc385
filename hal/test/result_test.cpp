// Status and Result.
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "fake_loader.hpp"

using hal::Result;
using hal::Status;

TEST_CASE("a Status keeps the text of its own error", "[result]") {
    Fake fake;
    fake.set_error(HAL_ERROR_DRIVER, "driver says no", 17);
    Status status = HAL_ERROR_DRIVER;
    fake.set_error(HAL_ERROR_BUSY, "later error");
    CHECK_FALSE(status.ok());
    CHECK_FALSE(status);
    CHECK(status.is_error());
    CHECK(status.text() == std::string("driver says no"));
    CHECK(status.vendor_code() == 17);

    // The thread's last text is of another error: better no text than a wrong one.
    CHECK(Status(HAL_ERROR_TIMEOUT).text() == std::string("general text"));
    CHECK(Status(HAL_OK).text() == std::string("success"));
    CHECK(Status(HAL_ERROR_BUSY, "own words").text() == std::string("own words"));
}

TEST_CASE("outcomes above zero are neither success nor errors", "[result]") {
    Fake fake;
    const Status status = HAL_NOT_READY;
    CHECK_FALSE(status.ok());
    CHECK_FALSE(status.is_error());
}

TEST_CASE("Status::and_then goes on after success only", "[result]") {
    Fake fake;
    int runs = 0;
    const auto count = [&]() -> hal_status {
        ++runs;
        return HAL_NOT_READY;
    };
    CHECK(Status().and_then(count).code() == HAL_NOT_READY);
    CHECK(Status(HAL_ERROR_BUSY, "busy now").and_then(count).text() == std::string("busy now"));
    CHECK(runs == 1);
    CHECK(Status().and_then([] { return Result<int>(4); }).value() == 4);
    CHECK(Status(HAL_ERROR_BUSY).and_then([] { return Result<int>(4); }).code() == HAL_ERROR_BUSY);
}

TEST_CASE("a Result is a value or a reason", "[result]") {
    Fake fake;
    fake.set_error(HAL_ERROR_BUSY, "busy now");
    Result<std::unique_ptr<int>> value = std::make_unique<int>(3);
    REQUIRE(value);
    CHECK(value.code() == HAL_OK);
    CHECK(**value == 3);
    CHECK(*std::move(value).value() == 3);

    const Result<std::string> error = HAL_ERROR_BUSY;
    CHECK_FALSE(error.ok());
    CHECK(error.code() == HAL_ERROR_BUSY);
    CHECK(error.text() == std::string("busy now"));
    CHECK(Result<int>(HAL_ERROR_BUSY).value_or(9) == 9);
    CHECK(Result<int>(1).value_or(9) == 1);

    // A number and a status are told apart.
    CHECK(Result<uint32_t>(HAL_NOT_READY).code() == HAL_NOT_READY);
    CHECK_FALSE(Result<uint32_t>(HAL_NOT_READY).ok());
    CHECK(Result<uint32_t>(HAL_OK).code() == HAL_ERROR_INTERNAL);
}

TEST_CASE("Result::and_then and transform chain", "[result]") {
    Fake fake;
    const auto half = [](int value) {
        return value % 2 == 0 ? Result<int>(value / 2) : Result<int>(Status(HAL_ERROR_INVALID_ARGUMENT, "odd"));
    };
    CHECK(Result<int>(8).and_then(half).and_then(half).value() == 2);
    CHECK(Result<int>(6).and_then(half).and_then(half).text() == std::string("odd"));
    CHECK(Result<int>(6).and_then([](int) { return HAL_NOT_READY; }).code() == HAL_NOT_READY);
    CHECK(Result<int>(6).transform([](int value) { return std::to_string(value); }).value() == "6");
    CHECK(Result<int>(HAL_ERROR_BUSY).transform([](int value) { return value; }).code() == HAL_ERROR_BUSY);
}
