#include "tests/run/operations/reduction_programs.h"

static const each_dtype<means, fixed<1, 6, 9>, FLOATS> exported;
