#include "tests/run/operations/elementwise_programs.h"

static const each_dtype<ordering, line<1201>, ALL> exported;
