/* What a library does when it is opened, before anybody called it: one of FAULT_CRASH, FAULT_HANG, FAULT_EXIT,
   FAULT_PRINT, FAULT_CHILDREN, and FAULT_ENVIRONMENT, chosen by the build. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(FAULT_PRINT)
/* A quarter of a GiB: more would only be slower, since whoever reads it keeps a part and throws the rest away. */
static void print_much(void) {
    static char block[1 << 20];
    memset(block, 'x', sizeof block);
    for (int i = 0; i < 256; ++i) {
        size_t done = 0;
        while (done < sizeof block) {
            const ssize_t wrote = write(STDOUT_FILENO, block + done, sizeof block - done);
            if (wrote <= 0) {
                return;
            }
            done += (size_t)wrote;
        }
    }
}
#endif

__attribute__((constructor)) static void when_opened(void) {
#if defined(FAULT_CRASH)
    abort();
#elif defined(FAULT_HANG)
    for (;;) {
        pause();
    }
#elif defined(FAULT_EXIT)
    exit(0);
#elif defined(FAULT_PRINT)
    print_much();
#elif defined(FAULT_CHILDREN)
    for (int i = 0; i < 3; ++i) {
        if (fork() == 0) {
            sleep(60);
            _exit(0);
        }
    }
#elif defined(FAULT_ENVIRONMENT)
    signal(SIGPIPE, SIG_IGN);
    setenv("OMP_NUM_THREADS", "1", 1);
#endif
}
