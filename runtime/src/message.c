#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "kiln/kiln.h"

typedef struct status_text {
  int32_t code;
  const char* name;
  const char* text;
} status_text;

enum { UNKNOWN = -1 };

static const status_text statuses[] = {
    {KILN_OK, "ok", "done"},
    {KILN_R_NULL, "R-null", "a pointer is null"},
    {KILN_R_DTYPE, "R-dtype", "element type differs"},
    {KILN_R_RANK, "R-rank", "rank differs"},
    {KILN_R_SHAPE, "R-shape", "extent differs"},
    {KILN_R_STRIDE, "R-stride", "data is not dense in row-major order: stride differs"},
    {KILN_R_ALIGN, "R-align", "data is not aligned"},
    {KILN_R_ALIAS, "R-alias", "a written argument shares memory with another argument"},
    {KILN_R_CONSTRAINT, "R-constraint", "a declared fact of the extent does not hold"},
    {KILN_R_CONFLICT, "R-conflict", "a shared extent has two values"},
    {KILN_R_TOOLARGE, "R-toolarge", "a size does not fit"},
    {KILN_R_OOM, "R-oom", "no workspace of the needed size"},
    {KILN_R_CPU, "R-cpu", "this CPU lacks what the kernel needs"},
    {KILN_R_ABI, "R-abi", "object and runtime disagree about the ABI version"},
    {KILN_R_ARGCOUNT, "R-argcount", "number of arguments differs"},
    {KILN_R_CHECK, "R-check", "a check of the program's data failed"},
    {KILN_R_VARIANT, "R-variant", "the program has no variant of this name"},
    {UNKNOWN, "R-unknown", "unknown code"},
};

static const status_text* find(int32_t code) {
  const status_text* s = statuses;
  while (s->code != code && s->code != UNKNOWN) ++s;
  return s;
}

const char* kiln_status_name(int32_t code) { return find(code)->name; }

/* The first argument, in parameter order, with an extent that is just this symbol. */
static void defining_argument(const kiln_program_desc* p, int32_t symbol, int32_t* param, int32_t* axis) {
  for (int32_t i = 0; i < p->n_params; ++i)
    for (int32_t a = 0; a < p->params[i].rank; ++a) {
      const kiln_expr e = p->params[i].extents[a];
      if (e[0] != KILN_PUSH_SYM || e[1] != symbol || e[2] != KILN_EXPR_END) continue;
      *param = i;
      *axis = a;
      return;
    }
}

typedef struct writer {
  char* buffer;
  size_t size, length;
} writer;

/* A function, not a macro: it has twenty callers, and each would compute what is left of the buffer. */
__attribute__((noinline, format(printf, 2, 3))) static void append(writer* w, const char* format, ...) {
  const size_t left = w->length < w->size ? w->size - w->length : 0;
  va_list values;
  va_start(values, format);
  w->length += (size_t)vsnprintf(left > 0 ? w->buffer + w->length : NULL, left, format, values);
  va_end(values);
}

static void write_place(writer* w, const kiln_program_desc* p, int32_t param, int32_t axis) {
  if (param < 0) return;
  append(w, "argument %s", p->params[param].name);
  if (axis >= 0) append(w, " axis %d", (int)axis);
}

static void write_conflict(writer* w, const kiln_program_desc* p, const kiln_status* s) {
  int32_t param = -1, axis = -1;
  defining_argument(p, s->symbol, &param, &axis);
  append(w, "extent %s: ", p->symbols[s->symbol].name);
  write_place(w, p, s->param, s->axis);
  append(w, " is %" PRId64 ", but ", s->got);
  if (param < 0 || (param == s->param && axis == s->axis)) {
    append(w, s->expected < 0 ? "no value fits" : "must be %" PRId64, s->expected);
    return;
  }
  write_place(w, p, param, axis);
  append(w, " gave %" PRId64, s->expected);
}

