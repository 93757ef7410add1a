#include "tests/run/operations/reduction_programs.h"

static const each_dtype<extremes, fixed<7, 5, 13>, ALL> exported;
