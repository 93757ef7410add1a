#include "tests/run/operations/reduction_programs.h"

static const each_dtype<normalized, fixed<7, 5, 13>, FLOATS> exported;
