/* The default executor: a pool of POSIX threads. Separate from the core, which links alone and runs serially. */
#ifndef KILN_THREADS_H
#define KILN_THREADS_H

#include "kiln/kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kiln_pool kiln_pool;

enum { KILN_MAX_WORKERS = 1024 };

/* `workers` threads take part, the caller among them; 0: one for each CPU in the caller's affinity mask. More than
   KILN_MAX_WORKERS are that many. When threads cannot be started, the pool runs with those it got. Null only when memory runs
   out. */
kiln_pool* kiln_pool_create(int32_t workers);

/* Valid until the pool is destroyed. May be used from several threads at once and from inside a task (nested calls run inline).
   In a child after fork() it runs everything on the caller. */
kiln_executor* kiln_pool_executor(kiln_pool* pool);

/* No call may be running. */
void kiln_pool_destroy(kiln_pool* pool);

#ifdef __cplusplus
}
#endif
#endif
