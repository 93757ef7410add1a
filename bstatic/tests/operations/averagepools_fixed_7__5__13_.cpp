#include "tests/run/operations/reduction_programs.h"

static const each_dtype<averagepools, fixed<7, 5, 13>, FLOATS> exported;
