/* The default executor: a pool of POSIX threads. It is separate from the core, which can be linked alone and then runs
   serially. */
#ifndef KILN_THREADS_H
#define KILN_THREADS_H

#include "kiln/kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kiln_pool kiln_pool;

enum { KILN_MAX_WORKERS = 1024 };

/* workers: number of threads including the caller, at most KILN_MAX_WORKERS; 0: one for each CPU in the caller's affinity mask.
   If some threads cannot be started, the pool runs with the others. Returns null only if memory runs out. */
kiln_pool* kiln_pool_create(int32_t workers);

/* The executor is valid until the pool is destroyed. Several threads may use it at once. Tasks may use it too: nested calls
   run on the thread of the task. In a child process after fork() everything runs on the calling thread. */
kiln_executor* kiln_pool_executor(kiln_pool* pool);

/* Requires that no call is running. */
void kiln_pool_destroy(kiln_pool* pool);

#ifdef __cplusplus
}
#endif
#endif
