#include <stdbool.h>

#include "check.h"
#include "expression.h"
#include "float_environment.h"
#include "kiln/kiln.h"

enum { CHUNKS_PER_WORKER = 16 };

typedef struct kernel_call {
  const kiln_kernel_desc* kernel;
  void* const* buffers;
  const int64_t* symbols;
} kernel_call;

/* Runs on any thread that the executor chooses. */
static void run_chunk(void* data, int64_t begin, int64_t end) {
  const kernel_call* c = (const kernel_call*)data;
  const uint32_t environment = kiln_enter_float_environment();
  c->kernel->fn(c->buffers, c->symbols, begin, end);
  kiln_leave_float_environment(environment);
}

static int32_t chunk_count(const kiln_executor* e, int64_t work) {
  if (work < KILN_LEAST_SHARED_WORK) return 1;
  const int64_t by_work = work / KILN_WORK_PER_CHUNK, most = (int64_t)e->workers * CHUNKS_PER_WORKER;
  const int64_t n = by_work < most ? by_work : most;
  return n < 1 ? 1 : (int32_t)n;
}

typedef struct call {
  const kiln_program_desc* program;
  const kiln_tensor* args;
  char* workspace;
  int64_t* symbols;
  kiln_executor* executor;
  int32_t* failed; /* the least number of a failed check, or KILN_NO_CHECK */
  const kiln_sizes* sizes;
} call;

static void* address_in(const call* c, int32_t id) {
  const kiln_program_desc* p = c->program;
  const int32_t first_temp = p->n_params + (p->n_checks > 0);
  int32_t rotating = id - first_temp - p->n_temps;
  int64_t offset = 0;
  if (rotating >= 0 && rotating < p->n_rotating) {
    const kiln_rotating_desc* r = &p->rotating[rotating];
    id = r->buffers[(uint64_t)c->symbols[r->count] % (uint32_t)r->n];
    rotating = -1;
  }
  if (id < p->n_params) return c->args[id].data;
  if (id < first_temp) return c->failed;
  const kiln_view_desc* view = rotating < 0 ? 0 : &p->views[rotating - p->n_rotating];
  if (view == 0 && id - first_temp < KILN_KEPT_SIZES) return c->workspace + c->sizes->offsets[id - first_temp];
  kiln_evaluate_postfix(view == 0 ? p->temps[id - first_temp].offset : view->offset, c->symbols, &offset);
  return (view == 0 ? c->workspace : (char*)c->args[view->param].data) + offset;
}

static void read_numbers(const call* c, const kiln_read_desc* reads, int32_t n) {
  for (int32_t i = 0; i < n; ++i) c->symbols[reads[i].symbol] = *(const int64_t*)address_in(c, reads[i].buffer);
}

static void run_kernel(const call* c, const kiln_kernel_desc* k) {
  void* buffers[KILN_MAX_BUFFERS];
  int64_t n = 0, work = 0;
  const int64_t number = k - c->program->kernels;
  read_numbers(c, k->reads, k->n_reads);
  if (c->program->n_numbers == 0 && number < KILN_KEPT_SIZES)
    n = c->sizes->trips[number];
  else
    kiln_evaluate_postfix(k->trip_count, c->symbols, &n);
  if (n <= 0) return;
  for (int32_t b = 0; b < k->n_buffers; ++b) buffers[b] = address_in(c, k->buffers[b]);
  int32_t chunks = 1;
  if (c->executor != 0 && k->parallel) {
    if (!kiln_evaluate(k->work, c->symbols, &work)) work = INT64_MAX;
    chunks = chunk_count(c->executor, work);
  }
  kernel_call run = {k, buffers, c->symbols};
  if (chunks == 1)
    k->fn(buffers, c->symbols, 0, n);
  else
    c->executor->parallel_for(c->executor, n, k->alignment, chunks, run_chunk, &run);
}

static void run_kernels(const call* c, int32_t first, int32_t end, int32_t next_loop);

