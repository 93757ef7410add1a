#include "check.h"

#include <stdbool.h>

#include "expression.h"

static const uint8_t sizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};

bool kiln_fail(kiln_status* s, int32_t code, int32_t param, int32_t axis, int64_t expected, int64_t got) {
  *s = (kiln_status){code, param, axis, -1, expected, got};
  return false;
}

/* The same, for an error about a symbol. */
static bool fail_symbol(kiln_status* s, int32_t code, int32_t param, int32_t axis, int32_t symbol, int64_t expected,
                        int64_t got) {
  kiln_fail(s, code, param, axis, expected, got);
  s->symbol = symbol;
  return false;
}

/* Checks what the description fixes: element type, rank, pointers, signs of extents. */
static bool check_form(const kiln_param_desc* p, const kiln_tensor* t, int32_t i, kiln_status* s) {
  if (t->dtype != p->dtype) return kiln_fail(s, KILN_R_DTYPE, i, -1, p->dtype, t->dtype);
  if (t->rank != p->rank) return kiln_fail(s, KILN_R_RANK, i, -1, p->rank, t->rank);
  if (t->rank > 0 && t->extents == 0) return kiln_fail(s, KILN_R_NULL, i, -1, -1, -1);
  bool empty = false;
  for (int32_t a = 0; a < t->rank; ++a) {
    if (t->extents[a] < 0) return kiln_fail(s, KILN_R_SHAPE, i, a, 0, t->extents[a]);
    empty |= t->extents[a] == 0;
  }
  if (t->data == 0 && !empty) return kiln_fail(s, KILN_R_NULL, i, -1, -1, -1);
  return true;
}

/* The bytes of an argument's elements, from the first to the last; size 0: no elements. */
typedef struct span {
  uintptr_t begin;
  int64_t size;
} span;

static int64_t magnitude(int64_t stride) { return stride < 0 ? -stride : stride; }

/* Checks that elements of a written argument do not overlap: the stride of each axis must exceed the reach of all axes with
   smaller strides, and of later axes with an equal stride. */
__attribute__((cold)) static bool check_apart(const kiln_tensor* t, int32_t i, kiln_status* s) {
  for (int32_t a = 0; a < t->rank; ++a) {
    if (t->extents[a] <= 1) continue;
    const int64_t step = magnitude(t->strides[a]);
    int64_t least = 1;
    for (int32_t b = 0; b < t->rank; ++b) {
      if (t->extents[b] <= 1 || b == a) continue;
      const int64_t other = magnitude(t->strides[b]);
      if (other < step || (b > a && (other == step || step == 0))) least += other * (t->extents[b] - 1);
    }
    if (step < least) return kiln_fail(s, KILN_R_STRIDE, i, a, least, t->strides[a]);
  }
  return true;
}

/* Checks the strides, in elements. Strides that the program leaves to the caller become symbols; all others must be dense. The
   stride of an axis with one element does not matter. */
__attribute__((cold)) static bool check_strides(const kiln_param_desc* p, const kiln_tensor* t, int32_t i, int64_t* symbols,
                                                span* bytes, kiln_status* s) {
  const int64_t element = sizes[t->dtype];
  int64_t dense = 1, low = 0, high = element, reach;
  for (int32_t a = t->rank; a-- > 0;) {
    const int64_t n = t->extents[a], stride = t->strides != 0 ? t->strides[a] : dense;
    if (n > 1) {
      if (a < p->n_strides)
        symbols[p->strides[a]] = stride;
      else if (stride != dense)
        return kiln_fail(s, KILN_R_STRIDE, i, a, dense, stride);
      if ((uint64_t)stride + KILN_MAX_STRIDE > 2 * (uint64_t)KILN_MAX_STRIDE ||
          __builtin_mul_overflow(stride, element * (n - 1), &reach) ||
          __builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high))
        return kiln_fail(s, KILN_R_TOOLARGE, i, a, -1, stride);
    }
    dense *= n;
  }
  bytes->begin = (uintptr_t)t->data + (uintptr_t)low;
  if (__builtin_sub_overflow(high, low, &bytes->size) || bytes->begin > (uintptr_t)t->data ||
      bytes->begin + (uintptr_t)bytes->size < bytes->begin)
    return kiln_fail(s, KILN_R_TOOLARGE, i, -1, -1, -1);
  return p->direction == KILN_IN || t->strides == 0 || check_apart(t, i, s);
}

