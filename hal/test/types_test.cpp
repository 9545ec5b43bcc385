// The promises of types.h to others: DLPack's layout and codes, status values.
#include <catch2/catch.hpp>
#include <cstring>
#include <set>

#include "hal/loader.h"

namespace {
// DLPack v1.0, as its specification lays it out.
struct DLDataType {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
};
struct DLTensor {
    void* data;
    struct {
        int32_t device_type;
        int32_t device_id;
    } device;
    int32_t ndim;
    DLDataType dtype;
    int64_t* shape;
    int64_t* strides;
    uint64_t byte_offset;
};
enum : uint8_t { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLComplex = 5, kDLBool = 6 };
enum : uint8_t { kDLFloat8_e4m3fn = 10, kDLFloat8_e5m2 = 12, kDLFloat4_e2m1fn = 17 };

hal_dtype as_dtype(DLDataType type) {
    hal_dtype value;
    static_assert(sizeof value == sizeof type);
    std::memcpy(&value, &type, sizeof value);
    return value;
}
}  // namespace

TEST_CASE("hal_tensor begins with a DLTensor", "[types]") {
    static_assert(sizeof(DLTensor) == 48);
    int64_t shape[] = {2, 3};
    int64_t strides[] = {3, 1};
    hal_tensor tensor{};
    tensor.data = 0x1000;
    tensor.device_type = 12;
    tensor.device_id = 7;
    tensor.ndim = 2;
    tensor.dtype = HAL_BF16;
    tensor.shape = shape;
    tensor.strides = strides;
    tensor.byte_offset = 64;
    DLTensor dl;
    std::memcpy(static_cast<void*>(&dl), &tensor, sizeof dl);
    CHECK(reinterpret_cast<uint64_t>(dl.data) == 0x1000);
    CHECK(dl.device.device_type == 12);
    CHECK(dl.device.device_id == 7);
    CHECK(dl.ndim == 2);
    CHECK(dl.dtype.code == kDLBfloat);
    CHECK(dl.dtype.bits == 16);
    CHECK(dl.dtype.lanes == 1);
    CHECK(dl.shape == shape);
    CHECK(dl.strides == strides);
    CHECK(dl.byte_offset == 64);
}

TEST_CASE("a hal_dtype is the bytes of a DLDataType", "[types]") {
    CHECK(HAL_I8 == as_dtype({kDLInt, 8, 1}));
    CHECK(HAL_I64 == as_dtype({kDLInt, 64, 1}));
    CHECK(HAL_U16 == as_dtype({kDLUInt, 16, 1}));
    CHECK(HAL_U32 == as_dtype({kDLUInt, 32, 1}));
    CHECK(HAL_F16 == as_dtype({kDLFloat, 16, 1}));
    CHECK(HAL_F32 == as_dtype({kDLFloat, 32, 1}));
    CHECK(HAL_F64 == as_dtype({kDLFloat, 64, 1}));
    CHECK(HAL_BF16 == as_dtype({kDLBfloat, 16, 1}));
    CHECK(HAL_C64 == as_dtype({kDLComplex, 64, 1}));
    CHECK(HAL_C128 == as_dtype({kDLComplex, 128, 1}));
    CHECK(HAL_BOOL == as_dtype({kDLBool, 8, 1}));
    CHECK(HAL_F8E4M3FN == as_dtype({kDLFloat8_e4m3fn, 8, 1}));
    CHECK(HAL_F8E5M2 == as_dtype({kDLFloat8_e5m2, 8, 1}));
    CHECK(HAL_F4E2M1 == as_dtype({kDLFloat4_e2m1fn, 4, 1}));
    CHECK(HAL_DTYPE(kDLFloat, 32, 4) == as_dtype({kDLFloat, 32, 4}));
    CHECK(HAL_DTYPE_CODE(HAL_C128) == kDLComplex);
    CHECK(HAL_DTYPE_BITS(HAL_C128) == 128);
    CHECK(HAL_DTYPE_LANES(HAL_DTYPE(kDLFloat, 32, 4)) == 4);
}

TEST_CASE("status and state values are used once", "[types]") {
    std::set<int32_t> statuses;
    size_t status_count = 0;
#define HAL_STATUS(name, value, text) statuses.insert(value), ++status_count;
#include "hal/status.def"
    CHECK(statuses.size() == status_count);
    CHECK(HAL_OK == 0);
    CHECK(HAL_NOT_READY > 0);
    CHECK(HAL_ERROR_INVALID_ARGUMENT < 0);

    std::set<uint32_t> states;
    size_t state_count = 0;
#define HAL_STATE(name, value, text) states.insert(value), ++state_count;
#include "hal/state.def"
    CHECK(states.size() == state_count);
}
