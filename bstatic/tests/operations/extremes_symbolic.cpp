#include "tests/run/operations/reduction_programs.h"

static const each_dtype<extremes, symbolic, ALL> exported;
