#include <string.h>

#include "check.h"

static uint64_t missing_sets(const kiln_program_desc* p) { return p->cpu_sets & ~kiln_cpu_sets(); }

const kiln_program_desc* kiln_selected_variant(const kiln_variants* v) {
  /* A description begins with its ABI version too, so kiln_call and messages report the difference. */
  if (v->abi_version != KILN_ABI_VERSION) return (const kiln_program_desc*)v;
  const kiln_program_desc* p = __atomic_load_n(v->selected, __ATOMIC_RELAXED);
  if (p != 0) return p;
  int32_t i = 0;
  while (i < v->n && missing_sets(v->list[i]) != 0) ++i;
  if (i == v->n) return v->list[v->n - 1];
  /* Another thread may have forced a variant in the meantime, which then is `p`. */
  const int stored = __atomic_compare_exchange_n(v->selected, &p, v->list[i], 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return stored ? v->list[i] : p;
}

kiln_status kiln_force_variant(const kiln_variants* v, const char* name) {
  if (v->abi_version != KILN_ABI_VERSION) return kiln_fail(KILN_R_ABI, -1, -1, -1, KILN_ABI_VERSION, v->abi_version);
  const kiln_program_desc* p = 0;
  for (int32_t i = 0; i < v->n && name != 0 && p == 0; ++i)
    if (strcmp(v->list[i]->variant, name) == 0) p = v->list[i];
  if (name != 0 && p == 0) return kiln_fail(KILN_R_VARIANT, -1, -1, -1, -1, -1);
  if (p != 0 && missing_sets(p) != 0) return kiln_fail(KILN_R_CPU, -1, -1, -1, -1, (int64_t)missing_sets(p));
  __atomic_store_n(v->selected, p, __ATOMIC_RELAXED);
  return kiln_fail(KILN_OK, -1, -1, -1, 0, 0);
}
