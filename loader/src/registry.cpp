#include "registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>

#include "kernel_rank.hpp"
#include "names.hpp"

namespace hal::loader {
namespace {

constexpr size_t first_capacity = 256;  // 2 KiB: enough for the operators of a small back end

// An operator name as the two words that hash and compare it: the first and the last eight bytes. Up to 16 bytes they
// are the whole name, so that the usual look-up calls no memcmp.
struct Name {
    const char* text;
    uint64_t length;
    uint64_t first;
    uint64_t last;

    explicit Name(const char* op) noexcept : text(op), length(std::strlen(op)), first(0), last(0) {
        if (length >= 8) {
            std::memcpy(&first, op, 8);
            std::memcpy(&last, op + length - 8, 8);
        } else if (length >= 4) {
            std::memcpy(&first, op, 4);
            std::memcpy(&last, op + length - 4, 4);
        } else if (length > 0) {
            std::memcpy(&first, op, 1);
            last = static_cast<uint64_t>(static_cast<unsigned char>(op[length / 2])) << 8 |
                   static_cast<unsigned char>(op[length - 1]);
        }
    }

    [[nodiscard]] bool operator==(const Name& other) const noexcept {
        return first == other.first && last == other.last && length == other.length &&
               (length <= 16 || std::memcmp(text, other.text, length) == 0);
    }

    // Names with equal ends ("...Backward", "...Grad") still differ in length or in the middle: fold that in too.
    [[nodiscard]] uint64_t hash() const noexcept {
        uint64_t folded = (first + length) * 0x9e3779b97f4a7c15U ^ std::rotl(last, 32) * 0xc2b2ae3d27d4eb4fU;
        for (uint64_t at = 8; at + 8 < length; at += 8) {
            uint64_t word = 0;
            std::memcpy(&word, text + at, 8);
            folded = (std::rotl(folded, 27) ^ word) * 0x9e3779b97f4a7c15U;
        }
        return folded ^ folded >> 29;
    }
};

// One kernel in the chain of its operator and dtype. One cache line: a look-up reads the slot and this.
struct alignas(64) Node {
    explicit Node(const hal_kernel& of) noexcept
        : kernel(&of),
          name(of.op),
          dtype(of.dtype),
          layout(of.layout),
          plain(of.signature == nullptr && of.arch == nullptr && of.op_version_max == 0) {}

    std::atomic<Node*> next{nullptr};
    const hal_kernel* kernel;
    Name name;
    hal_dtype dtype;
    hal_layout layout;
    bool plain;  // nothing but the layout can rule it out
};

// Operator and dtype -> head of the chain: open addressing, at most half full, a power of two. Slots only ever gain
// chains or a better head, so a reader that still holds an outgrown table walks valid chains.
class Table {
  public:
    explicit Table(size_t capacity) : slots_(capacity), shift_(64 - std::countr_zero(capacity)) {}

    // The slot of the chain, or the empty slot where it would begin.
    [[nodiscard]] const std::atomic<Node*>& slot(const Name& name, uint64_t hash, hal_dtype dtype) const noexcept {
        const uint64_t mixed = (hash ^ dtype) * 0xd6e8feb86659fd93U;
        for (size_t i = mixed >> shift_;; i = (i + 1) & (slots_.size() - 1)) {
            const Node* head = slots_[i].load(std::memory_order_acquire);
            if (head == nullptr || (head->dtype == dtype && head->name == name)) {
                return slots_[i];
            }
        }
    }
    [[nodiscard]] std::atomic<Node*>& slot(const Name& name, uint64_t hash, hal_dtype dtype) noexcept {
        return const_cast<std::atomic<Node*>&>(std::as_const(*this).slot(name, hash, dtype));
    }

    [[nodiscard]] size_t capacity() const noexcept { return slots_.size(); }

