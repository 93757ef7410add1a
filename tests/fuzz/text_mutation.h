// Puts a few mistakes into a schedule's text: other nodes, numbers, words and types; lines that are removed, doubled, swapped
// or taken from another text.
#pragma once

#include <string>
#include <string_view>

#include "tests/fuzz/random.h"

namespace kiln::test {

std::string mutated_text(Random& random, const std::string& text, const std::string& other);

}  // namespace kiln::test
