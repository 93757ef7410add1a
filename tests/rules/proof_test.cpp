// Rules and Z3: a file of 40 rules, half of them wrong because of a missing or weakened guard; rejected files; the cache.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "compiler/ir/diagnostic.h"
#include "compiler/proof/check_rule.h"
#include "compiler/proof/measure.h"
#include "compiler/proof/mutate.h"
#include "compiler/proof/rule_notes.h"
#include "compiler/symbolic/guard.h"
#include "compiler/symbolic/rules.h"
#include "generator/tools/rules_command.h"
#include "generator/tools/rules_file.h"

namespace {

using namespace kiln::compiler;
using namespace kiln::generator;

std::string contents(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The value in a point such as "x=3 n=4"; 0 for a missing variable.
std::int64_t value_in(const std::string& point, const std::string& name) {
  for (const std::string& part : parts_of(point, ' '))
    if (part.starts_with(name + "=")) return std::stoll(part.substr(name.size() + 1));
  return 0;
}

TEST(Proof, JudgesForeignRules) {
  const std::string path = std::string(KILN_RULES_FOLDER) + "/foreign_rules.json";
  const auto rules = read_rules(contents(path), path);
  ASSERT_EQ(rules.size(), 40u);
  std::ostringstream out;
  EXPECT_FALSE(check_rules(rules, {2, {}, {}}, out));
  std::istringstream lines(out.str());
  std::string judged, line;
  while (std::getline(lines, line) && !line.starts_with("40 rules"))
    judged += line.substr(0, line.find(' ', line.find(' ') + 1)) + "\n";
  EXPECT_EQ(judged, contents(std::string(KILN_RULES_FOLDER) + "/foreign_rules.expected"));
  EXPECT_EQ(line, "40 rules: 20 proven, 20 refuted, 0 unknown");
}

TEST(Proof, CounterexamplesAreEvaluated) {
  const RuleVerdict v = check_claim({"r", "x // 2 * 2", "x == 7", "x"}, {});
  EXPECT_EQ(v.verdict, Verdict::refuted);
  EXPECT_EQ(v.detail, "x = 7: lhs is 6, rhs is 7");
}

TEST(Proof, BitsByMasksAndShifts) {
  EXPECT_EQ(check_claim({"r", "x & 7", "", "x % 8"}, {}).verdict, Verdict::proven);
  EXPECT_EQ(check_claim({"r", "(x >> 3) << 3", "", "x - x % 8"}, {}).verdict, Verdict::proven);
  EXPECT_EQ(check_claim({"r", "x & y", "", "y & x"}, {}).verdict, Verdict::proven);
  EXPECT_EQ(check_claim({"r", "x + y", "", "(x ^ y) + 2 * (x & y)"}, {}).verdict, Verdict::proven);
  EXPECT_EQ(check_claim({"r", "(x & -(1 << k)) >> k", "0 <= k and k < 40", "x >> k"}, {}).verdict, Verdict::proven);
  EXPECT_EQ(check_claim({"r", "x << k", "k < 3", "x * (1 << k)"}, {}).verdict, Verdict::refuted);  // k < 0: no value
  const RuleVerdict v = check_claim({"r", "(x & y) * x", "", "x * (y & x)"}, {});
  EXPECT_EQ(v.verdict, Verdict::unknown);
  EXPECT_EQ(v.detail, "an operation that cannot be put to the solver");
}

TEST(Proof, ByCasesAndSteps) {
  EXPECT_EQ(check_claim({"r", "(a * m + b) % n", "m == n", "b % n"}, {}).verdict, Verdict::proven);
  RuleText r = {"r", "(p + s) % c", "p % c == 0", "s % c", {}, {"(p + s) // c == p // c + s // c"}};
  EXPECT_EQ(check_rule(r, {}).verdict, Verdict::proven);
  r.steps = {"p < s"};
  EXPECT_EQ(check_rule(r, {}).verdict, Verdict::unknown);  // a wrong step proves nothing
}

TEST(Proof, VerdictsAreCached) {
  const std::string folder = (std::filesystem::temp_directory_path() / "kiln-proof-cache-test").string();
  std::filesystem::remove_all(folder);
  const RuleText rules[] = {{"right", "x + 0", "", "x"}, {"wrong", "x // 2", "", "x"}};
  std::ostringstream first, second;
  check_rules(rules, {1, {}, folder}, first);
  std::size_t files = 0;
  for (const auto& f : std::filesystem::directory_iterator(folder)) files += f.path().extension() == ".smt2" ? 1 : 0;
  EXPECT_EQ(files, 2u);
  check_rules(rules, {1, {}, folder}, second);
  EXPECT_EQ(first.str(), second.str());
  std::filesystem::remove_all(folder);
}

TEST(Proof, VariablesOfFiles) {
  const auto rules = read_rules(R"({"rules": [
    {"name": "a", "lhs": "x % 8", "rhs": "x", "vars": {"x": [0, 7]}}, {"name": "b", "lhs": "x % 8", "rhs": "x", "vars": {"x": [0, 8]}},
    {"name": "c", "lhs": "p == q", "rhs": "q == p", "vars": {"p": "bool", "q": "bool"}}]})",
                                "rules.json");
  EXPECT_EQ(check_rule(rules[0], {}).verdict, Verdict::proven);
  EXPECT_EQ(check_rule(rules[1], {}).verdict, Verdict::refuted);
  EXPECT_EQ(check_rule(rules[2], {}).verdict, Verdict::proven);
}

