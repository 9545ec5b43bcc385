// The programs of a device: built when a launch first needs them, and kept on disk for the next process.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "api.hpp"
#include "program_cache.hpp"

namespace hal::opencl {

class Device;

// OpenCL C, in the order in which it is put together. It stays where it is: its address is part of a key.
struct Source {
    const char* name;  // for messages
    std::array<std::string_view, 3> parts;
    bool spirv = false;  // the first part is SPIR-V instead
};

// A kernel of a program. Its arguments belong to whoever holds the mutex, from the first to the launch.
struct Kernel {
    cl_kernel kernel = nullptr;
    std::mutex mutex;
    size_t most_items = 1;  // in a work-group
};

class Program {
  public:
    // Throws sdk::Error COMPILE with the compiler's log.
    Program(const Device& device, const ProgramCache& cache, const Source& source, const std::string& options);
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    // Throws sdk::Error NOT_FOUND.
    [[nodiscard]] Kernel& kernel(std::string_view name) const;

  private:
    void load(const Device& device, const std::string& binary, const std::string& options);
    void build(const Device& device, const Source& source, const std::string& options);
    void create(const Device& device, const Source& source);
    [[nodiscard]] std::string binary() const;
    void find_kernels(const Device& device);
    void release() noexcept;

    const Api& api_;
    cl_program program_ = nullptr;
    mutable std::map<std::string, Kernel, std::less<>> kernels_;  // each guards itself
};

class Programs {
  public:
    explicit Programs(const Device& device);
    Programs(const Programs&) = delete;
    Programs& operator=(const Programs&) = delete;

    // `variant` is a number for each text of options; options() gives the text. Throws what building throws.
    template <class Options>
    [[nodiscard]] Program& find(const Source& source, uint64_t variant, Options&& options) {
        const Key key{&source, variant};
        {
            const std::shared_lock lock(mutex_);
            if (const auto found = programs_.find(key); found != programs_.end()) {
                return *found->second;
            }
        }
        return build(key, options());
    }

  private:
    using Key = std::pair<const Source*, uint64_t>;
    [[nodiscard]] Program& build(const Key& key, const std::string& options);

    const Device& device_;
    const ProgramCache cache_;
    std::shared_mutex mutex_;
    std::map<Key, std::unique_ptr<Program>> programs_;
    std::mutex build_mutex_;  // one at a time: others may launch meanwhile
};

}  // namespace hal::opencl
