#include "tests/run/operations/elementwise_programs.h"

static const each_dtype<functions, line<0>, FLOATS> exported;
