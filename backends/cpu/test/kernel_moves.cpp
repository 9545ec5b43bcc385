// Copy, Fill and Cast: bit-exact, every type, every kind of stride.
#include "kernel_fixture.hpp"

namespace hal::cpu::test {
namespace {

struct Case {
    Extents shape, in_strides, out_strides;
    int64_t in_offset = 0;
};
const std::vector<Case>& cases() {
    static const std::vector<Case> all{
        {{777}, {}, {}},
        {{}, {}, {}},
        {{3, 0}, {}, {}},
        {{13, 17}, {1, 13}, {}},                                       // transposed
        {{13, 17}, {}, {1, 13}},                                       // and back
        {{6, 5}, {-5, 1}, {}, 25},                                     // rows backwards
        {{6, 5}, {0, 1}, {11, 2}},                                     // a repeated row into gaps
        {{2, 3, 1, 2, 2, 1, 3, 2}, {}, {1, 2, 6, 6, 12, 24, 24, 72}},  // rank 8, reversed axes
    };
    return all;
}

// Elements of any size: the tensor's type is set by hand.
template <class T>
void check_copy(Cpu& cpu, hal_dtype dtype) {
    for (const Case& c : cases()) {
        Tensor<T> in(cpu, c.shape, c.in_strides, c.in_offset);
        Tensor<T> out(cpu, c.shape, c.out_strides);
        in.tensor().dtype = out.tensor().dtype = dtype;
        std::mt19937_64 random(1);
        in.fill([&] {
            T value;
            for (auto& byte : reinterpret_cast<unsigned char(&)[sizeof(T)]>(value)) {
                byte = static_cast<unsigned char>(random());
            }
            return value;
        });
        INFO("bytes " << sizeof(T) << " rank " << c.shape.size());
        REQUIRE(Launch(cpu, "Copy", {in.get()}, {out.get()}).run() == HAL_OK);
        out.download();
        out.check_gaps();
        size_t wrong = 0;
        for_each_index(c.shape,
                       [&](const Extents& i) { wrong += std::memcmp(&in[i], &out[i], sizeof(T)) != 0 ? 1 : 0; });
        CHECK(wrong == 0);
    }
}

struct Sixteen {
    uint64_t words[2];
};
struct Six {
    uint16_t words[3];
};

TEST_CASE("Copy moves elements of every size") {
    Cpu cpu;
    check_copy<uint8_t>(cpu, HAL_F8E5M2);
    check_copy<uint16_t>(cpu, HAL_BF16);
    check_copy<uint32_t>(cpu, HAL_F32);
    check_copy<uint64_t>(cpu, HAL_C64);
    check_copy<Sixteen>(cpu, HAL_C128);
    check_copy<Six>(cpu, HAL_DTYPE(2, 16, 3));
}

template <class T>
void check_fill(Cpu& cpu, const hal_attr& value, T expected) {
    for (const Case& c : cases()) {
        Tensor<T> out(cpu, c.shape, c.out_strides);
        REQUIRE(Launch(cpu, "Fill", {}, {out.get()}, {value}).run() == HAL_OK);
        out.download();
        out.check_gaps();
        size_t wrong = 0;
        for_each_index(c.shape,
                       [&](const Extents& i) { wrong += std::memcmp(&out[i], &expected, sizeof(T)) != 0 ? 1 : 0; });
        CHECK(wrong == 0);
    }
}

TEST_CASE("Fill converts its value as Cast does") {
    Cpu cpu;
#define CHECK_TYPE(dtype, T)                                  \
    check_fill<T>(cpu, attribute("value", 3), convert<T>(3)); \
    check_fill<T>(cpu, attribute("value", -1.75), convert<T>(-1.75));
    HAL_FOR_TYPES(CHECK_TYPE)
#undef CHECK_TYPE
    check_fill<int64_t>(cpu, attribute("value", INT64_MAX), INT64_MAX);  // no double in between
    check_fill<uint8_t>(cpu, attribute("value", 300.0), 255);
    check_fill<uint8_t>(cpu, attribute("value", int64_t{300}), 44);
}

template <class D, class S>
void check_cast(Cpu& cpu) {
    for (const Case& c : {cases()[0], cases()[3], cases()[6]}) {
        Tensor<S> in(cpu, c.shape, c.in_strides, c.in_offset);
        Tensor<D> out(cpu, c.shape, c.out_strides);
        std::mt19937_64 random(2);
        in.fill([&] { return random_value<S>(random, false); });
        INFO(dtype_text(dtype_of<S>) << " -> " << dtype_text(dtype_of<D>));
        REQUIRE(Launch(cpu, "Cast", {in.get()}, {out.get()}).run() == HAL_OK);
        out.download();
        out.check_gaps();
        size_t wrong = 0;
        for_each_index(c.shape,
                       [&](const Extents& i) { wrong += same(exact(out[i]), exact(convert<D>(in[i]))) ? 0 : 1; });
        CHECK(wrong == 0);
    }
}

template <class S>
void check_casts_from(Cpu& cpu) {
#define CHECK_TYPE(dtype, D) check_cast<D, S>(cpu);
    HAL_FOR_TYPES(CHECK_TYPE)
#undef CHECK_TYPE
}

TEST_CASE("Cast converts between all pairs") {
    Cpu cpu;
#define CHECK_TYPE(dtype, S) check_casts_from<S>(cpu);
    HAL_FOR_TYPES(CHECK_TYPE)
#undef CHECK_TYPE
}

}  // namespace
}  // namespace hal::cpu::test
