// One small header that represents all headers of a folder. Each of them includes it, and its text changes whenever one of
// their texts does. A build system that does not know the programs before the generator runs declares only this file.
#pragma once

#include <string>

#include "generator/outputs.h"

namespace kiln::generator {

// Adds `path` to the outputs, and an include of it to each header among them.
void add_revision_header(Outputs& out, const std::string& path);

}  // namespace kiln::generator
