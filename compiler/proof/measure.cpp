#include "compiler/proof/measure.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace kiln::compiler {
namespace {

// A polynomial in the weights of variables beyond their least weight. By monomial (ids, ascending): its coefficient.
using Factors = std::vector<Id>;
using Weight = std::map<Factors, std::int64_t>;

Weight constant(std::int64_t v) { return {{{}, v}}; }

Weight plus(Weight a, const Weight& b, std::int64_t times = 1) {
  for (const auto& [m, k] : b)
    if (k != 0 && (a[m] += times * k) == 0) a.erase(m);
  return a;
}

Weight product(const Weight& a, const Weight& b) {
  Weight out;
  for (const auto& [m, k] : a)
    for (const auto& [n, l] : b) {
      Factors both;
      std::ranges::merge(m, n, std::back_inserter(both));
      out = plus(std::move(out), {{both, k * l}});
    }
  return out;
}

constexpr std::int64_t of_constant = 2;

class Weights {
 public:
  Weights(const ParsedRule& r, std::span<const std::string> constants) : g_(r.g), least_(g_.op(r.lhs) == Op::SYM ? 3 : 2) {
    // A condition variable is represented by a comparison of its symbol with 0.
    if (g_.op(r.lhs) == Op::NE)
      if (const Id s = g_.src(r.lhs, 0); g_.op(s) == Op::SYM && std::ranges::count(r.conditions, g_.name(s)) > 0) least_ = 3;
    conditions_ = r.conditions;
    for (Id id : g_.reachable(std::array{r.lhs, r.rhs})) {
      const auto src = g_.src(id);
      const bool folded = std::ranges::all_of(src, [&](Id s) { return folded_[s]; });
      const bool variable = g_.op(id) == Op::SYM && std::ranges::count(constants, g_.name(id)) == 0;
      folded_[id] = folded && !variable && (src.empty() || g_.dtype(id) == DType::index);
      weights_[id] = folded_[id] ? constant(of_constant) : weight(id);
      divisions_[id] = folded_[id] ? Weight{} : divisions(id);
    }
  }
  const Weight& operator[](Id id) const { return weights_.at(id); }
  const Weight& divisions_of(Id id) const { return divisions_.at(id); }

 private:
  const Weight& at(Id id, std::size_t i) const { return weights_.at(g_.src(id, i)); }
  Weight both(Id id, std::int64_t more) const { return plus(plus(at(id, 0), at(id, 1)), constant(more)); }
  Weight divided(Id id, std::int64_t times) const {
    Weight w = product(at(id, 0), at(id, 1));
    if (g_.op(id) == Op::FLOORMOD || g_.op(id) == Op::CMOD) w = product(w, at(id, 1));
    return product(plus(std::move(w), constant(1)), constant(times));
  }

  // The number of divisions: the divisions of the term, plus the divisions inside each variable, once for each occurrence.
  Weight divisions(Id id) const {
    if (g_.op(id) == Op::SYM) return {{{id}, 1}};
    Weight sum;
    for (Id s : g_.src(id)) sum = plus(std::move(sum), divisions_.at(s));
    switch (g_.op(id)) {
      case Op::FLOORDIV:
      case Op::FLOORMOD:
      case Op::CDIV:
      case Op::CMOD:
      case Op::SHR: return plus(std::move(sum), constant(1));
      case Op::AND:
      case Op::OR:
      case Op::XOR: return plus(std::move(sum), constant(g_.dtype(id) == DType::boolean ? 0 : 1));
      default: return sum;
    }
  }

  Weight weight(Id id) const {
    switch (g_.op(id)) {
      case Op::SYM: return {{{}, least_}, {{id}, 1}};
      case Op::ADD:
      case Op::MIN:
      case Op::MAX: return both(id, 2);
      case Op::SUB: return plus(both(id, 2), at(id, 1));
      case Op::NEG: return product(at(id, 0), constant(2));
      case Op::ABS: return plus(product(at(id, 0), constant(2)), constant(1));
      case Op::MUL: return product(at(id, 0), at(id, 1));
      case Op::FLOORDIV:
      case Op::FLOORMOD: return divided(id, 1);
      case Op::CDIV:
      case Op::CMOD: return divided(id, 32);
      case Op::SHL:
      case Op::SHR: return plus(product(at(id, 0), at(id, 1)), constant(8));
      case Op::LT: return both(id, 1);
      case Op::NE: return is_variable(id) ? at(id, 0) : both(id, 6);
      case Op::LE:
      case Op::EQ: return both(id, 6);
      case Op::NOT: return plus(at(id, 0), constant(6));
      case Op::AND:
      case Op::OR:
        if (g_.dtype(id) == DType::boolean) return both(id, 1);
        [[fallthrough]];
      case Op::XOR: return product(both(id, 32), constant(5));
      case Op::WHERE: return plus(both(id, 3), at(id, 2));
      default: return constant(of_constant);
    }
  }
  bool is_variable(Id id) const {
    const auto [s, zero] = g_.operands<2>(id);
    return g_.op(s) == Op::SYM && g_.is_index_const(zero, 0) && std::ranges::count(conditions_, g_.name(s)) > 0;
  }

  const Graph& g_;
  std::int64_t least_;
  std::vector<std::string> conditions_;
  std::map<Id, bool> folded_;
  std::map<Id, Weight> weights_, divisions_;
};

std::string text(const Graph& g, const Weight& w) {
  std::string out;
  for (const auto& [m, k] : w) {
    out += (out.empty() ? "" : " + ") + std::to_string(k);
    for (Id id : m) out += "*" + std::string(g.name(id));
  }
  return out.empty() ? "0" : out;
}

}  // namespace

std::string not_smaller(const RuleText& rule, std::span<const std::string> constants) {
  const ParsedRule r = parse_rule(rule);
  const Weights weights(r, constants);
  const auto none_negative = [](const Weight& w) { return std::ranges::all_of(w, [](const auto& m) { return m.second > 0; }); };
  const Weight divisions = plus(weights.divisions_of(r.lhs), weights.divisions_of(r.rhs), -1);
  if (!none_negative(divisions)) return "divisions: " + text(r.g, divisions);
  if (divisions.contains({})) return {};
  const Weight weight = plus(weights[r.lhs], weights[r.rhs], -1);
  return none_negative(weight) && weight.contains({}) ? "" : "weight: " + text(r.g, weight);
}

}  // namespace kiln::compiler
