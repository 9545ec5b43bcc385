// The shortest C++ process: what start-up is compared with.
int main() {}
