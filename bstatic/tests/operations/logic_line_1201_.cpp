#include "tests/run/operations/elementwise_programs.h"

static const each_dtype<logic, line<1201>, bool> exported;
