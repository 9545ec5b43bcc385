// A static of an inline function, which GNU makes unique in the process: the library can never be unloaded.
namespace acme {
__attribute__((visibility("default"))) inline int& pool() {
    static int blocks = 0;
    return blocks;
}
}  // namespace acme

extern "C" __attribute__((visibility("default"))) int* acme_pool() {
    return &acme::pool();
}
