/* A client without CMake: include and link flags from pkg-config. */
#include "runtime_program.h"

int main(void) { return row_sum(0, 0, 0).code != KILN_R_ARGCOUNT; }
