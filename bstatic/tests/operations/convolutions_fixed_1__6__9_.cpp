#include "tests/run/operations/reduction_programs.h"

static const each_dtype<convolutions, fixed<1, 6, 9>, NUMBERS> exported;
