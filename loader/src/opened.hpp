// One live plug-in instance: created, its tables completed, its kernels registered, initialised; destroyed with this
// object.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "emulate.hpp"
#include "head.hpp"
#include "host.hpp"
#include "negotiate.hpp"
#include "registry.hpp"
#include "serialize.hpp"

namespace hal::loader {

class Opened {
  public:
    // Runs the plug-in's create and initialize. `where` is the library, for messages. Throws Refusal; std::bad_alloc
    // also where the plug-in says OUT_OF_HOST_MEMORY.
    Opened(const Services& services, Host& host, Description description, std::string where);

    // Retires the head, then runs the plug-in's destroy.
    ~Opened();
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;

    [[nodiscard]] const hal_backend* head() const { return head_; }
    [[nodiscard]] const std::string& id() const { return plugin_.name; }
    [[nodiscard]] const Description& plugin() const { return plugin_; }
    [[nodiscard]] const std::string& description() const { return text_; }  // "backend acme.npu 2.3 (/usr/lib/libx.so)"
    [[nodiscard]] hal_instance* instance() const { return instance_; }
    [[nodiscard]] const Tables& native() const { return native_; }
    [[nodiscard]] const Tables& tables() const { return completed_.tables; }
    [[nodiscard]] uint32_t support(size_t entry) const { return completed_.support[entry]; }
    [[nodiscard]] Counters& counters() { return counters_; }
    [[nodiscard]] const Registry& registry() const { return registry_; }

    // Empty, or why none was added.
    [[nodiscard]] std::string add_kernels(std::span<const hal_kernel* const> kernels);

    // Asks the plug-in again. Throws Refusal.
    int32_t count_devices();

  private:
    void create();
    void destroy() noexcept;
    void prepare();
    void register_kernels();
    void initialize();

    const Services& services_;
    Host& host_;
    const Description plugin_;
    const std::string where_;
    const std::string text_;
    Head* head_ = nullptr;
    hal_instance* instance_ = nullptr;
    Tables native_;
    Completed completed_;
    Counters counters_;
    std::unique_ptr<Serializer> serializer_;  // for a plug-in that wants one thread at a time
    Registry registry_;
};

}  // namespace hal::loader
