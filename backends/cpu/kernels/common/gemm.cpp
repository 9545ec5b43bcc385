#include "gemm.hpp"

#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <string>

namespace hal::cpu {
namespace {

struct Library {
    decltype(&dnnl_sgemm) sgemm = nullptr;
    int (*max_threads)() = nullptr;
    void (*set_threads)(int) = nullptr;
};

// Never closed: oneDNN keeps generated code and thread-local state.
Library open_library(const hal_host* host) {
    void* const handle = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == nullptr) {
        const char* reason = dlerror();
        host->log(host, HAL_LOG_INFO,
                  (std::string("cpu.ref: MatMul uses its own multiplication, oneDNN could not be opened: ") +
                   (reason == nullptr ? "no reason given" : reason))
                      .c_str());
        return {};
    }
    Library library;
    library.sgemm = reinterpret_cast<decltype(library.sgemm)>(dlsym(handle, "dnnl_sgemm"));
    library.max_threads = reinterpret_cast<decltype(library.max_threads)>(dlsym(handle, "omp_get_max_threads"));
    library.set_threads = reinterpret_cast<decltype(library.set_threads)>(dlsym(handle, "omp_set_num_threads"));
    return library;
}

// Of this thread only.
class OneThread {
  public:
    explicit OneThread(const Library& library) : library_(library) {
        if (library.max_threads != nullptr && library.set_threads != nullptr) {
            before_ = library.max_threads();
            library.set_threads(1);
        }
    }
    ~OneThread() {
        if (before_ != 0) {
            library_.set_threads(before_);
        }
    }
    OneThread(const OneThread&) = delete;
    OneThread& operator=(const OneThread&) = delete;

  private:
    const Library& library_;
    int before_ = 0;
};

}  // namespace

void gemm(const hal_host* host, int64_t m, int64_t n, int64_t k, Matrix<float> a, Matrix<float> b, float* c,
          int64_t pitch) {
    static const Library library = open_library(host);  // of the process, as the library is; constant from here on
    if (library.sgemm != nullptr && k > 0) {
        const OneThread one(library);
        const dnnl_status_t status = library.sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', m, n, k, 1.0F,
                                                   a.data, a.pitch, b.data, b.pitch, 0.0F, c, pitch);
        if (status == dnnl_success) {
            return;
        }
    }
    own_gemm(m, n, k, a, b, c, pitch);
}

void gemm(const hal_host*, int64_t m, int64_t n, int64_t k, Matrix<double> a, Matrix<double> b, double* c,
          int64_t pitch) {
    own_gemm(m, n, k, a, b, c, pitch);
}

}  // namespace hal::cpu
