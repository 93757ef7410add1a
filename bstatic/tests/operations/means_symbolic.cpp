#include "tests/run/operations/reduction_programs.h"

static const each_dtype<means, symbolic, FLOATS> exported;
