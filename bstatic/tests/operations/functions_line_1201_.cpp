#include "tests/run/operations/elementwise_programs.h"

static const each_dtype<functions, line<1201>, FLOATS> exported;
