#include "tests/run/operations/elementwise_programs.h"

static const each_dtype<arithmetic, line<1201>, NUMBERS> exported;
