// MatMul: packing and multiplication by the kernels of matmul.cl, batch after batch through one workspace.
#include "common/launch.hpp"
#include "hal/register.h"
#include "kernels/matrices.hpp"
#include "sources.hpp"

namespace hal::opencl {
namespace {

constexpr Source matmul_source{"matmul.cl", {cl::prelude, cl::matmul, {}}};

// What a work-item keeps in registers: with AVX-512 on PoCL five times CLBlast at n = 1024 (hal-bench --group opencl).
// Other tiles were not tried.
constexpr int64_t tile_rows = 6;
constexpr int64_t tile_columns = 16;

int64_t item_bytes(const Call& call) {
    return call.dtype() == HAL_F64 ? 8 : 4;  // halves are multiplied as floats
}

// One side as panels of `width` lines.
struct Panels {
    int64_t lines;
    int64_t line_stride;
    int64_t depth_stride;
    int64_t width;
    [[nodiscard]] int64_t count() const noexcept { return (lines + width - 1) / width; }
    [[nodiscard]] int64_t elements(int64_t depth) const noexcept { return count() * width * depth; }
};

struct Tiles {
    int64_t depth;
    Panels a;
    Panels b;
};

Tiles tiles_of(const shared::Product& p) {
    return {p.a.columns,
            {p.a.rows, p.a.row_stride, p.a.column_stride, tile_rows},
            {p.b.columns, p.b.column_stride, p.b.row_stride, tile_columns}};
}

constexpr int64_t alignment = 64;
int64_t aligned(int64_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
}

uint64_t workspace_of(const Call& call, const Tiles& tiles) {
    const int64_t item = item_bytes(call);
    return static_cast<uint64_t>(aligned(tiles.a.elements(tiles.depth) * item) +
                                 aligned(tiles.b.elements(tiles.depth) * item));
}

uint64_t workspace(const Call& call) {
    return workspace_of(call, tiles_of(shared::read_matmul(call, call.dtype())));
}

std::string options(hal_dtype dtype) {
    return type_option(dtype) + (dtype == HAL_F64 ? " -D T_F64" : "") + " -D TILE_ROWS=" + std::to_string(tile_rows) +
           " -D TILE_COLUMNS=" + std::to_string(tile_columns);
}

// What one batch needs; byte positions within the operands' memory.
struct Batch {
    int64_t output, a, b;
};

class Multiplication {
  public:
    Multiplication(const Call& call, const shared::Product& product, const Tiles& tiles, const Place& work)
        : api_(call.device().api()),
          product_(product),
          tiles_(tiles),
          work_(work),
          b_offset_(aligned(tiles.a.elements(tiles.depth) * item_bytes(call))),
          program_(call.device().programs.find(matmul_source, call.dtype(), [&] { return options(call.dtype()); })),
          one_item_groups_((call.device().info().type & CL_DEVICE_TYPE_CPU) != 0) {}

    // The three operands' memory, output first.
    [[nodiscard]] cl_int enqueue(cl_command_queue queue, const std::array<Place, 3>& places, const Batch& batch,
                                 cl_event* out) const {
        cl_int error = pack(queue, tiles_.a, places[1], batch.a, 0);
        error = error != CL_SUCCESS ? error : pack(queue, tiles_.b, places[2], batch.b, b_offset_);
        return error != CL_SUCCESS ? error : multiply(queue, places[0], batch.output, out);
    }

  private:
    [[nodiscard]] cl_int pack(cl_command_queue queue, const Panels& side, const Place& source, int64_t source_offset,
                              int64_t packed_offset) const {
        const int64_t count = side.elements(tiles_.depth);
        return count == 0 ? CL_SUCCESS
                          : launch(api_, queue, program_.kernel("pack"), Range::items(count), nullptr, work_, source,
                                   static_cast<int64_t>(work_.offset) + packed_offset, source_offset, count, side.lines,
                                   tiles_.depth, side.line_stride, side.depth_stride, side.width);
    }
    [[nodiscard]] cl_int multiply(cl_command_queue queue, const Place& output, int64_t output_offset,
                                  cl_event* out) const {
        // A CPU's work-item is a loop of vectors already, and groups only make it jump between panels.
        const size_t side = one_item_groups_ ? 1 : 8;
        const auto groups = [&](int64_t panels) { return (static_cast<size_t>(panels) + side - 1) / side * side; };
        const Range range{{groups(tiles_.a.count()), groups(tiles_.b.count())}, {side, side}, 2};
        const shared::Side& c = product_.c;
        return launch(api_, queue, program_.kernel("multiply"), range, out, output, work_, output_offset,
                      static_cast<int64_t>(work_.offset), static_cast<int64_t>(work_.offset) + b_offset_, c.rows,
                      c.columns, tiles_.depth, c.row_stride, c.column_stride);
    }

    const Api& api_;
    const shared::Product& product_;
    const Tiles& tiles_;
    const Place work_;
    const int64_t b_offset_;
    const Program& program_;
    const bool one_item_groups_;
};

// The places of the batch's matrices, counted from the operands' first elements.
Batch batch_at(const Steps<3>& steps, int64_t index) {
    Batch batch{steps.offset[0], steps.offset[1], steps.offset[2]};
    for (int64_t axis = steps.rank - 1; axis >= 0; --axis) {
        const int64_t inner = index % steps.extent[axis];
        index /= steps.extent[axis];
        batch.output += inner * steps.stride[0][axis];
        batch.a += inner * steps.stride[1][axis];
        batch.b += inner * steps.stride[2][axis];
    }
    return batch;
}

hal_status matmul(Instance& instance, const hal_kernel_call& raw) {
    const Call call(instance, raw, Purpose::run, 2, 1);
    const shared::Product product = shared::read_matmul(call, call.dtype());
    const Tiles tiles = tiles_of(product);
    const std::byte* const work = call.workspace(workspace_of(call, tiles));
    if (product.output.count() == 0) {
        enqueue_nothing(call);
        return HAL_OK;
    }
    const Walk<3> batches = walk<3>(call, product.batch, {&product.batch_c, &product.batch_a, &product.batch_b});
    // Without depth nothing is packed, and the sums stay zero.
    const Multiplication one(call, product, tiles, work == nullptr ? batches.places[0] : call.place_of(work));
    enqueue(call, [&](cl_command_queue queue, cl_event* out) {
        cl_int error = CL_SUCCESS;
        for (int64_t i = 0; i < batches.steps.count && error == CL_SUCCESS; ++i) {
            error = one.enqueue(queue, batches.places, batch_at(batches.steps, i),
                                i + 1 == batches.steps.count ? out : nullptr);
        }
        return error;
    });
    return HAL_OK;
}

#define MATMUL(dtype, T)                                                                                       \
    REGISTER_KERNEL_WITH("MatMul", "opencl", HAL_LAYOUT_ANY, dtype, sdk::kernel<matmul>,                       \
                         .flags = HAL_KERNEL_STRIDED | HAL_KERNEL_DETERMINISTIC, .query = query<workspace, 2>, \
                         .infer = infer<shared::product_shape, 2>);
HAL_FOR_FLOATS(MATMUL)

}  // namespace
}  // namespace hal::opencl
