// A hal_backend and the loader's functions, scripted by the tests of the wrapper. Slots that no test needs stay NULL.
#pragma once

#include <string>
#include <vector>

#include "hal/hal.hpp"

struct Fake {
    Fake();
    static Fake& get();  // the one that lives

    hal_backend head{};
    std::vector<std::string> calls;  // what was called, with its arguments
    hal_status next = HAL_OK;        // answer of the next entries
    std::string device_name = "fake device";

    std::vector<const hal_kernel*> kernels;  // what hal_kernel_find gives, in this order
    hal_kernel_key key{};                    // as hal_kernel_find last got it
    std::vector<hal_dtype> signature;
    std::string arch;

    std::vector<hal_device_ref> devices;
    hal_status devices_status = HAL_OK;

    // What hal_last_error keeps.
    hal_status error = HAL_OK;
    std::string error_text;
    int64_t error_vendor_code = 0;
    void set_error(hal_status status, std::string text, int64_t vendor_code = 0);

    [[nodiscard]] hal::Device device() { return {hal::Backend(&head), 0, "fake"}; }

  private:
    hal_device_table device_{};
    hal_memory_table memory_{};
    hal_memory_ext_table memory_ext_{};
    hal_stream_table stream_{};
    hal_event_table event_{};
    hal_event_ext_table event_ext_{};
};
