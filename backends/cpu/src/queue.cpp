#include "queue.hpp"

namespace hal::cpu {

TaskQueue::~TaskQueue() {
    release();
}

void TaskQueue::add_chunk() {
    // A reused chunk needs no cleaning: the positions in it are older than any that the consumer will look for.
    Chunk* chunk = spare_.exchange(nullptr, std::memory_order_acquire);
    if (chunk == nullptr) {
        chunk = new Chunk;
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
        read_->next.store(nullptr, std::memory_order_relaxed);
        delete spare_.exchange(read_, std::memory_order_acq_rel);
    }
    read_ = next;
    read_index_ = 0;
    return true;
}

void TaskQueue::release() noexcept {
    for (Chunk* chunk = read_ == nullptr ? first_.load(std::memory_order_relaxed) : read_; chunk != nullptr;) {
        Chunk* next = chunk->next.load(std::memory_order_relaxed);
        delete chunk;
        chunk = next;
    }
    delete spare_.exchange(nullptr, std::memory_order_acquire);
    first_.store(nullptr, std::memory_order_relaxed);
    write_ = nullptr;
    write_index_ = 0;
    read_ = nullptr;
    read_index_ = chunk_tasks;
}

}  // namespace hal::cpu