  private:
    std::vector<std::atomic<Node*>> slots_;
    int shift_;
};

// Beyond operator, dtype and layout.
bool rest_matches(const hal_kernel& kernel, const hal_kernel_key& key) noexcept {
    return signature_matches(kernel, key) && arch_matches(kernel, key) && op_version_matches(kernel, key);
}

// The link of the chain that is to point at `node`.
std::atomic<Node*>& find_link(std::atomic<Node*>& head, const Node& node) noexcept {
    std::atomic<Node*>* link = &head;
    for (Node* at = link->load(std::memory_order_relaxed); at != nullptr && compare_rank(*at->kernel, *node.kernel) < 0;
         at = link->load(std::memory_order_relaxed)) {
        link = &at->next;
    }
    return *link;
}

// By operator, dtype and rank; equal kernels are duplicates.
int compare(const hal_kernel& a, const hal_kernel& b) noexcept {
    if (const int order = std::strcmp(a.op, b.op); order != 0) {
        return order;
    }
    if (a.dtype != b.dtype) {
        return a.dtype == HAL_DTYPE_ANY ? 1 : (b.dtype == HAL_DTYPE_ANY ? -1 : (a.dtype < b.dtype ? -1 : 1));
    }
    return compare_rank(a, b);
}

// The kernel that equals this one in key and rank, or nullptr.
const hal_kernel* find_equal(const Table& table, const hal_kernel& kernel) noexcept {
    const Name name(kernel.op);
    const Node* at = table.slot(name, name.hash(), kernel.dtype).load(std::memory_order_relaxed);
    while (at != nullptr && compare_rank(*at->kernel, kernel) != 0) {
        at = at->next.load(std::memory_order_relaxed);
    }
    return at == nullptr ? nullptr : at->kernel;
}

std::string duplicate_text(const hal_kernel& first, const hal_kernel& second) {
    return fmt::format(
        "kernel \"{}\" for dtype {}, layout {} is registered twice with equal key and rank: at {} and at {}; give "
        "one a higher priority or remove it",
        first.op, dtype_name(first.dtype), layout_name(first.layout), source_of(first), source_of(second));
}

// Within the batch, and against what is there.
std::string find_duplicate(const Table& table, std::vector<const hal_kernel*> batch) {
    std::stable_sort(batch.begin(), batch.end(), [](const auto* a, const auto* b) { return compare(*a, *b) < 0; });
    const auto twin = std::adjacent_find(batch.begin(), batch.end(),
                                         [](const auto* a, const auto* b) { return compare(*a, *b) == 0; });
    if (twin != batch.end()) {
        return duplicate_text(**twin, **std::next(twin));
    }
    for (const hal_kernel* kernel : batch) {
        if (const hal_kernel* other = find_equal(table, *kernel); other != nullptr) {
            return duplicate_text(*other, *kernel);
        }
    }
    return {};
}

// The first match of the chain; with `after` none up to that kernel, and `after` becomes NULL where it is passed.
const hal_kernel* first_match(const Node* at, const hal_kernel_key& key, const hal_kernel*& after) noexcept {
    for (; at != nullptr; at = at->next.load(std::memory_order_acquire)) {
        if (after != nullptr) [[unlikely]] {
            after = at->kernel == after ? nullptr : after;
        } else if ((at->layout == HAL_LAYOUT_ANY || at->layout == key.layout) &&
                   (at->plain || rest_matches(*at->kernel, key))) {
            return at->kernel;
        }
    }
    return nullptr;
}

}  // namespace

struct Registry::State {
    State() { grow(first_capacity); }

    mutable std::mutex mutex;                    // of writers, list and explain_miss; find never takes it
    std::atomic<const Table*> current{nullptr};  // tables.back()
    std::deque<Table> tables;  // outgrown ones too: each is half the next, all of them less than the last
    std::deque<Node> nodes;    // never moved, never removed
    std::deque<std::deque<hal_kernel>> copies;  // of kernels of older plug-ins, by batch
    size_t chains = 0;

