/* Entry checks: everything that a call must satisfy before a byte is written. */
#ifndef KILN_CHECK_H
#define KILN_CHECK_H

#include "kiln/kiln.h"

enum { KILN_MAX_SYMBOLS = 64, KILN_MAX_ARGS = 256, KILN_MAX_RANK = 16 };

/* Checks dtype, rank, extents, strides, alignment, aliasing and facts; binds symbols[n_symbols]. */
kiln_status kiln_check(const kiln_program_desc* program, const kiln_tensor* args, int32_t n_args, int64_t* symbols);

kiln_status kiln_fail(int32_t code, int32_t param, int32_t axis, int32_t symbol, int64_t expected, int64_t got);

#endif
