/* Entry checks: all conditions that a call must satisfy before a byte is written. */
#ifndef KILN_CHECK_H
#define KILN_CHECK_H

#include <stdbool.h>

#include "kiln/kiln.h"

/* The status of a call without an error. */
#define KILN_STATUS_OK {KILN_OK, -1, -1, -1, 0, 0}

/* Sets *s to an error that is not about a symbol. Returns false. Every check that fails ends with this call. A check that
   holds returns true and does not change *s. Not inlined: the runtime has thirty of these calls. */
__attribute__((cold, noinline)) bool kiln_fail(kiln_status* s, int32_t code, int32_t param, int32_t axis, int64_t expected,
                                               int64_t got);

/* Checks, in order: ABI, CPU and number of arguments; dtype, rank, pointers and signs of extents of each argument; symbols,
   which are bound into symbols[n_symbols + n_numbers] (bare symbols first, then extents that are linear in their one unbound
   symbol); extents; facts; size, strides and alignment of each argument, and that elements of written arguments do not overlap;
   aliasing. Then *s is the first failure. The last n_numbers symbols get the strides; numbers that the run sets get 0. */
bool kiln_check(const kiln_program_desc* program, const kiln_tensor* args, int32_t n_args, int64_t* symbols, kiln_status* s);

/* Call it after kiln_check: checks 64-byte alignment, and that no byte is shared with an argument. */
bool kiln_check_workspace(const kiln_program_desc* program, const kiln_tensor* args, int64_t* symbols, const void* workspace,
                          int64_t size, kiln_status* s);

#endif
