# From a candidate to completed tables, and the C API. Paths are relative to loader/.
set(HAL_LOADER_OPENING
  src/api.cpp src/backend.cpp src/backend_start.cpp src/devices.cpp src/emulate.cpp src/emulate_device.cpp
  src/emulate_memory.cpp src/error.cpp src/exports.cpp src/head.cpp src/host.cpp src/library.cpp src/loader.cpp
  src/loader_devices.cpp src/negotiate.cpp src/opened.cpp src/serialize.cpp src/status.cpp src/stub.cpp
  src/kernel_rank.cpp src/names.cpp src/registry.cpp src/registry_miss.cpp)
