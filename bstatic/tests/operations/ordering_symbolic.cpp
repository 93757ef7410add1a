#include "tests/run/operations/elementwise_programs.h"

static const each_dtype<ordering, symbolic, ALL> exported;
