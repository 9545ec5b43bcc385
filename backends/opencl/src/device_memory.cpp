#include "device_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "address_text.hpp"
#include "device.hpp"
#include "instance.hpp"

namespace hal::opencl {
namespace {

constexpr uint64_t least_alignment = 256;
constexpr uint64_t most_addresses = uint64_t{1} << 40U;

bool has_svm(const DeviceInfo& info) {
    return (info.svm & (CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER)) != 0;
}

bool fine_grained(const DeviceInfo& info) {
    return (info.svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0;
}

bool choose_svm(const DeviceInfo& info, MemoryMode mode) {
    if (mode == MemoryMode::svm && !has_svm(info)) {
        throw sdk::Error(HAL_ERROR_UNSUPPORTED,
                         "option memory_mode is svm, which " + info.name + " lacks; use auto or buffer");
    }
    return mode != MemoryMode::buffer && has_svm(info);
}

void* aligned(void* pointer, uint64_t alignment) {
    const auto address = reinterpret_cast<uint64_t>(pointer);
    return reinterpret_cast<void*>((address + alignment - 1) / alignment * alignment);
}

std::string block_text(const Block& block, uint64_t address, int32_t device) {
    constexpr const char* kinds[] = {"an allocation", "a unified allocation", "host memory"};
    std::string text = kinds[static_cast<size_t>(block.kind)];
    if (block.pending) {
        text += " that a stream frees,";
    }
    text += " of " + std::to_string(block.bytes) + " bytes at " + shared::address_text(block.base) + " of device " +
            std::to_string(device);
    return address - block.base < block.bytes ? text : "behind the end of " + text;
}

}  // namespace

Memory::Memory(Device& device, const Options& options)
    : device_(device),
      svm_(choose_svm(device.info(), options.memory_mode)),
      limit_bytes_(options.memory_bytes == 0 ? device.info().memory_bytes
                                             : std::min(options.memory_bytes, device.info().memory_bytes)),
      granule_bytes_(std::max(least_alignment, device.info().alignment_bytes)) {
    if (!svm_) {
        // Four times as much as there is, and room for the pieces between many small ones.
        addresses_ = std::make_unique<Addresses>(std::min(4 * limit_bytes_ + (uint64_t{64} << 30U), most_addresses));
    }
}

Memory::~Memory() {
    later_.clear();
    while (!blocks_.empty()) {
        remove(blocks_.begin());
    }
}

bool Memory::host_accessible() const noexcept {
    return svm_ && fine_grained(device_.info());
}

uint64_t Memory::rounded(uint64_t bytes) const noexcept {
    return (bytes + granule_bytes_ - 1) / granule_bytes_ * granule_bytes_;
}

void Memory::throw_full(uint64_t bytes) const {
    throw sdk::Error(HAL_ERROR_OUT_OF_DEVICE_MEMORY,
                     "device " + std::to_string(device_.ordinal()) + ": " + std::to_string(bytes) +
                         " bytes were asked for; " + std::to_string(limit_bytes_ - used_bytes_) + " of " +
                         std::to_string(limit_bytes_) + " are free, one allocation may have " +
                         std::to_string(device_.info().max_allocation_bytes));
}

// ---- Making and ending the driver's objects ----

Block Memory::make_buffer(uint64_t bytes, uint64_t alignment) {
    Block block;
    block.base = addresses_->take(bytes, alignment);
    if (block.base == 0) {
        throw_full(bytes);
    }
    cl_int error = CL_SUCCESS;
    block.buffer = device_.api().clCreateBuffer(device_.context(), CL_MEM_READ_WRITE, bytes, nullptr, &error);
    if (error != CL_SUCCESS) {
        addresses_->give_back(block.base, bytes);
        check(error == CL_OUT_OF_RESOURCES ? CL_MEM_OBJECT_ALLOCATION_FAILURE : error, "clCreateBuffer");
    }
    return block;
}

// clSVMAlloc takes alignments up to that of the largest type, 128 bytes: the rest is done here.
Block Memory::make_svm(uint64_t bytes, uint64_t alignment, bool fine) {
    Block block;
    const cl_svm_mem_flags flags = CL_MEM_READ_WRITE | (fine ? CL_MEM_SVM_FINE_GRAIN_BUFFER : 0);
    block.pointer = device_.api().clSVMAlloc(device_.context(), flags, bytes + alignment, 0);
    if (block.pointer == nullptr) {
        throw_full(bytes);
    }
    block.base = reinterpret_cast<uint64_t>(aligned(block.pointer, alignment));
    return block;
}

// Pages of ours that the driver locks where it can. What it allocates itself (ALLOC_HOST_PTR) PoCL keeps after its
// release.
Block Memory::make_host(uint64_t bytes) {
    Block block;
    block.pointer = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block.pointer == MAP_FAILED) {
        throw sdk::Error(HAL_ERROR_OUT_OF_HOST_MEMORY,
                         std::to_string(bytes) + " bytes of host memory: " + std::strerror(errno), errno);
    }
    cl_int error = CL_SUCCESS;
    block.buffer = device_.api().clCreateBuffer(device_.context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes,
                                                block.pointer, &error);
    if (error != CL_SUCCESS) {
        munmap(block.pointer, bytes);
        throw sdk::Error(HAL_ERROR_OUT_OF_HOST_MEMORY,
                         std::to_string(bytes) + " bytes of host memory: the driver says " + cl_text(error), error);
    }
    block.base = reinterpret_cast<uint64_t>(block.pointer);
    return block;
}

Block Memory::make(uint64_t bytes, uint64_t alignment, BlockKind kind) {
    const bool fine = fine_grained(device_.info());
    Block block = kind == BlockKind::host              ? make_host(bytes)
                  : kind == BlockKind::unified || svm_ ? make_svm(bytes, alignment, fine)
                                                       : make_buffer(bytes, alignment);
    block.bytes = bytes;
    block.kind = kind;
    return block;
}

void Memory::unmake(const Block& block) noexcept {
    if (block.buffer != nullptr) {
        static_cast<void>(device_.api().clReleaseMemObject(block.buffer));
    } else {
        device_.api().clSVMFree(device_.context(), block.pointer);
    }
    if (block.kind == BlockKind::host) {
        munmap(block.pointer, block.bytes);
    }
}

// ---- The books ----

uint64_t Memory::allocate(uint64_t bytes, uint64_t alignment, BlockKind kind) {
    if (bytes == 0) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "size_bytes is 0; an allocation has at least 1 byte");
    }
    if (kind == BlockKind::unified && !fine_grained(device_.info())) {
        throw sdk::Error(HAL_ERROR_UNSUPPORTED, device_.info().name + " has no fine-grained shared virtual memory");
    }
    const std::unique_lock lock(mutex_);
    sweep_locked();
    const bool of_device = kind != BlockKind::host;
    if (bytes > limit_bytes_ ||
        (of_device && (bytes > device_.info().max_allocation_bytes || rounded(bytes) > limit_bytes_ - used_bytes_))) {
        throw_full(bytes);
    }
    if (unused_.empty()) {
        unused_.push_back(&storage_.emplace_back());
    }
    Block* const block = unused_.back();
    const auto at = blocks_.emplace(0, block).first;  // the node is made before the driver's object
    auto node = blocks_.extract(at);
    *block = make(bytes, std::max(alignment, granule_bytes_), kind);
    unused_.pop_back();
    node.key() = block->base;
    blocks_.insert(std::move(node));
    if (block->buffer != nullptr && of_device) {
        addresses_->assign(block->base, bytes, block);
    }
    if (of_device) {
        used_bytes_ += rounded(bytes);
        ++live_of_device_;
        peak_bytes_ = std::max(peak_bytes_, used_bytes_);
    }
    return block->base;
}

