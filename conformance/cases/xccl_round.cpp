// One run of a collective: its buffers, the call, what it must leave behind.
#include <cmath>
#include <utility>

#include "xccl.hpp"

namespace hal::conformance {

using Place = Collective::Place;

// ---- Memory ----

DeviceBuffer& device_with(Test& t, const Bytes& bytes, Where where) {
    DeviceBuffer& buffer = t.device(bytes.size(), t.dev, where);
    write_bytes(t, buffer, bytes, 0, where);
    return buffer;
}

void write_bytes(Test& t, const DeviceBuffer& buffer, const Bytes& bytes, uint64_t at, Where where) {
    if (!bytes.empty()) {
        const hal_status got = t.api.memory_copy_h2d(buffer.dev, buffer.ptr + at, bytes.data(), bytes.size());
        if (got != HAL_OK) {
            t.ok(got, "memory_copy_h2d for the case", where);
        }
    }
}

namespace {

// The buffer with its guards, as a host buffer has them.
bool read_image(Test& t, const DeviceBuffer& buffer, const HostBuffer& image, Where where) {
    const hal_status got =
        t.api.memory_copy_d2h(buffer.dev, image.data() - guard_bytes, buffer.base, buffer.size + 2 * guard_bytes);
    return got == HAL_OK || t.ok(got, "reading back", where);
}

std::string first_difference(const HostBuffer& image, const Bytes& bytes, uint64_t at) {
    for (uint64_t i = 0; i < bytes.size(); ++i) {
        if (image.data()[at + i] != bytes[i]) {
            return "byte " + std::to_string(i) + " is " + std::to_string(image.data()[at + i]) + " instead of " +
                   std::to_string(bytes[i]);
        }
    }
    return image.guards_intact() ? "" : "bytes around the buffer are overwritten";
}

std::string poison_difference(const HostBuffer& image, uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) {
        if (image.data()[i] != poison) {
            return "byte " + std::to_string(i) + " of the buffer, which is not the result's, is overwritten";
        }
    }
    return "";
}

}  // namespace

bool expect_bytes(Test& t, const DeviceBuffer& buffer, const Bytes& bytes, std::string_view what, uint64_t at,
                  Where where) {
    const HostBuffer image(buffer.size);
    if (!read_image(t, buffer, image, where)) {
        return false;
    }
    std::string wrong = first_difference(image, bytes, at);
    wrong = wrong.empty() ? poison_difference(image, 0, at) : wrong;
    wrong = wrong.empty() ? poison_difference(image, at + bytes.size(), buffer.size) : wrong;
    return t.eq(std::string(), wrong, what, where);
}

bool expect_slice(Test& t, const DeviceBuffer& buffer, const Bytes& bytes, std::string_view what, uint64_t at,
                  Where where) {
    const HostBuffer image(buffer.size);
    return read_image(t, buffer, image, where) && t.eq(std::string(), first_difference(image, bytes, at), what, where);
}

Bytes read_bytes(Test& t, const DeviceBuffer& buffer, Where where) {
    const HostBuffer image(buffer.size);
    (void)read_image(t, buffer, image, where);
    return {image.data(), image.data() + buffer.size};
}

bool waited(Test& t, hal_stream stream, Where where) {
    const auto limit = static_cast<uint64_t>(std::chrono::nanoseconds(t.limits.finish).count());
    return t.ok(t.api.synchronize_stream(t.dev, stream, limit), "the stream's work", where);
}

void expect_gives_up(Test& t, hal_comm comm, hal_stream stream, std::string_view what, Where where) {
    const auto limit = 2 * std::chrono::nanoseconds(t.limits.finish);
    const auto begin = std::chrono::steady_clock::now();
    const hal_status got = t.api.synchronize_stream(t.dev, stream, static_cast<uint64_t>(limit.count()));
    const bool in_time = std::chrono::steady_clock::now() - begin < limit;
    const bool right = got == HAL_ERROR_REMOTE || got == HAL_ERROR_TIMEOUT || got == HAL_ERROR_ABORTED;
    t.check(right && in_time,
            std::string(what) + " fails of itself with REMOTE, TIMEOUT or ABORTED, not " + to_string(got) +
                (in_time ? "" : " of the wait"),
            where);
    if (t.api.xccl_get_async_error) {
        t.eq(got, t.api.xccl_get_async_error(comm), "the error of the communicator", where);
    }
    if (in_time) {
        recover(t, stream, where);
    } else if (t.api.xccl_abort) {
        (void)t.api.xccl_abort(comm);
        recover(t, stream, where);
    }
}

