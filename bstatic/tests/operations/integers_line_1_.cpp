#include "tests/run/operations/elementwise_programs.h"

static const each_dtype<integers, line<1>, INTEGERS> exported;
