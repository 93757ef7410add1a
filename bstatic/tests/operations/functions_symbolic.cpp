#include "tests/run/operations/elementwise_programs.h"

static const each_dtype<functions, symbolic, FLOATS> exported;
