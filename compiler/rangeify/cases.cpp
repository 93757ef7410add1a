#include "compiler/rangeify/cases.h"

#include <cmath>
#include <string>
#include <utility>

#include "compiler/ir/literal.h"
#include "compiler/ir/reduce_identity.h"

namespace kiln::compiler {
namespace {

constexpr std::size_t most_choices = 8, most_steps = 64;

class CaseSplitter {
 public:
  CaseSplitter(Graph& g, OneRange& range, ReduceKind kind, DType d) : g_(g), range_(range), kind_(kind), type_(d) {}

  std::optional<std::vector<Case>> run(Id value) {
    todo_.push_back({{}, {}, value});
    std::vector<Case> out;
    for (std::size_t steps = 0; !todo_.empty(); ++steps) {
      if (steps == most_steps || out.size() == most_choices) return std::nullopt;
      const Case c = std::move(todo_.back());
      todo_.pop_back();
      if (is_identity(c.value)) continue;
      const bool whole = !range_.depends(c.value) && !is_float_sum();  // in a float sum only constants can be counted
      if (whole || !(opened(c) || (is_integer_sum() && added(c)))) out.push_back(c);
    }
    return out;
  }

 private:
  bool is_integer_sum() const { return kind_ == ReduceKind::sum && is_int(type_); }
  bool is_float_sum() const { return kind_ == ReduceKind::sum && is_float(type_); }
  // In a sum of floats -0 is an identity as well: the sum starts at +0, and +0 + -0 is +0.
  bool is_identity(Id v) const {
    if (!g_.is_const(v)) return false;
    const auto bits = static_cast<std::uint64_t>(g_.value(v));
    return bits == reduce_identity(kind_, type_) || (is_float_sum() && bits == *literal_bits(type_, "-0"));
  }
  Id number(std::string_view text) { return g_.constant(type_, *literal_bits(type_, text)); }

  void push(Case c, Id condition, bool negated, Id value) {
    c.when.push_back({condition, negated});
    c.value = value;
    todo_.push_back(std::move(c));
  }
  bool push_value(Case c, Id value) {
    c.value = value;
    todo_.push_back(std::move(c));
    return true;
  }
  bool push_factor(Case c, Id factor, Id value) {
    c.factors.push_back(factor);
    return push_value(std::move(c), value);
  }

  bool is_cast_bool(Id v) const { return g_.op(v) == Op::CAST && g_.dtype(g_.operand(v)) == DType::boolean; }
  bool is_finite_const(Id v) const {
    return g_.is_const(v) && std::isfinite(float_value(type_, static_cast<std::uint64_t>(g_.value(v))));
  }

  // Splits the value by a condition in it. False: it has none.
  bool opened(const Case& c) {
    const Id v = c.value;
    if (type_ == DType::boolean) return false;
    if (g_.op(v) == Op::WHERE) {
      const auto [condition, yes, no] = g_.operands<3>(v);
      push(c, condition, true, no);
      push(c, condition, false, yes);
      return true;
    }
    if (is_cast_bool(v)) {
      push(c, g_.operand(v), true, number("0"));
      push(c, g_.operand(v), false, number("1"));
      return true;
    }
    if (g_.op(v) == Op::CAST && g_.op(g_.operand(v)) == Op::WHERE) return opened_cast(c);
    if (g_.op(v) == Op::ADD && is_float_sum()) return without_zero(c);
    return g_.op(v) == Op::MUL && kind_ == ReduceKind::sum && masked(c);
  }

  // x + 0 of floats, which a collapsed inner reduction leaves.
  bool without_zero(const Case& c) {
    const auto [a, b] = g_.operands<2>(c.value);
    return is_identity(a) ? push_value(c, b) : is_identity(b) && push_value(c, a);
  }

  bool opened_cast(const Case& c) {
    const auto [condition, yes, no] = g_.operands<3>(g_.operand(c.value));
    push(c, condition, true, converted(no));
    push(c, condition, false, converted(yes));
    return true;
  }
  Id converted(Id x) {
    if (g_.is_const(x) && is_int(g_.dtype(x)) && g_.dtype(x) != DType::u64) {
      const auto bits = literal_bits(type_, std::to_string(g_.value(x)));
      if (bits) return g_.constant(type_, *bits);
    }
    return g_.make(Op::CAST, type_, {x});
  }

  // x * cast(bool) is 0 if the bool is false. In floats x must be finite.
  bool masked(const Case& c) {
    const auto [a, b] = g_.operands<2>(c.value);
    for (const auto& [mask, x] : {std::pair(a, b), std::pair(b, a)}) {
      if (!is_cast_bool(mask) || (is_float(type_) && !is_finite_const(x))) continue;
      push(c, g_.operand(mask), false, x);
      return true;
    }
    return false;
  }

  // Integers wrap modulo 2^n, so terms may be added in any order, and factors independent of the range may be taken out.
  bool added(const Case& c) {
    const Id v = c.value;
    const Op op = g_.op(v);
    if (op == Op::NEG) return push_factor(c, number_minus_one(), g_.operand(v));
    if (op != Op::ADD && op != Op::SUB && op != Op::MUL) return false;
    const auto [a, b] = g_.operands<2>(v);
    if (op == Op::ADD) return push_value(c, b) && push_value(c, a);
    if (op == Op::SUB) return push_factor(c, number_minus_one(), b) && push_value(c, a);
    return !range_.depends(a) ? push_factor(c, a, b) : !range_.depends(b) && push_factor(c, b, a);
  }
  Id number_minus_one() {
    const int unused = 64 - bits(type_);
    return g_.constant(type_, is_signed_int(type_) ? ~std::uint64_t{0} : ~std::uint64_t{0} >> unused);
  }

  Graph& g_;
  OneRange& range_;
  ReduceKind kind_;
  DType type_;
  std::vector<Case> todo_;
};

}  // namespace

std::optional<std::vector<Case>> cases_of(Graph& g, OneRange& range, ReduceKind kind, Id value) {
  return CaseSplitter(g, range, kind, g.dtype(value)).run(value);
}

}  // namespace kiln::compiler
