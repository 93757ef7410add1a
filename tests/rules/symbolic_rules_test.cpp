// An example for each rule: the expected node, equal values at every small point, and no such result without the rule.
#include <gtest/gtest.h>

#include <ctime>
#include <functional>
#include <random>
#include <set>

#include "compiler/ir/diagnostic.h"
#include "compiler/symbolic/prove.h"
#include "compiler/symbolic/rules.h"
#include "compiler/symbolic/simplify.h"
#include "tests/rules/symbolic_eval.h"
#include "tests/rules/symbolic_expressions.h"

namespace kiln::test {
namespace {

struct Case {
  const char* rule;
  E (*before)(const Leaves&);
  E (*after)(const Leaves&);
};
#define CASE(rule, before, after) {rule, [](const Leaves& l) { return before; }, [](const Leaves& l) { return after; }}

E unary(Op op, E a) { return {a.g, a.g->make(op, DType::index, {a.id})}; }
E not_always(const Leaves& l) { return no(where(l.x < l.a, l.a == l.b, l.b == l.j)); }  // a bool that no rule opens

const Case cases[] = {
    CASE("known-value", min(l.b % 1, l.a), l(0)),
    CASE("known-true", l.a < 8, l.yes),
    CASE("known-false", l.a == 8, no(l.yes)),
    CASE("min-same", min(l.x, l.x), l.x),
    CASE("max-same", max(l.x, l.x), l.x),
    CASE("min-ordered", min(l.i, l.m + 5), l.i),
    CASE("max-ordered", max(l.i, l.m), l.m),
    CASE("min-order", min(l(3), l.x) + min(l.x, l(3)), min(l.x, l(3)) * 2),
    CASE("max-order", max(l(3), l.x) + max(l.x, l(3)), max(l.x, l(3)) * 2),
    CASE("min-constant-last", min(min(l.x, l(5)), l.a), min(min(l.x, l.a), l(5))),
    CASE("max-constant-last", max(max(l.x, l(5)), l.a), max(max(l.x, l.a), l(5))),
    CASE("min-inner", min(min(l.x, l(9)), l(5)), min(l.x, l(5))),
    CASE("min-outer", min(min(l.x, l(5)), l(9)), min(l.x, l(5))),
    CASE("max-inner", max(max(l.x, l(5)), l(9)), max(l.x, l(9))),
    CASE("max-outer", max(max(l.x, l(9)), l(5)), max(l.x, l(9))),
    CASE("min-of-max", min(max(l.x, l(9)), l(5)), l(5)),
    CASE("max-of-min", max(min(l.x, l(5)), l(9)), l(9)),
    CASE("abs-positive", unary(Op::ABS, l.x), l.x),
    CASE("abs-negative", unary(Op::ABS, l.x - 20), l(20) - l.x),
    CASE("cdiv-floor", binary(Op::CDIV, l.x, l(3)), l.x / 3),
    CASE("cdiv-both-negative", binary(Op::CDIV, l.x - 20, l(-3)), (l(20) - l.x) / 3),
    CASE("cdiv-negative-dividend", binary(Op::CDIV, l.x - 20, l(3)), (l(20) - l.x) / 3 * -1),
    CASE("cdiv-negative-divisor", binary(Op::CDIV, l.x, l(-3)), l.x / 3 * -1),
    CASE("cmod-floor", binary(Op::CMOD, l.x, l(3)), l.x % 3),
    CASE("cmod-both-negative", binary(Op::CMOD, l.x - 20, l(-3)), (l(20) - l.x) % 3 * -1),
    CASE("cmod-negative-dividend", binary(Op::CMOD, l.x - 20, l(3)), (l(20) - l.x) % 3 * -1),
    CASE("cmod-negative-divisor", binary(Op::CMOD, l.x, l(-3)), l.x % 3),
    CASE("where-true", where(l.j < l.n, l.x, l.a), l.x),
    CASE("where-false", where(l.n < l.j, l.x, l.a), l.a),
    CASE("where-same", where(l.x < 7, l.a, l.a), l.a),
    CASE("where-not", where(no(not_always(l)), l.a, l.b), where(not_always(l), l.b, l.a)),
    CASE("where-bool", where(l.x < 7, l.yes, no(l.yes)), l.x < 7),
    CASE("where-bool-not", where(l.x < 7, no(l.yes), l.yes), l(6) < l.x),
    CASE("where-and", where(l.x < 7, where(l.a < 3, l.b, l.invalid), l.invalid), where(both(l.a < 3, l.x < 7), l.b, l.invalid)),
    CASE("where-or", where(l.x < 7, l.b, where(l.a < 3, l.b, l.j)), where(any(l.a < 3, l.x < 7), l.b, l.j)),
    CASE("where-again", where(l.x < 7, where(l.x < 7, l.a, l.b), l.j), where(l.x < 7, l.a, l.j)),
    CASE("where-again-else", where(l.x < 7, l.a, where(l.x < 7, l.b, l.j)), where(l.x < 7, l.a, l.j)),
    CASE("where-then", where(l.j < l.a, l.j / l.a, l.x), where(l.j < l.a, l(0), l.x)),
    CASE("where-else", where(l.x < 12, l.a, min(l.x, l(9))), where(l.x < 12, l.a, l(9))),
    CASE("", where(both(l.x < 8, l(3) < l.x), l.x / 4, l.b), where(both(l.x < 8, l(3) < l.x), l(1), l.b)),
    CASE("", where(l.x < 8, where(l.x < 9, l.a, l.b), l.j), where(l.x < 8, l.a, l.j)),
    CASE("where-min", where(l.x <= l.a, l.x + 1, l.a + 1), min(l.x + 1, l.a + 1)),
    CASE("where-max", where(l.x < l.a + 1, l.a, l.x), max(l.x, l.a)),
    CASE("min-choices", min(where(l.x < 7, l.a, l.b), where(l.x < 7, l.i, l.j)), where(l.x < 7, min(l.a, l.i), min(l.b, l.j))),
    CASE("max-choices", max(where(l.x < 7, l.a, l(0)), where(l.x < 7, l.b, l(1))), where(l.x < 7, max(l.a, l.b), l(1))),
    CASE("min-inner-choices", min(min(l.n, where(l.x < 7, l.a, l.b)), where(l.x < 7, l.i, l.j)),
         min(l.n, where(l.x < 7, min(l.a, l.i), min(l.b, l.j)))),
    CASE("max-inner-choices", max(max(l.n, where(l.x < 7, l.a, l.b)), where(l.x < 7, l.i, l.j)),
         max(l.n, where(l.x < 7, max(l.a, l.i), max(l.b, l.j)))),
    CASE("div-by-0", l.x / 0, l(0)),
    CASE("mod-by-0", l.x % 0, l(0)),
    CASE("div-by-1", l.x / 1, l.x),
    CASE("mod-by-1", l.x % 1, l(0)),
    CASE("div-of-0", l(0) / l.n, l(0)),
    CASE("mod-of-0", l(0) % l.n, l(0)),
    CASE("div-by-negative", l.x / -3, (l.x * -1) / 3),
    CASE("mod-by-negative", l.x % -3, (l.x * -1) % 3 * -1),
    CASE("mod-twice", l.x % l.n % l.n, l.x % l.n),
    CASE("mod-of-mod", (l.x % 12 * 2 + l.a) % 8, (l.x * 2 + l.a) % 8),
    CASE("div-in-range", (l.b * 2 + l.x * 7) / 7, l.x),
    CASE("mod-in-range", (l.b + l.x * 8) % 7, (l.b + l.x) % 7),
    CASE("div-multiples", (l.x * 13 + l.a) / 4, l.x * 3 + (l.x + l.a) / 4),
    CASE("mod-multiples", (l.x * 13 + l.a + 9) % 4, (l.x + l.a + 1) % 4),
    CASE("div-known-multiples", (l.k + l.x) / 4, l.k / 4 + l.x / 4),
    CASE("mod-known-multiples", (l.k + l.x) % 4, l.x % 4),
    CASE("div-nest", (l.x * 4 + l.b) / 8, l.x / 2),
    CASE("mod-nest", (l.x * 4 + l.b) % 8, l.x % 2 * 4 + l.b),
    CASE("div-common-factor", l.x * 6 / (l.n * 4), l.x * 3 / (l.n * 2)),
    CASE("mod-common-factor", l.x * 6 % (l.n * 4), l.x * 3 % (l.n * 2) * 2),
    CASE("div-of-div", l.x / l.m / l.n, l.x / (l.m * l.n)),
    CASE("div-of-shifted-div", (l.x / 3 + 2) / 5, (l.x + 6) / 15),
    CASE("div-of-mod", l.x % 12 / 4, l.x / 4 % 3),
    CASE("div-small-constant", (l.k + l.n * 8 + 3) / 8, l.k / 8 + l.n),
    CASE("div-two-values", (l.x / 10 * 7 + 2) / 3, l.x / 10 * 3),
    CASE("mod-two-values", (l.x / 10 * 7 + 2) % 3, l(2) - l.x / 10 * 2),
    CASE("div-mod-recombine", l.a + l.x % 8 + l.x / 8 * 8, l.a + l.x),
    CASE("div-mod-recombine-nested", l.x / 2 % 4 + l.x / 8 * 4, l.x / 2),
    CASE("mod-mod-join", l.x / 2 % 4 * 2 + l.x % 2, l.x % 8),
    CASE("mod-from-div", l.x - l.x / 3 * 3, l.x % 3),
    CASE("div-from-mod", l.x - l.x % 3, l.x / 3 * 3),
    CASE("where-sum", where(l.x < 7, l.a, l.b) * 2 + where(l.x < 7, l.i, l.j), where(l.x < 7, l.a * 2 + l.i, l.b * 2 + l.j)),
    CASE("shl-product", binary(Op::SHL, l.x, l(3)), l.x * 8),
    CASE("shr-quotient", binary(Op::SHR, l.x - 9, l(2)), (l.x - 9) / 4),
    CASE("and-0", binary(Op::AND, l.n, l(0)), l(0)),
    CASE("and-ones", binary(Op::AND, l.n, l(-1)), l.n),
    CASE("and-same", binary(Op::AND, l.n, l.n), l.n),
    CASE("or-0", binary(Op::OR, l.n, l(0)), l.n),
    CASE("or-ones", binary(Op::OR, l.n, l(-1)), l(-1)),
    CASE("or-same", binary(Op::OR, l.n, l.n), l.n),
    CASE("xor-0", binary(Op::XOR, l.n, l(0)), l.n),
    CASE("xor-ones", binary(Op::XOR, l.n, l(-1)), l(-1) - l.n),
    CASE("xor-same", binary(Op::XOR, l.n, l.n), l(0)),
    CASE("xor-twice", binary(Op::XOR, binary(Op::XOR, l.n, l.m), l.n), l.m),
    CASE("and-low-mask", binary(Op::AND, l.n, l(7)), l.n % 8),
    CASE("div-of-mask", binary(Op::AND, l.n, l(-4)) / 4, l.n / 4),
    CASE("le-lt", l.x <= 6, l.x < 7),
    CASE("lt-true", l.i* l.n + l.j < l.m * l.n, l.yes),
    CASE("lt-false", l.n <= l.j, no(l.yes)),
    CASE("lt-of-max", max(l.x - 1, l(0)) < 3, l.x < 4),
    CASE("lt-of-min", min(l.x, l(9)) < 5, l.x < 5),
    CASE("gt-of-max", l(4) < max(l.x, l(2)), l(4) < l.x),
    CASE("gt-of-min", l(4) < min(l.x, l(9)), l(4) < l.x),
    CASE("lt-in-range", l.x * 4 + l.b < 40, l.x < 10),
    CASE("lt-division", l.x / 4 < 3, l.x < 12),
    CASE("gt-division", l(3) < l.x / 4, l(15) < l.x),
    CASE("lt-simplex", l.x * 3 + l.a < 1, l.x + l.a < 1),
    CASE("gt-simplex", l(0) < l.x * 3 + l.a, l(0) < l.x + l.a),
    CASE("lt-canonical", l.x + 5 < l.a + l.j, l.x - l.a + 5 < l.j),
    CASE("eq-true", l.x + l.a == l.a + l.x, l.yes),
    CASE("ne-false", l.x + l.a != l.a + l.x, no(l.yes)),
    CASE("eq-false", l.j == l.n, no(l.yes)),
    CASE("ne-true", l.j != l.n, l.yes),
    CASE("eq-indivisible", l.x * 4 == l.j * 2 + 1, no(l.yes)),
    CASE("ne-indivisible", l.x * 4 != l.j * 2 + 1, l.yes),
    CASE("eq-canonical", l.a * 2 + 4 == l.x * 2, l.x == l.a + 2),
    CASE("ne-canonical", l.a * 2 + 4 != l.x * 2, l.x != l.a + 2),
    CASE("not-true", no(l.yes), no(l.yes)),
    CASE("not-false", no(no(l.yes)), l.yes),
    CASE("not-not", no(no(not_always(l))), not_always(l)),
    CASE("not-lt", no(l.x < 3), l(2) < l.x),
    CASE("not-le", no(l.x <= 3), l(3) < l.x),
    CASE("not-eq", no(l.x == 3), l.x != 3),
    CASE("not-ne", no(l.x != 3), l.x == 3),
    CASE("and-complement", both(not_always(l), no(not_always(l))), no(l.yes)),
    CASE("or-complement", any(not_always(l), no(not_always(l))), l.yes),
    CASE("and-limits", both(l.x < 5, l.x < 3), l.x < 3),
    CASE("or-limits", any(l.x < 5, l.x < 3), l.x < 5),
    CASE("and-empty", both(l.x < 5, l(4) < l.x), no(l.yes)),
    CASE("or-all", any(l.x < 5, l(3) < l.x), l.yes),
    CASE("and-given", both((l.x + 11) % 14 < 11, l.x < 3), no(l.yes)),
    CASE("or-given", any(l.x < 12, min(l.x, l(9)) < l.n), any(l.x < 12, l(9) < l.n)),
    CASE("", both(l.x / 4 == 2, l.x < 9), both(l.x / 4 == 2, l.x < 9)),
    CASE("", (l.m * 3 - 1) / (l.m * 2), l(1)),
    CASE("", (l.n - l.j - 1) / l.n, l(0)),
    CASE("xor-false", boolean(Op::XOR, l.x < 5, no(l.yes)), l.x < 5),
    CASE("xor-true", boolean(Op::XOR, l.x < 5, l.yes), l(4) < l.x),
    CASE("xor-same-condition", boolean(Op::XOR, l.x < 5, l.x < 5), no(l.yes)),
    CASE("xor-not", boolean(Op::XOR, not_always(l), no(not_always(l))), l.yes),
    // More expressions from reshapes, pads and slices.
    CASE("", (l.i * l.n + l.j) / l.n, l.i),
    CASE("", (l.i * l.n + l.j) % l.n, l.j),
    CASE("", ((l.x * 4 + l.b) * 8 + l.a) / 8 % 4, l.b),
    CASE("", l.x / 2 % 4 + l.x / 8 * 4, l.x / 2),
    CASE("", (l.x - 50) % 3 + (l.x - 50) / 3 * 3, l.x - 50),
    CASE("", l.x*(l.i * 4 + 4) / (l.i + 1), l.x * 4),
    CASE("", ((l.i * 128 + 128) * 2) / (l.i * 128 + 128), l(2)),
    CASE("", l.j % l.n + l.j / l.n * l.n, l.j),
    CASE("", (l.x * 8 + l.a) % 7, (l.x + l.a) % 7),
    CASE("", (l.x * 4 + 1) / 8, l.x / 2),
    CASE("", (l.x + 1 + l.a) - (l.a - 2) - l.x, l(3)),
    CASE("", both(both(l.x < 9, l.a < 3), both(l.x < 9, l.a < 3)), both(l.x < 9, l.a < 3)),
    CASE("", both(l.j < l.n, l.x < 3), l.x < 3),
    CASE("", l.n - 1 - l.j < 0, no(l.yes)),
    CASE("", min(l.n - l.j, l.n), l.n - l.j),
    CASE("", where(both(l.yes, l.j < l.n), l.x * 2 - l.x, l.invalid), l.x),
    CASE("", l.x / 0 + l.x % 0, l(0)),
    // Flattened, split and flattened again.
    CASE("", (l.x * l.m + l.i) % 3 + (l.x * l.m + l.i) / 3 % l.m * 3 + (l.x * l.m + l.i) / (l.m * 3) * l.m * 3, l.x* l.m + l.i),
};

const std::map<std::string, std::vector<std::int64_t>> small_syms = {
    {"n", {0, 1, 2, 3, 7}}, {"m", {1, 2, 5}}, {"k", {0, 4, 20}}};
TEST(SymbolicRules, EachOnAnExample) {
  const Facts facts = small_facts();
  for (const Case& c : cases) {
    Graph g;
    const Leaves l = leaves(g);
    Simplifier checked(g, facts);
    checked.check_matches();
    const Id before = c.before(l).id, expected = simplify(g, c.after(l).id, facts), after = checked(before);
    EXPECT_EQ(after, expected) << c.rule << ": " << show(g, before) << "\n  became " << show(g, after) << "\n  not "
                               << show(g, expected);
    for_each_point(g, before, small_syms, [&](const Values& v) {
      Values all = v;
      ASSERT_EQ(evaluate(g, before, v), evaluate(g, after, all)) << c.rule << ": " << show(g, before);
    });
  }
}

// Without the rule its example gives another result, or another rule covers it: these pairs are listed.
TEST(SymbolicRules, EachHasAnExampleAndCanBeDisabled) {
  const Facts facts = small_facts();
  std::set<std::string_view> with_example;
  for (const Case& c : cases) {
    if (*c.rule == 0) continue;
    with_example.insert(c.rule);
    Graph g;
    const Leaves l = leaves(g);
    const Id before = c.before(l).id;
    Simplifier without(g, facts);
    without.disable(c.rule);
    const Id after = without(before);
    for_each_point(g, before, small_syms,
                   [&](const Values& v) { ASSERT_EQ(evaluate(g, before, v), evaluate(g, after, v)) << "without " << c.rule; });
  }
  for (std::string_view rule : simplify_rule_names()) EXPECT_TRUE(with_example.contains(rule)) << rule << " has no example";
}

TEST(SymbolicRules, UnknownNameIsAnError) {
  Graph g;
  const Facts facts;
  Simplifier s(g, facts);
  EXPECT_THROW(s.disable("no-such-rule"), Diagnostic);
}

}  // namespace
}  // namespace kiln::test
