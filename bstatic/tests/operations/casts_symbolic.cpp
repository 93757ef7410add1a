#include "tests/run/operations/elementwise_programs.h"

static const each_dtype<casts, symbolic, ALL> exported;