void recover(Test& t, hal_stream stream, Where where) {
    if (t.api.reset_stream) {
        t.ok(t.api.reset_stream(t.dev, stream), "reset_stream", where);
        waited(t, stream, where);
    } else if (stream != nullptr) {
        t.forget(stream);
        (void)t.api.destroy_stream(t.dev, stream);
    }
}

// ---- Rounds ----

Round::Round(Test& t, const Collective& collective, const Shape& shape, int ranks, int rank, Where where)
    : test_(t), collective_(collective), shape_(shape), ranks_(ranks), rank_(rank), seed_(t.random()), where_(where) {
    if (collective.reduces) {
        shape_.carried = shape.reduction.type.dtype;
    }
    shape_.carried = shape_.carried.value_or(HAL_F32);
    element_ = bytes_of(*shape_.carried);
    for (int block = 0; block < collective.sends(ranks); ++block) {
        const Bytes one = block_of(rank, block);
        given_.insert(given_.end(), one.begin(), one.end());
    }
    // Of a rooted reduction only the root has a place for its result.
    const bool here = collective.kind != HAL_COLL_REDUCE || rank == shape.root;
    place_ = shape.in_place && here ? collective.place : Place::none;
    make_buffers();
}

Bytes Round::block_of(int from, int block) const {
    const uint64_t seed = seed_ + static_cast<uint64_t>(block) * 7919;
    return collective_.reduces ? given(shape_.reduction, ranks_, from, shape_.count, seed)
                               : tagged(seed_, from, block, shape_.count * element_);
}

Bytes Round::result_bytes() const {
    Bytes all;
    for (const auto& [from, block] : collective_.gets(ranks_, rank_, shape_.root)) {
        const Bytes one = collective_.reduces ? reduced(shape_.reduction, ranks_, shape_.count,
                                                        seed_ + static_cast<uint64_t>(block) * 7919)
                                              : block_of(from, block);
        all.insert(all.end(), one.begin(), one.end());
    }
    return all;
}

// Of any kind poisoned, between guards.
DeviceBuffer* Round::make_buffer(uint64_t size) {
    if (shape_.memory == Memory::device) {
        return &test_.device(size, test_.dev, where_);
    }
    DeviceBuffer& buffer = other_.emplace_back();
    if (shape_.memory == Memory::unified) {
        make_unified(buffer, size);
    } else {
        make_imported(buffer, size);
    }
    return &buffer;
}

void Round::make_unified(DeviceBuffer& buffer, uint64_t size) {
    const uint64_t whole = size + 2 * guard_bytes;
    if (test_.ok(test_.api.unified_memory_allocate(test_.dev, whole, &buffer.base), "unified_memory_allocate",
                 where_)) {
        const HostBuffer image(size);
        std::memcpy(reinterpret_cast<void*>(buffer.base), image.data() - guard_bytes, whole);
        buffer.dev = test_.dev;
        buffer.ptr = buffer.base + guard_bytes;
        buffer.size = size;
    }
}

// Each rank lends what it has to the one before it.
void Round::make_imported(DeviceBuffer& buffer, uint64_t size) {
    DeviceBuffer& own = test_.device(size, test_.dev, where_);
    lent_.push_back(&own);
    hal_ipc_handle handle{};
    test_.ok(test_.api.memory_ipc_export(test_.dev, own.base, &handle), "memory_ipc_export", where_);
    const auto all = test_.exchange({reinterpret_cast<const char*>(&handle), sizeof handle});
    const std::string& next = all.at(static_cast<size_t>((rank_ + 1) % ranks_));
    if (!test_.eq(sizeof handle, next.size(), "the next rank's handle", where_)) {
        return;
    }
    std::memcpy(&handle, next.data(), sizeof handle);
    if (test_.ok(test_.api.memory_ipc_import(test_.dev, &handle, &buffer.base), "memory_ipc_import", where_)) {
        buffer.dev = test_.dev;
        buffer.ptr = buffer.base + guard_bytes;
        buffer.size = size;
    }
}

