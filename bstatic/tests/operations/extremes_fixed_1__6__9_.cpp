#include "tests/run/operations/reduction_programs.h"

static const each_dtype<extremes, fixed<1, 6, 9>, ALL> exported;
