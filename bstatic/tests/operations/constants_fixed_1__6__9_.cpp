#include "tests/run/operations/movement_programs.h"

static const each_dtype<constants, fixed<1, 6, 9>, ALL> exported;
