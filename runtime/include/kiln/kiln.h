/* The runtime's C interface. Every call returns a kiln_status. After an error no argument has changed; exception: after
   KILN_R_CHECK outputs have any contents. The runtime reads no environment variables, and allocates only through the context.
   Its only mutable data are the CPU's instruction sets, which it detects once, and the selected variant of each program. */
#ifndef KILN_KILN_H
#define KILN_KILN_H

#include <stddef.h>
#include <stdint.h>

#include "kiln/call.h"
#include "kiln/cpu.h"
#include "kiln/dtype.h"
#include "kiln/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks the arguments and runs the program. `context` may be null. Every generated entry NAME(args, n_args, context) is this
   call with the description of the selected variant, which NAME_desc() returns. */
kiln_status kiln_call(const kiln_program_desc* program, const kiln_tensor* args, int32_t n_args, const kiln_context* context);

/* The bytes of workspace that a call with these arguments needs. Makes the same checks as kiln_call. */
kiln_status kiln_workspace_bytes(const kiln_program_desc* program, const kiln_tensor* args, int32_t n_args, int64_t* bytes);

/* Variants. NAME_variants() of a program returns all of them.
   The selected variant runs when the program is called. The first use selects the first in the list that this CPU can run. If
   it can run none, the last counts as selected, and each call returns KILN_R_CPU. */
const kiln_program_desc* kiln_selected_variant(const kiln_variants* variants);

/* Selects a variant by its name for all later calls of the program; null: the best again. KILN_R_VARIANT: there is no such
   variant. KILN_R_CPU: this CPU cannot run it. An error leaves the selection unchanged. */
kiln_status kiln_force_variant(const kiln_variants* variants, const char* name);

/* The instruction sets of this CPU that the operating system supports, as in kiln_program_desc.cpu_sets. A variant runs here if
   it needs no other. */
uint64_t kiln_cpu_sets(void);

/* One line: code, program, argument, axis, expected, got. Writes at most `size` bytes with the closing zero. Returns the
   length. */
size_t kiln_status_message(const kiln_program_desc* program, kiln_status status, char* buffer, size_t size);
const char* kiln_status_name(int32_t code); /* "R-conflict" ... */

#ifdef __cplusplus
}
#endif
#endif
