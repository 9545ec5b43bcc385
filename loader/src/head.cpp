#include "head.hpp"

#include <algorithm>

#include "stub.hpp"

namespace hal::loader {

namespace {

// Constant-initialised and trivially destroyed: usable from static constructors and at exit.
constinit std::atomic<Head*> heads{nullptr};
constinit std::atomic<uint64_t> closings{0};

Head* reuse_one() {
    const uint64_t now = closings.load();
    for (Head* head = heads.load(std::memory_order_acquire); head != nullptr; head = head->next) {
        uint64_t ticket = head->retired.load();
        if (ticket != 0 && now - ticket >= quarantine && head->retired.compare_exchange_strong(ticket, 0)) {
            return head;
        }
    }
    return nullptr;
}

}  // namespace

Head& acquire_head() {
    if (Head* head = reuse_one()) {
        return *head;
    }
    Head* head = new Head{};
    head->size = sizeof(hal_backend);
    point_at(*head, shutdown_tables, reinterpret_cast<hal_instance*>(head));
    head->next = heads.load(std::memory_order_relaxed);
    while (!heads.compare_exchange_weak(head->next, head)) {
    }
    return *head;
}

std::string_view claim_instance(Head& head, hal_instance* instance, Opened& opened, std::string_view id) {
    const size_t length = std::min(id.size(), sizeof head.id - 1);
    std::copy_n(id.data(), length, head.id);
    head.id[length] = '\0';
    head.opened.store(&opened);
    head.plugin.store(instance);
    // Published before the search: of two that claim one instance at a time, at least one sees the other.
    for (const Head* other = heads.load(); other != nullptr; other = other->next) {
        if (other != &head && other->plugin.load() == instance) {
            return other->id;
        }
    }
    return {};
}

void retire_head(Head& head) noexcept {
    point_at(head, shutdown_tables, reinterpret_cast<hal_instance*>(&head));
    head.registry.store(nullptr);
    head.plugin.store(nullptr);
    head.opened.store(nullptr);
    head.retired.store(closings.fetch_add(1) + 1);
}

Opened* find_opened(const hal_instance* instance) noexcept {
    for (const Head* head = heads.load(std::memory_order_acquire); head != nullptr; head = head->next) {
        if (head->plugin.load(std::memory_order_acquire) == instance) {
            return head->opened.load(std::memory_order_acquire);
        }
    }
    return nullptr;
}

size_t head_count() noexcept {
    size_t count = 0;
    for (const Head* head = heads.load(); head != nullptr; head = head->next) {
        ++count;
    }
    return count;
}

}  // namespace hal::loader
