#include "tests/run/operations/reduction_programs.h"

static const each_dtype<averagepools, fixed<1, 6, 9>, FLOATS> exported;
