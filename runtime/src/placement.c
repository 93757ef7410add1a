#define _GNU_SOURCE
#include "placement.h"

#include <time.h>

static bool affinity(pthread_t thread, cpu_set_t* mask) { return pthread_getaffinity_np(thread, sizeof *mask, mask) == 0; }

void kiln_allow_cpus(pthread_t thread, const cpu_set_t* mask) { pthread_setaffinity_np(thread, sizeof *mask, mask); }

void kiln_leave_cpu(int cpu) {
  cpu_set_t mask;
  if (cpu < 0 || cpu >= CPU_SETSIZE || !affinity(pthread_self(), &mask)) return;
  cpu_set_t others = mask;
  CPU_CLR((size_t)cpu, &others);
  if (CPU_COUNT(&others) == 0) return;
  kiln_allow_cpus(pthread_self(), &others);
  kiln_allow_cpus(pthread_self(), &mask);
}

int64_t kiln_cpu_time(pthread_t thread) {
  clockid_t clock;
  struct timespec time;
  if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &time) != 0) return -1;
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

bool kiln_bring_here(pthread_t thread, cpu_set_t* mask) {
  const int cpu = sched_getcpu();
  if (cpu < 0 || cpu >= CPU_SETSIZE || !affinity(thread, mask) || !CPU_ISSET((size_t)cpu, mask)) return false;
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET((size_t)cpu, &here);
  return pthread_setaffinity_np(thread, sizeof here, &here) == 0;
}