Block* Memory::around(uint64_t address) const noexcept {
    if (addresses_) {
        if (Block* const block = addresses_->find(address); block != nullptr) {
            return address - block->base < block->bytes ? block : nullptr;
        }
    }
    const auto after = blocks_.upper_bound(address);
    if (after == blocks_.begin()) {
        return nullptr;
    }
    Block* const block = std::prev(after)->second;
    return address - block->base < block->bytes ? block : nullptr;
}

std::optional<Block> Memory::find(uint64_t address) const {
    const std::shared_lock lock(mutex_);
    const Block* const block = around(address);
    return block == nullptr ? std::nullopt : std::optional(*block);
}

Memory::Blocks::iterator Memory::require_block(uint64_t address, uint64_t bytes, bool unified, bool host) {
    const auto at = blocks_.find(address);
    if (at == blocks_.end()) {
        const Block* const inside = around(address);
        throw sdk::Error(
            HAL_ERROR_INVALID_HANDLE,
            shared::address_text(address) + " is not where a live allocation of device " +
                std::to_string(device_.ordinal()) + " begins" +
                (inside == nullptr ? "" : "; it lies in " + block_text(*inside, address, device_.ordinal())));
    }
    const Block& block = *at->second;
    if (block.pending) {
        throw sdk::Error(HAL_ERROR_INVALID_HANDLE,
                         shared::address_text(address) + " is being freed already, by async_memory_deallocate");
    }
    if ((block.kind == BlockKind::unified) != unified || (block.kind == BlockKind::host) != host) {
        throw sdk::Error(HAL_ERROR_INVALID_HANDLE, shared::address_text(address) + " is " +
                                                       block_text(block, address, device_.ordinal()) +
                                                       "; each kind of memory has a deallocate of its own");
    }
    if (bytes != 0 && bytes != block.bytes) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "the allocation at " + shared::address_text(address) + " has " +
                                                         std::to_string(block.bytes) + " bytes, size_bytes says " +
                                                         std::to_string(bytes) +
                                                         "; pass the size that was asked for, or 0. Nothing was freed");
    }
    return at;
}

