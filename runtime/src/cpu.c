#include "cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static const struct {
  uint8_t word, bit, state;
} sets[] = {
#define KILN_X(code, name, word, bit, state) {word, bit, state},
    KILN_CPU_SETS(KILN_X)
#undef KILN_X
};

uint64_t kiln_cpu_sets_of(const uint32_t words[5], uint64_t xcr0) {
  uint64_t found = 0;
  for (unsigned i = 0; i < sizeof sets / sizeof sets[0]; ++i)
    if ((words[sets[i].word] >> sets[i].bit & 1) != 0 && (xcr0 & sets[i].state) == sets[i].state) found |= UINT64_C(1) << i;
  return found;
}

static uint64_t find_sets(void) {
  uint32_t words[5] = {0};
  uint64_t xcr0 = 0;
#if defined(__x86_64__)
  const uint32_t osxsave = UINT32_C(1) << 27;
  uint32_t unused;
  __get_cpuid(1, &unused, &unused, &words[0], &unused);
  __get_cpuid_count(7, 0, &unused, &words[1], &words[2], &words[3]);
  __get_cpuid(0x80000001, &unused, &unused, &words[4], &unused);
  if ((words[0] & osxsave) != 0) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    xcr0 = (uint64_t)high << 32 | low;
  }
#endif
  return kiln_cpu_sets_of(words, xcr0);
}

/* CPUID takes up to some microseconds in a virtual machine, so its answer is kept. Threads that meet here find the same. */
uint64_t kiln_cpu_sets(void) {
  static uint64_t known; /* with the highest bit, which belongs to no set */
  uint64_t sets_here = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (sets_here == 0) {
    sets_here = find_sets() | UINT64_C(1) << 63;
    __atomic_store_n(&known, sets_here, __ATOMIC_RELAXED);
  }
  return sets_here & ~(UINT64_C(1) << 63);
}
