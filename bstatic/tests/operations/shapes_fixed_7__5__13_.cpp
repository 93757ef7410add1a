#include "tests/run/operations/movement_programs.h"

static const each_dtype<shapes, fixed<7, 5, 13>, ALL> exported;
