#include "tests/run/operations/reduction_programs.h"

static const each_dtype<quantifiers, fixed<1, 6, 9>, bool> exported;
