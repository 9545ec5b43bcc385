#include "queue.hpp"

namespace hal::cpu {

TaskQueue::~TaskQueue() {
    release();
}

void TaskQueue::add_chunk() {
    if (spares_ == nullptr) {
        spares_ = emptied_.exchange(nullptr, std::memory_order_acquire);
    }
    Chunk* chunk = spares_;
    if (chunk == nullptr) {
        chunk = new Chunk;
        chunk_count_.fetch_add(1, std::memory_order_relaxed);
    } else {
        // Needs no cleaning: the positions in it are older than any that the consumer will look for.
        spares_ = chunk->next.load(std::memory_order_relaxed);
        chunk->next.store(nullptr, std::memory_order_relaxed);
    }
    (write_ == nullptr ? first_ : write_->next).store(chunk, std::memory_order_release);
    write_ = chunk;
    write_index_ = 0;
}

bool TaskQueue::next_chunk() noexcept {
    Chunk* next = (read_ == nullptr ? first_ : read_->next).load(std::memory_order_acquire);
    if (next == nullptr) {
        return false;
    }
    if (read_ != nullptr) {
        recycle(read_);
    }
    read_ = next;
    read_index_ = 0;
    return true;
}

// The only one that adds, while others take the whole list: no chunk can come back between the load and the exchange.
void TaskQueue::recycle(Chunk* chunk) noexcept {
    if (chunk_count_.load(std::memory_order_relaxed) > kept_chunks) {
        chunk_count_.fetch_sub(1, std::memory_order_relaxed);
        delete chunk;
        return;
    }
    Chunk* top = emptied_.load(std::memory_order_relaxed);
    do {
        chunk->next.store(top, std::memory_order_relaxed);
    } while (!emptied_.compare_exchange_weak(top, chunk, std::memory_order_release, std::memory_order_relaxed));
}

void TaskQueue::release() noexcept {
    delete_list(read_ == nullptr ? first_.load(std::memory_order_relaxed) : read_);
    delete_list(spares_);
    delete_list(emptied_.exchange(nullptr, std::memory_order_acquire));
    first_.store(nullptr, std::memory_order_relaxed);
    chunk_count_.store(0, std::memory_order_relaxed);
    write_ = nullptr;
    write_index_ = 0;
    spares_ = nullptr;
    read_ = nullptr;
    read_index_ = chunk_tasks;
}

void TaskQueue::delete_list(Chunk* chunk) noexcept {
    while (chunk != nullptr) {
        Chunk* next = chunk->next.load(std::memory_order_relaxed);
        delete chunk;
        chunk = next;
    }
}

}  // namespace hal::cpu
