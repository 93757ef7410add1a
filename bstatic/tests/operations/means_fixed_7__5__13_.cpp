#include "tests/run/operations/reduction_programs.h"

static const each_dtype<means, fixed<7, 5, 13>, FLOATS> exported;
