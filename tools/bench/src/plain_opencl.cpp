#include "plain_opencl.hpp"

#include "benchmark.hpp"

#ifdef HAL_BENCH_OPENCL

#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 200
#define CL_HPP_MINIMUM_OPENCL_VERSION 200
#include <dlfcn.h>
#include <fmt/format.h>

#include <CL/opencl.hpp>
#include <vector>
#ifdef HAL_BENCH_CLBLAST
#include <clblast_c.h>
#endif

#include "buffer.hpp"

namespace hal::bench {
namespace {

constexpr const char* fill_source =
    "kernel void fill(global float* output, const float value, const long count) {"
    "    const long i = get_global_id(0);"
    "    if (i < count) { output[i] = value; }"
    "}";

void check_cl(cl_int error, const char* call) {
    if (error != CL_SUCCESS) {
        throw cl::Error(error, call);
    }
}

class Plain final : public PlainOpenCl {
  public:
    Plain(const cl::Device& device, bool svm, uint64_t size_bytes)
        : svm_(svm), size_bytes_(size_bytes), context_(device), queue_(context_, device) {
        const std::vector<char> noise = noise_of(size_bytes);
        for (int i = 0; i < 2; ++i) {
            if (svm) {
                pointers_[i] = clSVMAlloc(context_(), CL_MEM_READ_WRITE, size_bytes, 0);
                check_cl(pointers_[i] == nullptr ? CL_MEM_OBJECT_ALLOCATION_FAILURE : CL_SUCCESS, "clSVMAlloc");
                check_cl(
                    clEnqueueSVMMemcpy(queue_(), CL_TRUE, pointers_[i], noise.data(), size_bytes, 0, nullptr, nullptr),
                    "clEnqueueSVMMemcpy");
            } else {
                buffers_[i] = cl::Buffer(context_, CL_MEM_READ_WRITE, size_bytes);
                queue_.enqueueWriteBuffer(buffers_[i], CL_TRUE, 0, size_bytes, noise.data());
            }
        }
        cl::Program program(context_, fill_source);
        program.build();
        fill_ = cl::Kernel(program, "fill");
    }
    ~Plain() override {
        static_cast<void>(clFinish(queue_()));
        for (void* pointer : pointers_) {
            if (pointer != nullptr) {
                clSVMFree(context_(), pointer);
            }
        }
    }

    void write(const void* host) const override {
        check_cl(
            svm_ ? clEnqueueSVMMemcpy(queue_(), CL_TRUE, pointers_[0], host, size_bytes_, 0, nullptr, nullptr)
                 : clEnqueueWriteBuffer(queue_(), buffers_[0](), CL_TRUE, 0, size_bytes_, host, 0, nullptr, nullptr),
            "write");
    }
    void read(void* host) const override {
        check_cl(svm_
                     ? clEnqueueSVMMemcpy(queue_(), CL_TRUE, host, pointers_[0], size_bytes_, 0, nullptr, nullptr)
                     : clEnqueueReadBuffer(queue_(), buffers_[0](), CL_TRUE, 0, size_bytes_, host, 0, nullptr, nullptr),
                 "read");
    }
    void copy() const override {
        check_cl(
            svm_ ? clEnqueueSVMMemcpy(queue_(), CL_FALSE, pointers_[1], pointers_[0], size_bytes_, 0, nullptr, nullptr)
                 : clEnqueueCopyBuffer(queue_(), buffers_[0](), buffers_[1](), 0, 0, size_bytes_, 0, nullptr, nullptr),
            "copy");
        check_cl(clFinish(queue_()), "clFinish");
    }

    void launch(bool checked) override {
        const float value = 1.5F;
        const cl_long count = 16;
        const size_t items = 256;
        cl_event event = nullptr;
        cl_int error = CL_SUCCESS;
        if (svm_) {
            error = clSetKernelArgSVMPointer(fill_(), 0, pointers_[0]);
        } else {
            const cl_mem buffer = buffers_[0]();
            error = clSetKernelArg(fill_(), 0, sizeof(cl_mem), static_cast<const void*>(&buffer));
        }
        check_cl(error, "clSetKernelArg");
        check_cl(clSetKernelArg(fill_(), 1, sizeof value, &value), "clSetKernelArg");
        check_cl(clSetKernelArg(fill_(), 2, sizeof count, &count), "clSetKernelArg");
        check_cl(clEnqueueNDRangeKernel(queue_(), fill_(), 1, nullptr, &items, &items, 0, nullptr,
                                        checked ? &event : nullptr),
                 "clEnqueueNDRangeKernel");
        if (checked) {
            events_.push_back(event);
        }
        check_cl(clFlush(queue_()), "clFlush");
    }
    void finish() override {
        check_cl(clFinish(queue_()), "clFinish");
        for (cl_event event : events_) {
            cl_int status = CL_COMPLETE;
            check_cl(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
                     "clGetEventInfo");
            check_cl(status, "the kernel");
            clReleaseEvent(event);
        }
        events_.clear();
    }

#ifdef HAL_BENCH_CLBLAST
    void gemm(uint64_t n) override {
        static const auto sgemm = open_clblast();
        const uint64_t bytes = n * n * sizeof(float);
        if (matrix_bytes_ != bytes) {
            matrix_bytes_ = bytes;
            for (cl::Buffer& matrix : matrices_) {
                matrix = cl::Buffer(context_, CL_MEM_READ_WRITE, bytes);
                const float one = 1.0F;
                queue_.enqueueFillBuffer(matrix, one, 0, bytes);
            }
        }
        cl_command_queue queue = queue_();
        const CLBlastStatusCode status =
            sgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, n, n, n, 1.0F, matrices_[0](), 0, n,
                  matrices_[1](), 0, n, 0.0F, matrices_[2](), 0, n, &queue, nullptr);
        check_cl(status, "CLBlastSgemm");
        finish();
    }

  private:
    static decltype(&CLBlastSgemm) open_clblast() {
        void* const library = dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        auto* const found = library == nullptr ? nullptr : dlsym(library, "CLBlastSgemm");
        if (found == nullptr) {
            throw Unavailable(fmt::format("CLBlast cannot be opened: {}", dlerror()));
        }
        return reinterpret_cast<decltype(&CLBlastSgemm)>(found);
    }
#else
    void gemm(uint64_t) override {
        throw Unavailable("built without CLBlast (Debian: libclblast-dev)");
    }

  private:
#endif
    static std::vector<char> noise_of(uint64_t size_bytes) {
        std::vector<char> noise(size_bytes);
        fill_noise(noise.data(), size_bytes);
        return noise;
    }

    bool svm_;
    uint64_t size_bytes_;
    cl::Context context_;
    cl::CommandQueue queue_;
    cl::Kernel fill_;
    std::vector<cl_event> events_;
    cl::Buffer buffers_[2];
    void* pointers_[2]{};
    cl::Buffer matrices_[3];
    uint64_t matrix_bytes_ = 0;
};

}  // namespace

std::shared_ptr<PlainOpenCl> PlainOpenCl::open(bool svm, uint64_t size_bytes) {
    try {
        return std::make_shared<Plain>(cl::Device::getDefault(), svm, size_bytes);
    } catch (const cl::Error& error) {
        throw Unavailable(fmt::format("no plain OpenCL: {} answered {}", error.what(), error.err()));
    }
}

}  // namespace hal::bench

#else

namespace hal::bench {

std::shared_ptr<PlainOpenCl> PlainOpenCl::open(bool, uint64_t) {
    throw Unavailable("no plain OpenCL: built without it");
}

}  // namespace hal::bench

#endif
