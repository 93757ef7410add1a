// The tables of a captured program (kiln/record.h), under the name that the generator says.
#pragma once

#include "kiln/record.h"

namespace kiln::generator {

namespace record = dsl::record;

}  // namespace kiln::generator
