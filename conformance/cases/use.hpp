// One whole use of each entry, and the cases that every row has for it: the use works from eight threads, from a thread
// that never called before, with another device current, leaves that device current, and keeps nothing.
#pragma once

#include "harness/test.hpp"

namespace hal::conformance {

// Calls the entry on `dev` with objects of its own, checks the result, releases what it made. Runs on many threads at
// once, so it makes no buffers, streams or events of the test.
using UseBody = void (*)(Test& t, hal_dev dev);

void check_threads8(Test& t, UseBody use);
void check_foreign_thread(Test& t, UseBody use);
void check_explicit_device(Test& t, UseBody use);
void check_current_device_kept(Test& t, UseBody use);
void check_env_clean(Test& t, UseBody use);
void check_use_keeps_nothing(Test& t, UseBody use);

[[nodiscard]] over other_device();

// Its number for this thread.
[[nodiscard]] hal_dev current_device(Test& t);

// Device memory of a use.
class Block {
  public:
    Block(Test& t, hal_dev dev, uint64_t size, Where where = Where::here());
    // With data in it.
    Block(Test& t, hal_dev dev, const HostBuffer& data, Where where = Where::here());
    ~Block();
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    [[nodiscard]] hal_dptr ptr() const { return ptr_; }
    void expect(const Pattern& pattern, std::string_view what, Where where = Where::here()) const;

  private:
    Test& test_;
    hal_dev dev_;
    uint64_t size_;
    hal_dptr ptr_ = 0;
    Where where_;
};

// A stream of a use, the null stream where none can be created.
class OwnStream {
  public:
    OwnStream(Test& t, hal_dev dev, Where where = Where::here());
    ~OwnStream();
    OwnStream(const OwnStream&) = delete;
    OwnStream& operator=(const OwnStream&) = delete;

    [[nodiscard]] hal_stream get() const { return stream_; }

  private:
    Test& test_;
    hal_dev dev_;
    hal_stream stream_ = nullptr;
    Where where_;
};

class OwnEvent {
  public:
    OwnEvent(Test& t, hal_dev dev, uint32_t flags = 0, Where where = Where::here());
    ~OwnEvent();
    OwnEvent(const OwnEvent&) = delete;
    OwnEvent& operator=(const OwnEvent&) = delete;

    [[nodiscard]] hal_event get() const { return event_; }

  private:
    Test& test_;
    hal_dev dev_;
    hal_event event_ = nullptr;
    Where where_;
};

#define HAL_USE_ID(table, entry, tail) "45079.T" #table "." #entry "." tail
#define HAL_USE_CASE(table, row, entry, tail, rights, check, ...)                                     \
    HAL_CASE(HAL_USE_ID(table, entry, tail), clauses{"45079/T" #table "." #row}, rights, __VA_ARGS__) \
    (Test & t) {                                                                                      \
        check(t, &use_##entry);                                                                       \
    }

// Of an entry that names no device: HAL_USE(1, 8, get_device_count, "leak.loop", authority::A, needs of the use...) {
// body }
#define HAL_USE(table, row, entry, leak, leak_rights, ...)                                                    \
    static void use_##entry(Test& t, hal_dev dev);                                                            \
    HAL_USE_CASE(table, row, entry, "conc.threads8", authority::A, check_threads8,                            \
                 needs{E::entry, free_threads, __VA_ARGS__})                                                  \
    HAL_USE_CASE(table, row, entry, "env.clean", authority::A, check_env_clean, needs{E::entry, __VA_ARGS__}) \
    HAL_USE_CASE(table, row, entry, "conc.foreign_thread", authority::A, check_foreign_thread,                \
                 needs{E::entry, __VA_ARGS__})                                                                \
    HAL_USE_CASE(table, row, entry, leak, leak_rights, check_use_keeps_nothing, needs{E::entry, __VA_ARGS__}, \
                 cls::medium, exclusive)                                                                      \
    static void use_##entry([[maybe_unused]] Test& t, [[maybe_unused]] hal_dev dev)

// Of an entry that names a device.
#define HAL_DEVICE_USE(table, row, entry, leak, leak_rights, ...)                                       \
    static void use_##entry(Test& t, hal_dev dev);                                                      \
    HAL_USE_CASE(table, row, entry, "life.explicit_device_wins", authority::A, check_explicit_device,   \
                 needs{E::entry, E::set_device, __VA_ARGS__}, other_device())                           \
    HAL_USE_CASE(table, row, entry, "env.current_device_kept", authority::A, check_current_device_kept, \
                 needs{E::entry, E::set_device, E::get_device, devices(2), __VA_ARGS__})                \
    HAL_USE(table, row, entry, leak, leak_rights, __VA_ARGS__)

// Of an entry of our extensions, whose other cases are written one by one:
// HAL_EXT_USE(memory_ext, "45079/T2.16", memory_trim, needs of the use...) { body }
#define HAL_EXT_USE(table, clause, entry, ...)                                                                   \
    static void use_##entry(Test& t, hal_dev dev);                                                               \
    HAL_CASE("hal." #table "." #entry ".leak.loop", clauses{clause}, authority::A, needs{E::entry, __VA_ARGS__}, \
             cls::medium, exclusive)                                                                             \
    (Test & t) {                                                                                                 \
        check_use_keeps_nothing(t, &use_##entry);                                                                \
    }                                                                                                            \
    static void use_##entry([[maybe_unused]] Test& t, [[maybe_unused]] hal_dev dev)

}  // namespace hal::conformance
