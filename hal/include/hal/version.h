/* Versions of the contract. The ABI version guards the plug-in boundary; each table has a major of its own besides. */
#ifndef HAL_VERSION_H
#define HAL_VERSION_H

/* ABI of hal_host, hal_backend_descriptor and every struct of this folder. The minor grows when something is appended, the
   major when something breaks; the loader opens plug-ins of its own major only. */
#define HAL_ABI_MAJOR 1u
#define HAL_ABI_MINOR 0u
#define HAL_MAKE_VERSION(major, minor) (((uint32_t)(major) << 16) | (uint32_t)(minor))
#define HAL_VERSION_MAJOR_OF(version) ((uint32_t)(version) >> 16)
#define HAL_VERSION_MINOR_OF(version) ((uint32_t)(version) & 0xffffu)
#define HAL_ABI_VERSION HAL_MAKE_VERSION(HAL_ABI_MAJOR, HAL_ABI_MINOR)

#endif
