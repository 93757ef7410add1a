#include "compiler/symbolic/guard.h"

#include "compiler/ir/nth.h"

#include <algorithm>

namespace kiln::compiler::symbolic {
namespace {

constexpr std::size_t max_nodes = 64;

class Proof {
 public:
  Proof(RewriteContext& c, const Template& t, const Match& m, Id n) : c_(c), t_(t), m_(m), n_(n) {}

  bool run() {
    for (std::size_t i = 0; i < t_.size(); ++i) known_[i] = known(t_[i]);
    return holds(t_.size() - 1);
  }

 private:
  Known known(const TemplateNode& n) {
    if (n.op == Op::SYM) return c_.bounds.known(nth(m_.ids, n.value));
    if (n.op == Op::CONST) return n.condition ? known_condition({n.value, n.value}) : known_constant(n.value);
    std::array<Known, 3> src;
    for (std::size_t i = 0; i < n.count; ++i) src[i] = known_[n.src[i]];
    return known_result(n.op, n.condition, std::span(src.data(), n.count));
  }

  // The recursion is as deep as the guard's text.
  bool holds(std::size_t i) {
    const TemplateNode& n = t_[i];
    if (known_[i].interval == Interval{1, 1}) return true;
    if (known_[i].interval == Interval{0, 0}) return false;
    if (n.op == Op::AND) return holds(n.src[0]) && holds(n.src[1]);
    if (n.op == Op::OR) return holds(n.src[0]) || holds(n.src[1]) || holds_in_branch(n.src[0], n.src[1]);
    if (!is_comparison(n.op) || t_[n.src[0]].condition || fails_somewhere(i)) return false;
    const auto a = sum(n.src[0]), b = sum(n.src[1]);
    const auto d = a && b ? plus(c_.g, *b, *a, -1) : std::nullopt;
    if (!d) return false;
    if (const auto v = constant_of(*d))
      return n.op == Op::EQ ? *v == 0 : n.op == Op::NE ? *v != 0 : n.op == Op::LE ? *v >= 0 : *v > 0;
    switch (n.op) {
      case Op::LT: return c_.prover(n_).gt0(*d);
      case Op::LE: return c_.prover(n_).ge0(*d);
      case Op::NE: {
        if (c_.prover(n_).gt0(*d)) return true;
        const auto negated = scaled(*d, -1);
        return negated && c_.prover(n_).gt0(*negated);
      }
      default: return false;
    }
  }

  // Whether the statement is false at a point where the facts hold and the loops around the node have iterations.
  bool fails_somewhere(std::size_t i) {
    const unsigned points = c_.samples().around(n_);
    return points != 0 && Samples::some_at(points, values(i), [](std::int64_t v) { return v == 0; });
  }

  // The recursion is as deep as the guard's text.
  Samples::Values values(std::size_t i) {
    const TemplateNode& n = t_[i];
    if (n.op == Op::SYM) return c_.samples().at(nth(m_.ids, n.value));
    if (n.op == Op::CONST) return Samples::constant(n.value);
    const Samples::Values a = values(n.src[0]);
    if (n.count == 1) return Samples::computed(n.op, a, a, a);
    const Samples::Values b = values(n.src[1]);
    return n.count == 2 ? Samples::computed(n.op, a, b, b) : Samples::computed(n.op, a, b, values(n.src[2]));
  }

  // Proves `not p or a == b` by simplifying a under p, and `p or a == b` by simplifying a under not p. For conditions, a == b
  // is written not (a ^ b).
  bool holds_in_branch(std::size_t unless, std::size_t equality) {
    const bool conditions = t_[equality].op == Op::NOT && t_[t_[equality].src[0]].op == Op::XOR;
    const TemplateNode &e = conditions ? t_[t_[equality].src[0]] : t_[equality], &u = t_[unless];
    const bool negated = u.op == Op::NOT;
    const TemplateNode& p = negated ? t_[u.src[0]] : u;
    if ((e.op != Op::EQ && !conditions) || p.op != Op::SYM || t_[e.src[0]].op != Op::SYM || t_[e.src[1]].op != Op::SYM)
      return false;
    const auto bound = [&](const TemplateNode& v) { return nth(m_.ids, v.value); };
    return c_.branch_under(bound(p), negated, bound(t_[e.src[0]])) == bound(t_[e.src[1]]);
  }

  std::optional<Poly> sum(std::size_t i) {
    const TemplateNode& n = t_[i];
    switch (n.op) {
      case Op::SYM: return of_node(nth(m_.ids, n.value));
      case Op::CONST: return constant_sum(n.value);
      case Op::NEG: {
        auto a = sum(n.src[0]);
        return a ? scaled(*std::move(a), -1) : std::nullopt;
      }
      case Op::ADD:
      case Op::SUB:
      case Op::MUL: {
        const auto a = sum(n.src[0]), b = sum(n.src[1]);
        if (!a || !b) return std::nullopt;
        return n.op == Op::MUL ? times(c_.g, *a, *b) : plus(c_.g, *a, *b, n.op == Op::SUB ? -1 : 1);
      }
      default: {
        const Template part(t_.begin(), t_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        return of_node(instantiate(c_.g, part, m_));
      }
    }
  }
  std::optional<Poly> of_node(Id id) {
    const Poly* s = c_.sum(id);
    return s != nullptr ? std::optional(*s) : std::nullopt;
  }

  RewriteContext& c_;
  const Template& t_;
  const Match& m_;
  const Id n_;
  std::array<Known, max_nodes> known_;
};

}  // namespace

bool prove(RewriteContext& c, const Template& conjunct, const Match& m, Id n) { return Proof(c, conjunct, m, n).run(); }

}  // namespace kiln::compiler::symbolic
