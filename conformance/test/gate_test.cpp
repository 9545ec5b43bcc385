#include "harness/gate.hpp"

#include <catch2/catch.hpp>

#include "fake_backend.hpp"

using namespace hal::conformance;
using std::chrono::milliseconds;

TEST_CASE("a gate holds its callback until it is opened") {
    const Gate gate(milliseconds(10'000));
    CHECK_FALSE(gate.wait_entered(milliseconds(0)));
    std::thread stream([&] { Gate::callback(gate.argument(), 0, nullptr, HAL_OK); });
    CHECK(gate.wait_entered(milliseconds(10'000)));
    CHECK_FALSE(gate.left());
    gate.open();
    stream.join();
    CHECK(gate.left());
    CHECK_FALSE(gate.expired());
}

TEST_CASE("a gate that nobody opens opens itself and says so") {
    const Gate gate(milliseconds(1));
    Gate::callback(gate.argument(), 0, nullptr, HAL_OK);
    CHECK(gate.expired());
    CHECK(gate.left());
}

TEST_CASE("a helper hands over what its call returned or threw") {
    Helper good([] { return HAL_NOT_READY; });
    CHECK(good.status() == HAL_NOT_READY);
    CHECK(good.returned_within(milliseconds(0)));
    Helper bad([]() -> hal_status { throw HarnessError("inside"); });
    CHECK(bad.status() == HAL_ERROR_INTERNAL);
    CHECK(bad.error() == "inside");
}

TEST_CASE("a helper that has not returned is not said to have") {
    const Gate gate(milliseconds(10'000));
    Helper helper([&] {
        Gate::callback(gate.argument(), 0, nullptr, HAL_OK);
        return HAL_OK;
    });
    CHECK(gate.wait_entered(milliseconds(10'000)));
    CHECK_FALSE(helper.returned_within(milliseconds(1)));
    gate.open();
    CHECK(helper.status() == HAL_OK);
}

TEST_CASE("a gate is surely closed from its start until it is opened, expires or its load may end") {
    const Gate held(milliseconds(10'000));
    CHECK(held.surely_closed());
    held.open();
    CHECK_FALSE(held.surely_closed());
    const Gate load = Gate::of_load(Gate::Clock::now() + std::chrono::hours(1));
    CHECK(load.surely_closed());
    CHECK(load.look(milliseconds(30)) == milliseconds(30));
    CHECK(load.left());
    const Gate over = Gate::of_load(Gate::Clock::now());
    CHECK_FALSE(over.surely_closed());
    CHECK(over.look(milliseconds(30)) <= milliseconds(0));
    CHECK_FALSE(Gate::broken().surely_closed());
}
