// Exponentials whose results are subnormal, infinite or zero: the compiled object equals the interpreter, bit for bit. With
// AVX-512 the last step is one instruction, else two products.
#include <gtest/gtest.h>

#include "tests/run/check_at_levels.h"

namespace kiln::compiler::testing {
namespace {

// y = op(by * x), where x is between -27 and 27.
void check(const std::string& op, const std::string& type, int by, std::int64_t n) {
  const std::string factor = "%1 = const " + type + " " + std::to_string(by) + "\n%2 = mul %0, %1\n";
  check_at_levels("program scaled\nsymbol N\nin " + type + " [N] x\nout " + type + " [N] y\n%0 = param x\n" + factor +
                      "%3 = " + op + " %2\nstore y, %3\n",
                  {{"N", n}});
}

TEST(Scale, SingleResultsOfEverySize) {
  for (const std::int64_t n : {1, 3, 7, 8, 17, 33, 2000}) {
    check("exp", "f32", 4, n);   // to e^-108, below the least subnormal
    check("exp2", "f32", 6, n);  // to 2^-162
  }
}

TEST(Scale, DoubleResultsOfEverySize) {
  for (const std::int64_t n : {1, 2, 5, 9, 2000}) {
    check("exp", "f64", 28, n);   // to e^-756
    check("exp2", "f64", 41, n);  // to 2^-1107
  }
}

TEST(Scale, Halves) {
  for (const std::int64_t n : {1, 5, 100}) {
    check("exp", "f16", 1, n);
    check("exp2", "bf16", 6, n);
  }
}

TEST(Scale, Powers) {
  check_at_levels(
      "program powers\nsymbol N\nin f32 [N] x\nin f32 [N] z\nout f32 [N] y\n%0 = param x\n%1 = param z\n%2 = abs %0\n"
      "%3 = const f32 4\n%4 = mul %1, %3\n%5 = pow %2, %4\nstore y, %5\n",
      {{"N", 3000}});
}

}  // namespace
}  // namespace kiln::compiler::testing
