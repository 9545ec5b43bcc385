/* The tables as structs: one function pointer an entry, in the order of tables/all.def. */
#ifndef HAL_TABLES_H
#define HAL_TABLES_H

#include "hal/compiler.h"
#include "hal/device.h"
#include "hal/event.h"
#include "hal/graph.h"
#include "hal/kernel.h"
#include "hal/memory.h"
#include "hal/stream.h"
#include "hal/types.h"
#include "hal/xccl.h"

/* Readers of a parameter sequence (type, name)(type, name)...: HAL_PARAMS gives ", type name" and HAL_ARGS ", name" for each.
   The two halves of each pair call each other because a macro does not expand inside itself. */
#define HAL_SEQ_END(...) HAL_SEQ_END_(__VA_ARGS__)
#define HAL_SEQ_END_(...) __VA_ARGS__##_END
#define HAL_PARAMS(sequence) HAL_SEQ_END(HAL_PARAM_1 sequence)
#define HAL_PARAM_1(type, name) , type name HAL_PARAM_2
#define HAL_PARAM_2(type, name) , type name HAL_PARAM_1
#define HAL_PARAM_1_END
#define HAL_PARAM_2_END
#define HAL_ARGS(sequence) HAL_SEQ_END(HAL_ARG_1 sequence)
#define HAL_ARG_1(type, name) , name HAL_ARG_2
#define HAL_ARG_2(type, name) , name HAL_ARG_1
#define HAL_ARG_1_END
#define HAL_ARG_2_END

#ifdef __cplusplus
extern "C" {
#endif

/* Head of every table. `size` is sizeof the plug-in's struct: a shorter one comes from an older plug-in, a longer one from a
   newer, and both work. */
typedef struct hal_table_header {
    uint32_t size;
    uint32_t id_major; /* HAL_TABLE_ID of the table */
} hal_table_header;

#define HAL_TABLE_ID(id, major) (((uint32_t)(id) << 16) | (uint32_t)(major))
#define HAL_TABLE_MAX_BYTES 65536u

/* HAL_TABLE_device, HAL_TABLE_memory, ...: what get_table is asked for. */
enum {
#define HAL_TABLE(table, id, clause, effect) HAL_TABLE_##table = HAL_TABLE_ID(id, 1),
#include "hal/tables/all.def"
    HAL_TABLE_FORCE_INT = INT32_MAX
};

#define HAL_TABLE(table, id, clause, effect)                                                                           \
    typedef struct hal_##table##_table {                                                                               \
        hal_table_header header;
#define HAL_FN(table, entry, need, clause, since, effect, params)                                                      \
    hal_status (*entry)(hal_instance * self HAL_PARAMS(params));
#define HAL_TABLE_END(table)                                                                                           \
    }                                                                                                                  \
    hal_##table##_table;
#include "hal/tables/all.def"

#ifdef __cplusplus
}
#endif
#endif
