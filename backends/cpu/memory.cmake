# Tables 2 and 102.
target_sources(hal_cpu_core PRIVATE
  src/arena.cpp src/block_map.cpp src/copy.cpp src/free_lists.cpp src/heap.cpp src/host_memory.cpp src/ipc_memory.cpp
  src/memory.cpp src/memory_access.cpp src/memory_ext.cpp)

if(BUILD_TESTING)
  hal_add_test(hal_cpu_memory_test LIBRARIES hal_cpu_core
    SOURCES test/memory_block_map.cpp test/memory_copy.cpp test/memory_ext_table.cpp test/memory_heap.cpp
            test/memory_host.cpp test/memory_ipc.cpp test/memory_table.cpp)
endif()
