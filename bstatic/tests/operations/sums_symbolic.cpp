#include "tests/run/operations/reduction_programs.h"

static const each_dtype<sums, symbolic, NUMBERS> exported;
