// Makes a failing program small: stores, operations, parameters, extents and symbols go while it still fails.
#pragma once

#include <functional>
#include <string>

namespace kiln::compiler::testing {

// text of a program; still_fails gets candidates (valid programs) and is called at most `tries` times.
std::string shrink_program(std::string text, const std::function<bool(const std::string&)>& still_fails, int tries = 1500);

}  // namespace kiln::compiler::testing
