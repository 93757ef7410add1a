#include "tests/run/operations/reduction_programs.h"

static const each_dtype<contractions, fixed<0, 5, 0>, NUMBERS> exported;
