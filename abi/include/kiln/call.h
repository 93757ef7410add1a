/* The arguments and the result of a call. Generated entries read and write them with exactly this layout: part of the C ABI. */
#ifndef KILN_CALL_H
#define KILN_CALL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kiln_status_code {
  KILN_OK = 0,
  KILN_R_NULL = 1,
  KILN_R_DTYPE = 2,
  KILN_R_RANK = 3,
  KILN_R_SHAPE = 4,
  KILN_R_STRIDE = 5,
  KILN_R_ALIGN = 6,
  KILN_R_ALIAS = 7,
  KILN_R_CONSTRAINT = 8,
  KILN_R_CONFLICT = 9,
  KILN_R_TOOLARGE = 10,
  KILN_R_OOM = 14,
  KILN_R_CPU = 15,
  KILN_R_ABI = 16,
  KILN_R_ARGCOUNT = 19,
  KILN_R_CHECK = 20,
  KILN_R_VARIANT = 21
} kiln_status_code;

/* The error, as indices into the program's description; -1 in a field that does not apply. KILN_R_ALIAS: got is the number of
   the other argument, or -1 for the workspace. KILN_R_CHECK: got is the number of the program's check. KILN_R_CONFLICT:
   expected is -1 if no value of the symbol fits. KILN_R_CPU: got has the bits of the instruction sets that the CPU lacks. */
typedef struct kiln_status {
  int32_t code;  /* kiln_status_code */
  int32_t param; /* parameter */
  int32_t axis;
  int32_t symbol; /* symbolic extent */
  int64_t expected, got;
} kiln_status;

/* One argument. Null strides: row-major (layout_right) and dense. Otherwise strides are in elements, one for each axis. Only a
   parameter that is declared pitched or strided takes strides that are not dense. */
typedef struct kiln_tensor {
  void* data; /* address of element [0, 0, ..]; with negative strides this is not the lowest address */
  const int64_t* extents;
  const int64_t* strides;
  int32_t dtype;
  int32_t rank;
} kiln_tensor;

/* Runs task(data, begin, end) over [0, n) in chunks whose bounds are multiples of `alignment`; returns when all are done. */
typedef struct kiln_executor {
  void (*parallel_for)(struct kiln_executor* self, int64_t n, int64_t alignment, int32_t max_chunks,
                       void (*task)(void* data, int64_t begin, int64_t end), void* data);
  int32_t workers;
} kiln_executor;

/* Null members: without an executor the call is serial; without an allocator a workspace that is too small gives KILN_R_OOM. */
typedef struct kiln_context {
  kiln_executor* executor;
  void* workspace; /* 64-byte aligned, may be null */
  int64_t workspace_bytes;
  void* (*allocate)(void* user, size_t bytes, size_t alignment);
  void (*release)(void* user, void* p, size_t bytes);
  void* user;
} kiln_context;

#ifdef __cplusplus
}
#endif
#endif