/* Of a tensor. No address space is larger. The compiler relies on it: it multiplies extents in 64 bits. */
static const int64_t most_bytes = INT64_C(1) << 61;

/* Checks size in bytes, strides and alignment. Requires valid extents. */
static bool check_layout(const kiln_param_desc* p, const kiln_tensor* t, int32_t i, int64_t* symbols, span* bytes,
                         kiln_status* s) {
  const int64_t element = sizes[t->dtype];
  bytes->begin = (uintptr_t)t->data;
  bytes->size = 0;
  for (int32_t a = 0; a < t->rank; ++a)
    if (t->extents[a] == 0) return true;
  bytes->size = element;
  for (int32_t a = 0; a < t->rank; ++a)
    if (__builtin_mul_overflow(bytes->size, t->extents[a], &bytes->size) || bytes->size > most_bytes)
      return kiln_fail(s, KILN_R_TOOLARGE, i, a, -1, t->extents[a]);
  if ((t->strides != 0 || p->n_strides > 0) && !check_strides(p, t, i, symbols, bytes, s)) return false;
  const int64_t misaligned = (int64_t)((uintptr_t)t->data & (uintptr_t)(element - 1));
  return misaligned == 0 || kiln_fail(s, KILN_R_ALIGN, i, -1, element, misaligned);
}

_Static_assert(KILN_MAX_SYMBOLS <= 64, "sets of symbols have one bit for each");

static uint64_t bit(int32_t symbol) { return UINT64_C(1) << symbol; }

/* The first symbol of an extent that is not in the set `without`; -1 if there is none. */
__attribute__((cold)) static int32_t first_symbol(kiln_expr e, uint64_t without) {
  for (; *e != KILN_EXPR_END; ++e) {
    if (*e == KILN_PUSH_SYM && (without >> e[1] & 1) == 0) return (int32_t)e[1];
    if (*e == KILN_PUSH_SYM || *e == KILN_PUSH_CONST) ++e;
  }
  return -1;
}

/* The number of the symbol, if the extent is just one symbol; else -1. */
static int32_t bare_symbol(kiln_expr e) { return e[0] == KILN_PUSH_SYM && e[2] == KILN_EXPR_END ? (int32_t)e[1] : -1; }

/* Whether an extent is k*s + rest, where neither k nor rest depends on s. This holds if s is not multiplied by itself, and is
   an operand of sums and products only. The stack contains powers of s; a power above 1 means "not linear". */
__attribute__((cold)) static bool is_linear(kiln_expr e, int32_t s) {
  uint8_t power[64];
  int32_t top = 0;
  for (; *e != KILN_EXPR_END; ++e) {
    if (*e == KILN_PUSH_CONST || *e == KILN_PUSH_SYM) {
      if (top == 64) return false;
      power[top++] = *e == KILN_PUSH_SYM && e[1] == s;
      ++e;
      continue;
    }
    if (top < 2) return false;
    const uint8_t a = power[top - 2], b = power[top - 1];
    const bool is_sum = *e == KILN_ADD || *e == KILN_SUB;
    --top;
    power[top - 1] = is_sum ? (uint8_t)(a > b ? a : b) : (uint8_t)(*e == KILN_MUL || a + b == 0 ? a + b : 2);
    if (power[top - 1] > 1) return false;
  }
  return true;
}

typedef enum solution { SOLVED, OPEN, IMPOSSIBLE } solution;

