#include "tests/run/operations/reduction_programs.h"

static const each_dtype<contractions, fixed<7, 5, 13>, NUMBERS> exported;
