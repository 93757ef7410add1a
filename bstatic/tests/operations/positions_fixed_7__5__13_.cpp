#include "tests/run/operations/movement_programs.h"

static const each_dtype<positions, fixed<7, 5, 13>, NUMBERS> exported;
