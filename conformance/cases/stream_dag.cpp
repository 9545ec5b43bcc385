// Table 3: stream_wait_event under a random order. 200 graphs of 100 copies on 8 streams, each ordered by events where
// the data ask for it and nowhere else; the memory must hold what the copies make one after the other.
#include "waits.hpp"

namespace hal::conformance {
namespace {

constexpr uint64_t graphs = 200;
constexpr size_t nodes = 100;
constexpr size_t lanes = 8;
constexpr size_t cells = 16;
constexpr uint64_t cell_bytes = 61;

// Who last wrote a cell, and who has read it since: nodes.
struct Uses {
    std::optional<size_t> writer;
    std::vector<size_t> readers;
};

class Graph {
  public:
    explicit Graph(Test& t) : t_(t), memory_(t.device(cells * cell_bytes)), back_(t.host(memory_.size)) {
        for (size_t i = 0; i < lanes; ++i) {
            streams_.push_back(t.stream());
        }
        for (size_t i = 0; i < nodes; ++i) {
            events_.push_back(t.event());
        }
    }

    void run(uint64_t number) {
        const auto in = t_.context("graph", number);
        const HostBuffer& start = t_.host(t_.pattern(), memory_.size);
        std::vector<uint8_t> expected(start.data(), start.data() + memory_.size);
        t_.ok(t_.api.memory_copy_h2d(0, memory_.ptr, start.data(), memory_.size));
        uses_.assign(cells, {});
        lane_of_.clear();
        for (size_t node = 0; node < nodes; ++node) {
            const size_t from = t_.random() % cells;
            const size_t to = (from + 1 + t_.random() % (cells - 1)) % cells;
            enqueue(node, from, to);
            std::memcpy(expected.data() + to * cell_bytes, expected.data() + from * cell_bytes, cell_bytes);
        }
        t_.ok(t_.api.synchronize_device(0, HAL_NO_TIMEOUT));
        t_.ok(t_.api.memory_copy_d2h(0, back_.data(), memory_.ptr, memory_.size));
        t_.check(std::memcmp(back_.data(), expected.data(), expected.size()) == 0, "the memory after all copies");
    }

  private:
    void enqueue(size_t node, size_t from, size_t to) {
        const size_t lane = t_.random() % lanes;
        lane_of_.push_back(lane);
        if (uses_[from].writer) {
            wait(lane, *uses_[from].writer);
        }
        if (uses_[to].writer) {
            wait(lane, *uses_[to].writer);
        }
        for (const size_t reader : uses_[to].readers) {
            wait(lane, reader);
        }
        t_.ok(t_.api.async_memory_copy_d2d(0, streams_[lane], memory_.ptr + to * cell_bytes,
                                           memory_.ptr + from * cell_bytes, cell_bytes));
        t_.ok(t_.api.record_event(0, streams_[lane], events_[node]));
        uses_[from].readers.push_back(node);
        uses_[to] = {node, {}};
    }

    // Of its own stream a node is ordered without events.
    void wait(size_t lane, size_t node) {
        if (lane_of_[node] != lane) {
            t_.ok(t_.api.stream_wait_event(0, streams_[lane], events_[node]));
        }
    }

    Test& t_;
    const DeviceBuffer& memory_;
    HostBuffer& back_;
    std::vector<hal_stream> streams_;
    std::vector<hal_event> events_;
    std::vector<Uses> uses_;
    std::vector<size_t> lane_of_;
};

HAL_CASE("45079.T3.stream_wait_event.stress.random_dag", clauses{"45079/T3.6", "45280/5.3.4"}, authority::D,
         needs{E::stream_wait_event, handover(), memory_io(), E::async_memory_copy_d2d, E::synchronize_device},
         cls::medium)
(Test& t) {
    Graph graph(t);
    for (uint64_t i = 0; i < graphs; ++i) {
        graph.run(i);
    }
}

}  // namespace
}  // namespace hal::conformance
