#include "network.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <filesystem>

#include "hal/sdk.hpp"

namespace hal::xccl {
namespace {

constexpr const char* module_name = "libhal_xccl_gloo.so";

// Beside the back end that this is linked into.
std::filesystem::path module_path() {
    Dl_info self{};
    if (dladdr(reinterpret_cast<const void*>(&module_path), &self) == 0 || self.dli_fname == nullptr) {
        return module_name;
    }
    return std::filesystem::path(self.dli_fname).parent_path() / module_name;
}

// A failure is not kept: the next communicator may find what was missing, or a free descriptor.
OpenNetwork find_module() {
    // It stays loaded: threads of Gloo may end after the last communicator.
    errno = 0;
    void* const module = dlopen(module_path().c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const bool exhausted = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
    void* const function = module == nullptr ? nullptr : dlsym(module, "hal_xccl_network");
    if (function == nullptr) {
        const char* const error = dlerror();
        throw sdk::Error(
            exhausted ? HAL_ERROR_OUT_OF_RESOURCES : HAL_ERROR_UNSUPPORTED,
            std::string("the ranks run on several hosts, and the module that connects hosts does not "
                        "load: ") +
                (error == nullptr ? "" : error) +
                (exhausted ? "" : std::string("; put ") + module_name + " beside the back end and install libgloo0"));
    }
    return reinterpret_cast<OpenNetwork>(function);
}

}  // namespace

std::unique_ptr<Network> open_network(const Address& interface) {
    std::string error;
    std::unique_ptr<Network> network(find_module()(HAL_XCCL_VERSION, text(interface).c_str(), &error));
    if (network == nullptr) {
        throw sdk::Error(HAL_ERROR_OUT_OF_RESOURCES, "the network of " + text(interface) + ": " + error);
    }
    return network;
}

}  // namespace hal::xccl
