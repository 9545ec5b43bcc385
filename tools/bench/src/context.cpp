#include "context.hpp"

namespace hal::bench {

const Backend& Context::backend() {
    if (backend_failure_) {
        std::rethrow_exception(backend_failure_);
    }
    if (!backend_) {
        try {
            backend_ = std::make_unique<Backend>(settings_.manifests, settings_.backend);
        } catch (...) {
            backend_failure_ = std::current_exception();
            throw;
        }
    }
    return *backend_;
}

std::shared_ptr<OpenCl> Context::opencl(std::string* absence) {
    if (!opencl_ && opencl_absence_.empty()) {
        opencl_ = OpenCl::open(&opencl_absence_);
    }
    *absence = opencl_absence_;
    return opencl_;
}

}  // namespace hal::bench
