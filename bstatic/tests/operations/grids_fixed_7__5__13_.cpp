#include "tests/run/operations/movement_programs.h"

static const each_dtype<grids, fixed<7, 5, 13>, INDEX> exported;