    // Shows the readers a larger table of the same chains.
    void grow(size_t capacity) {
        Table& table = tables.emplace_back(capacity);
        for (Node& node : nodes) {
            auto& slot = table.slot(node.name, node.name.hash(), node.dtype);
            const Node* head = slot.load(std::memory_order_relaxed);
            if (head == nullptr || compare_rank(*node.kernel, *head->kernel) < 0) {
                slot.store(&node, std::memory_order_relaxed);
            }
        }
        current.store(&table, std::memory_order_release);
    }

    // A reader meets the node complete or not at all.
    void insert(Node& node) noexcept {
        auto& slot = tables.back().slot(node.name, node.name.hash(), node.dtype);
        chains += slot.load(std::memory_order_relaxed) == nullptr ? 1 : 0;
        auto& link = find_link(slot, node);
        node.next.store(link.load(std::memory_order_relaxed), std::memory_order_relaxed);
        link.store(&node, std::memory_order_release);
    }

    // Everything that may throw comes before the first insertion.
    void insert_all(const std::vector<const hal_kernel*>& batch) {
        const size_t needed = std::bit_ceil(2 * (chains + batch.size()));
        if (needed > tables.back().capacity()) {
            grow(needed);
        }
        const size_t before = nodes.size();
        try {
            for (const hal_kernel* kernel : batch) {
                nodes.emplace_back(*kernel);
            }
        } catch (...) {
            while (nodes.size() > before) {
                nodes.pop_back();
            }
            throw;
        }
        for (size_t i = before; i < nodes.size(); ++i) {
            insert(nodes[i]);
        }
    }
};

Registry::Registry() : state_(std::make_unique<State>()) {}
Registry::~Registry() = default;

std::string Registry::add(std::string_view backend, std::span<const hal_kernel* const> kernels) {
    const std::lock_guard lock(state_->mutex);
    std::vector<const hal_kernel*> batch;
    batch.reserve(kernels.size());
    std::deque<hal_kernel> copies;
    for (const hal_kernel* kernel : kernels) {
        if (auto defect = kernel_defect(backend, kernel); !defect.empty()) {
            return defect;
        }
        batch.push_back(kernel->size >= sizeof(hal_kernel) ? kernel : &copies.emplace_back(complete_kernel(*kernel)));
    }
    if (auto duplicate = find_duplicate(state_->tables.back(), batch); !duplicate.empty()) {
        return duplicate;
    }
    if (!copies.empty()) {
        state_->copies.push_back(std::move(copies));  // the addresses stay
    }
    state_->insert_all(batch);
    return {};
}

const hal_kernel* Registry::find(const hal_kernel_key& key, const hal_kernel* after) const noexcept {
    if (key.op == nullptr) {
        return nullptr;
    }
    const Name name(key.op);
    const uint64_t hash = name.hash();
    const Table& table = *state_->current.load(std::memory_order_acquire);
    if (key.dtype != HAL_DTYPE_ANY) {
        const Node* head = table.slot(name, hash, key.dtype).load(std::memory_order_acquire);
        if (const hal_kernel* kernel = first_match(head, key, after); kernel != nullptr) {
            return kernel;
        }
    }
    return first_match(table.slot(name, hash, HAL_DTYPE_ANY).load(std::memory_order_acquire), key, after);
}

std::vector<const hal_kernel*> Registry::list() const {
    std::vector<const hal_kernel*> kernels;
    {
        const std::lock_guard lock(state_->mutex);
        kernels.reserve(state_->nodes.size());
        for (const Node& node : state_->nodes) {
            kernels.push_back(node.kernel);
        }
    }
    std::sort(kernels.begin(), kernels.end(), [](const auto* a, const auto* b) { return compare(*a, *b) < 0; });
    return kernels;
}

std::string Registry::explain_miss(const hal_kernel_key& key) const {
    return explain_kernel_miss(key, list());
}

}  // namespace hal::loader
