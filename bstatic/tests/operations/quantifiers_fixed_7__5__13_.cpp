#include "tests/run/operations/reduction_programs.h"

static const each_dtype<quantifiers, fixed<7, 5, 13>, bool> exported;
