#include "tests/run/operations/reduction_programs.h"

static const each_dtype<quantifiers, symbolic, bool> exported;
