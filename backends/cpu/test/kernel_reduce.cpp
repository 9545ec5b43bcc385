// ReduceSum and Softmax.
#include "kernel_fixture.hpp"

namespace hal::cpu::test {
namespace {

struct Case {
    Extents shape, strides;
    std::vector<int64_t> axes;
    int64_t offset = 0;
};

template <class T>
void check_sum(Cpu& cpu, const Case& c, bool keep, bool named) {
    const auto rank = static_cast<int64_t>(c.shape.size());
    Extents kept_shape = c.shape;  // of the output with keepdims
    if (!named) {
        std::fill(kept_shape.begin(), kept_shape.end(), 1);
    }
    for (const int64_t axis : c.axes) {
        kept_shape[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = 1;
    }
    Extents out_shape;
    for (size_t axis = 0; axis < c.shape.size(); ++axis) {
        const bool reduced =
            !named || std::count(c.axes.begin(), c.axes.end(), static_cast<int64_t>(axis)) +
                              std::count(c.axes.begin(), c.axes.end(), static_cast<int64_t>(axis) - rank) !=
                          0;
        if (keep || !reduced) {
            out_shape.push_back(kept_shape[axis]);
        }
    }
    Tensor<T> in(cpu, c.shape, c.strides, c.offset);
    Tensor<T> out(cpu, out_shape);
    std::mt19937_64 random(21);
    in.fill([&] { return random_value<T>(random, true); });
    std::vector<hal_attr> attributes;
    if (!keep) {
        attributes.push_back(attribute("keepdims", 0));
    }
    if (named) {
        attributes.push_back(attribute("axes", c.axes));
    }
    INFO(dtype_text(dtype_of<T>) << " rank " << rank << " axes " << c.axes.size() << " keep " << keep << " "
                                 << error_text());
    REQUIRE(Launch(cpu, "ReduceSum", {in.get()}, {out.get()}, attributes).run() == HAL_OK);
    out.download();
    out.check_gaps();

    struct Expected {
        long double sum = 0, magnitude = 0;
        uint64_t wrapped = 0;
        int64_t count = 0;
    };
    std::vector<Expected> expected(static_cast<size_t>(count_of(kept_shape)));
    for_each_index(c.shape, [&](const Extents& i) {
        size_t at = 0;
        for (size_t axis = 0; axis < i.size(); ++axis) {
            at = at * static_cast<size_t>(kept_shape[axis]) + static_cast<size_t>(kept_shape[axis] == 1 ? 0 : i[axis]);
        }
        const long double value = exact(in[i]);
        expected[at].sum += value;
        expected[at].magnitude += std::fabs(value);
        expected[at].wrapped += std::integral<T> ? wrapped(value) : 0;
        ++expected[at].count;
    });
    size_t wrong = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
        const Expected& e = expected[i];
        const T got = out.raw()[i];
        if constexpr (std::integral<T>) {
            wrong += got != static_cast<T>(e.wrapped) ? 1 : 0;
        } else {
            // n additions in double, then one rounding to T.
            const long double bound =
                static_cast<long double>(e.count) * 0x1p-53L * e.magnitude + ulp<T>(e.sum) / 2 * (1 + 0x1p-20L);
            wrong += std::fabs(exact(got) - e.sum) > bound ? 1 : 0;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("ReduceSum over any axes") {
    Cpu cpu;
    for (const Case& c : {
             Case{{}, {}, {}}, Case{{1000}, {}, {0}}, Case{{37, 100}, {}, {1}}, Case{{37, 100}, {}, {0}},
             Case{{37, 100}, {}, {-2, -1}},
             Case{{37, 100}, {1, 37}, {0}},   // transposed: the reduced axis is the dense one
             Case{{7, 9}, {-9, 1}, {0}, 54},  // backwards
             Case{{7, 9}, {0, 2}, {1}},       // repeated rows, gaps
             Case{{3, 4, 5, 6}, {}, {1, 3}}, Case{{3, 4, 5, 6}, {}, {0, -2}},
             Case{{2, 2, 3, 2, 1, 2, 3, 2}, {}, {0, 3, 7}}, Case{{4, 0, 3}, {}, {1}},  // sums of nothing
             Case{{4, 0, 3}, {}, {0}},                                                 // nothing at all
         }) {
        for (const bool keep : {true, false}) {
            for (const bool named : {true, false}) {
                if (named && c.axes.empty()) {
                    continue;
                }
#define CHECK_TYPE(dtype, T) check_sum<T>(cpu, c, keep, named);
                HAL_FOR_FLOATS(CHECK_TYPE)
                CHECK_TYPE(HAL_I32, int32_t)
                CHECK_TYPE(HAL_I64, int64_t)
                CHECK_TYPE(HAL_U32, uint32_t)
                CHECK_TYPE(HAL_U64, uint64_t)
#undef CHECK_TYPE
            }
        }
    }
}

// Relative: the exponent's error |x - max| u (rounding of the difference), 2 units of e^x (u = half a unit), the sum in
// double of terms with that error, the reciprocal's and the product's rounding; then the rounding to T.
template <class T>
long double softmax_bound(long double want, long double furthest) {
    const long double u = std::ldexp(1.0L, -format_of<Compute<T>>.digits);
    const long double relative = 2 * (furthest * u + 4 * u) + 4 * u;
    return want * relative + ulp<T>(want) / 2 * (1 + 0x1p-8L) + 2 * ulp<Compute<T>>(0);
}

template <class T>
void check_softmax(Cpu& cpu, const Case& c, int64_t axis, bool in_place) {
    Tensor<T> in(cpu, c.shape, c.strides, c.offset);
    Tensor<T> other(cpu, c.shape);
    Tensor<T>& out = in_place ? in : other;
    std::mt19937_64 random(31);
    std::uniform_real_distribution<double> values(-30, 30);
    in.fill([&] { return convert<T>(values(random)); });
    std::vector<long double> input;
    for_each_index(c.shape, [&](const Extents& i) { input.push_back(exact(in[i])); });
    INFO(dtype_text(dtype_of<T>) << " rank " << c.shape.size() << " axis " << axis << " " << error_text());
    REQUIRE(Launch(cpu, "Softmax", {in.get()}, {out.get()}, {attribute("axis", axis)}).run() == HAL_OK);
    out.download();
    out.check_gaps();

    const auto rank = static_cast<int64_t>(c.shape.size());
    const auto at = static_cast<size_t>(axis < 0 ? axis + rank : axis);
    int64_t step = 1;
    for (size_t a = at + 1; a < c.shape.size(); ++a) {
        step *= c.shape[a];
    }
    size_t wrong = 0;
    int64_t place = 0;
    for_each_index(c.shape, [&](const Extents& i) {
        const long double* first = input.data() + (place - i[at] * step);
        long double top = first[0];
        long double bottom = first[0];
        for (int64_t k = 0; k < c.shape[at]; ++k) {
            top = std::max(top, first[k * step]);
            bottom = std::min(bottom, first[k * step]);
        }
        long double sum = 0;
        for (int64_t k = 0; k < c.shape[at]; ++k) {
            sum += std::exp(first[k * step] - top);
        }
        const long double want = std::exp(input[static_cast<size_t>(place)] - top) / sum;
        const long double got = exact(out[i]);
        if (std::fabs(got - want) > softmax_bound<T>(want, top - bottom) && wrong++ == 0) {
            UNSCOPED_INFO("got " << got << ", expected " << want << " within " << softmax_bound<T>(want, top - bottom));
        }
        ++place;
    });
    CHECK(wrong == 0);
}

TEST_CASE("Softmax along any axis") {
    Cpu cpu;
#define CHECK_TYPE(dtype, T)                                            \
    check_softmax<T>(cpu, {{1000}, {}, {}}, -1, false);                 \
    check_softmax<T>(cpu, {{20, 13}, {}, {}}, 1, false);                \
    check_softmax<T>(cpu, {{20, 13}, {}, {}}, 0, true);                 \
    check_softmax<T>(cpu, {{20, 13}, {1, 20}, {}}, -1, false);          \
    check_softmax<T>(cpu, {{20, 13}, {-13, 1}, {}, 247}, 0, false);     \
    check_softmax<T>(cpu, {{2, 3, 1, 2, 2, 1, 5, 2}, {}, {}}, 6, true); \
    check_softmax<T>(cpu, {{3, 1}, {}, {}}, -1, false);                 \
    check_softmax<T>(cpu, {{3, 0}, {}, {}}, -1, false);
    HAL_FOR_FLOATS(CHECK_TYPE)
#undef CHECK_TYPE
}

TEST_CASE("Softmax of infinities and large values") {
    Cpu cpu;
    Tensor<float> x(cpu, {4, 3});
    const float inf = HUGE_VALF;
    const float rows[] = {1e30F, 1e30F, -1e30F, -inf, 0, 0, inf, 0, 0, NAN, 0, 0};
    size_t next = 0;
    x.fill([&] { return rows[next++]; });
    REQUIRE(Launch(cpu, "Softmax", {x.get()}, {x.get()}).run() == HAL_OK);
    x.download();
    const float expected[] = {0.5F, 0.5F, 0, 0, 0.5F, 0.5F, NAN, NAN, NAN, NAN, NAN, NAN};
    for (size_t i = 0; i < 12; ++i) {
        CHECK(same(x.raw()[i], expected[i]));
    }
}

}  // namespace
}  // namespace hal::cpu::test
