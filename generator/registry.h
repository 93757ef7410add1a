// The programs that this executable exports, in order of registration.
#pragma once

#include <vector>

#include "generator/record.h"

namespace kiln::generator {

std::vector<const record::program*>& registered_programs();

}  // namespace kiln::generator
