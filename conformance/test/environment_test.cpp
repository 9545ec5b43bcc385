// Each member of the environment, changed alone: one sentence that names it, and none after it was put back.
#include "harness/environment.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cfenv>
#include <functional>
#include <locale>

#if defined(__x86_64__)
#include <pmmintrin.h>
#include <xmmintrin.h>
#endif

using namespace hal::conformance;

namespace {

// The sentences while the change is in place. Nothing differs after it is undone.
std::string while_changed(const std::function<void()>& change, const std::function<void()>& undo) {
    const Environment before = Environment::now();
    change();
    const auto found = differences(before, Environment::now());
    undo();
    CHECK(differences(before, Environment::now()).empty());
    CHECK(found.size() == 1);
    return found.empty() ? "" : found.front();
}

void handler(int) {}

}  // namespace

TEST_CASE("an untouched environment has no difference") {
    CHECK(differences(Environment::now(), Environment::now()).empty());
}

TEST_CASE("the floating point unit") {
    CHECK(while_changed([] { std::fesetround(FE_UPWARD); }, [] { std::fesetround(FE_TONEAREST); }) ==
          "the rounding mode of the floating point unit was changed");
#if defined(__x86_64__)
    CHECK(while_changed([] { _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON); },
                        [] { _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_OFF); })
              .starts_with("flush-to-zero"));
    CHECK(while_changed([] { _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON); },
                        [] { _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_OFF); })
              .starts_with("denormals-are-zero"));
    CHECK(while_changed([] { feenableexcept(FE_DIVBYZERO); }, [] { fedisableexcept(FE_DIVBYZERO); })
              .starts_with("the precision or traps"));
#endif
    // What a computation leaves behind is nobody's setting.
    const Environment before = Environment::now();
    std::feraiseexcept(FE_INEXACT | FE_OVERFLOW);
    CHECK(differences(before, Environment::now()).empty());
    std::feclearexcept(FE_ALL_EXCEPT);
}

TEST_CASE("signals") {
    struct sigaction mine {};
    struct sigaction old {};
    mine.sa_handler = &handler;
    CHECK(while_changed([&] { sigaction(SIGUSR2, &mine, &old); }, [&] { sigaction(SIGUSR2, &old, nullptr); })
              .starts_with("the handler of signal 12"));
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    CHECK(while_changed([&] { pthread_sigmask(SIG_BLOCK, &set, nullptr); },
                        [&] { pthread_sigmask(SIG_UNBLOCK, &set, nullptr); }) ==
          "the set of blocked signals was changed");
}

TEST_CASE("locales") {
    CHECK(while_changed([] { setlocale(LC_NUMERIC, "C.UTF-8"); }, [] { setlocale(LC_NUMERIC, "C"); })
              .starts_with("the locale went from 'C' to"));
    const locale_t mine = newlocale(LC_ALL_MASK, "C", locale_t{});
    CHECK(while_changed([&] { uselocale(mine); }, [] { uselocale(LC_GLOBAL_LOCALE); }) ==
          "the locale of the thread was changed");
    freelocale(mine);
    struct Facet : std::numpunct<char> {};
    const std::locale old;
    CHECK(while_changed([&] { std::locale::global(std::locale(old, new Facet)); }, [&] { std::locale::global(old); })
              .starts_with("the C++ locale"));
}

TEST_CASE("directory, umask, limits, variables") {
    const std::string directory = Environment::now().directory;
    CHECK(while_changed([] { REQUIRE(chdir("/") == 0); }, [&] { REQUIRE(chdir(directory.c_str()) == 0); })
              .starts_with("the working directory"));
    const mode_t old_umask = umask(0022);
    CHECK(while_changed([] { umask(0077); }, [] { umask(0022); }) == "the umask went from '0022' to '0077'");
    umask(old_umask);
    rlimit limit{};
    getrlimit(RLIMIT_CORE, &limit);
    rlimit lower = limit;
    lower.rlim_cur = limit.rlim_cur == 0 ? limit.rlim_max : 0;
    if (lower.rlim_cur != limit.rlim_cur) {
        CHECK(while_changed([&] { setrlimit(RLIMIT_CORE, &lower); }, [&] { setrlimit(RLIMIT_CORE, &limit); })
                  .starts_with("resource limit 4"));
    }
    CHECK(
        while_changed([] { setenv("HAL_ENVIRONMENT_TEST", "secret", 1); }, [] { unsetenv("HAL_ENVIRONMENT_TEST"); }) ==
        "the environment variable HAL_ENVIRONMENT_TEST was changed");
    setenv("HAL_ENVIRONMENT_TEST", "a", 1);
    CHECK(
        while_changed([] { setenv("HAL_ENVIRONMENT_TEST", "b", 1); }, [] { setenv("HAL_ENVIRONMENT_TEST", "a", 1); }) ==
        "the environment variable HAL_ENVIRONMENT_TEST was changed");
}

TEST_CASE("descriptors 0 to 2") {
    const int kept = dup(0);
    CHECK(while_changed([] { close(0); }, [&] { dup2(kept, 0); }) == "descriptor 0 was closed");
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    CHECK(while_changed([&] { dup2(ends[0], 0); }, [&] { dup2(kept, 0); }).starts_with("descriptor 0 was replaced"));
    dup2(ends[0], 0);
    CHECK(while_changed([] { fcntl(0, F_SETFL, O_NONBLOCK); }, [] { fcntl(0, F_SETFL, 0); })
              .starts_with("descriptor 0 was replaced or its flags"));
    dup2(kept, 0);
    for (const int fd : {ends[0], ends[1], kept}) {
        close(fd);
    }
}

TEST_CASE("terminate handler, nice value, affinity") {
    const std::terminate_handler old = std::get_terminate();
    CHECK(while_changed([] { std::set_terminate([] { _exit(1); }); }, [&] { std::set_terminate(old); }) ==
          "std::terminate's handler was changed");
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    if (CPU_COUNT(&all) > 1) {
        cpu_set_t one;
        CPU_ZERO(&one);
        int first = 0;
        while (!CPU_ISSET(first, &all)) {
            ++first;
        }
        CPU_SET(first, &one);
        CHECK(while_changed([&] { sched_setaffinity(0, sizeof one, &one); },
                            [&] { sched_setaffinity(0, sizeof all, &all); }) == "the CPU affinity was changed");
    }
    // Only root can put the nice value back: last, and compared alone.
    const Environment before = Environment::now();
    if (setpriority(PRIO_PROCESS, 0, before.nice + 1) == 0) {
        CHECK(differences(before, Environment::now()) == std::vector<std::string>{"the nice value was changed"});
        (void)setpriority(PRIO_PROCESS, 0, before.nice);
    }
}
