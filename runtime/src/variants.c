#include <string.h>

#include "check.h"

static uint64_t missing_sets(const kiln_program_desc* p) { return p->cpu_sets & ~kiln_cpu_sets(); }

const kiln_program_desc* kiln_selected_variant(const kiln_variants* v) {
  /* A description begins with its ABI version too, so kiln_call and messages report the difference. */
  if (v->abi_version != KILN_ABI_VERSION) return (const kiln_program_desc*)v;
  const kiln_program_desc* p = __atomic_load_n(v->selected, __ATOMIC_RELAXED);
  if (p != 0) return p;
  for (int32_t i = 0; i < v->n; ++i) {
    const kiln_program_desc* best = v->list[i];
    if (missing_sets(best) != 0) continue;
    /* Another thread may have forced a variant in the meantime, which then is `p`. */
    return __atomic_compare_exchange_n(v->selected, &p, best, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ? best : p;
  }
  return v->list[v->n - 1];
}

static bool force(const kiln_variants* v, const char* name, kiln_status* s) {
  if (v->abi_version != KILN_ABI_VERSION) return kiln_fail(s, KILN_R_ABI, -1, -1, KILN_ABI_VERSION, v->abi_version);
  const kiln_program_desc* p = 0;
  if (name != 0) {
    int32_t i = 0;
    while (i < v->n && strcmp(v->list[i]->variant, name) != 0) ++i;
    if (i == v->n) return kiln_fail(s, KILN_R_VARIANT, -1, -1, -1, -1);
    p = v->list[i];
    const uint64_t missing = missing_sets(p);
    if (missing != 0) return kiln_fail(s, KILN_R_CPU, -1, -1, -1, (int64_t)missing);
  }
  __atomic_store_n(v->selected, p, __ATOMIC_RELAXED);
  return true;
}

kiln_status kiln_force_variant(const kiln_variants* v, const char* name) {
  kiln_status s = KILN_STATUS_OK;
  force(v, name, &s);
  return s;
}
