#include "tests/run/operations/elementwise_programs.h"

static const each_dtype<casts, line<1>, ALL> exported;