void Round::make_buffers() {
    const uint64_t at = shape_.offset * element_;
    const uint64_t block = shape_.count * element_;
    const uint64_t own = block * static_cast<uint64_t>(rank_);
    const uint64_t received = block * static_cast<uint64_t>(collective_.receives(ranks_));
    send_at_ = recv_at_ = at;
    if (place_ == Place::none) {
        send_ = make_buffer(at + given_.size());
        recv_ = make_buffer(at + received);
    } else {
        send_ = recv_ = make_buffer(at + std::max<uint64_t>(given_.size(), received));
        send_at_ += place_ == Place::own_of_recv ? own : 0;
        recv_at_ += place_ == Place::own_of_send ? own : 0;
    }
    write_bytes(test_, *send_, given_, send_at_, where_);
}

hal_status Round::call(hal_comm comm, hal_stream stream) {
    CollectiveCall call;
    call.send = send_->ptr + send_at_;
    call.recv = recv_->ptr + recv_at_;
    call.count = shape_.count;
    call.dtype = *shape_.carried;
    call.op = shape_.reduction.op;
    call.root = shape_.root;
    call.ranks = ranks_;
    call.rank = rank_;
    call.comm = comm;
    call.stream = stream;
    return collective_.call(test_, call);
}

// Means over a number of ranks that is no power of two may be made by a factor that is rounded: two units in the last
// place are allowed.
bool Round::near(const Bytes& expected) const {
    const bool power = (ranks_ & (ranks_ - 1)) == 0;
    const auto& [type, op] = shape_.reduction;
    if (!collective_.reduces || op != HAL_REDUCE_AVG || !type.real() || power) {
        return false;
    }
    const Bytes whole = read_bytes(test_, *recv_, where_);
    const Bytes got(whole.begin() + static_cast<ptrdiff_t>(recv_at_),
                    whole.begin() + static_cast<ptrdiff_t>(recv_at_ + expected.size()));
    const auto a = decode(type, expected);
    const auto b = decode(type, got);
    for (size_t i = 0; i < a.size(); ++i) {
        if (!(std::abs(a[i] - b[i]) <= 2 * unit_in_last_place(type, a[i]))) {
            return false;
        }
    }
    return true;
}

void Round::expect() {
    const Bytes result = result_bytes();
    if (result.empty()) {
        const bool other = place_ != Place::none;  // the buffer holds the source, which stays
        expect_bytes(test_, *recv_, other ? given_ : Bytes(), "the buffer of a rank that gets nothing",
                     other ? send_at_ : 0, where_);
    } else if (near(result)) {
        test_.check(true, "mean within two units in the last place", where_);
    } else if (place_ == Place::own_of_send) {
        expect_slice(test_, *recv_, result, "the result", recv_at_, where_);
    } else {
        expect_bytes(test_, *recv_, result, "the result", recv_at_, where_);
    }
    if (place_ == Place::none) {
        expect_source();
    }
}

void Round::expect_source() {
    expect_bytes(test_, *send_, given_, "the source after the collective", send_at_, where_);
}

void Round::release() {
    for (const DeviceBuffer& buffer : std::exchange(other_, {})) {
        if (shape_.memory == Memory::unified) {
            test_.ok(test_.api.unified_memory_deallocate(buffer.dev, buffer.base, 0), "unified_memory_deallocate",
                     where_);
        } else {
            test_.ok(test_.api.memory_ipc_close(buffer.dev, buffer.base), "memory_ipc_close", where_);
        }
    }
    if (shape_.memory == Memory::imported) {
        test_.rank_barrier();  // nobody uses what was lent
    }
    for (DeviceBuffer* const own : std::exchange(lent_, {})) {
        test_.release(*own, where_);
    }
    if (shape_.memory != Memory::device) {
        return;
    }
    test_.release(*send_, where_);
    if (recv_ != send_) {
        test_.release(*recv_, where_);
    }
}

void run_round(Test& t, const Collective& collective, const Shape& shape, hal_comm comm, hal_stream stream,
               Where where) {
    Round round(t, collective, shape, t.ranks(), t.rank(), where);
    t.ok(round.call(comm, stream), "the call", where);
    waited(t, stream, where);
    round.expect();
    round.release();
}

}  // namespace hal::conformance
