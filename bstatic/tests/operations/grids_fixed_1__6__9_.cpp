#include "tests/run/operations/movement_programs.h"

static const each_dtype<grids, fixed<1, 6, 9>, INDEX> exported;