void Memory::remove(Blocks::iterator at) noexcept {
    Block* const block = at->second;
    if (block->buffer != nullptr && block->kind != BlockKind::host) {
        addresses_->give_back(block->base, block->bytes);
    }
    if (block->kind != BlockKind::host) {
        used_bytes_ -= rounded(block->bytes);
        --live_of_device_;
    }
    unmake(*block);
    blocks_.erase(at);
    unused_.push_back(block);
}

void Memory::release(uint64_t address, uint64_t bytes, BlockKind kind) {
    const std::unique_lock lock(mutex_);
    remove(require_block(address, bytes, kind == BlockKind::unified, kind == BlockKind::host));
}

void Memory::release_after(uint64_t address, const Event& event) {
    const std::unique_lock lock(mutex_);
    sweep_locked();
    later_.reserve(later_.size() + 1);
    const auto at = require_block(address, 0, false, false);
    if (event.ended()) {
        remove(at);
    } else {
        at->second->pending = true;
        later_.push_back({event, address});
    }
}

void Memory::sweep() {
    const std::unique_lock lock(mutex_);
    sweep_locked();
}

void Memory::sweep_locked() {
    std::erase_if(later_, [this](const Later& later) {
        if (!later.event.ended()) {
            return false;
        }
        remove(blocks_.find(later.address));
        return true;
    });
}

Memory::Stats Memory::stats() {
    const std::unique_lock lock(mutex_);
    sweep_locked();
    return {used_bytes_, peak_bytes_, live_of_device_, blocks_.size()};
}

void Memory::reset_peak() {
    const std::unique_lock lock(mutex_);
    peak_bytes_ = used_bytes_;
}

bool Memory::set_peer(int32_t peer, bool enabled) {
    const std::unique_lock lock(mutex_);
    const auto index = static_cast<size_t>(peer);
    peers_.resize(std::max(peers_.size(), index + 1));
    const bool changed = peers_[index] != enabled;
    peers_[index] = enabled;
    return changed;
}

// ---- Looking up ----

bool Memory::in(const Block& block, uint64_t address, uint64_t bytes, Place& out) const noexcept {
    const uint64_t offset = address - block.base;
    if (block.kind == BlockKind::host || block.pending || offset > block.bytes || bytes > block.bytes - offset) {
        return false;
    }
    out = block.buffer != nullptr ? Place{block.buffer, offset, nullptr}
                                  : Place{nullptr, 0, reinterpret_cast<void*>(address)};
    return true;
}

std::optional<Place> Memory::place(uint64_t address, uint64_t bytes) {
    Place place;
    if (addresses_) {
        if (const Block* const block = addresses_->find(address); block != nullptr) {
            return in(*block, address, bytes, place) ? std::optional(place) : std::nullopt;
        }
    }
    std::vector<bool> peers;
    {
        const std::shared_lock lock(mutex_);
        if (const Block* const block = around(address); block != nullptr && in(*block, address, bytes, place)) {
            return place;
        }
        peers = peers_;
    }
    for (size_t peer = 0; peer < peers.size(); ++peer) {  // without our lock: two devices may look at each other
        if (peers[peer]) {
            Memory& other = device_.instance().device(static_cast<hal_dev>(peer)).memory;
            const auto found = other.find(address);
            if (found && other.in(*found, address, bytes, place)) {
                return place;
            }
        }
    }
    return std::nullopt;
}

Place check_range(Device& device, uint64_t address, uint64_t bytes, const char* what) {
    if (bytes == 0) {
        return {};
    }
    const auto place = device.memory.place(address, bytes);
    if (!place) [[unlikely]] {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT,
                         std::string(what) + ": " + shared::range_text(address, bytes) +
                             " is not inside one live allocation that device " + std::to_string(device.ordinal()) +
                             " may use; at its begin lies " + describe_address(device.instance(), address));
    }
    return *place;
}

std::string describe_address(Instance& instance, uint64_t address) {
    for (hal_dev device = 0; device < instance.device_count(); ++device) {
        if (const auto block = instance.device(device).memory.find(address)) {
            return block_text(*block, address, device);
        }
    }
    return "no memory of this back end";
}

}  // namespace hal::opencl
