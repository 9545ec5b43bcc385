/* A second name that other libraries can take for their own. */
__attribute__((visibility("default"))) int memory_pool_init(void);
int memory_pool_init(void) {
    return 0;
}
