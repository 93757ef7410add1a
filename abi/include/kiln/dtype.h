/* Element type codes: part of the C ABI, never renumbered. The compiler's DType has the same order. */
#ifndef KILN_DTYPE_H
#define KILN_DTYPE_H

#include <stdint.h>

typedef enum kiln_dtype {
  KILN_BOOL = 0,
  KILN_I8 = 1,
  KILN_I16 = 2,
  KILN_I32 = 3,
  KILN_I64 = 4,
  KILN_U8 = 5,
  KILN_U16 = 6,
  KILN_U32 = 7,
  KILN_U64 = 8,
  KILN_F16 = 9,
  KILN_BF16 = 10,
  KILN_F32 = 11,
  KILN_F64 = 12
} kiln_dtype;

#endif
