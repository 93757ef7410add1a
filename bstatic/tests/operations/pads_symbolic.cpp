#include "tests/run/operations/movement_programs.h"

static const each_dtype<pads, symbolic, ALL> exported;
