/* Evaluates the postfix integer expressions of a program description. */
#ifndef KILN_EXPRESSION_H
#define KILN_EXPRESSION_H

#include <stdbool.h>

#include "kiln/program.h"

/* False: overflow, division by zero, or an expression deeper than 64. */
bool kiln_evaluate_postfix(kiln_expr code, const int64_t* symbols, int64_t* value);

/* Whether the expression is one number or one symbol, which can always be evaluated. */
static inline bool kiln_is_operand(kiln_expr code) { return code[0] != KILN_EXPR_END && code[2] == KILN_EXPR_END; }

/* The same as kiln_evaluate_postfix, but faster for one operand. Most expressions are one operand, and every call evaluates a
   dozen expressions. */
__attribute__((always_inline)) static inline bool kiln_evaluate(kiln_expr code, const int64_t* symbols, int64_t* value) {
  if (!kiln_is_operand(code)) return kiln_evaluate_postfix(code, symbols, value);
  *value = code[0] == KILN_PUSH_SYM ? symbols[code[1]] : code[1];
  return true;
}

enum { KILN_KEPT_SIZES = 32 };

/* Of the first kernels and temporaries: values that a call computes once. */
typedef struct kiln_sizes {
  int64_t trips[KILN_KEPT_SIZES], offsets[KILN_KEPT_SIZES];
} kiln_sizes;

/* Whether the numbers of buffers fit, and trip counts, sizes and offsets can be computed. Call it before the first byte is
   written. */
bool kiln_compute_sizes(const kiln_program_desc* p, const int64_t* symbols, kiln_sizes* sizes);

#endif
