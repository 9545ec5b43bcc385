/* Has no entry of its own; loader_test_healthy, which it links, has one. */
extern const void* hal_backend_entry_v1(const void* host);
const void* hal_test_keep(const void* host);
const void* hal_test_keep(const void* host) {
    return hal_backend_entry_v1(host);
}
