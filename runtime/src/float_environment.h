/* Kernels run in the default floating-point environment: round to nearest, nothing flushed to zero, every exception masked.
   compiler/codegen/float_environment.h does the same in entries that run kernels themselves. */
#ifndef KILN_FLOAT_ENVIRONMENT_H
#define KILN_FLOAT_ENVIRONMENT_H

#include <stdint.h>

#include "kiln/program.h"

/* Returns the caller's environment with its status flags. */
static inline uint32_t kiln_enter_float_environment(void) {
#if defined(__x86_64__)
  const uint32_t caller = __builtin_ia32_stmxcsr();
  /* with the flags: a change of the register is slow on some CPUs */
  __builtin_ia32_ldmxcsr(KILN_MXCSR | (caller & KILN_MXCSR_STATUS));
  return caller;
#else
  return 0; /* programs for other machines cannot be built yet */
#endif
}

static inline void kiln_leave_float_environment(uint32_t caller) {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(caller);
#else
  (void)caller;
#endif
}

#endif
