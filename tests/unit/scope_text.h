// The first and the last lines of texts of one kernel over two ranges: the tests of scopes and of regions put nodes between
// them.
#pragma once

#include <string>

namespace kiln::compiler::test {

inline const std::string head = R"(program p
in f32 [N] x
inout f32 [N] y
inout f32 [N] z
%0 = param x
%1 = param y
%2 = param z
%3 = const bool true
%4 = range (N), id 0
%5 = range (N), id 1
%6 = carry %4, %1, slot 0
%7 = index %0, %4
)";
inline const std::string tail = "%98 = kernel %4, %1, %97\n%99 = get %98, slot 0\nstore y, %99\n";

}  // namespace kiln::compiler::test
