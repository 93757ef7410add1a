#include "tests/run/operations/elementwise_programs.h"

static const each_dtype<arithmetic, symbolic, NUMBERS> exported;
