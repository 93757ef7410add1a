#include "runtime_program.h"

static void sum_rows(void* const* buffers, const int64_t* symbols, int64_t begin, int64_t end) {
  const float* x = (const float*)buffers[0];
  float* sums = (float*)buffers[1];
  (void)symbols;
  for (int64_t i = begin; i < end; ++i) sums[i] = x[4 * i] + x[4 * i + 1] + x[4 * i + 2] + x[4 * i + 3];
}

static void scale(void* const* buffers, const int64_t* symbols, int64_t begin, int64_t end) {
  const float *sums = (const float*)buffers[0], *s = (const float*)buffers[1], *w = (const float*)buffers[2];
  float* y = (float*)buffers[3];
  (void)symbols;
  for (int64_t i = begin; i < end; ++i) y[i] = *s * sums[i] + w[0];
}

static void never(void* const* buffers, const int64_t* symbols, int64_t begin, int64_t end) {
  (void)symbols, (void)begin, (void)end;
  ((float*)buffers[0])[0] = -1;
}

static const int64_t zero[] = {KILN_PUSH_CONST, 0, KILN_EXPR_END};
static const int64_t four[] = {KILN_PUSH_CONST, 4, KILN_EXPR_END};
static const int64_t n[] = {KILN_PUSH_SYM, 0, KILN_EXPR_END};
static const int64_t m2p1[] = {KILN_PUSH_CONST, 2, KILN_PUSH_SYM, 1, KILN_MUL, KILN_PUSH_CONST, 1, KILN_ADD, KILN_EXPR_END};
static const int64_t n4[] = {KILN_PUSH_SYM, 0, KILN_PUSH_CONST, 4, KILN_MUL, KILN_EXPR_END};

static const kiln_symbol_desc symbols[] = {{"N", 0, (int64_t)1 << 40, 2, NULL}, {"M", 1, (int64_t)1 << 40, 1, NULL}};
static const kiln_expr x_extents[] = {n, four}, w_extents[] = {m2p1}, y_extents[] = {n};
static const kiln_param_desc params[] = {
    {"x", x_extents, 0, KILN_F32, KILN_IN, 2, 0, {0}},
    {"w", w_extents, 0, KILN_F32, KILN_IN, 1, 0, {0}},
    {"s", 0, 0, KILN_F32, KILN_IN, 0, 0, {0}},
    {"y", y_extents, 0, KILN_F32, KILN_OUT, 1, 0, {0}},
};
static const kiln_temp_desc temps[] = {{zero, n4}};
static const int32_t sum_buffers[] = {0, 4}, scale_buffers[] = {4, 2, 1, 3}, never_buffers[] = {3}, scale_after[] = {0};
static const kiln_kernel_desc kernels[] = {
    {"row_sum_k0", sum_rows, sum_buffers, 0, n, n4, 2, 0, 8, 1, 0, 0, 0},
    {"row_sum_k1", scale, scale_buffers, scale_after, n, n4, 4, 1, 8, 1, 0, 0, 0},
    {"row_sum_k2", never, never_buffers, 0, zero, zero, 1, 0, 1, 1, 0, 0, 0},
};
kiln_status row_sum(const kiln_tensor* args, int32_t n_args, const kiln_context* context) {
  return kiln_call(row_sum_desc(), args, n_args, context);
}

static const kiln_program_desc program = {KILN_ABI_VERSION, 2,  4,      1, 3, 0, "row_sum", symbols, params, temps,
                                          kernels,          n4, 0,      0, 0, 0, 0,         0,       0,      0,
                                          "by hand",        0,  row_sum};
const kiln_program_desc* row_sum_desc(void) { return &program; }
