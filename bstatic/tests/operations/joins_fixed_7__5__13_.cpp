#include "tests/run/operations/movement_programs.h"

static const each_dtype<joins, fixed<7, 5, 13>, ALL> exported;
