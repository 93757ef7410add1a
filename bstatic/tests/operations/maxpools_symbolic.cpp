#include "tests/run/operations/reduction_programs.h"

static const each_dtype<maxpools, symbolic, NUMBERS> exported;
