#include "tests/run/operations/movement_programs.h"

static const each_dtype<positions, fixed<0, 5, 0>, NUMBERS> exported;
