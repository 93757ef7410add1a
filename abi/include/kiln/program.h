/* The constant data that the generator emits for each program and kiln_call() reads. It is part of the C ABI, so `abi_version`
   comes first. compiler/codegen takes the layout from these structs. The data are small arrays. The only code that they
   name is the kernels and the entry. */
#ifndef KILN_PROGRAM_H
#define KILN_PROGRAM_H

#include <stdint.h>

#include "kiln/call.h"
#include "kiln/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KILN_ABI_VERSION 6

/* Limits of one program. The compiler refuses a program beyond them with E-limit, kiln_call with KILN_R_TOOLARGE. */
enum {
  KILN_MAX_ARGS = 256,
  KILN_MAX_SYMBOLS = 64,
  KILN_MAX_NUMBERS = 960,
  KILN_MAX_BUFFERS = 1024 /* of one kernel */
};
#define KILN_MAX_STRIDE (INT64_C(1) << 40) /* of an argument, in elements, of either sign */

enum { KILN_WORKSPACE_ALIGNMENT = 64 }; /* bytes; offsets of temporaries are multiples of it */

/* A kernel is split into chunks of at least this much work, in nanoseconds: below about 5 us a second thread costs more than it
   saves. */
enum { KILN_WORK_PER_CHUNK = 2500, KILN_LEAST_SHARED_WORK = 2 * KILN_WORK_PER_CHUNK /* less is one chunk, on one thread */ };

/* Kernels run in this state of MXCSR, plus the caller's status flags: round to nearest, nothing flushed to zero, every
   exception masked. */
enum { KILN_MXCSR = 0x1f80, KILN_MXCSR_STATUS = 0x3f };

/* An integer expression over the program's symbols, postfix, evaluated with overflow checks. Code words:
   KILN_PUSH_CONST v | KILN_PUSH_SYM i | KILN_ADD | KILN_SUB | KILN_MUL | KILN_FLOORDIV | KILN_FLOORMOD | KILN_MIN | KILN_MAX |
   KILN_EXPR_END */
enum {
  KILN_EXPR_END = 0,
  KILN_PUSH_CONST = 1,
  KILN_PUSH_SYM = 2,
  KILN_ADD = 3,
  KILN_SUB = 4,
  KILN_MUL = 5,
  KILN_FLOORDIV = 6,
  KILN_FLOORMOD = 7,
  KILN_MIN = 8,
  KILN_MAX = 9
};
typedef const int64_t* kiln_expr;

enum { KILN_IN = 0, KILN_OUT = 1, KILN_INOUT = 2 };

typedef struct kiln_symbol_desc {
  const char* name;
  int64_t min, max, multiple_of;
  const char* min_needed_at; /* "kernels.cpp:12": the operation that needs `min`; null if the program declares it */
} kiln_symbol_desc;

typedef struct kiln_param_desc {
  const char* name;
  const kiln_expr* extents; /* one expression per axis; the first bare PUSH_SYM in parameter order defines its symbol */
  const int32_t* strides;   /* symbols for the strides of the first n_strides axes; the other axes are dense */
  uint8_t dtype, direction, rank, n_strides, reserved[4];
} kiln_param_desc;

/* The symbol takes the value of an i64 buffer with one element. */
typedef struct kiln_read_desc {
  int32_t symbol, buffer;
} kiln_read_desc;

/* Runs iterations [begin, end) of the kernel's outermost loop. buffers: one pointer per kernel slot. symbols: all values. */
typedef void (*kiln_kernel_fn)(void* const* buffers, const int64_t* symbols, int64_t begin, int64_t end);

typedef struct kiln_kernel_desc {
  const char* name;
  kiln_kernel_fn fn;
  const int32_t* buffers; /* by kernel slot: 0..n_params-1 parameters, then temporaries, rotating buffers, views */
  const int32_t* depends_on;
  kiln_expr trip_count; /* iterations of the outermost loop */
  kiln_expr work;       /* rough time of the whole kernel on one core in nanoseconds, which decides the number of threads */
  int32_t n_buffers, n_depends_on;
  int32_t alignment;           /* chunk boundaries are multiples of this */
  int32_t parallel;            /* 0: the loop must run in one call */
  const kiln_read_desc* reads; /* to make before the kernel begins */
  int32_t n_reads, reserved;
} kiln_kernel_desc;

/* Runs kernels [first_kernel, end_kernel), and the loops in them, for the counter values begin, begin + step, .. below end. */
typedef struct kiln_loop_desc {
  kiln_expr begin, end;        /* evaluated once, when the loop begins */
  int64_t step;                /* above 0 */
  const kiln_read_desc* reads; /* to make before begin and end are evaluated */
  int32_t n_reads;
  int32_t first_kernel, end_kernel;
  int32_t counter;   /* the symbol of the loop counter, or -1 */
  int32_t condition; /* an iteration begins only if this buffer's one bool is true; -1: always */
  int32_t count;     /* the symbol that counts the iterations made, or -1 */
} kiln_loop_desc;

typedef struct kiln_temp_desc {
  kiln_expr offset, bytes; /* in the workspace */
} kiln_temp_desc;

/* A rotating buffer: kernels use buffers[count % n], which are parameters and temporaries. */
typedef struct kiln_rotating_desc {
  const int32_t* buffers;
  int32_t n, count; /* count: the symbol of a loop's count */
} kiln_rotating_desc;

/* The part of an input that begins at an offset. Kernels that differ only in such offsets share one function. */
typedef struct kiln_view_desc {
  kiln_expr offset; /* in bytes */
  int64_t param;
} kiln_view_desc;

enum { KILN_NO_CHECK = INT32_MAX }; /* no check failed */

/* A condition that the program states about its data. */
typedef struct kiln_check_desc {
  const char* text;
  const char* place; /* "kernels.cpp:12" */
} kiln_check_desc;

/* A call of the program, in the variant's own code. */
typedef kiln_status (*kiln_entry_fn)(const kiln_tensor* args, int32_t n_args, const kiln_context* context);

/* One variant of a program: the program, compiled for one kind of CPU. */
typedef struct kiln_program_desc {
  int32_t abi_version;
  int32_t n_symbols, n_params, n_temps, n_kernels, n_views;
  const char* name;
  const kiln_symbol_desc* symbols;
  const kiln_param_desc* params;
  const kiln_temp_desc* temps;
  const kiln_kernel_desc* kernels;
  kiln_expr workspace_bytes;
  const kiln_view_desc* views;
  const kiln_loop_desc* loops; /* in the order in which they begin, outer loops first */
  int32_t n_loops;
  int32_t n_numbers; /* symbols after the n_symbols extents: strides, and numbers that the run sets */
  const kiln_rotating_desc* rotating;
  int32_t n_rotating;
  int32_t n_checks; /* if above 0, the runtime owns buffer n_params, an i32: the least number of a failed check, or
                       KILN_NO_CHECK */
  const kiln_check_desc* checks;
  const char* variant; /* "x86-64-v4" */
  uint64_t cpu_sets;   /* the instruction sets that the code needs: KILN_CPU_BIT(code) of kiln/cpu.h */
  kiln_entry_fn entry;
} kiln_program_desc;

/* The variants of one program. They have the same parameters, extents and checks. `workspace_bytes` is the same in all, and
   suffices for each. */
typedef struct kiln_variants {
  int32_t abi_version, n;
  const kiln_program_desc* const* list; /* best first */
  const kiln_program_desc** selected; /* the variant that calls run; null until the first call. Read and written atomically. */
} kiln_variants;

#ifdef __cplusplus
}
#endif
#endif
