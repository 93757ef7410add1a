#include "tests/run/operations/elementwise_programs.h"

static const each_dtype<bitcasts, line<0>, NUMBERS> exported;
