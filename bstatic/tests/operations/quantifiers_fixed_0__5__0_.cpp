#include "tests/run/operations/reduction_programs.h"

static const each_dtype<quantifiers, fixed<0, 5, 0>, bool> exported;
