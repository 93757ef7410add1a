#include "tests/run/operations/reduction_programs.h"

static const each_dtype<maxpools, fixed<7, 5, 13>, NUMBERS> exported;
