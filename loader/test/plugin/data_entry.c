/* The entry symbol is data. */
const int hal_backend_entry_v1[4] = {1, 2, 3, 4};
