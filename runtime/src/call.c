#include <stdbool.h>

#include "check.h"
#include "expression.h"
#include "kiln/kiln.h"

enum {
  WORK_PER_CHUNK = 20000, /* scalar operations: below about 10 us a second thread costs more than it saves */
  CHUNKS_PER_WORKER = 4
};

typedef struct kernel_call {
  const kiln_kernel_desc* kernel;
  void* const* buffers;
  const int64_t* symbols;
} kernel_call;

static void run_chunk(void* data, int64_t begin, int64_t end) {
  const kernel_call* c = (const kernel_call*)data;
  c->kernel->fn(c->buffers, c->symbols, begin, end);
}

static int32_t chunk_count(const kiln_executor* e, int64_t work) {
  const int64_t by_work = work / WORK_PER_CHUNK, most = (int64_t)e->workers * CHUNKS_PER_WORKER;
  const int64_t n = by_work < most ? by_work : most;
  return n < 1 ? 1 : (int32_t)n;
}

static void* buffer_address(const kiln_program_desc* p, int32_t id, const kiln_tensor* args, char* workspace,
                            const int64_t* symbols) {
  const int32_t temp = id - p->n_params, view = temp - p->n_temps;
  int64_t offset = 0;
  if (temp < 0) return args[id].data;
  kiln_evaluate(view < 0 ? p->temps[temp].offset : p->views[view].offset, symbols, &offset);
  return (view < 0 ? workspace : (char*)args[p->views[view].param].data) + offset;
}

static void run_kernel(const kiln_program_desc* p, const kiln_kernel_desc* k, const kiln_tensor* args, char* workspace,
                       const int64_t* symbols, kiln_executor* executor) {
  void* buffers[KILN_MAX_BUFFERS];
  int64_t n = 0, work = 0;
  kiln_evaluate(k->trip_count, symbols, &n);
  if (n <= 0) return;
  for (int32_t b = 0; b < k->n_buffers; ++b) buffers[b] = buffer_address(p, k->buffers[b], args, workspace, symbols);
  if (!kiln_evaluate(k->work, symbols, &work)) work = INT64_MAX;
  const int32_t chunks = executor != 0 && k->parallel ? chunk_count(executor, work) : 1;
  kernel_call call = {k, buffers, symbols};
  if (chunks == 1)
    run_chunk(&call, 0, n);
  else
    executor->parallel_for(executor, n, k->alignment, chunks, run_chunk, &call);
}

static kiln_status run_program(const kiln_program_desc* p, const kiln_tensor* args, const int64_t* symbols, char* workspace,
                               kiln_executor* executor) {
  for (int32_t k = 0; k < p->n_kernels; ++k) run_kernel(p, &p->kernels[k], args, workspace, symbols, executor);
  return kiln_fail(KILN_OK, -1, -1, -1, 0, 0);
}

kiln_status kiln_call(const kiln_program_desc* p, const kiln_tensor* args, int32_t n_args, const kiln_context* context) {
  int64_t symbols[KILN_MAX_SYMBOLS];
  int64_t need = 0;
  const kiln_status s = kiln_check(p, args, n_args, symbols);
  if (s.code != KILN_OK) return s;
  if (!kiln_sizes_are_representable(p, symbols) || !kiln_evaluate(p->workspace_bytes, symbols, &need))
    return kiln_fail(KILN_R_TOOLARGE, -1, -1, -1, -1, -1);
  kiln_executor* executor = context != 0 ? context->executor : 0;
  if (need <= 0) return run_program(p, args, symbols, 0, executor);
  if (context == 0) return kiln_fail(KILN_R_OOM, -1, -1, -1, need, 0);
  if (context->workspace != 0 && context->workspace_bytes >= need) {
    const kiln_status fit = kiln_check_workspace(p, args, context->workspace, need);
    return fit.code != KILN_OK ? fit : run_program(p, args, symbols, (char*)context->workspace, executor);
  }
  char* own = context->allocate != 0 ? (char*)context->allocate(context->user, (size_t)need, 64) : 0;
  if (own == 0) return kiln_fail(KILN_R_OOM, -1, -1, -1, need, context->workspace_bytes);
  kiln_status done = kiln_check_workspace(p, args, own, need);
  if (done.code == KILN_OK) done = run_program(p, args, symbols, own, executor);
  if (context->release != 0) context->release(context->user, own, (size_t)need);
  return done;
}

__attribute__((cold)) kiln_status kiln_workspace_bytes(const kiln_program_desc* p, const kiln_tensor* args, int32_t n_args,
                                                       int64_t* bytes) {
  int64_t symbols[KILN_MAX_SYMBOLS];
  const kiln_status s = kiln_check(p, args, n_args, symbols);
  if (s.code != KILN_OK) return s;
  if (bytes == 0) return kiln_fail(KILN_R_NULL, -1, -1, -1, -1, -1);
  if (!kiln_evaluate(p->workspace_bytes, symbols, bytes)) return kiln_fail(KILN_R_TOOLARGE, -1, -1, -1, -1, -1);
  return s;
}
