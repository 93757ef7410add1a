#include "expression.h"

static bool floor_divide(int64_t a, int64_t b, bool remainder, int64_t* r) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return false;
  int64_t q = a / b, m = a % b;
  if (m != 0 && (m < 0) != (b < 0)) {
    q -= 1;
    m += b;
  }
  *r = remainder ? m : q;
  return true;
}

static bool apply(int64_t op, int64_t a, int64_t b, int64_t* r) {
  switch (op) {
    case KILN_ADD: return !__builtin_add_overflow(a, b, r);
    case KILN_SUB: return !__builtin_sub_overflow(a, b, r);
    case KILN_MUL: return !__builtin_mul_overflow(a, b, r);
    case KILN_FLOORDIV: return floor_divide(a, b, false, r);
    case KILN_FLOORMOD: return floor_divide(a, b, true, r);
    case KILN_MIN: *r = a < b ? a : b; return true;
    case KILN_MAX: *r = a > b ? a : b; return true;
    default: return false;
  }
}

bool kiln_evaluate_postfix(kiln_expr code, const int64_t* symbols, int64_t* value) {
  int64_t stack[64];
  int top = 0;
  for (; *code != KILN_EXPR_END; ++code) {
    if (*code == KILN_PUSH_CONST || *code == KILN_PUSH_SYM) {
      if (top == 64) return false;
      const int64_t word = code[1];
      stack[top++] = *code == KILN_PUSH_CONST ? word : symbols[word];
      ++code;
    } else {
      if (top < 2 || !apply(*code, stack[top - 2], stack[top - 1], &stack[top - 2])) return false;
      --top;
    }
  }
  if (top != 1) return false;
  *value = stack[0];
  return true;
}

/* Keeps value number n of the code if `values` has a place for it. Not inlined: the runtime is small. */
__attribute__((noinline)) static bool compute(kiln_expr code, const int64_t* symbols, int64_t* values, int32_t n) {
  int64_t v;
  return kiln_evaluate(code, symbols, values != 0 && n < KILN_KEPT_SIZES ? &values[n] : &v);
}

bool kiln_compute_sizes(const kiln_program_desc* p, const int64_t* symbols, kiln_sizes* sizes) {
  for (int32_t k = 0; k < p->n_kernels; ++k)
    if (p->kernels[k].n_buffers > KILN_MAX_BUFFERS || !compute(p->kernels[k].trip_count, symbols, sizes->trips, k))
      return false;
  for (int32_t t = 0; t < p->n_temps; ++t)
    if (!compute(p->temps[t].offset, symbols, sizes->offsets, t) || !compute(p->temps[t].bytes, symbols, 0, 0)) return false;
  for (int32_t i = 0; i < p->n_views; ++i)
    if (!compute(p->views[i].offset, symbols, 0, 0)) return false;
  return true;
}
