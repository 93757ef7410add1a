/* Which instruction sets programs may use on this CPU. */
#ifndef KILN_RUNTIME_CPU_H
#define KILN_RUNTIME_CPU_H

#include "kiln/kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The sets that these words of CPUID (see kiln/cpu.h) and this XCR0 announce. XCR0 is 0 if the operating system does not use
   XSAVE. */
uint64_t kiln_cpu_sets_of(const uint32_t words[5], uint64_t xcr0);

#ifdef __cplusplus
}
#endif
#endif
