// The gate of a plug-in without stream_add_callback: a chain of copies that keeps a stream busy for a time which was
// measured before. The fastest of four measures counts, and the stream is called closed only for a third of it.
#pragma once

#include "test.hpp"

namespace hal::conformance {

class Load {
  public:
    // Makes the memory of the copies and, once per process and device, measures how long they take.
    Load(Test& test, hal_dev dev, Where where);
    ~Load();
    Load(const Load&) = delete;
    Load& operator=(const Load&) = delete;

    // Puts the chain on the stream.
    [[nodiscard]] Gate close(hal_stream stream, Where where);
    // Measures again. False if the chain takes so much less than thought that what was concluded may be wrong.
    [[nodiscard]] bool confirm();

    // All devices are measured anew: for tests of the suite.
    static void forget_measures();

  private:
    using Duration = Gate::Clock::duration;
    struct Measure {
        uint64_t size = 0;   // of a copy
        uint64_t count = 0;  // of copies in the chain
        Duration takes{};    // the whole chain
    };
    struct Time {
        Duration enqueued{};
        Duration done{};
    };
    // Of all devices, kept for the process.
    struct Measures;

    [[nodiscard]] bool resize(uint64_t size);
    [[nodiscard]] bool allocate_first();
    [[nodiscard]] DeviceBuffer* allocate(uint64_t size);
    void release_host();
    void write_samples();
    [[nodiscard]] hal_status enqueue(hal_stream stream);
    [[nodiscard]] bool wait();
    [[nodiscard]] Time run(uint64_t copies);
    [[nodiscard]] Time fastest_of_four(uint64_t copies);
    [[nodiscard]] uint64_t probe();
    void measure();
    void check_data();

    Test& test_;
    hal_dev dev_;
    Where where_;
    bool within_device_;  // d2d, else h2d
    hal_stream stream_ = nullptr;
    hal_event event_ = nullptr;
    Pattern pattern_;
    uint64_t size_ = 0;
    DeviceBuffer* from_ = nullptr;
    DeviceBuffer* to_ = nullptr;
    void* host_ = nullptr;
    bool pinned_ = false;
    std::optional<Measure> measured_;
    bool failed_ = false;  // a check has told it
};

}  // namespace hal::conformance