/* Solves extent(s) == got for an extent that is linear in s: evaluates it at s = 0 and s = 1, then checks the solution. OPEN:
   any s fits. */
__attribute__((cold)) static solution solve(kiln_expr e, int32_t s, int64_t* symbols, int64_t got) {
  int64_t at0, at1, slope, offset, check;
  symbols[s] = 0;
  if (!kiln_evaluate_postfix(e, symbols, &at0)) return IMPOSSIBLE;
  symbols[s] = 1;
  if (!kiln_evaluate_postfix(e, symbols, &at1) || __builtin_sub_overflow(at1, at0, &slope)) return IMPOSSIBLE;
  if (slope == 0) return OPEN;
  if (__builtin_sub_overflow(got, at0, &offset) || offset % slope != 0 || offset / slope < 0) return IMPOSSIBLE;
  symbols[s] = offset / slope;
  return kiln_evaluate_postfix(e, symbols, &check) && check == got ? SOLVED : IMPOSSIBLE;
}

/* Bare symbols are bound first, in parameter order. Then extents that are linear in their one unbound symbol bind it, until
   nothing changes. */
static bool bind_symbols(const kiln_program_desc* p, const kiln_tensor* args, int64_t* symbols, kiln_status* status) {
  uint64_t bound = 0;
  for (int32_t i = 0; i < p->n_params; ++i)
    for (int32_t a = 0; a < p->params[i].rank; ++a) {
      const int32_t s = bare_symbol(p->params[i].extents[a]);
      if (s < 0 || (bound >> s & 1) != 0) continue;
      symbols[s] = args[i].extents[a];
      bound |= bit(s);
    }
  const uint64_t all = p->n_symbols == 0 ? 0 : UINT64_MAX >> (64 - p->n_symbols);
  for (uint64_t before = ~bound; bound != all && bound != before;) {
    before = bound;
    for (int32_t i = 0; i < p->n_params; ++i)
      for (int32_t a = 0; a < p->params[i].rank; ++a) {
        const kiln_expr e = p->params[i].extents[a];
        const int32_t s = first_symbol(e, bound);
        if (s < 0 || first_symbol(e, bound | bit(s)) >= 0 || !is_linear(e, s)) continue;
        const solution found = solve(e, s, symbols, args[i].extents[a]);
        if (found == IMPOSSIBLE) return fail_symbol(status, KILN_R_CONFLICT, i, a, s, -1, args[i].extents[a]);
        if (found == SOLVED) bound |= bit(s);
      }
  }
  return bound == all || fail_symbol(status, KILN_R_CONSTRAINT, -1, -1, __builtin_ctzll(~bound), -1, -1);
}

static bool check_extents(const kiln_program_desc* p, const kiln_tensor* args, const int64_t* symbols, kiln_status* status) {
  for (int32_t i = 0; i < p->n_params; ++i)
    for (int32_t a = 0; a < p->params[i].rank; ++a) {
      const kiln_expr e = p->params[i].extents[a];
      int64_t expected;
      if (!kiln_evaluate(e, symbols, &expected)) return kiln_fail(status, KILN_R_TOOLARGE, i, a, -1, args[i].extents[a]);
      if (expected == args[i].extents[a]) continue;
      const int32_t s = first_symbol(e, 0);
      return fail_symbol(status, s >= 0 ? KILN_R_CONFLICT : KILN_R_SHAPE, i, a, s, expected, args[i].extents[a]);
    }
  return true;
}

static bool check_facts(const kiln_program_desc* p, const int64_t* symbols, kiln_status* status) {
  for (int32_t s = 0; s < p->n_symbols; ++s) {
    const kiln_symbol_desc* d = &p->symbols[s];
    const int64_t v = symbols[s];
    if (v >= d->min && v <= d->max && (d->multiple_of <= 1 || v % d->multiple_of == 0)) continue;
    const int64_t expected = v < d->min ? d->min : v > d->max ? d->max : d->multiple_of;
    return fail_symbol(status, KILN_R_CONSTRAINT, -1, -1, s, expected, v);
  }
  return true;
}

