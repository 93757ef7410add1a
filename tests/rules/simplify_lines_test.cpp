// The answers of `kiln-opt simplify`.
#include <gtest/gtest.h>

#include "compiler/ir/diagnostic.h"
#include "generator/tools/simplify_lines.h"

namespace {

using kiln::generator::simplify_line;

TEST(SimplifyLines, Answers) {
  EXPECT_EQ(simplify_line(R"({"vars": {"x": [0, 7], "n": [1, 1024]}, "expr": "(x*8 + n) // 8 % 4", "assume": ["x < n"],
                             "multiple_of": {"n": 8}})",
                          {}),
            R"({"expr":"(x + n // 8) % 4","vmin":0,"vmax":3,"ops":3,"divmods":2})");
  EXPECT_EQ(simplify_line(R"({"vars": {"x": [-9, 9]}, "expr": "x < 10"})", {}),
            R"({"expr":"True","vmin":1,"vmax":1,"ops":0,"divmods":0})");
  EXPECT_EQ(simplify_line(R"({"vars": {"x": [5, 3]}, "expr": "x + 1"})", {}),
            R"({"expr":"6","vmin":6,"vmax":6,"ops":0,"divmods":0})");
}

TEST(SimplifyLines, UsesAssumptions) {
  EXPECT_EQ(simplify_line(R"({"vars": {"x": [0, 99], "n": [1, 50]}, "expr": "x % n", "assume": ["x < n"]})", {}),
            R"({"expr":"x","vmin":0,"vmax":99,"ops":0,"divmods":0})");
  EXPECT_EQ(simplify_line(R"({"vars": {"x": [0, 99]}, "expr": "x // 10", "assume": ["x < 10"]})", {}),
            R"({"expr":"0","vmin":0,"vmax":0,"ops":0,"divmods":0})");
  EXPECT_EQ(simplify_line(R"({"vars": {"x": [0, 99]}, "expr": "x % 4", "assume": ["x % 4 == 0"]})", {}),
            R"({"expr":"0","vmin":0,"vmax":0,"ops":0,"divmods":0})");
}

TEST(SimplifyLines, TwoSpellingsOfOneSumAgree) {
  const auto text = [](const char* expr) {
    return simplify_line(R"({"vars": {"a": [-5, 5], "b": [-5, 5], "c": [-5, 5]}, "expr": ")" + std::string(expr) + "\"}", {});
  };
  EXPECT_EQ(text("(c + a) + (b + (a * -1))"), text("b + c"));
  EXPECT_EQ(text("3 * (a + 2 * b) - c"), text("-c + 6 * b + a * 3"));
}

TEST(SimplifyLines, TracesAndDisables) {
  const std::string line = R"({"vars": {"x": [0, 63], "n": [1, 100]}, "expr": "x % n + (x // n) * n"})";
  EXPECT_NE(simplify_line(line, {{}, true}).find(R"("rule":"div-mod-recombine")"), std::string::npos);
  EXPECT_EQ(simplify_line(line, {{"div-mod-recombine"}, true}).find(R"("rule":"div-mod-recombine")"), std::string::npos);
  EXPECT_THROW(simplify_line(line, {{"no-such-rule"}, false}), kiln::compiler::Diagnostic);
}

TEST(SimplifyLines, MalformedLinesAnswerErrors) {
  for (const char* bad :
       {"", "nonsense", "3", "{}", R"({"expr": 3})", R"({"expr": "x"})", R"({"expr": "1 +"})",
        R"({"vars": {"x": [0]}, "expr": "x"})", R"({"vars": {"x": [0, 1.5]}, "expr": "x"})",
        R"({"vars": {"x": [0, 4611686018427387905]}, "expr": "x"})", R"({"vars": {"1x": [0, 1]}, "expr": "1"})",
        R"({"vars": [], "expr": "1"})", R"({"vars": {}, "expr": "1", "multiple_of": {"n": 8}})",
        R"({"vars": {"n": [0, 9]}, "expr": "1", "multiple_of": {"n": 0}})", R"({"expr": "1", "assume": ["1 + 1"]})",
        R"({"expr": "1", "assume": [1]})", R"({"expr": "1", "asume": []})"})
    EXPECT_EQ(simplify_line(bad, {}).substr(0, 10), R"({"error":")") << bad;
}

}  // namespace
