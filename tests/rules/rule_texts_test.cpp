// Every rule's texts at small values: if the guard holds, lhs and rhs are equal. (The proof for all integers is `kiln-opt rules
// check`. This test needs no prover and finds a wrong guard at once.)
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "compiler/symbolic/rules.h"
#include "compiler/symbolic/template.h"

namespace kiln::test {
namespace {

using namespace compiler;
using namespace compiler::symbolic;
using Values = std::array<std::int64_t, Match::max_variables>;

std::int64_t modulo(std::int64_t a, std::int64_t b) { return b == 0 ? 0 : ((a % b) + b) % b; }
std::int64_t quotient(std::int64_t a, std::int64_t b) { return b == 0 ? 0 : (a - modulo(a, b)) / b; }

std::int64_t result(const TemplateNode& n, std::int64_t a, std::int64_t b, std::int64_t c) {
  switch (n.op) {
    case Op::ADD: return a + b;
    case Op::SUB: return a - b;
    case Op::MUL: return a * b;
    case Op::NEG: return -a;
    case Op::ABS: return a < 0 ? -a : a;
    case Op::FLOORDIV: return quotient(a, b);
    case Op::FLOORMOD: return modulo(a, b);
    case Op::CDIV: return b == 0 ? 0 : a / b;
    case Op::CMOD: return b == 0 ? 0 : a % b;
    case Op::MIN: return a < b ? a : b;
    case Op::MAX: return a < b ? b : a;
    case Op::WHERE: return a != 0 ? b : c;
    case Op::LT: return a < b;
    case Op::LE: return a <= b;
    case Op::EQ: return a == b;
    case Op::NE: return a != b;
    case Op::AND: return a & b;
    case Op::OR: return a | b;
    case Op::XOR: return a ^ b;
    case Op::NOT: return a == 0;
    case Op::SHL: return b < 0 || b > 40 ? 0 : a * (std::int64_t{1} << b);
    case Op::SHR: return b < 0 || b > 40 ? 0 : a >> b;
    default: ADD_FAILURE() << "no meaning"; return 0;
  }
}

std::int64_t evaluate(const Template& t, const Values& v) {
  std::array<std::int64_t, 64> at;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const TemplateNode& n = t[i];
    at[i] = n.op == Op::SYM     ? v[static_cast<std::size_t>(n.value)]
            : n.op == Op::CONST ? n.value
                                : result(n, at[n.src[0]], n.count > 1 ? at[n.src[1]] : 0, n.count > 2 ? at[n.src[2]] : 0);
  }
  return at[t.size() - 1];
}

TEST(RuleTexts, HoldAtSmallValues) {
  for (const Rule& rule : all_rules()) {
    const CompiledRule r = compile(rule);
    std::mt19937_64 random(7);
    int held = 0;
    for (int i = 0; i < 300000; ++i) {
      Values v{};
      for (std::size_t k = 0; k < r.variables.size(); ++k) {
        const std::int64_t small = static_cast<std::int64_t>(random() % 17) - 8;
        v[k] = r.variables[k].condition ? small & 1 : i % 4 == 0 ? small * 5 : i % 4 == 1 ? std::abs(small) / 2 : small;
      }
      bool holds = true;
      for (const Template& part : r.guard) holds = holds && evaluate(part, v) != 0;
      if (!holds) continue;
      ++held;
      if (evaluate(r.lhs, v) == evaluate(r.rhs, v)) continue;
      std::string values;
      for (std::size_t k = 0; k < r.variables.size(); ++k) values += " " + r.variables[k].name + "=" + std::to_string(v[k]);
      ADD_FAILURE() << rule.name << ":" << values << ": " << evaluate(r.lhs, v) << " became " << evaluate(r.rhs, v);
      break;
    }
    EXPECT_GE(held, 100) << rule.name << ": its guard hardly ever holds";
  }
}

TEST(RuleTexts, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const Rule& rule : all_rules()) EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
}

// Matching lhs must bind every variable that `find` does not bind.
TEST(RuleTexts, StructuralRulesBindEverything) {
  for (const Rule& rule : all_rules()) {
    if (rule.find != nullptr) continue;
    EXPECT_EQ(variables_of({"", rule.lhs, "", "0"}).size(), variables_of(rule).size()) << rule.name;
  }
}

}  // namespace
}  // namespace kiln::test
