#include "tests/run/operations/elementwise_programs.h"

static const each_dtype<bitwise, line<1201>, bool,INTEGERS> exported;
