// One small header that stands for all headers of a folder: each includes it, and its text changes whenever one of theirs does.
// A build system that cannot know the programs before it has run the generator declares this file alone.
#pragma once

#include <string>

#include "generator/outputs.h"

namespace kiln::generator {

// Adds `path` to the outputs, and an include of it to each header among them.
void add_revision_header(Outputs& out, const std::string& path);

}  // namespace kiln::generator
