// MatMul against long double, and our own multiplication beside oneDNN's.
#include "../kernels/common/gemm.hpp"
#include "kernel_fixture.hpp"

namespace hal::cpu::test {
namespace {

struct Case {
    const char* what;
    Extents a, b, out;  // a and b as they lie in memory
    bool trans_a = false, trans_b = false;
    Extents a_strides = {}, b_strides = {}, out_strides = {};
    int64_t a_offset = 0;
};

const std::vector<Case>& cases() {
    static const std::vector<Case> all{
        {"plain", {17, 23}, {23, 9}, {17, 9}},
        {"one element", {1, 1}, {1, 1}, {1, 1}},
        {"both transposed", {23, 17}, {9, 23}, {17, 9}, true, true},
        {"transposed views", {17, 23}, {23, 9}, {17, 9}, false, false, {1, 17}, {1, 23}, {}},
        {"transposed view of a transpose", {23, 17}, {23, 9}, {17, 9}, true, false, {1, 23}, {}, {}},
        {"rows with gaps", {5, 6}, {6, 7}, {5, 7}, false, false, {9, 1}, {8, 1}, {10, 1}},
        {"columns with gaps", {5, 6}, {6, 7}, {5, 7}, false, false, {12, 2}, {14, 2}, {14, 2}},
        {"output by columns", {5, 6}, {6, 7}, {5, 7}, false, false, {}, {}, {1, 5}},
        {"backwards", {5, 6}, {6, 7}, {5, 7}, false, false, {-6, 1}, {}, {}, 24},
        {"a repeated row", {5, 6}, {6, 7}, {5, 7}, false, false, {0, 1}, {}, {}},
        {"batches", {3, 4, 5}, {3, 5, 2}, {3, 4, 2}},
        {"broadcast batches", {2, 1, 4, 5}, {3, 5, 2}, {2, 3, 4, 2}},
        {"one matrix for all", {2, 3, 4, 5}, {5, 2}, {2, 3, 4, 2}},
        {"rank 8", {2, 1, 1, 2, 1, 1, 3, 4}, {1, 1, 2, 1, 1, 1, 4, 2}, {2, 1, 2, 2, 1, 1, 3, 2}},
        {"vector times matrix", {5}, {5, 3}, {3}},
        {"matrix times vector", {4, 5}, {5}, {4}},
        {"vector times vector", {5}, {5}, {}},
        {"batch times vector", {2, 4, 5}, {5}, {2, 4}},
        {"strided vector", {5}, {5, 3}, {3}, false, false, {3}, {}, {2}},
        {"no inner elements", {4, 0}, {0, 3}, {4, 3}},
        {"no rows", {0, 4}, {4, 3}, {0, 3}},
        {"beyond the block sizes", {100, 260}, {260, 17}, {100, 17}},
    };
    return all;
}

template <class T>
void check(Cpu& cpu, const Case& c) {
    Tensor<T> a(cpu, c.a, c.a_strides, c.a_offset);
    Tensor<T> b(cpu, c.b, c.b_strides);
    Tensor<T> out(cpu, c.out, c.out_strides);
    std::mt19937_64 random(41);
    a.fill([&] { return random_value<T>(random, true); });
    b.fill([&] { return random_value<T>(random, true); });
    INFO(c.what << " " << dtype_text(dtype_of<T>) << " " << error_text());
    REQUIRE(Launch(cpu, "MatMul", {a.get(), b.get()}, {out.get()},
                   {attribute("transA", c.trans_a ? 1 : 0), attribute("transB", c.trans_b ? 1 : 0)})
                .run() == HAL_OK);
    out.download();
    out.check_gaps();

    const size_t left_rank = c.a.size();
    const size_t right_rank = c.b.size();
    const int64_t inner = left_rank == 1 ? c.a[0] : c.a[left_rank - (c.trans_a ? 2 : 1)];
    // The batch part of an output index, as that input's own index.
    const auto own_batch = [](const Extents& batch, const Extents& shape) {
        Extents own;
        const size_t rank = shape.size() < 2 ? 0 : shape.size() - 2;
        for (size_t axis = 0; axis < rank; ++axis) {
            own.push_back(shape[axis] == 1 ? 0 : batch[batch.size() - rank + axis]);
        }
        return own;
    };
    size_t wrong = 0;
    for_each_index(c.out, [&](const Extents& i) {
        Extents batch = i;
        const int64_t column = right_rank > 1 ? batch.back() : 0;
        batch.resize(batch.size() - (right_rank > 1 ? 1 : 0));
        const int64_t row = left_rank > 1 ? batch.back() : 0;
        batch.resize(batch.size() - (left_rank > 1 ? 1 : 0));
        long double sum = 0;
        long double magnitude = 0;
        for (int64_t k = 0; k < inner; ++k) {
            Extents at_a = own_batch(batch, c.a);
            Extents at_b = own_batch(batch, c.b);
            if (left_rank > 1) {
                at_a.push_back(c.trans_a ? k : row);
            }
            at_a.push_back(c.trans_a ? row : k);
            if (right_rank > 1) {
                at_b.push_back(c.trans_b ? column : k);
            }
            at_b.push_back(right_rank > 1 ? (c.trans_b ? k : column) : k);
            const long double product = exact(a[at_a]) * exact(b[at_b]);
            sum += product;
            magnitude += std::fabs(product);
        }
        // Any order of k products and k additions, then the rounding of halves.
        const long double u = std::ldexp(1.0L, -format_of<Compute<T>>.digits);
        const long double bound =
            (static_cast<long double>(inner) + 1) * u * magnitude * 1.001L + (Half<T> ? ulp<T>(sum) / 2 * 1.01L : 0);
        if (std::fabs(exact(out[i]) - sum) > bound && wrong++ == 0) {
            UNSCOPED_INFO("got " << exact(out[i]) << ", expected " << sum << " within " << bound);
        }
    });
    CHECK(wrong == 0);
}

TEST_CASE("MatMul of every shape and stride") {
    Cpu cpu;
    for (const Case& c : cases()) {
#define CHECK_TYPE(dtype, T) check<T>(cpu, c);
        HAL_FOR_FLOATS(CHECK_TYPE)
#undef CHECK_TYPE
    }
}

TEST_CASE("our own multiplication stays within the bound where oneDNN would be used") {
    std::mt19937_64 random(43);
    const int64_t m = 50, n = 61, k = 300, pitch = 64;
    std::vector<float> a(static_cast<size_t>(m * k)), b(static_cast<size_t>(k * n)),
        c(static_cast<size_t>(m * pitch), 7.0F);
    for (auto* values : {&a, &b}) {
        for (float& value : *values) {
            value = random_value<float>(random, true);
        }
    }
    own_gemm<float>(m, n, k, {a.data(), m, true}, {b.data(), n, false}, c.data(), pitch);
    for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < pitch; ++j) {
            if (j >= n) {
                REQUIRE(c[static_cast<size_t>(i * pitch + j)] == 7.0F);
                continue;
            }
            long double sum = 0;
            long double magnitude = 0;
            for (int64_t p = 0; p < k; ++p) {
                const long double product =
                    static_cast<long double>(a[static_cast<size_t>(p * m + i)]) * b[static_cast<size_t>(p * n + j)];
                sum += product;
                magnitude += std::fabs(product);
            }
            REQUIRE(std::fabs(c[static_cast<size_t>(i * pitch + j)] - sum) <= 301 * 0x1p-24L * magnitude * 1.001L);
        }
    }
}

}  // namespace
}  // namespace hal::cpu::test
