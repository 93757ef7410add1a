#include "tests/run/operations/reduction_programs.h"

static const each_dtype<convolutions, fixed<7, 5, 13>, NUMBERS> exported;
