#include "tests/run/operations/reduction_programs.h"

static const each_dtype<sums, fixed<0, 5, 0>, NUMBERS> exported;
