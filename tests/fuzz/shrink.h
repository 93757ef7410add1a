// Makes a failing program smaller: removes stores, operations, parameters and extents while the program still fails.
#pragma once

#include <functional>
#include <string>

namespace kiln::compiler::testing {

// text: of a program. still_fails: gets candidates, which are valid programs; it is called at most `tries` times.
std::string shrink_program(std::string text, const std::function<bool(const std::string&)>& still_fails, int tries = 1500);

}  // namespace kiln::compiler::testing
