// Gives the tables of a captured program (kiln/record.h) the short name `record` in the generator.
#pragma once

#include "kiln/record.h"

namespace kiln::generator {

namespace record = dsl::record;

}  // namespace kiln::generator
