// report_write_fixture FOLDER: a report with every verdict in it, for the tests that look at files: the schema and the
// browser.
#include <iostream>

#include "report/folder.hpp"
#include "report_fixture.hpp"

int main(int argc, char** argv) {
    using namespace hal::conformance;
    if (argc != 2) {
        std::cerr << "usage: report_write_fixture FOLDER\n";
        return 2;
    }
    const std::filesystem::path folder = argv[1];
    std::filesystem::remove_all(folder);
    const auto rich = rich_report();
    write_log(folder, rich->log, rich->evidence);
    write_folder(folder, build(read_log(folder / names::events), rich->catalogue, read_evidence(folder)),
                 formats_of("json,junit,html,md,tap"));
    return 0;
}
