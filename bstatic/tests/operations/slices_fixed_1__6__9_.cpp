#include "tests/run/operations/movement_programs.h"

static const each_dtype<slices, fixed<1, 6, 9>, ALL> exported;
