// Reductions along the rows of a matrix that is larger than the caches, which read 2 or 4 rows side by side: the compiled
// object equals the interpreter, bit for bit. 4101 rows leave one behind the groups of four.
#include <gtest/gtest.h>

#include "tests/run/check_at_levels.h"

namespace kiln::compiler::testing {
namespace {

void check(const std::string& type, const std::string& kind) {
  check_at_levels("program rows\nin " + type + " [4101, 1100] x\nout " + type + " [4101] y\n%0 = param x\n%1 = reduce %0, " +
                      kind + ", axes [1]\nstore y, %1\n",
                  {});
}

TEST(RowsSideBySide, SumsAndExtrema) {
  check("f32", "sum");
  check("f32", "max");
}

TEST(RowsSideBySide, NarrowElements) { check("bf16", "sum"); }

}  // namespace
}  // namespace kiln::compiler::testing
