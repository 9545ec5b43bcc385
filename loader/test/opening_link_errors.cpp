// What the dynamic linker says, sorted into codes. The texts are those of glibc.
#include <catch2/catch.hpp>

#include "library.hpp"

using hal::loader::explain_link_error;

TEST_CASE("the dynamic linker's texts get a code, both names and a next step") {
    struct Row {
        const char* text;
        const char* code;
        hal_status status;
        const char* cause;
    };
    const Row row = GENERATE(
        Row{"libacme.so.5: cannot open shared object file: No such file or directory", "L023", HAL_ERROR_NOT_FOUND,
            "/x/a.so needs libacme.so.5"},
        Row{"/x/a.so: cannot open shared object file: Permission denied", "L023", HAL_ERROR_PERMISSION,
            "/x/a.so cannot be linked"},
        Row{"/x/a.so: failed to map segment from shared object: Operation not permitted", "L023", HAL_ERROR_PERMISSION,
            "failed to map segment"},
        Row{"/x/a.so: undefined symbol: acme_open", "L024", HAL_ERROR_ABI, "undefined symbol acme_open"},
        Row{"/x/a.so: undefined symbol: acme_open, version ACME_2", "L024", HAL_ERROR_ABI,
            "undefined symbol acme_open"},
        Row{"/lib/libacme.so.5: version `ACME_9' not found (required by /x/a.so)", "L024", HAL_ERROR_ABI, "ACME_9"},
        Row{"/x/a.so: cannot allocate memory in static TLS block", "L025", HAL_ERROR_OUT_OF_RESOURCES, "static TLS"},
        Row{"something\x1b[31m new", "L023", HAL_ERROR_INTERNAL, "something\\x1b[31m new"});
    INFO(row.text);
    const hal::loader::Problem problem = explain_link_error("/x/a.so", row.text);
    CHECK(problem.state == HAL_STATE_LOAD_FAILED);
    CHECK(problem.code == row.code);
    CHECK(problem.status == row.status);
    CHECK(problem.cause.find(row.cause) != std::string::npos);
    CHECK(problem.cause.find("/x/a.so") != std::string::npos);
    CHECK_FALSE(problem.next_step.empty());
}

TEST_CASE("the dynamic linker's lack of memory is out of memory, which may be tried again") {
    CHECK_THROWS_AS(
        explain_link_error("/x/a.so", "/x/a.so: cannot create cache for search path: Cannot allocate memory"),
        std::bad_alloc);
}
