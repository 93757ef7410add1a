#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "kiln/threads.h"
#include "placement.h"

enum { CLOSED = 1 << 30 };
enum { SPIN = 4000 };  /* polls before a worker sleeps: tens of microseconds, so that a worker is awake for the next kernel */
enum { GLANCE = 200 }; /* polls in which a worker that has a CPU uses at least a microsecond of it */

typedef struct job {
  void (*task)(void*, int64_t, int64_t);
  void* data;
  int64_t n, alignment, least; /* least: iterations of a chunk, a multiple of the alignment */
} job;

typedef struct worker {
  pthread_t thread;
  atomic_bool helps; /* inside the current job */
  bool moved;        /* its affinity is the caller's CPU until the job ends; `mask` is what it was */
  cpu_set_t mask;
  int64_t cpu_time; /* when the caller looked first */
  struct kiln_pool* pool;
} worker;

struct kiln_pool {
  kiln_executor executor; /* must be first: the executor's address is the pool's */
  pthread_mutex_t lock;   /* guards both sleeps and the change of `generation` */
  pthread_cond_t wake;    /* a new generation */
  pthread_cond_t idle;    /* the last helper has left a closed job */
  pthread_mutex_t busy;   /* held by the one caller whose job gets the workers' help */
  job current;
  atomic_uint_fast64_t generation; /* number of the job; it also changes to stop the workers */
  atomic_int_fast64_t next;        /* first iteration that no thread has taken */
  atomic_uint helpers;             /* workers inside the current job; with CLOSED set, no worker may begin to help */
  atomic_bool stop;
  pid_t owner;
  int caller;  /* CPU on which the current job began, or -1: workers may stay there */
  bool spread; /* there is a CPU for each thread */
  int32_t n_workers;
  worker workers[];
};

static _Thread_local bool inside_task; /* a nested call runs inline: the workers may wait for this task */

