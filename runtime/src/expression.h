/* Evaluates the postfix integer expressions of a program description. */
#ifndef KILN_EXPRESSION_H
#define KILN_EXPRESSION_H

#include <stdbool.h>

#include "kiln/program.h"

/* False on overflow, division by zero or an expression deeper than 64. */
bool kiln_evaluate(kiln_expr code, const int64_t* symbols, int64_t* value);

#endif
