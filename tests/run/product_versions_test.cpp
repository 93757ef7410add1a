// Products of symbolic extents, whose versions depend on the call: the compiled object equals the interpreter, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/run/check_at_levels.h"

namespace kiln::compiler::testing {
namespace {

// c = a * b, then the epilogue. An operand has the batch B if left_batch or right_batch says so.
struct Product {
  std::string type = "f32", facts = "";  // facts: a symbol with its facts, as "M min 32"
  std::string output = "out", epilogue = "store c, %9\n";
  bool left_batch = false, right_batch = false, transposed = false;  // transposed: b has rows of K

  std::string text() const {
    const std::string b = left_batch || right_batch ? "B, " : "", whole = "[" + b + "M, N, K]";
    const auto operand = [&](bool batch, const std::string& extents) { return "[" + (batch ? b : "") + extents + "]"; };
    std::string symbols;
    for (const std::string s : {"B", "M", "N", "K"})
      if (s != "B" || !b.empty()) symbols += "symbol " + (facts.starts_with(s + " ") ? facts : s) + "\n";
    const bool three = !b.empty();
    const auto permuted = [&](bool batch) { return batch ? "[0, 2, 1]" : "[1, 0]"; };
    const auto lifted = [&](bool batch, const std::string& extents) {
      return "[" + std::string(!three ? "" : batch ? "B, " : "1, ") + extents + "]";
    };
    return "program product\n" + symbols + "in " + type + ' ' + operand(left_batch, "M, K") + " a\nin " + type + ' ' +
           operand(right_batch, transposed ? "N, K" : "K, N") + " b\n" + output + ' ' + type + " [" + b +
           "M, N] c\n%0 = param a\n%1 = param b\n" + "%3 = " +
           (transposed ? "reshape " + operand(right_batch, "N, K") + " %1"
                       : std::string("permute %1, axes ") + permuted(right_batch)) +
           "\n%4 = reshape " + lifted(left_batch, "M, 1, K") + " %0\n%5 = expand " + whole + " %4\n%6 = reshape " +
           lifted(right_batch, "1, N, K") + " %3\n%7 = expand " + whole + " %6\n%9 = reduce %5, %7, fma, axes [" +
           (three ? "3" : "2") + "]\n" + epilogue;
  }
};

const Symbols around_the_limits[] = {
    {{"M", 0}, {"N", 300}, {"K", 300}},  {{"M", 1}, {"N", 300}, {"K", 300}},  {{"M", 1}, {"N", 1}, {"K", 0}},
    {{"M", 2}, {"N", 17}, {"K", 3}},     {{"M", 32}, {"N", 0}, {"K", 300}},   {{"M", 32}, {"N", 300}, {"K", 0}},
    {{"M", 31}, {"N", 256}, {"K", 300}}, {{"M", 32}, {"N", 255}, {"K", 300}}, {{"M", 32}, {"N", 256}, {"K", 256}},
    {{"M", 32}, {"N", 256}, {"K", 257}}, {{"M", 35}, {"N", 319}, {"K", 210}}, {{"M", 33}, {"N", 257}, {"K", 260}},
    {{"M", 7}, {"N", 4096}, {"K", 17}},  {{"M", 1}, {"N", 63}, {"K", 41}},    {{"M", 5}, {"N", 48}, {"K", 20}},
    {{"M", 40}, {"N", 1000}, {"K", 70}},
};

TEST(ProductVersions, EachSide) {
  for (const Symbols& s : around_the_limits) check_at_levels(Product{}.text(), s, 4);
}

TEST(ProductVersions, Types) {
  for (const char* type : {"f64", "f16", "bf16", "i32", "u64", "u8"})
    for (const Symbols& s : {Symbols{{"M", 1}, {"N", 600}, {"K", 220}}, {{"M", 33}, {"N", 601}, {"K", 220}}})
      check_at_levels(Product{.type = type}.text(), s);
}

// Few rows read the operand where it is, others a copy.
TEST(ProductVersions, Transposed) {
  for (const std::int64_t m : {0, 1, 2, 7, 8, 9, 40})
    for (const std::int64_t n : {0, 1, 37, 300})
      check_at_levels(Product{.transposed = true}.text(), {{"M", m}, {"N", n}, {"K", 70}});
  for (const std::int64_t m : {1, 7, 8, 33}) {
    check_at_levels(Product{.transposed = true}.text(), {{"M", m}, {"N", 300}, {"K", 300}});
    check_at_levels(Product{.type = "f16", .transposed = true}.text(), {{"M", m}, {"N", 33}, {"K", 40}});
    check_at_levels(Product{.facts = "M min 2 max 20", .transposed = true}.text(),
                    {{"M", std::clamp<std::int64_t>(m, 2, 20)}, {"N", 65}, {"K", 33}});
    for (const bool left : {false, true})
      check_at_levels(Product{.left_batch = left, .right_batch = true, .transposed = true}.text(),
                      {{"B", 3}, {"M", m}, {"N", 40}, {"K", 20}});
  }
}

TEST(ProductVersions, Batches) {
  for (const bool left : {false, true})
    for (const bool right : {false, true})
      for (const Symbols& s : {Symbols{{"B", 3}, {"M", 12}, {"N", 300}, {"K", 80}},
                               {{"B", 2}, {"M", 16}, {"N", 300}, {"K", 230}},
                               {{"B", 1}, {"M", 1}, {"N", 256}, {"K", 300}},
                               {{"B", 0}, {"M", 40}, {"N", 256}, {"K", 300}},
                               {{"B", 1}, {"M", 40}, {"N", 257}, {"K", 300}},
                               {{"B", 4}, {"M", 1}, {"N", 70}, {"K", 9}}}) {
        Symbols used = s;
        if (!left && !right) used.erase("B");
        check_at_levels(Product{.left_batch = left, .right_batch = right}.text(), used);
      }
}

// Elements of the last panel are stored twice: not where the kernel loads them. The kernel for one row stores each once.
TEST(ProductVersions, OutputThatIsLoaded) {
  const std::string add = "%8 = param c\n%10 = add %9, %8\nstore c, %10\n";
  for (const std::int64_t rows : {0, 1, 2, 40})
    check_at_levels(Product{.output = "inout", .epilogue = add}.text(), {{"M", rows}, {"N", 300}, {"K", 300}}, 1);
}

TEST(ProductVersions, RowsInTheEpilogue) {
  const std::string epilogue = "%10 = iota f32 [M]\n%11 = reshape [M, 1] %10\n%12 = add %9, %11\nstore c, %12\n";
  for (const Symbols& s : around_the_limits) check_at_levels(Product{.epilogue = epilogue}.text(), s);
}

TEST(ProductVersions, FactsDecide) {
  check_at_levels(Product{.facts = "M min 2 max 31"}.text(), {{"M", 20}, {"N", 300}, {"K", 300}}, 1);
  check_at_levels(Product{.facts = "M max 31"}.text(), {{"M", 1}, {"N", 300}, {"K", 300}}, 2);
  check_at_levels(Product{.facts = "N max 31"}.text(), {{"M", 40}, {"N", 31}, {"K", 300}}, 2);
  check_at_levels(Product{.facts = "M min 32"}.text(), {{"M", 40}, {"N", 255}, {"K", 300}}, 3);
  check_at_levels(Product{.facts = "N min 256 multiple_of 64"}.text(), {{"M", 40}, {"N", 320}, {"K", 300}}, 4);
}

}  // namespace
}  // namespace kiln::compiler::testing
