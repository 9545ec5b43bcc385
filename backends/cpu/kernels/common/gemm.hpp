// C = A * B for dense matrices, on the calling thread alone.
//
// float goes to oneDNN, which is opened at the first use: linked, it would cost every start of the back end several
// milliseconds and a libOpenCL that it needs. Its OpenMP is told to use one thread for the length of the call; that
// setting belongs to the worker's thread, no other thread of the host sees it. Where oneDNN is absent our own code
// steps in, and says so in the log. double is our own code: oneDNN 2.6 has none, and OpenBLAS starts a pool of threads
// for the whole process when it is opened.
#pragma once

#include <cstdint>

#include "hal/plugin.h"

namespace hal::cpu {

// Element (row, column) is data[row * pitch + column], transposed data[column * pitch + row].
template <class T>
struct Matrix {
    const T* data;
    int64_t pitch;
    bool transposed;
};

// c has `pitch` elements a row. Without k the result is zero. Throws std::bad_alloc.
void gemm(const hal_host* host, int64_t m, int64_t n, int64_t k, Matrix<float> a, Matrix<float> b, float* c,
          int64_t pitch);
void gemm(const hal_host* host, int64_t m, int64_t n, int64_t k, Matrix<double> a, Matrix<double> b, double* c,
          int64_t pitch);

// Our own code for either, whatever the libraries are.
template <class T>
void own_gemm(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T* c, int64_t pitch);

}  // namespace hal::cpu
