/* Calls what no library has. */
extern int acme_open(void);
const void* hal_backend_entry_v1(const void* host);
const void* hal_backend_entry_v1(const void* host) {
    return acme_open() ? host : 0;
}
