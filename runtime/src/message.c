#include <inttypes.h>
#include <stdio.h>

#include "kiln/kiln.h"

static const struct {
  int32_t code;
  const char* name;
  const char* text;
} statuses[] = {
    {KILN_OK, "ok", "done"},
    {KILN_R_NULL, "R-null", "a pointer is null"},
    {KILN_R_DTYPE, "R-dtype", "element type code differs"},
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
};

static size_t find(int32_t code) {
  for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; ++i)
    if (statuses[i].code == code) return i;
  return sizeof statuses / sizeof statuses[0];
}

const char* kiln_status_name(int32_t code) {
  const size_t i = find(code);
  return i < sizeof statuses / sizeof statuses[0] ? statuses[i].name : "R-unknown";
}

/* The first argument, in parameter order, whose extent is just the symbol. */
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

#define WRITE(w, ...)                                                                                     \
  ((w)->length += (size_t)snprintf((w)->length < (w)->size ? (w)->buffer + (w)->length : NULL,            \
                                   (w)->length < (w)->size ? (w)->size - (w)->length : 0, __VA_ARGS__))

static void write_conflict(writer* w, const kiln_program_desc* p, kiln_status s) {
  int32_t param = s.param, axis = s.axis;
  defining_argument(p, s.symbol, &param, &axis);
  WRITE(w, ": extent %s: argument %s axis %d is %" PRId64 ", but argument %s axis %d gave %" PRId64, p->symbols[s.symbol].name,
        p->params[s.param].name, (int)s.axis, s.got, p->params[param].name, (int)axis, s.expected);
}

static void write_alias(writer* w, const kiln_program_desc* p, kiln_status s) {
  WRITE(w, ": arguments %s and %s", p->params[s.param].name, p->params[s.expected].name);
}

static void write_plain(writer* w, const kiln_program_desc* p, kiln_status s) {
  if (s.param >= 0 && s.param < p->n_params) WRITE(w, ": argument %s", p->params[s.param].name);
  if (s.axis >= 0) WRITE(w, " axis %d", (int)s.axis);
  if (s.symbol >= 0 && s.symbol < p->n_symbols) WRITE(w, ": extent %s", p->symbols[s.symbol].name);
  if (s.expected >= 0 || s.got >= 0) WRITE(w, ": expected %" PRId64 ", got %" PRId64, s.expected, s.got);
}

size_t kiln_status_message(const kiln_program_desc* p, kiln_status s, char* buffer, size_t size) {
  writer w = {buffer, buffer != NULL ? size : 0, 0};
  const size_t i = find(s.code);
  WRITE(&w, "%s: ", kiln_status_name(s.code));
  if (p != NULL && p->abi_version == KILN_ABI_VERSION) WRITE(&w, "program %s: ", p->name);
  WRITE(&w, "%s", i < sizeof statuses / sizeof statuses[0] ? statuses[i].text : "unknown code");
  if (p == NULL || s.code == KILN_OK || p->abi_version != KILN_ABI_VERSION) return w.length;
  if (s.code == KILN_R_CONFLICT)
    write_conflict(&w, p, s);
  else if (s.code == KILN_R_ALIAS)
    write_alias(&w, p, s);
  else
    write_plain(&w, p, s);
  return w.length;
}
