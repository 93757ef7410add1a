#include "tests/run/operations/elementwise_programs.h"

static const each_dtype<bitcasts, line<1201>, NUMBERS> exported;
