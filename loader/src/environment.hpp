// The environment, read once: the only place of the loader that asks for variables.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hal::loader {

struct VariableReport {
    std::string name;
    std::string value;
    std::string note;
    uint32_t use;  // HAL_VARIABLE_*
};

// The process' facts that decide what a variable may do; tests make their own.
struct Process {
    std::map<std::string, std::string, std::less<>> variables;
    bool elevated = false;      // AT_SECURE
    bool foreign_home = false;  // root, and HOME belongs to somebody else (sudo)
};
// With HAL_LOADER_NO_ENVIRONMENT in the flags of hal_loader_desc no variable is read. Reads `environ` without a lock,
// as every reader must: a thread that calls setenv at the same time is a race of the application.
Process read_process(uint32_t loader_flags = 0);

class Environment {
  public:
    explicit Environment(Process process);

    // The value of a variable of the table in environment.cpp; nothing if it is unset, empty or ignored for privileges.
    [[nodiscard]] std::optional<std::string_view> get(std::string_view name) const;

    // An option of HAL_BACKEND_OPTIONS="id:key=value;id:key=value".
    [[nodiscard]] std::optional<std::string_view> backend_option(std::string_view backend, std::string_view key) const;

    [[nodiscard]] bool elevated() const { return process_.elevated; }
    [[nodiscard]] bool foreign_home() const { return process_.foreign_home; }
    [[nodiscard]] bool flag(std::string_view name) const { return get(name) == "1"; }

    // The messages L002 and L003, once each; a Log says them when it is made.
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

    // Every variable known or beginning with HAL_, for hal-info --env and for the warnings L002, L003.
    [[nodiscard]] const std::vector<VariableReport>& report() const { return report_; }

  private:
    void report_known();
    void report_unknown();
    void read_backend_options();

    Process process_;
    std::vector<std::string> warnings_;
    std::vector<VariableReport> report_;
    std::map<std::string, std::map<std::string, std::string, std::less<>>, std::less<>> backend_options_;
};

}  // namespace hal::loader