TEST(Measure, Weighs) {
  EXPECT_EQ(not_smaller({"r", "(a // b) // c", "c > 0", "a // (b * c)"}, {}), "");
  EXPECT_EQ(not_smaller({"r", "x % n + (x // n) * n", "n != 0", "x"}, {}), "");
  EXPECT_NE(not_smaller({"r", "x + y", "", "y + x"}, {}), "");
  EXPECT_NE(not_smaller({"r", "x * 2", "", "x + x"}, {}), "");
  EXPECT_NE(not_smaller({"r", "(x + y) % n", "", "(x % n + y % n) % n"}, {}), "");
  const std::vector<std::string> constants = {"k"};
  EXPECT_NE(not_smaller({"r", "x", "x == k", "k"}, {}), "");
  EXPECT_EQ(not_smaller({"r", "x", "x == k", "k"}, constants), "");
}

TEST(Mutation, JudgesGuards) {
  const RuleText rule = {"r", "x % n", "0 <= x and x < n", "x"};
  EXPECT_EQ(mutated_guards(rule).size(), 10u);
  EXPECT_EQ(judge_mutant(rule, "x < n", {}).fate, Fate::refuted);
  EXPECT_EQ(judge_mutant(rule, "x > -1 and x < n", {}).fate, Fate::equivalent);
  EXPECT_EQ(judge_mutant(rule, "0 < x and x < n", {}).fate, Fate::survived);  // stricter, and no point says that 0 must fire
}

TEST(Mutation, PointsOfOwnRules) {
  const auto rules = own_rules();
  for (const RuleText& r : rules) EXPECT_EQ(check_points(r), "") << r.name;
  for (const RuleNotes& n : all_notes())
    EXPECT_TRUE(std::ranges::any_of(rules, [&](const RuleText& r) { return r.name == n.rule; })) << n.rule;
}

// The engine also proves the guard at the points where the rule must fire, and not at the points where it must rest.
TEST(Mutation, EngineAgreesWithPoints) {
  for (const Rule& rule : symbolic::all_rules()) {
    const symbolic::CompiledRule compiled = symbolic::compile(rule);
    const RuleNotes notes = notes_of(rule.name);
    for (const auto& [points, fires] : {std::pair(notes.fires, true), {notes.rests, false}})
      for (const std::string& point : parts_of(points)) {
        Graph g;
        const Facts facts;
        Bounds bounds(g, facts);
        RewriteContext c(g, bounds);
        Match m;
        for (std::size_t i = 0; i < compiled.variables.size(); ++i)
          m.ids[i] = compiled.variables[i].condition ? g.constant(DType::boolean, 0)
                                                     : g.index(value_in(point, compiled.variables[i].name));
        const bool proven =
            std::ranges::all_of(compiled.guard, [&](const auto& conjunct) { return prove(c, conjunct, m, g.index(0)); });
        EXPECT_EQ(proven, fires) << rule.name << " at " << point;
      }
  }
}

TEST(Proof, RefusesMalformedFiles) {
  for (const char* bad : {"", "[]", R"({"rules": 3})", R"({"rules": [3]})", R"({"rules": [{"name": "a", "lhs": "x"}]})",
                          R"({"rules": [{"name": "a", "lhs": "x", "rhs": "x", "gaurd": ""}]})",
                          R"({"rules": [{"name": "a", "lhs": 1, "rhs": "x"}]})",
                          R"({"rules": [{"name": "a", "lhs": "x", "rhs": "x"}, {"name": "a", "lhs": "x", "rhs": "x"}]})",
                          R"({"rules": [{"name": "a", "lhs": "x", "rhs": "x", "steps": [3]}]})",
                          R"({"rules": [{"name": "a", "lhs": "x", "rhs": "x", "vars": {"x": "real"}}]})",
                          R"({"rules": [{"name": "a", "lhs": "x", "rhs": "x", "vars": {"x": [0, 1.5]}}]})"})
    EXPECT_THROW(read_rules(bad, "rules.json"), Diagnostic) << bad;
  EXPECT_THROW(check_claim({"r", "x +", "", "x"}, {}), Diagnostic);
  EXPECT_THROW(check_claim({"r", "x < 3", "", "x"}, {}), Diagnostic);
  EXPECT_THROW(check_claim({"r", "x", "x", "x"}, {}), Diagnostic);
}

}  // namespace
