#include "tests/run/operations/movement_programs.h"

static const each_dtype<shapes, symbolic, ALL> exported;
