// Shows what the loader finds, and why it does or does not use it.
#include <CLI/CLI.hpp>
#include <exception>

#include "info.hpp"

namespace {

struct Choice {
    bool json = false;
    bool search = false;
    bool environment = false;
    bool verbose = false;
    std::string why;
    std::string check;
};

// The report says what the loader's messages say, in order: by default they are dropped.
void drop_message(void*, uint32_t, const char*) {}

int run(const Choice& choice) {
    const hal_log_fn log = choice.verbose ? nullptr : drop_message;
    if (!choice.check.empty()) {
        return hal::tool::check_manifest(choice.check, log);
    }
    auto desc = hal::sized<hal_loader_desc>();
    desc.log = log;
    auto opened = hal::Loader::open(&desc);
    if (!opened.ok()) {
        fmt::print(stderr, "hal-info: {}: {}\n", hal_status_name(opened.code()), opened.text());
        return hal::tool::exit_unusable;
    }
    hal::Loader loader = std::move(opened).value();
    return choice.json           ? hal::tool::print_json(loader)
           : choice.search       ? hal::tool::print_search(loader)
           : choice.environment  ? hal::tool::print_environment(loader)
           : !choice.why.empty() ? hal::tool::print_why(loader, choice.why)
                                 : hal::tool::print_summary(loader);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app(
        "Lists devices and every back end that the loader saw, with its state, cause and next step.\n"
        "Exit code: 0 there is a device, 2 there is none; with --why and --check 0 usable, 1 not; 3 no loader.",
        "hal-info");
    Choice choice;
    auto* form = app.add_option_group("form");
    form->add_flag("--json", choice.json, "everything as JSON, by schemas/info-1.json");
    form->add_flag("--search", choice.search, "the places that were searched, in order");
    form->add_flag("--env", choice.environment, "the variables: used, ignored, unknown");
    form->add_option("--why", choice.why, "why this back end (id or manifest name) is used or not");
    form->add_option("--check", choice.check, "check a manifest or a folder of them, and open the libraries");
    form->require_option(0, 1);
    app.add_flag("-v,--verbose", choice.verbose, "let the loader's messages through; HAL_LOG chooses which");
    CLI11_PARSE(app, argc, argv);
    try {
        return run(choice);
    } catch (const std::exception& error) {
        fmt::print(stderr, "hal-info: {}\n", error.what());
        return hal::tool::exit_unusable;
    }
}
