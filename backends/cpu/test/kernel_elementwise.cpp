// Add, Sub, Mul, Max, Relu, Exp: every type, broadcasting, strides of all kinds.
#include "kernel_fixture.hpp"

namespace hal::cpu::test {
namespace {

// What a op b must be. Halves and floats fit into a long double with room, so rounding that is rounding once.
template <class T, class F>
long double expected(F&& f, T a, T b) {
    if constexpr (std::integral<T>) {
        return static_cast<T>(f(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
    } else if constexpr (std::same_as<T, double>) {
        return f(a, b);  // a long double has no room here
    } else {
        return rounded<T>(f(exact(a), exact(b)));
    }
}

template <class T>
long double expected_binary(std::string_view op, T a, T b) {
    if (op == "Max") {
        if (std::isnan(exact(a)) || std::isnan(exact(b))) {
            return std::nanl("");
        }
        return std::max(exact(a), exact(b));
    }
    return op == "Add"   ? expected<T>([](auto x, auto y) { return x + y; }, a, b)
           : op == "Sub" ? expected<T>([](auto x, auto y) { return x - y; }, a, b)
                         : expected<T>([](auto x, auto y) { return x * y; }, a, b);
}

struct Shapes {
    Extents out, a, b;
    Extents out_strides = {}, a_strides = {}, b_strides = {};
    int64_t a_offset = 0;
};

const std::vector<Shapes>& shapes() {
    static const std::vector<Shapes> all{
        {{1003}, {1003}, {1003}},                                                  // one dense row with a rest
        {{}, {}, {}},                                                              // scalars
        {{0}, {0}, {1}},                                                           // nothing
        {{3, 0, 2}, {3, 1, 2}, {0, 2}},                                            // nothing, by broadcasting
        {{4, 33}, {33}, {4, 1}},                                                   // both stretched
        {{5, 7}, {5, 7}, {}},                                                      // a scalar on the right
        {{5, 7}, {1}, {5, 7}},                                                     // and on the left
        {{6, 10}, {6, 10}, {6, 10}, {}, {1, 6}, {}},                               // a transposed view
        {{6, 10}, {6, 10}, {6, 10}, {1, 8}, {20, 2}, {10, 1}},                     // gaps, output by columns
        {{4, 9}, {4, 9}, {4, 9}, {}, {9, -1}, {}, 8},                              // backwards
        {{4, 9}, {4, 9}, {4, 9}, {}, {0, 1}, {}},                                  // a repeated row
        {{2, 1, 3, 2, 1, 2, 3, 2}, {2, 1, 3, 2, 1, 2, 3, 2}, {3, 1, 1, 2, 1, 2}},  // rank 8
    };
    return all;
}

template <class T>
void check_binary(Cpu& cpu, const char* op, const Shapes& s, bool tame) {
    Tensor<T> a(cpu, s.a, s.a_strides, s.a_offset);
    Tensor<T> b(cpu, s.b, s.b_strides);
    Tensor<T> out(cpu, s.out, s.out_strides);
    std::mt19937_64 random(11);
    a.fill([&] { return random_value<T>(random, tame); });
    b.fill([&] { return random_value<T>(random, tame); });
    INFO(op << " " << dtype_text(dtype_of<T>) << " rank " << s.out.size() << " " << error_text());
    REQUIRE(Launch(cpu, op, {a.get(), b.get()}, {out.get()}).run() == HAL_OK);
    out.download();
    out.check_gaps();
    size_t wrong = 0;
    for_each_index(s.out, [&](const Extents& i) {
        const T left = a.stretched(i);
        const T right = b.stretched(i);
        const long double want = expected_binary<T>(op, left, right);
        if (!same(exact(out[i]), want) && wrong++ == 0) {
            UNSCOPED_INFO(exact(left) << ", " << exact(right) << " gave " << exact(out[i]) << ", expected " << want);
        }
    });
    CHECK(wrong == 0);
}

template <class T>
void check_binary_type(Cpu& cpu) {
    for (const char* op : {"Add", "Sub", "Mul", "Max"}) {
        for (const Shapes& s : shapes()) {
            check_binary<T>(cpu, op, s, false);
        }
        check_binary<T>(cpu, op, shapes().front(), true);
    }
}

TEST_CASE("binary operators give the rounded exact result") {
    Cpu cpu;
#define CHECK_TYPE(dtype, T) check_binary_type<T>(cpu);
    HAL_FOR_NUMBERS(CHECK_TYPE)
#undef CHECK_TYPE
}

TEST_CASE("binary operators run in place") {
    Cpu cpu;
    Tensor<float> a(cpu, {100});
    Tensor<float> b(cpu, {100});
    std::mt19937_64 random(5);
    a.fill([&] { return random_value<float>(random, true); });
    b.fill([&] { return random_value<float>(random, true); });
    const auto before = a.raw();
    REQUIRE((find_kernel("Sub", HAL_F32)->flags & HAL_KERNEL_IN_PLACE) != 0);
    REQUIRE(Launch(cpu, "Sub", {a.get(), b.get()}, {a.get()}).run() == HAL_OK);
    a.download();
    for (int64_t i = 0; i < 100; ++i) {
        REQUIRE(a[{i}] == before[static_cast<size_t>(i)] - b[{i}]);
    }
    REQUIRE(Launch(cpu, "Add", {b.get(), a.get()}, {a.get()}).run() == HAL_OK);
    a.download();
    for (int64_t i = 0; i < 100; ++i) {
        REQUIRE(a[{i}] == (before[static_cast<size_t>(i)] - b[{i}]) + b[{i}]);
    }
}

template <class T, class F>
void check_unary(Cpu& cpu, const char* op, F&& judge) {
    struct Case {
        Extents shape, in_strides, out_strides;
        int64_t offset;
    };
    for (const Case& c :
         {Case{{2001}, {}, {}, 0}, Case{{}, {}, {}, 0}, Case{{2, 0}, {}, {}, 0}, Case{{8, 9}, {1, 8}, {}, 0},
          Case{{5, 6}, {12, -2}, {1, 7}, 10}, Case{{1, 2, 1, 2, 3, 2, 1, 2}, {}, {}, 0}}) {
        Tensor<T> in(cpu, c.shape, c.in_strides, c.offset);
        Tensor<T> out(cpu, c.shape, c.out_strides);
        std::mt19937_64 random(12);
        in.fill([&] { return random_value<T>(random, false); });
        INFO(op << " " << dtype_text(dtype_of<T>) << " rank " << c.shape.size());
        REQUIRE(Launch(cpu, op, {in.get()}, {out.get()}).run() == HAL_OK);
        out.download();
        out.check_gaps();
        size_t wrong = 0;
        for_each_index(c.shape, [&](const Extents& i) {
            if (!judge(exact(in[i]), exact(out[i])) && wrong++ == 0) {
                UNSCOPED_INFO(exact(in[i]) << " gave " << exact(out[i]));
            }
        });
        CHECK(wrong == 0);
    }
}

TEST_CASE("Relu keeps what is not negative") {
    Cpu cpu;
    const auto judge = [](long double x, long double y) { return same(y, x < 0 ? 0 : x); };
#define CHECK_TYPE(dtype, T) check_unary<T>(cpu, "Relu", judge);
    HAL_FOR_FLOATS(CHECK_TYPE)
#undef CHECK_TYPE
    check_unary<int8_t>(cpu, "Relu", judge);
    check_unary<int64_t>(cpu, "Relu", judge);
}

// 2 units of the arithmetic's type, and for halves the rounding to them: half a unit of theirs.
template <class T>
bool near_exp(long double x, long double y) {
    const long double want = std::exp(x);
    if (std::isnan(x) || want > format_of<T>.largest * 1.001L) {
        return std::isnan(x) ? std::isnan(y) : std::isinf(y);
    }
    const long double bound = 2 * ulp<Compute<T>>(want) + (Half<T> ? ulp<T>(want) / 2 : 0);
    return std::isinf(y) ? want + bound > format_of<T>.largest : std::fabs(y - want) <= bound;
}

TEST_CASE("Exp is within two units in the last place") {
    Cpu cpu;
    check_unary<float>(cpu, "Exp", near_exp<float>);
    check_unary<double>(cpu, "Exp", near_exp<double>);
    check_unary<F16>(cpu, "Exp", near_exp<F16>);
    check_unary<BF16>(cpu, "Exp", near_exp<BF16>);
}

}  // namespace
}  // namespace hal::cpu::test
