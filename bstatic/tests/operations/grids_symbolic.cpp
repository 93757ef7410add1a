#include "tests/run/operations/movement_programs.h"

static const each_dtype<grids, symbolic, INDEX> exported;
