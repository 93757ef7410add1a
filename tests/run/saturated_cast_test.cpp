// Casts from floats to integers in lanes: toward zero, saturating, NaN to 0.
#include <gtest/gtest.h>

#include "tests/run/check_at_levels.h"

namespace kiln::compiler::testing {
namespace {

TEST(SaturatedCast, FromEveryFloatToEveryInteger) {
  for (const std::string from : {"f32", "f64", "f16", "bf16"})
    for (const std::string to : {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"})
      for (const std::string scale : {"1", "300.5", "1e9", "1e18"})
        check_at_levels("program casts\nsymbol N\nin " + from + " [N] x\nout " + to +
                            " [N] y\n%0 = param x\n%1 = cast f64 %0\n%2 = const f64 " + scale +
                            "\n%3 = mul %1, %2\n%4 = cast " + from + " %3\n%5 = cast " + to + " %4\nstore y, %5\n",
                        {{"N", 500}});
}

// One instruction rounds and converts: ties, NaN, numbers that round to a bound and beyond it. Each extent is another number of
// registers.
TEST(SaturatedCast, OfRoundedNumbers) {
  for (const std::string from : {"f32", "f64", "bf16"})
    for (const std::string to : {"i8", "u8", "i16", "u16", "i32"})
      for (const std::string shape : {"[17]", "[32]", "[64]", "[131]", "[600]"})
        for (const std::string scale : {"0.5", "120.5", "1e9", "1e18"}) {
          const std::string start = "program casts\nin " + from + ' ' + shape + " x\nout " + to + ' ' + shape + " y\nout " +
                                    to + ' ' + shape + " z\n%0 = iota " + from + ' ' + shape + "\n";
          const std::string ties = "%1 = const " + from + " 300\n%2 = sub %0, %1\n%3 = const " + from +
                                   " 0.5\n%4 = mul %2, %3\n" + "%5 = round %4\n%6 = cast " + to + " %5\nstore y, %6\n";
          const std::string any = "%7 = param x\n%8 = const " + from + ' ' + scale +
                                  "\n%9 = mul %7, %8\n%10 = round %9\n%11 = cast " + to + " %10\nstore z, %11\n";
          check_at_levels(start + ties + any, {});
        }
}

// The bounds of every type, and their neighbours.
TEST(SaturatedCast, Bounds) {
  static constexpr std::pair<const char*, const char*> ends[] = {{"i8", "128"},
                                                                 {"u8", "256"},
                                                                 {"i16", "32768"},
                                                                 {"u16", "65536"},
                                                                 {"i32", "2147483648"},
                                                                 {"u32", "4294967296"},
                                                                 {"i64", "9223372036854775808"},
                                                                 {"u64", "18446744073709551616"}};
  for (const std::string from : {"f32", "f64"})
    for (const auto& [to, power] : ends)
      for (const std::string nearly : {"-1.0000002", "-1", "-0.9999999", "0.9999999", "1", "1.0000002"})
        check_at_levels("program casts\nin " + from + " [40] x\nout " + to + " [40] y\n%0 = iota " + from +
                            " [40]\n%1 = const " + from + " 20\n%2 = sub %0, %1\n%3 = const " + from +
                            " 0.25\n%4 = mul %2, %3\n%5 = const " + from + " " + power + "\n%6 = const " + from + " " + nearly +
                            "\n%7 = mul %5, %6\n%8 = add %7, %4\n%9 = cast " + to + " %8\nstore y, %9\n",
                        {});
}

}  // namespace
}  // namespace kiln::compiler::testing
