/* Entry checks: all conditions that a call must satisfy before a byte is written. */
#ifndef KILN_CHECK_H
#define KILN_CHECK_H

#include "kiln/kiln.h"

/* Checks, in order: ABI, CPU and number of arguments; dtype, rank, pointers and signs of extents of each argument; symbols,
   which are bound into symbols[n_symbols + n_numbers] (bare symbols first, then extents that are linear in their one unbound
   symbol); extents; facts; size, strides and alignment of each argument, and that elements of written arguments do not overlap;
   aliasing. Returns the first failure. Numbers are strides, or 0. */
kiln_status kiln_check(const kiln_program_desc* program, const kiln_tensor* args, int32_t n_args, int64_t* symbols);

/* Call it after kiln_check: checks 64-byte alignment, and that no byte is shared with an argument. */
kiln_status kiln_check_workspace(const kiln_program_desc* program, const kiln_tensor* args, int64_t* symbols,
                                 const void* workspace, int64_t size);

kiln_status kiln_fail(int32_t code, int32_t param, int32_t axis, int32_t symbol, int64_t expected, int64_t got);

#endif
