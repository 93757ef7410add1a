#include "tests/fuzz/random_gradient.h"

#include <array>
#include <cstring>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/index_poly.h"
#include "tests/fuzz/random_program.h"

namespace kiln::compiler::testing {
namespace {

Id real(ProgramState& s, double v) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &v, sizeof v);
  return s.b.constant(DType::f64, bits);
}
Id op1(ProgramState& s, Op op, Id x) { return s.b.elementwise(op, {x}); }
Id op2(ProgramState& s, Op op, Id x, Id y) { return s.b.elementwise(op, {x, y}); }

// A float that broadcasts with x: an existing value, or a small constant.
Id other(ProgramState& s, Id x) {
  for (int attempt = 0; attempt < 3; ++attempt)
    if (const Id y = s.like(x); s.g.op(y) != Op::CONST && s.g.dtype(y) == DType::f64) return y;
  return real(s, s.draw.of(std::array{0.5, 1.0, 2.0, -1.5, 0.0, 3.0}));
}
// |x| + 1/4, where functions of positive numbers are smooth.
Id positive(ProgramState& s, Id x) {
  const Id size = op1(s, Op::ABS, x);
  return op2(s, Op::ADD, size, real(s, 0.25));
}

Id function(ProgramState& s, Id x) {
  static constexpr Op anywhere[] = {Op::NEG, Op::ABS, Op::EXP,   Op::EXP2, Op::EXPM1,   Op::SIN,  Op::COS,  Op::TANH,
                                    Op::ERF, Op::TAN, Op::FLOOR, Op::SIGN, Op::SIGMOID, Op::ATAN, Op::ASINH};
  static constexpr Op above[] = {Op::SQRT, Op::RSQRT, Op::LOG, Op::LOG2, Op::LOG1P, Op::LOG10, Op::CBRT};
  if (s.draw.one_in(3)) {
    const Op op = s.draw.of(above);
    return op1(s, op, positive(s, x));
  }
  return op1(s, s.draw.of(anywhere), x);
}
Id arithmetic(ProgramState& s, Id x) {
  static constexpr Op ops[] = {Op::ADD, Op::SUB, Op::MUL, Op::MUL, Op::MIN, Op::MAX};
  const Id y = other(s, x);
  return s.draw.one_in(2) ? op2(s, s.draw.of(ops), x, y) : op2(s, s.draw.of(ops), y, x);
}
Id quotient(ProgramState& s, Id x) {
  const Id y = other(s, x);
  const Id below = positive(s, y);
  return op2(s, Op::FDIV, x, below);
}
Id power(ProgramState& s, Id x) {
  const Id base = positive(s, x);
  return op2(s, Op::POW, base, s.draw.one_in(2) ? real(s, s.draw.of(std::array{2.0, 0.5, 3.0, -1.0, 0.0, 1.0})) : other(s, x));
}
Id fused(ProgramState& s, Id x) {
  const Id y = other(s, x), z = other(s, x);
  return s.b.elementwise(Op::FMA, {x, y, z});
}
Id square(ProgramState& s, Id x) { return op2(s, Op::MUL, x, x); }
// A select whose branches have functions that are only defined where they are taken.
Id select(ProgramState& s, Id x) {
  const Id zero = real(s, 0), y = other(s, x);
  const Id c = op2(s, Op::LT, zero, x);
  Id taken = op1(s, s.draw.of(std::array{Op::LOG, Op::SQRT, Op::RSQRT}), x);
  if (s.draw.one_in(2)) taken = op2(s, Op::MUL, taken, x);
  if (s.draw.one_in(3)) {
    const Id half = real(s, 0.5), inner = op2(s, Op::LT, half, x);
    const Id shifted = op2(s, Op::SUB, x, half);
    const Id root = op1(s, Op::SQRT, shifted);
    taken = s.b.elementwise(Op::WHERE, {inner, root, taken});
  }
  return s.b.elementwise(Op::WHERE, {c, taken, y});
}
Id narrow(ProgramState& s, Id x) { return op1(s, Op::TANH, x); }
Id staged(ProgramState& s, Id x) { return s.b.stage(x); }

Id gathered(ProgramState& s, Id x) {  // rows of x at integers that other values make
  const std::vector<Id> shape = s.b.shape_of(x);
  if (shape.empty()) return x;
  const Id line = s.b.iota(DType::i64, s.draw.one_in(3) ? shape[0] : s.extent());
  const Id by = s.number(DType::i64, s.draw.between(1, 5)), n = s.number(DType::i64, s.draw.between(1, 7));
  const Id spread = op2(s, Op::MUL, line, by);
  const Id index = op2(s, Op::FLOORMOD, spread, n);
  Id first = index;
  if (s.draw.one_in(2)) {  // each position its own row, perhaps beyond the last one
    const Id from = s.number(DType::i64, s.draw.between(0, 3));
    first = s.draw.one_in(2) ? line : s.draw.one_in(2) ? op2(s, Op::ADD, from, line) : op2(s, Op::SUB, from, line);
    if (s.draw.one_in(3)) first = op2(s, Op::MUL, first, s.number(DType::i64, 2));
  }
  std::vector<Id> all{first};
  if (shape.size() > 1 && s.draw.one_in(2)) all.push_back(op2(s, Op::SUB, s.number(DType::i64, 3), index));
  return s.b.gather(x, all);
}

Id marked(ProgramState& s, Id x) {
  const Id y = other(s, x);
  switch (s.draw.below(3)) {
    case 0: return op2(s, Op::MUL, s.b.mark(y, MarkKind::again, 1), x);
    case 1: return op2(s, Op::ADD, s.b.mark(y, MarkKind::independent, 2), x);
    default: return x;
  }
}

