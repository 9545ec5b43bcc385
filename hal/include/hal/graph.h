/* Structs of the graph engine tables (GB/T 45079-2024 6.2.2.2, table 7). Entries: tables/graph.def.
   Descriptions are borrowed for the length of the call; a backend copies what it keeps. */
#ifndef HAL_GRAPH_H
#define HAL_GRAPH_H

#include "hal/types.h"

/* Formats of hal_graph_desc. */
#define HAL_GRAPH_NODES 1u /* the native node list */
#define HAL_GRAPH_ONNX 2u  /* `bytes` is an ONNX ModelProto */
#define HAL_GRAPH_NATIVE 3u /* `bytes` came from graph_serialize of the same backend */

/* One operation. Inputs and outputs are indices into hal_graph_desc.values; HAL_GRAPH_NO_VALUE marks an absent optional one. */
#define HAL_GRAPH_NO_VALUE UINT32_MAX
typedef struct hal_graph_node {
    const char* name;
    const char* op;
    const uint32_t* inputs;
    const uint32_t* outputs;
    const hal_attr* attributes;
    uint32_t input_count;
    uint32_t output_count;
    uint32_t attribute_count;
    uint32_t op_version;
} hal_graph_node;

/* graph_engine_generate. A value whose tensor has a `data` address of the host is a constant; extent -1 is unknown until run. */
typedef struct hal_graph_desc {
    hal_header header;
    const char* name;
    uint32_t format;
    uint32_t node_count;
    const hal_graph_node* nodes;
    const hal_tensor* const* values;
    const uint32_t* inputs; /* indices of values in the order of execution's inputs */
    const uint32_t* outputs;
    uint32_t value_count;
    uint32_t input_count;
    uint32_t output_count;
    uint32_t reserved;
    const void* bytes;
    uint64_t size_bytes;
} hal_graph_desc;

/* graph_engine_initialize. Options are attributes; an unknown one is INVALID_ARGUMENT. NULL means the defaults. */
typedef struct hal_graph_engine_desc {
    hal_header header;
    const hal_attr* options;
    uint64_t option_count;
} hal_graph_engine_desc;

#endif
