// The revision header: a small header that stands for all generated headers of a folder. All of them include it, and its
// text changes whenever one of them changes. A build system that does not know the programs yet declares this file.
#pragma once

#include <string>

#include "generator/outputs.h"

namespace kiln::generator {

// Adds `path` to the outputs, and an include of it to each header among them.
void add_revision_header(Outputs& out, const std::string& path);

}  // namespace kiln::generator
