/* A library that is no back end. */
int hal_test_nothing(void) {
    return 0;
}
