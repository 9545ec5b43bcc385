/* A small shared object for the preflight: data, a constructor and a relocation, so that it has every usual segment. */
static int counter = 1;
int* tiny_counter = &counter;
__attribute__((constructor)) static void count(void) { ++counter; }
__attribute__((visibility("default"))) int tiny_value(void) { return *tiny_counter; }
