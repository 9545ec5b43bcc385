// Blocked multiplication: panels of A and B are packed so that the inner kernel reads them in order, and a tile of C
// stays in registers (6 rows by 2 vectors of 32 bytes, which with AVX2 leaves 4 of the 16 registers for A and B).
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "gemm.hpp"

namespace hal::cpu {
namespace {

constexpr int64_t tile_rows = 6;
constexpr int64_t depth = 256;      // of a panel: a column panel of B takes 16 KiB, half of the first cache
constexpr int64_t block_rows = 96;  // 192 KiB of A in the second cache
constexpr int64_t block_columns = 2048;

template <class T>
constexpr int64_t lanes = 32 / static_cast<int64_t>(sizeof(T));
template <class T>
constexpr int64_t tile_columns = 2 * lanes<T>;
template <class T>
using Tile = std::array<T, static_cast<size_t>(tile_rows* tile_columns<T>)>;

// `strips` of `width` elements, depth-major, filled up with zeros. at(i, p) reads element i of the strip direction.
template <class T, class At>
void pack(T* to, int64_t count, int64_t k, int64_t width, At at) {
    for (int64_t first = 0; first < count; first += width) {
        for (int64_t p = 0; p < k; ++p) {
            for (int64_t i = 0; i < width; ++i) {
                *to++ = first + i < count ? at(first + i, p) : T{0};
            }
        }
    }
}

template <class T>
__attribute__((always_inline)) inline void tile_kernel(int64_t k, const T* a, const T* b, Tile<T>& out) {
    typedef T Vector __attribute__((vector_size(32)));
    Vector sum[tile_rows][2] = {};
    for (int64_t p = 0; p < k; ++p, a += tile_rows, b += tile_columns<T>) {
        Vector low;
        Vector high;
        std::memcpy(&low, b, sizeof low);
        std::memcpy(&high, b + lanes<T>, sizeof high);
#pragma GCC unroll 6
        for (int64_t i = 0; i < tile_rows; ++i) {
            sum[i][0] += a[i] * low;
            sum[i][1] += a[i] * high;
        }
    }
    std::memcpy(out.data(), sum, sizeof sum);
}

#if defined(__x86_64__)
template <class T>
__attribute__((target("avx2,fma"))) void tile_avx2(int64_t k, const T* a, const T* b, Tile<T>& out) {
    tile_kernel<T>(k, a, b, out);
}
#endif
template <class T>
void tile_plain(int64_t k, const T* a, const T* b, Tile<T>& out) {
    tile_kernel<T>(k, a, b, out);
}

template <class T>
using TileFunction = void (*)(int64_t, const T*, const T*, Tile<T>&);
template <class T>
TileFunction<T> best_tile() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return tile_avx2<T>;
    }
#endif
    return tile_plain<T>;
}

template <class T>
void add_block(TileFunction<T> tile, int64_t rows, int64_t columns, int64_t k, const T* a, const T* b, T* c,
               int64_t pitch) {
    Tile<T> sums;
    for (int64_t j = 0; j < columns; j += tile_columns<T>) {
        for (int64_t i = 0; i < rows; i += tile_rows) {
            tile(k, a + i * k, b + j * k, sums);
            const int64_t width = std::min(tile_columns<T>, columns - j);
            for (int64_t r = 0; r < std::min(tile_rows, rows - i); ++r) {
                T* to = c + (i + r) * pitch + j;
                for (int64_t s = 0; s < width; ++s) {
                    to[s] += sums[static_cast<size_t>(r * tile_columns<T> + s)];
                }
            }
        }
    }
}

template <class T>
T at(const Matrix<T>& matrix, int64_t row, int64_t column) {
    return matrix.transposed ? matrix.data[column * matrix.pitch + row] : matrix.data[row * matrix.pitch + column];
}

int64_t rounded_up(int64_t value, int64_t step) {
    return (value + step - 1) / step * step;
}

}  // namespace

template <class T>
void own_gemm(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T* c, int64_t pitch) {
    for (int64_t row = 0; row < m; ++row) {
        std::fill_n(c + row * pitch, n, T{0});
    }
    const int64_t k_most = std::min(k, depth);
    std::vector<T> packed_a(static_cast<size_t>(rounded_up(std::min(m, block_rows), tile_rows) * k_most));
    std::vector<T> packed_b(static_cast<size_t>(rounded_up(std::min(n, block_columns), tile_columns<T>) * k_most));
    const TileFunction<T> tile = best_tile<T>();
    for (int64_t j = 0; j < n; j += block_columns) {
        const int64_t columns = std::min(block_columns, n - j);
        for (int64_t p = 0; p < k; p += depth) {
            const int64_t part = std::min(depth, k - p);
            pack(packed_b.data(), columns, part, tile_columns<T>,
                 [&](int64_t s, int64_t q) { return at(b, p + q, j + s); });
            for (int64_t i = 0; i < m; i += block_rows) {
                const int64_t rows = std::min(block_rows, m - i);
                pack(packed_a.data(), rows, part, tile_rows, [&](int64_t r, int64_t q) { return at(a, i + r, p + q); });
                add_block(tile, rows, columns, part, packed_a.data(), packed_b.data(), c + i * pitch + j, pitch);
            }
        }
    }
}

template void own_gemm<float>(int64_t, int64_t, int64_t, Matrix<float>, Matrix<float>, float*, int64_t);
template void own_gemm<double>(int64_t, int64_t, int64_t, Matrix<double>, Matrix<double>, double*, int64_t);

}  // namespace hal::cpu
