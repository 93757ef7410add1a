#include "tests/run/operations/elementwise_programs.h"

static const each_dtype<bitwise, symbolic, bool,INTEGERS> exported;
