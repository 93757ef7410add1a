// Division of integers in lanes, by float quotients: all pairs of bytes, and wider numbers whose quotients are nearly integers.
#include <gtest/gtest.h>

#include "tests/run/check_at_levels.h"

namespace kiln::compiler::testing {
namespace {

// Results of all four operations for x and y. The lines compute x, %80, and y, %81, from the positions %0.
void check_divisions(const std::string& type, int n, const std::string& lines) {
  const std::string shape = "[" + std::to_string(n) + "]";
  std::string text = "program division\n";
  for (const std::string out : {"q", "r", "f", "m"}) text.append("out ").append(type + ' ' + shape + ' ' + out + '\n');
  text += "%0 = iota " + std::string(type.ends_with("8") ? "i32" : type) + ' ' + shape + '\n' + lines;
  text += "%90 = cdiv %80, %81\n%91 = cmod %80, %81\n%92 = floordiv %80, %81\n%93 = floormod %80, %81\n";
  text += "store q, %90\nstore r, %91\nstore f, %92\nstore m, %93\n";
  check_at_levels(text, {});
}

TEST(VectorDivision, AllPairsOfBytes) {
  for (const std::string type : {"i8", "u8"})
    check_divisions(
        type, 65536,
        "%1 = const i32 256\n%2 = cdiv %0, %1\n%3 = cmod %0, %1\n%80 = cast " + type + " %2\n%81 = cast " + type + " %3\n");
}

// x is a multiple of y, one less or one more, and y any odd number or a small one: numbers of all sizes and signs.
TEST(VectorDivision, NearlyIntegers) {
  for (const std::string type : {"i16", "u16", "i32", "u32"})
    for (const std::string factor : {"1", "3", "40503", "2654435769"})
      for (const std::string more : {"0", "1", "2"}) {
        const bool is_short = type.ends_with("16");
        const std::string f = is_short && factor.size() > 5 ? "257" : factor;
        const bool fits = type == "i16" ? f.size() < 5 : type != "i32" || f.size() < 10;
        const std::string number = fits ? f : type == "i16" ? "32749" : "2147483629";
        const std::string c = " = const " + type + ' ';
        check_divisions(type, 5000,
                        "%1" + c + number + "\n%2 = mul %0, %1\n%3" + c + "1\n%81 = add %2, %3\n%4" + c +
                            "7\n%5 = mul %0, %4\n" + "%6 = mul %5, %81\n%7 = sub %6, %3\n%8" + c + more +
                            "\n%80 = add %7, %8\n");
      }
}

TEST(VectorDivision, TheLargestNumbers) {
  for (const auto& [type, largest] :
       {std::pair<std::string, std::string>{"i16", "32767"}, {"u16", "65535"}, {"i32", "2147483647"}, {"u32", "4294967295"}})
    for (const std::string order : {"%2 = sub %1, %0", "%2 = add %1, %0"})  // down from it; beyond it, where it wraps
      check_divisions(type, 3000,
                      "%1 = const " + type + ' ' + largest + '\n' + order + "\n%80 = add %2, %2\n%81 = add %0, %0\n");
}

}  // namespace
}  // namespace kiln::compiler::testing
