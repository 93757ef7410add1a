#include "tests/run/operations/reduction_programs.h"

static const each_dtype<normalized, fixed<0, 5, 0>, FLOATS> exported;
