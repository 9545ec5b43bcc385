/* Constants of the collective tables (GB/T 45079-2024 6.2.3, table 10). Entries: tables/xccl.def. */
#ifndef HAL_XCCL_H
#define HAL_XCCL_H

#include "hal/types.h"

typedef uint32_t hal_reduce_op;
#define HAL_REDUCE_SUM 1u
#define HAL_REDUCE_PROD 2u
#define HAL_REDUCE_MAX 3u
#define HAL_REDUCE_MIN 4u
#define HAL_REDUCE_AVG 5u /* integers truncate toward zero */
#define HAL_REDUCE_PREMUL_SUM 6u
#define HAL_REDUCE_BAND 7u
#define HAL_REDUCE_BOR 8u
#define HAL_REDUCE_BXOR 9u

/* Names of the collectives for xccl_supported. */
typedef uint32_t hal_collective;
#define HAL_COLL_ALL_REDUCE 1u
#define HAL_COLL_BROADCAST 2u
#define HAL_COLL_REDUCE 3u
#define HAL_COLL_ALL_GATHER 4u
#define HAL_COLL_REDUCE_SCATTER 5u
#define HAL_COLL_SEND_RECV 6u
#define HAL_COLL_ALLTOALL 7u
#define HAL_COLL_ALLTOALLV 8u
#define HAL_COLL_GATHER 9u
#define HAL_COLL_SCATTER 10u
#define HAL_COLL_BARRIER 11u

/* A unique id is 1..HAL_MAX_UNIQUE_ID_BYTES long. */
#define HAL_MAX_UNIQUE_ID_BYTES 65536u

#endif