class Maker2 {
 public:
  Maker2(Graph& g, std::uint64_t seed, bool symbolic) : s_(g, seed * 2 + 1, symbolic) {
    s_.dtypes = {DType::f64};
    s_.most_elements = 300;
    const std::vector<WeightedMaker> own = {{function, 8}, {arithmetic, 10}, {quotient, 2}, {power, 2},  {fused, 2},
                                            {square, 2},   {select, 4},      {narrow, 2},   {staged, 1}, {gathered, 2},
                                            {marked, 2},   {pool, 2},        {convolve, 3}};
    for (const auto& group : {own, movement_makers(), reduction_makers(), network_makers()})
      for (const WeightedMaker& m : group)
        if (!s_.draw.one_in(3)) makers_.insert(makers_.end(), static_cast<std::size_t>(m.weight), m.make);
    if (makers_.empty()) makers_.push_back(function);
  }

  GradientProgram make() {
    Program& p = out_.program;
    p.name = "random";
    for (const Symbol& symbol : s_.symbols) {
      add_input("p", {s_.g.sym(symbol.name)});
      p.symbols.push_back(symbol);
    }
    const int inputs = s_.draw.between(p.params.empty() ? 1 : 0, 3);
    for (int i = 0; i < inputs; ++i) add_input("p", s_.shape(s_.draw.of(std::array{0, 1, 1, 2, 2, 2, 3, 3, 4})));
    out_.parameters = s_.values;
    for (Id& x : s_.values)
      if (s_.draw.one_in(3)) x = in_other_shape(x);
    out_.xs = s_.values;
    const int steps = s_.draw.between(1, 8);
    for (int i = 0; i < steps; ++i) {
      const auto maker = s_.draw.of(makers_);
      step(s_.any(), maker);
    }
    finish();
    return std::move(out_);
  }

 private:
  Id add_input(const char* name, std::vector<Id> extents) {
    const auto slot = static_cast<int>(out_.program.params.size());
    Parameter q{name + std::to_string(slot), Direction::in, DType::f64, std::move(extents), {}};
    const Id x = s_.b.param(slot, q);
    s_.values.push_back(x);
    out_.program.params.push_back(std::move(q));
    return x;
  }
  int add_output(Id value) {
    const auto slot = static_cast<int>(out_.program.params.size());
    Parameter q{"o" + std::to_string(slot), Direction::out, s_.g.dtype(value), s_.b.shape_of(value), {}};
    stores_.push_back(s_.b.store(s_.b.param(slot, q), q, value));
    out_.program.params.push_back(std::move(q));
    return slot;
  }

  // The same elements in the same order, perhaps even in the same shape.
  Id in_other_shape(Id x) {
    std::vector<Id> to = s_.b.shape_of(x);
    if (s_.draw.one_in(3)) to.assign(1, index_product(s_.g, to));
    if (s_.draw.one_in(3)) to.push_back(s_.g.index(1));
    return s_.b.reshape(x, to);
  }

  void step(Id x, Maker maker) {
    Id y = x;
    if (s_.g.dtype(x) != DType::f64) return;
    try {
      y = maker(s_, x);
    } catch (const Diagnostic&) {  // the bounds need more than the facts, or the types do not fit
      return;
    }
    const std::vector<Id> shape = s_.b.shape_of(y);
    if (y == x || shape.size() > 6 || s_.elements(shape) > s_.most_elements * 2) return;
    if (s_.g.dtype(y) != DType::f64 && is_float(s_.g.dtype(y))) return;
    s_.values.push_back(y);
    if (is_float(s_.g.dtype(y)) && s_.draw.one_in(2)) s_.values.push_back(narrow(s_, y));
  }

  // y is the last float, or the sum of two values that reach it by other ways.
  void finish() {
    Id y = no_id;
    for (const Id v : s_.values)
      if (s_.g.dtype(v) == DType::f64) y = v;
    if (s_.draw.one_in(2)) {
      const Id twice = other(s_, y);
      y = op2(s_, Op::MUL, y, twice);
    }
    out_.y = y;
    const Id c = add_input("c", s_.b.shape_of(y));
    out_.c = static_cast<int>(out_.program.params.size()) - 1;
    std::vector<Id> along, along_u, gradients;
    for (const Id x : out_.xs) {
      const Id v = add_input("v", s_.b.shape_of(x));
      out_.v.push_back(static_cast<int>(out_.program.params.size()) - 1);
      const Id u = add_input("u", s_.b.shape_of(x));
      out_.u.push_back(static_cast<int>(out_.program.params.size()) - 1);
      along.insert(along.end(), {x, v});
      along_u.insert(along_u.end(), {x, u});
    }
    out_.value = add_output(y);
    for (const Id x : out_.xs) gradients.push_back(s_.b.gradient(y, c, x, true));
    out_.gradient = static_cast<int>(out_.program.params.size());
    for (const Id gradient : gradients) add_output(gradient);
    out_.tangent = add_output(s_.b.tangent(y, along, true));
    out_.second_v = static_cast<int>(out_.program.params.size());
    for (const Id gradient : gradients) add_output(s_.b.tangent(gradient, along, true));
    out_.second_u = static_cast<int>(out_.program.params.size());
    for (const Id gradient : gradients) add_output(s_.b.tangent(gradient, along_u, true));
    out_.program.sink = s_.g.make(Op::SINK, DType::none, stores_);
    s_.b.apply_minimums(out_.program);
  }

  ProgramState s_;
  std::vector<Maker> makers_;
  GradientProgram out_;
  std::vector<Id> stores_;
};

}  // namespace

GradientProgram random_gradient(Graph& g, std::uint64_t seed, bool symbolic) { return Maker2(g, seed, symbolic).make(); }

}  // namespace kiln::compiler::testing
