#include "tests/run/operations/elementwise_programs.h"

static const each_dtype<logic, line<1>, bool> exported;
