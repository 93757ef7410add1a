#include "tests/run/operations/movement_programs.h"

static const each_dtype<positions, fixed<1, 6, 9>, NUMBERS> exported;
