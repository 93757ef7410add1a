#include "tests/run/operations/movement_programs.h"

static const each_dtype<constants, fixed<0, 5, 0>, ALL> exported;
