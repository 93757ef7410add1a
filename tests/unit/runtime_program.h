/* A program description written by hand, as the generator would emit it: y[i] = s * sum_j x[i][j] + w[0]. */
#ifndef KILN_TESTS_RUNTIME_PROGRAM_H
#define KILN_TESTS_RUNTIME_PROGRAM_H

#include "kiln/kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

/* in f32 x[N, 4], in f32 w[2*M + 1], in f32 s[], out f32 y[N]; N: 0 .. 2^40, even; M: 1 .. 2^40. */
kiln_status row_sum(const kiln_tensor* args, int32_t n_args, const kiln_context* context);
const kiln_program_desc* row_sum_desc(void);

#ifdef __cplusplus
}
#endif
#endif
