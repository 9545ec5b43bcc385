/* Thread-local memory of the kind that must be there when the program starts. */
static __thread long counters[64] __attribute__((tls_model("initial-exec")));
long count_call(int which);
long count_call(int which) {
    return ++counters[which & 63];
}