/* The recursion is as deep as loops nest. */
static void run_loop(const call* c, int32_t number) {
  const kiln_loop_desc* l = &c->program->loops[number];
  int64_t at = 0, end = 0;
  if (l->count >= 0) c->symbols[l->count] = 0;
  read_numbers(c, l->reads, l->n_reads);
  if (!kiln_evaluate(l->begin, c->symbols, &at) || !kiln_evaluate(l->end, c->symbols, &end)) return;
  while (at < end && (l->condition < 0 || *(const uint8_t*)address_in(c, l->condition) != 0)) {
    if (l->counter >= 0) c->symbols[l->counter] = at;
    run_kernels(c, l->first_kernel, l->end_kernel, number + 1);
    if (l->count >= 0) ++c->symbols[l->count];
    if (__builtin_add_overflow(at, l->step, &at)) return;
  }
}

/* next_loop: the first loop that begins at kernel `first` or later. */
static void run_kernels(const call* c, int32_t first, int32_t end, int32_t next_loop) {
  const kiln_program_desc* p = c->program;
  for (int32_t k = first; k < end;) {
    if (next_loop == p->n_loops || p->loops[next_loop].first_kernel != k) {
      run_kernel(c, &p->kernels[k++]);
      continue;
    }
    run_loop(c, next_loop);
    k = p->loops[next_loop].end_kernel;
    while (next_loop < p->n_loops && p->loops[next_loop].first_kernel < k) ++next_loop;
  }
}

static bool run_program(const kiln_program_desc* p, const kiln_tensor* args, int64_t* symbols, const kiln_sizes* sizes,
                        char* workspace, kiln_executor* executor, kiln_status* s) {
  int32_t failed = KILN_NO_CHECK;
  const call c = {p, args, workspace, symbols, executor, &failed, sizes};
  const uint32_t environment = kiln_enter_float_environment();
  run_kernels(&c, 0, p->n_kernels, 0);
  kiln_leave_float_environment(environment);
  return failed == KILN_NO_CHECK || kiln_fail(s, KILN_R_CHECK, -1, -1, -1, failed);
}

static bool check_and_run(const kiln_program_desc* p, const kiln_tensor* args, int32_t n_args, const kiln_context* context,
                          kiln_status* s) {
  static const kiln_context no_context;
  int64_t symbols[KILN_MAX_SYMBOLS + KILN_MAX_NUMBERS];
  kiln_sizes sizes;
  int64_t need = 0;
  if (!kiln_check(p, args, n_args, symbols, s)) return false;
  if (!kiln_compute_sizes(p, symbols, &sizes) || !kiln_evaluate(p->workspace_bytes, symbols, &need))
    return kiln_fail(s, KILN_R_TOOLARGE, -1, -1, -1, -1);
  if (context == 0) context = &no_context;
  char *workspace = 0, *own = 0;
  if (need > 0) {
    if (context->workspace_bytes >= need) workspace = (char*)context->workspace;
    if (workspace == 0 && context->allocate != 0)
      workspace = own = (char*)context->allocate(context->user, (size_t)need, KILN_WORKSPACE_ALIGNMENT);
    if (workspace == 0) return kiln_fail(s, KILN_R_OOM, -1, -1, need, context->workspace_bytes);
  }
  const bool done = (workspace == 0 || kiln_check_workspace(p, args, symbols, workspace, need, s)) &&
                    run_program(p, args, symbols, &sizes, workspace, context->executor, s);
  if (own != 0 && context->release != 0) context->release(context->user, own, (size_t)need);
  return done;
}

kiln_status kiln_call(const kiln_program_desc* p, const kiln_tensor* args, int32_t n_args, const kiln_context* context) {
  kiln_status s = KILN_STATUS_OK;
  check_and_run(p, args, n_args, context, &s);
  return s;
}

__attribute__((cold)) kiln_status kiln_workspace_bytes(const kiln_program_desc* p, const kiln_tensor* args, int32_t n_args,
                                                       int64_t* bytes) {
  int64_t symbols[KILN_MAX_SYMBOLS + KILN_MAX_NUMBERS];
  kiln_status s = KILN_STATUS_OK;
  if (!kiln_check(p, args, n_args, symbols, &s)) return s;
  if (bytes == 0)
    kiln_fail(&s, KILN_R_NULL, -1, -1, -1, -1);
  else if (!kiln_evaluate_postfix(p->workspace_bytes, symbols, bytes))
    kiln_fail(&s, KILN_R_TOOLARGE, -1, -1, -1, -1);
  return s;
}
