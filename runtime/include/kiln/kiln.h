/* The runtime's C interface. Every call returns a kiln_status. After an error no argument has changed; exception: after
   KILN_R_CHECK outputs have any contents. No globals, no reads of the environment, no allocation except through the context. */
#ifndef KILN_KILN_H
#define KILN_KILN_H

#include <stddef.h>
#include <stdint.h>

#include "kiln/call.h"
#include "kiln/dtype.h"
#include "kiln/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks the arguments and runs the program. `context` may be null. Every generated entry NAME(args, n_args, context) is this
   call with its own description. NAME_desc() returns the description. */
kiln_status kiln_call(const kiln_program_desc* program, const kiln_tensor* args, int32_t n_args, const kiln_context* context);

/* The bytes of workspace that a call with these arguments needs. Makes the same checks as kiln_call. */
kiln_status kiln_workspace_bytes(const kiln_program_desc* program, const kiln_tensor* args, int32_t n_args, int64_t* bytes);

/* One line: code, program, argument, axis, expected, got. Writes at most `size` bytes with the closing zero. Returns the
   length. */
size_t kiln_status_message(const kiln_program_desc* program, kiln_status status, char* buffer, size_t size);
const char* kiln_status_name(int32_t code); /* "R-conflict" ... */

#ifdef __cplusplus
}
#endif
#endif