static bool overlap(span a, span b) {
  return a.size > 0 && b.size > 0 && a.begin < b.begin + (uintptr_t)b.size && b.begin < a.begin + (uintptr_t)a.size;
}

/* A written argument must share no byte with any other argument. got: the number of the other one. */
static bool check_aliasing(const kiln_program_desc* p, const span* spans, kiln_status* s) {
  for (int32_t w = 0; w < p->n_params; ++w) {
    if (p->params[w].direction == KILN_IN) continue;
    for (int32_t i = 0; i < p->n_params; ++i)
      if (i != w && overlap(spans[w], spans[i])) return kiln_fail(s, KILN_R_ALIAS, w, -1, -1, i);
  }
  return true;
}

bool kiln_check_workspace(const kiln_program_desc* p, const kiln_tensor* args, int64_t* symbols, const void* workspace,
                          int64_t size, kiln_status* s) {
  const int64_t misaligned = (int64_t)((uintptr_t)workspace % KILN_WORKSPACE_ALIGNMENT);
  if (misaligned != 0) return kiln_fail(s, KILN_R_ALIGN, -1, -1, KILN_WORKSPACE_ALIGNMENT, misaligned);
  const span own = {(uintptr_t)workspace, size};
  for (int32_t i = 0; i < p->n_params; ++i) {
    span bytes;
    if (!check_layout(&p->params[i], &args[i], i, symbols, &bytes, s)) return false;
    if (overlap(own, bytes)) return kiln_fail(s, KILN_R_ALIAS, i, -1, -1, -1);
  }
  return true;
}

bool kiln_check(const kiln_program_desc* p, const kiln_tensor* args, int32_t n_args, int64_t* symbols, kiln_status* s) {
  if (p == 0) return kiln_fail(s, KILN_R_NULL, -1, -1, -1, -1);
  if (p->abi_version != KILN_ABI_VERSION) return kiln_fail(s, KILN_R_ABI, -1, -1, KILN_ABI_VERSION, p->abi_version);
  const uint64_t missing = p->cpu_sets & ~kiln_cpu_sets();
  if (missing != 0) return kiln_fail(s, KILN_R_CPU, -1, -1, -1, (int64_t)missing);
  if (n_args != p->n_params) return kiln_fail(s, KILN_R_ARGCOUNT, -1, -1, p->n_params, n_args);
  if (n_args > 0 && args == 0) return kiln_fail(s, KILN_R_NULL, -1, -1, -1, -1);
  if (p->n_symbols > KILN_MAX_SYMBOLS) return kiln_fail(s, KILN_R_TOOLARGE, -1, -1, KILN_MAX_SYMBOLS, p->n_symbols);
  if (p->n_numbers > KILN_MAX_NUMBERS) return kiln_fail(s, KILN_R_TOOLARGE, -1, -1, KILN_MAX_NUMBERS, p->n_numbers);
  if (p->n_params > KILN_MAX_ARGS) return kiln_fail(s, KILN_R_TOOLARGE, -1, -1, KILN_MAX_ARGS, p->n_params);
  span spans[KILN_MAX_ARGS];
  for (int32_t n = 0; n < p->n_numbers; ++n) symbols[p->n_symbols + n] = 0;
  for (int32_t i = 0; i < n_args; ++i)
    if (!check_form(&p->params[i], &args[i], i, s)) return false;
  if (!bind_symbols(p, args, symbols, s) || !check_facts(p, symbols, s) || !check_extents(p, args, symbols, s)) return false;
  for (int32_t i = 0; i < n_args; ++i)
    if (!check_layout(&p->params[i], &args[i], i, symbols, &spans[i], s)) return false;
  return check_aliasing(p, spans, s);
}