static void pause_briefly(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/* The next multiple of the alignment, or INT64_MAX, which is more than all iterations. */
static int64_t aligned_up(int64_t n, int64_t alignment) {
  const int64_t more = alignment > 1 && n % alignment != 0 ? alignment - n % alignment : 0;
  return n > INT64_MAX - more ? INT64_MAX : n + more;
}

/* Takes a chunk of the iterations that no thread has taken. The first chunks are large. The last ones are small, so that all
   threads finish at about the same time, also if one of them runs slowly or late. */
static bool take(kiln_pool* p, const job* j, int64_t* begin, int64_t* end) {
  int64_t first = atomic_load_explicit(&p->next, memory_order_relaxed), next;
  do {
    if (first >= j->n) return false;
    const int64_t left = j->n - first, share = aligned_up(left / (2 * ((int64_t)p->n_workers + 1)), j->alignment);
    const int64_t size = share < j->least ? j->least : share;
    next = size < left ? first + size : j->n;
  } while (!atomic_compare_exchange_weak_explicit(&p->next, &first, next, memory_order_relaxed, memory_order_relaxed));
  *begin = first;
  *end = next;
  return true;
}

static void work(kiln_pool* p, const job* j) {
  inside_task = true;
  for (int64_t begin, end; take(p, j, &begin, &end);) j->task(j->data, begin, end);
  inside_task = false;
}

static uint_fast64_t wait_for_job(kiln_pool* p, uint_fast64_t seen) {
  for (int i = 0; i < SPIN; ++i) {
    const uint_fast64_t g = atomic_load_explicit(&p->generation, memory_order_acquire);
    if (g != seen) return g;
    pause_briefly();
  }
  pthread_mutex_lock(&p->lock);
  while (atomic_load_explicit(&p->generation, memory_order_acquire) == seen) pthread_cond_wait(&p->wake, &p->lock);
  pthread_mutex_unlock(&p->lock);
  return atomic_load_explicit(&p->generation, memory_order_acquire);
}

/* A worker that wakes late finds the job closed, or helps with a newer one. The caller waits only for workers inside the job,
   not for sleepers. */
static void help(worker* w) {
  kiln_pool* p = w->pool;
  if ((atomic_fetch_add_explicit(&p->helpers, 1, memory_order_acquire) & CLOSED) == 0) {
    const job j = p->current;
    if (p->caller >= 0 && sched_getcpu() == p->caller) kiln_leave_cpu(p->caller);
    atomic_store_explicit(&w->helps, true, memory_order_relaxed);
    work(p, &j);
    atomic_store_explicit(&w->helps, false, memory_order_relaxed);
  }
  if (atomic_fetch_sub_explicit(&p->helpers, 1, memory_order_acq_rel) != (CLOSED | 1)) return;
  pthread_mutex_lock(&p->lock);
  pthread_cond_signal(&p->idle);
  pthread_mutex_unlock(&p->lock);
}

static bool helped(kiln_pool* p) { return atomic_load_explicit(&p->helpers, memory_order_acquire) != CLOSED; }

static bool helped_after(kiln_pool* p, int polls) {
  for (int i = 0; i < polls && helped(p); ++i) pause_briefly();
  return helped(p);
}

/* Workers inside the job that have used no CPU time since the caller looked first wait for a CPU. They get the caller's. */
static void bring_stalled(kiln_pool* p) {
  for (int32_t i = 0; i < p->n_workers; ++i) p->workers[i].cpu_time = kiln_cpu_time(p->workers[i].thread);
  if (!helped_after(p, GLANCE)) return;
  for (int32_t i = 0; i < p->n_workers; ++i) {
    worker* w = &p->workers[i];
    const bool stalled =
        atomic_load_explicit(&w->helps, memory_order_relaxed) && w->cpu_time >= 0 && kiln_cpu_time(w->thread) == w->cpu_time;
    w->moved = stalled && kiln_bring_here(w->thread, &w->mask);
  }
}

static void release_moved(kiln_pool* p) {
  for (int32_t i = 0; i < p->n_workers; ++i) {
    worker* w = &p->workers[i];
    if (w->moved) kiln_allow_cpus(w->thread, &w->mask);
    w->moved = false;
  }
}

static void wait_for_helpers(kiln_pool* p) {
  atomic_fetch_or_explicit(&p->helpers, CLOSED, memory_order_acq_rel);
  if (!helped_after(p, SPIN)) return;
  if (p->spread) bring_stalled(p);
  pthread_mutex_lock(&p->lock);
  while (helped(p)) pthread_cond_wait(&p->idle, &p->lock);
  pthread_mutex_unlock(&p->lock);
  release_moved(p);
}

static void* run_worker(void* argument) {
  worker* w = (worker*)argument;
  for (uint_fast64_t seen = 0;;) {
    seen = wait_for_job(w->pool, seen);
    if (atomic_load_explicit(&w->pool->stop, memory_order_acquire)) return NULL;
    help(w);
  }
}

static void announce(kiln_pool* p) {
  pthread_mutex_lock(&p->lock);
  atomic_fetch_add_explicit(&p->generation, 1, memory_order_release);
  pthread_cond_broadcast(&p->wake);
  pthread_mutex_unlock(&p->lock);
}

static void parallel_for(kiln_executor* self, int64_t n, int64_t alignment, int32_t max_chunks,
                         void (*task)(void*, int64_t, int64_t), void* data) {
  kiln_pool* p = (kiln_pool*)self;
  if (n <= 0) return;
  const int64_t chunks = max_chunks < 1 ? 1 : max_chunks;
  const int64_t least = aligned_up(n / chunks + (n % chunks != 0), alignment);
  const bool alone = p->n_workers == 0 || least >= n || inside_task || getpid() != p->owner;
  if (alone || pthread_mutex_trylock(&p->busy) != 0) {
    task(data, 0, n);
    return;
  }
  p->caller = p->spread ? sched_getcpu() : -1;
  p->current = (job){task, data, n, alignment, least};
  atomic_store_explicit(&p->next, 0, memory_order_relaxed);
  atomic_fetch_and_explicit(&p->helpers, ~(unsigned)CLOSED, memory_order_release);
  announce(p);
  const job j = p->current;
  work(p, &j);
  wait_for_helpers(p);
  pthread_mutex_unlock(&p->busy);
}

static int32_t allowed_cpus(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  long n = 0;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    n = CPU_COUNT(&set);
  else
    n = sysconf(_SC_NPROCESSORS_ONLN); /* fallback if there are more CPUs than the mask holds */
  return n < 1 ? 1 : (int32_t)n;
}

/* Workers block all signals, so that handlers run on the application's own threads. */
static void start_threads(kiln_pool* p, int32_t want) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (; p->n_workers < want; ++p->n_workers) {
    worker* w = &p->workers[p->n_workers];
    w->pool = p;
    if (pthread_create(&w->thread, NULL, run_worker, w) != 0) break;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

kiln_pool* kiln_pool_create(int32_t workers) {
  const int32_t cpus = allowed_cpus(), asked = workers > 0 ? workers : cpus,
                want = asked < KILN_MAX_WORKERS ? asked : KILN_MAX_WORKERS;
  kiln_pool* p = (kiln_pool*)calloc(1, sizeof *p + (size_t)want * sizeof p->workers[0]);
  if (p == NULL) return NULL;
  p->owner = getpid();
  p->spread = want <= cpus;
  p->executor.parallel_for = parallel_for;
  pthread_mutex_init(&p->lock, NULL);
  pthread_mutex_init(&p->busy, NULL);
  pthread_cond_init(&p->wake, NULL);
  pthread_cond_init(&p->idle, NULL);
  atomic_init(&p->helpers, CLOSED);
  start_threads(p, want - 1);
  p->executor.workers = p->n_workers + 1;
  return p;
}

kiln_executor* kiln_pool_executor(kiln_pool* pool) { return &pool->executor; }

void kiln_pool_destroy(kiln_pool* p) {
  if (p == NULL) return;
  if (getpid() == p->owner) {
    atomic_store_explicit(&p->stop, true, memory_order_release);
    announce(p);
    for (int32_t i = 0; i < p->n_workers; ++i) pthread_join(p->workers[i].thread, NULL);
    pthread_cond_destroy(&p->wake);
    pthread_cond_destroy(&p->idle);
    pthread_mutex_destroy(&p->lock);
    pthread_mutex_destroy(&p->busy);
  }
  free(p);
}
