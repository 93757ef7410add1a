/* Element types: the one list, from which the tables of the runtime, the DSL and the compiler are made. */
#ifndef KILN_DTYPE_H
#define KILN_DTYPE_H

#include <stdint.h>

/* X(CODE, name, bits of an element in memory, type of an element in namespace kiln). The code KILN_CODE is the place in the
   list, from KILN_BOOL = 0 to KILN_F64 = 12. Codes are part of the C ABI, so a new type goes to the end. KILN_NUMBER_DTYPES
   leaves out bool, whose name is a keyword. */
/* clang-format off */
#define KILN_NUMBER_DTYPES(X) \
  X(I8, i8, 8, int8_t) \
  X(I16, i16, 16, int16_t) \
  X(I32, i32, 32, int32_t) \
  X(I64, i64, 64, int64_t) \
  X(U8, u8, 8, uint8_t) \
  X(U16, u16, 16, uint16_t) \
  X(U32, u32, 32, uint32_t) \
  X(U64, u64, 64, uint64_t) \
  X(F16, f16, 16, float16) \
  X(BF16, bf16, 16, bfloat16) \
  X(F32, f32, 32, float) \
  X(F64, f64, 64, double)
#define KILN_DTYPES(X) X(BOOL, bool, 8, bool) KILN_NUMBER_DTYPES(X)
/* clang-format on */

typedef enum kiln_dtype {
#define KILN_X(code, name, bits, type) KILN_##code,
  KILN_DTYPES(KILN_X)
#undef KILN_X
} kiln_dtype;

#endif
