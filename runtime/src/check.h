/* Entry checks: everything that a call must satisfy before a byte is written. */
#ifndef KILN_CHECK_H
#define KILN_CHECK_H

#include "kiln/kiln.h"

/* In order: ABI, number of arguments; each argument's dtype, rank, pointers, signs of extents; symbols are bound (bare
   occurrences first, then extents that are linear in their one open symbol) into symbols[n_symbols + n_numbers]; extents;
   facts; each argument's size, strides, alignment, and of a written one that its elements are apart; aliasing. The first
   failure is the answer. The numbers are strides, or 0. */
kiln_status kiln_check(const kiln_program_desc* program, const kiln_tensor* args, int32_t n_args, int64_t* symbols);

/* After kiln_check: the workspace's alignment, and no byte shared with an argument. */
kiln_status kiln_check_workspace(const kiln_program_desc* program, const kiln_tensor* args, int64_t* symbols,
                                 const void* workspace, int64_t size);

kiln_status kiln_fail(int32_t code, int32_t param, int32_t axis, int32_t symbol, int64_t expected, int64_t got);

#endif
