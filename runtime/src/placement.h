/* Where threads of the pool run, if other programs keep CPUs busy. The kernel's scheduler may put two threads of one job on one
   CPU, or take the CPU from a worker for a time slice of milliseconds while all others wait for its chunk. */
#ifndef KILN_PLACEMENT_H
#define KILN_PLACEMENT_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* Moves the calling thread to another CPU of its affinity mask. The mask is afterwards what it was. Does nothing if the mask
   has no other CPU. */
void kiln_leave_cpu(int cpu);

/* CPU time of a thread in nanoseconds, or -1. */
int64_t kiln_cpu_time(pthread_t thread);

/* Moves a thread to the caller's CPU, where it can run as soon as the caller sleeps. Returns false, and does nothing, if the
   thread's affinity mask, which it writes to `mask`, lacks that CPU. Undo: kiln_allow_cpus. */
bool kiln_bring_here(pthread_t thread, cpu_set_t* mask);

void kiln_allow_cpus(pthread_t thread, const cpu_set_t* mask);

#endif