/* The value shows which fact failed: got is below min, above max, or not a multiple. */
static void write_constraint(writer* w, const kiln_program_desc* p, const kiln_status* s) {
  const kiln_symbol_desc* d = &p->symbols[s->symbol];
  int32_t param = -1, axis = -1;
  defining_argument(p, s->symbol, &param, &axis);
  append(w, "extent %s: ", d->name);
  if (s->expected < 0) {
    append(w, "no argument gives it");
    return;
  }
  write_place(w, p, param, axis);
  append(w, "%sexpected %s %" PRId64 ", got %" PRId64, param >= 0 ? ": " : "",
         s->got < d->min   ? "at least"
         : s->got > d->max ? "at most"
                           : "a multiple of",
         s->expected, s->got);
  if (s->got < d->min && d->min_needed_at != NULL) append(w, " (%s needs that)", d->min_needed_at);
}

static void write_alias(writer* w, const kiln_program_desc* p, const kiln_status* s) {
  write_place(w, p, s->param, -1);
  append(w, s->got >= 0 ? " shares memory with " : " shares memory with the workspace");
  write_place(w, p, (int32_t)s->got, -1);
}

/* The instruction sets that are missing, in the order of the list. */
static void write_cpu(writer* w, int64_t missing) {
  static const char names[][16] = {
#define KILN_X(code, name, word, bit, state) name,
      KILN_CPU_SETS(KILN_X)
#undef KILN_X
  };
  append(w, "this CPU lacks");
  for (unsigned i = 0; i < sizeof names / sizeof names[0]; ++i)
    if ((missing >> i & 1) != 0) append(w, " %s", names[i]);
}

static const char* dtype_name(int64_t code) {
#define KILN_X(code, name, bits, type) #name,
  static const char names[][5] = {KILN_DTYPES(KILN_X)};
#undef KILN_X
  return code >= 0 && code < (int64_t)(sizeof names / sizeof names[0]) ? names[code] : "unknown";
}

static void write_plain(writer* w, const kiln_program_desc* p, const kiln_status* s) {
  write_place(w, p, s->param, s->axis);
  const char* text = find(s->code)->text;
  /* A stride of the caller's choice is only wrong if elements of a written argument overlap. */
  if (s->code == KILN_R_STRIDE && s->param >= 0 && s->axis < p->params[s->param].n_strides)
    text = "elements of a written argument share memory: stride is too small";
  append(w, "%s%s", s->param >= 0 ? ": " : "", text);
  if (s->code == KILN_OK) return;
  if (s->code == KILN_R_DTYPE)
    append(w, ": expected %s, got %s", dtype_name(s->expected), dtype_name(s->got));
  else if (s->code == KILN_R_SHAPE && s->got < 0)
    append(w, ": expected at least 0, got %" PRId64, s->got);
  else if (s->expected >= 0)
    append(w, ": expected %" PRId64 ", got %" PRId64, s->expected, s->got);
  else if (s->got >= 0)
    append(w, ": got %" PRId64, s->got);
}

size_t kiln_status_message(const kiln_program_desc* p, kiln_status s, char* buffer, size_t size) {
  writer w = {buffer, buffer != NULL ? size : 0, 0};
  append(&w, "%s: ", kiln_status_name(s.code));
  if (p == NULL || p->abi_version != KILN_ABI_VERSION) {
    append(&w, "%s", find(s.code)->text);
    return w.length;
  }
  append(&w, "program %s: ", p->name);
  /* Indices from another program count as none. */
  if (s.param >= p->n_params) s.param = -1;
  if (s.symbol >= p->n_symbols) s.symbol = -1;
  if (s.code == KILN_R_CONFLICT && s.symbol >= 0 && s.param >= 0)
    write_conflict(&w, p, &s);
  else if (s.code == KILN_R_CONSTRAINT && s.symbol >= 0)
    write_constraint(&w, p, &s);
  else if (s.code == KILN_R_CHECK && s.got >= 0 && s.got < p->n_checks)
    append(&w, "%s (%s)", p->checks[s.got].text, p->checks[s.got].place);
  else if (s.code == KILN_R_CPU && s.got > 0)
    write_cpu(&w, s.got);
  else if (s.code == KILN_R_ALIAS && s.param >= 0 && s.got >= -1 && s.got < p->n_params)
    write_alias(&w, p, &s);
  else
    write_plain(&w, p, &s);
  return w.length;
}
