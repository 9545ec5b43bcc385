// Two platforms of which one fails, or is alone. The ICD loader reads its folder once a process (OCL_ICD_VENDORS, set
// by CTest to one with the broken driver and, where it is installed, PoCL), so this is a program of its own.
#include <catch2/catch.hpp>

#include "../../shared/test/test_host.hpp"
#include "device.hpp"
#include "instance.hpp"

using Catch::Matchers::Contains;

namespace hal::opencl::test {

using shared::test::Host;
using shared::test::status_of;

TEST_CASE("a platform that fails is told and leaves the others alone") {
    Host host;
    Instance instance(host.get());
    std::string reason;
    const hal_status status = status_of([&] { instance.initialize(); }, &reason);
    CHECK_THAT(host.log(), Contains("Broken platform is left out") && Contains("CL_OUT_OF_HOST_MEMORY"));
    if (status != HAL_OK) {
        WARN("without a second platform: " << reason);
        return;
    }
    CHECK(instance.device_count() >= 1);
    CHECK(instance.device(0).info().platform != "Broken platform");
}

TEST_CASE("only platforms that fail are no device, with the reason of each") {
    Host host(Host::Options{{"platform", "Broken"}});
    Instance instance(host.get());
    std::string reason;
    CHECK(status_of([&] { instance.initialize(); }, &reason) == HAL_ERROR_NO_DEVICE);
    CHECK_THAT(reason, Contains("Broken platform") && Contains("CL_OUT_OF_HOST_MEMORY"));
    CHECK(status_of([&] { instance.initialize(); }) == HAL_ERROR_NO_DEVICE);  // again, and no crash
}

}  // namespace hal::opencl::test
