/* Instruction sets of x86-64 CPUs: the one list, from which the runtime's detection, its messages and the compiler's targets
   are made. */
#ifndef KILN_CPU_H
#define KILN_CPU_H

#include <stdint.h>

/* X(CODE, name, word, bit, state). The name is that of LLVM and of /proc/cpuinfo, apart from underscores. The CPU has the
   set if `bit` of a word of CPUID is 1. Words: 0 leaf 1 ECX, 1 leaf 7 EBX, 2 leaf 7 ECX, 3 leaf 7 EDX, 4 leaf 0x80000001 ECX.
   Programs may use the set if the operating system also saves its registers: all bits of `state` are 1 in XCR0 (6 for AVX,
   0xe6 for AVX-512). Positions in the list are part of the C ABI, so a new set goes to the end. */
/* clang-format off */
#define KILN_CPU_SETS(X) \
  X(SSE3, "sse3", 0, 0, 0) \
  X(SSSE3, "ssse3", 0, 9, 0) \
  X(CX16, "cx16", 0, 13, 0) \
  X(SSE41, "sse4.1", 0, 19, 0) \
  X(SSE42, "sse4.2", 0, 20, 0) \
  X(POPCNT, "popcnt", 0, 23, 0) \
  X(SAHF, "sahf", 4, 0, 0) \
  X(AVX, "avx", 0, 28, 6) \
  X(F16C, "f16c", 0, 29, 6) \
  X(FMA, "fma", 0, 12, 6) \
  X(MOVBE, "movbe", 0, 22, 0) \
  X(LZCNT, "lzcnt", 4, 5, 0) \
  X(BMI, "bmi", 1, 3, 0) \
  X(AVX2, "avx2", 1, 5, 6) \
  X(BMI2, "bmi2", 1, 8, 0) \
  X(AVX512F, "avx512f", 1, 16, 0xe6) \
  X(AVX512DQ, "avx512dq", 1, 17, 0xe6) \
  X(AVX512CD, "avx512cd", 1, 28, 0xe6) \
  X(AVX512BW, "avx512bw", 1, 30, 0xe6) \
  X(AVX512VL, "avx512vl", 1, 31, 0xe6) \
  X(AVX512VBMI, "avx512vbmi", 2, 1, 0xe6) \
  X(AVX512VBMI2, "avx512vbmi2", 2, 6, 0xe6) \
  X(AVX512VNNI, "avx512vnni", 2, 11, 0xe6) \
  X(AVX512BITALG, "avx512bitalg", 2, 12, 0xe6) \
  X(AVX512VPOPCNTDQ, "avx512vpopcntdq", 2, 14, 0xe6) \
  X(AVX512FP16, "avx512fp16", 3, 23, 0xe6)
/* clang-format on */

enum {
#define KILN_X(code, name, word, bit, state) KILN_CPU_##code,
  KILN_CPU_SETS(KILN_X)
#undef KILN_X
};

/* The instruction set as a bit of kiln_program_desc.cpu_sets. */
#define KILN_CPU_BIT(code) (UINT64_C(1) << KILN_CPU_##code)

#endif
