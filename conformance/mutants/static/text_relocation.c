/* An address inside the code, which the loader must write there: no other process can share the page. */
__asm__(".text\n.globl table_of_entries\n.hidden table_of_entries\ntable_of_entries:\n.quad hal_backend_entry_v1\n");
