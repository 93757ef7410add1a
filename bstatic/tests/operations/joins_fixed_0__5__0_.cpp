#include "tests/run/operations/movement_programs.h"

static const each_dtype<joins, fixed<0, 5, 0>, ALL> exported;
