#include "tests/fuzz/random_program.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/interp/scalar.h"
#include "compiler/interp/visit.h"
#include "compiler/ir/diagnostic.h"

namespace kiln::compiler::testing {

ProgramState::ProgramState(Graph& graph, std::uint64_t seed, bool with_symbols) : g(graph), b(graph), draw(seed) {
  for (int d = 0; d <= static_cast<int>(DType::f64); ++d)
    if (draw.one_in(2)) dtypes.push_back(static_cast<DType>(d));
  if (dtypes.empty() || draw.one_in(4)) dtypes.assign({DType::f32, DType::i32});
  if (draw.one_in(25)) most_elements = 100'000;
  b.infer_minimums();
  if (!with_symbols) return;
  for (const char* name : {"N", "M", "K"}) {
    Symbol s;
    s.name = name;
    s.min = draw.of(std::array{0, 0, 1, 1, 2, 5, 16});
    s.multiple_of = draw.of(std::array{1, 1, 1, 2, 4, 16});
    if (draw.one_in(2)) s.max = (s.min + 15) / s.multiple_of * s.multiple_of + s.multiple_of;
    symbols.push_back(s);
    b.declare(s);
    if (draw.one_in(2)) break;
  }
}

Id ProgramState::any() {
  const auto n = static_cast<int>(values.size());
  return draw.one_in(3) ? values[static_cast<std::size_t>(draw.below(n))]
                        : values[static_cast<std::size_t>(n - 1 - draw.below(std::min(n, 3)))];
}

Id ProgramState::number(DType d, std::int64_t v) {
  std::uint64_t bits = 0;
  visit_type(d, [&]<class T>() {
    const T x = scalar::convert<T>(v);
    std::memcpy(&bits, &x, sizeof x);
    if (is_signed_int(d)) bits = static_cast<std::uint64_t>(v);
  });
  return b.constant(d, bits);
}

Id ProgramState::special(DType d) {
  if (!is_float(d)) {
    const std::int64_t low = d == DType::boolean ? 0 : d == DType::i64 ? INT64_MIN : -(std::int64_t{1} << (bits(d) - 1));
    return is_signed_int(d) && draw.one_in(6) ? number(d, low) : number(d, draw.between(0, d == DType::boolean ? 1 : 12));
  }
  const double x = draw.of(std::array{0.0, -0.0, 1.0, -1.0, 0.5, 3.25, 1e-42, 7e4, HUGE_VAL, -HUGE_VAL, std::nan("")});
  std::uint64_t bits = 0;
  visit_type(d, [&]<class T>() {
    const T v = scalar::convert<T>(x);
    std::memcpy(&bits, &v, sizeof v);
  });
  return b.constant(d, bits);
}

Id ProgramState::extent() {
  static constexpr int sizes[] = {1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 257};
  if (!symbols.empty() && draw.below(5) < 3) {
    const Id s = g.sym(draw.of(symbols).name);
    if (draw.one_in(8)) return index_mul(g, s, g.index(draw.between(2, 4)));
    return draw.one_in(8) ? index_add(g, s, g.index(draw.between(1, 3))) : s;
  }
  if (most_elements > 50'000 && draw.one_in(6)) return g.index(draw.of(std::array{1000, 4096, 10'000, 66'000}));
  if (draw.one_in(40)) return g.index(0);
  return g.index(sizes[static_cast<std::size_t>(draw.below(draw.one_in(3) ? 22 : 12))]);
}

double ProgramState::size(Id e) {
  double sum = 0;
  for (const Monomial& m : poly_of(g, e))
    sum += static_cast<double>(m.coefficient) * std::pow(16, static_cast<double>(m.atoms.size()));
  return std::max(sum, 0.0);
}

double ProgramState::elements(const std::vector<Id>& extents) {
  double n = 1;
  for (const Id e : extents) n *= std::max(size(e), 1.0);
  return n;
}

std::vector<Id> ProgramState::shape(int rank) {
  std::vector<Id> out;
  while (static_cast<int>(out.size()) < rank) {
    out.push_back(extent());
    if (elements(out) > most_elements) out.back() = g.index(draw.between(1, 3));
  }
  return out;
}

std::vector<std::int64_t> ProgramState::some_axes(int rank) {
  std::vector<std::int64_t> axes;
  for (int a = 0; a < rank; ++a)
    if (draw.one_in(2)) axes.push_back(a);
  if (axes.empty()) axes.push_back(draw.below(rank));
  return axes;
}

DType ProgramState::dtype() { return draw.of(dtypes); }

Id ProgramState::like(Id x) {
  const std::vector<Id> shape = b.shape_of(x);
  if (draw.below(4) != 0) {
    for (int attempt = 0; attempt < 6; ++attempt) {
      const Id y = any();
      const std::vector<Id> other = b.shape_of(y);
      bool fits = other.size() <= shape.size();
      for (std::size_t i = 0; fits && i < other.size(); ++i) {
        const Id e = shape[shape.size() - other.size() + i];
        fits = other[i] == e || g.is_index_const(other[i], 1);
      }
      if (fits && y != x) return as(y, g.dtype(x));
    }
  }
  if (!shape.empty() && draw.one_in(2)) {  // a reduction of x that keeps the axis
    const int axis = draw.below(static_cast<int>(shape.size()));
    const std::int64_t axes[] = {axis};
    std::vector<Id> kept = shape;
    kept[static_cast<std::size_t>(axis)] = g.index(1);
    return b.reshape(b.reduce(draw.one_in(2) ? ReduceKind::max : ReduceKind::min, x, axes), kept);
  }
  return draw.one_in(3) ? x : special(g.dtype(x));
}

Id small_integers(ProgramState& s, Id x) {
  return s.as(s.as(x, s.draw.of(std::array{DType::u8, DType::i8, DType::i8, DType::i16})), DType::i32);
}

namespace {

class ProgramMaker {
 public:
  ProgramMaker(Graph& g, std::uint64_t seed, bool symbolic) : s_(g, seed, symbolic) {
    for (const auto& group : {elementwise_makers(), movement_makers(), reduction_makers(), network_makers(), counting_makers(),
                              table_makers(), vector_makers()})
      for (const WeightedMaker& m : group)
        if (!s_.draw.one_in(3)) makers_.insert(makers_.end(), static_cast<std::size_t>(m.weight), m.make);
    if (makers_.empty()) makers_.push_back(elementwise_makers()[0].make);
  }

  Program make() {
    p_.name = "random";
    add_inputs();
    int steps = s_.draw.one_in(12) ? s_.draw.between(12, 40) : s_.draw.between(1, 9);
    if (s_.symbols.empty() && s_.draw.one_in(60)) {
      s_.values.push_back(large_value(s_, [this](std::vector<Id> extents) { return add_input(std::move(extents)); }));
      steps = s_.draw.between(0, 5);
    }
    for (int i = 0; i < steps; ++i) {
      const Id x = s_.any();
      step(s_.values, x, s_.draw.of(makers_));
    }
    assign_inouts();
    const int outputs = s_.draw.of(std::array{1, 1, 1, 2, 2, 3, 5});
    for (int i = 0; i < outputs; ++i) add_output(i == 0 ? s_.values.back() : s_.any());
    p_.sink = s_.g.make(Op::SINK, DType::none, stores_);
    s_.b.apply_minimums(p_);
    return std::move(p_);
  }

 private:
  void add_inputs() {
    for (const Symbol& symbol : s_.symbols) {  // each symbol alone is an extent of some parameter
      add_input({s_.g.sym(symbol.name)});
      p_.symbols.push_back(symbol);
    }
    const int inputs = s_.draw.between(p_.params.empty() ? 1 : 0, 3);
    for (int i = 0; i < inputs; ++i) {
      const bool again = !p_.params.empty() && s_.draw.one_in(3);
      add_input(again ? s_.draw.of(p_.params).extents : s_.shape(s_.draw.of(std::array{0, 1, 1, 2, 2, 2, 3, 3, 4, 5})));
    }
  }

  Id add_input(std::vector<Id> extents) {
    const auto slot = static_cast<int>(p_.params.size());
    Parameter q{
        "p" + std::to_string(slot), s_.draw.one_in(4) ? Direction::inout : Direction::in, s_.dtype(), std::move(extents), {}};
    s_.values.push_back(s_.b.param(slot, q));
    p_.params.push_back(std::move(q));
    return s_.values.back();
  }

  void step(std::vector<Id>& values, Id x, Maker maker) {
    Id y = x;
    try {
      y = maker(s_, x);
    } catch (const Diagnostic&) {  // the bounds need more than the facts, or the types do not fit
      return;
    }
    const std::vector<Id> shape = s_.b.shape_of(y);
    if (y != x && shape.size() <= 6 && s_.elements(shape) <= s_.most_elements * 2) values.push_back(y);
  }

  // Assigns a fitting value: the last one, any one, or the parameter itself in another order, which must not be read too late.
  void assign_inouts() {
    for (std::size_t i = 0; i < p_.params.size(); ++i) {
      const Parameter& q = p_.params[i];
      if (q.direction != Direction::inout) continue;
      const Id old = s_.b.param(static_cast<int>(i), q);
      std::vector<Id> fit;
      for (const Id v : s_.values)
        if (v != old && s_.g.dtype(v) == q.dtype && s_.b.shape_of(v) == q.extents) fit.push_back(v);
      if (fit.empty() || s_.draw.one_in(4)) step(fit, old, flipped);
      if (!fit.empty()) stores_.push_back(s_.b.store(old, q, s_.draw.one_in(2) ? fit.back() : s_.draw.of(fit)));
    }
  }

  void add_output(Id value) {
    const auto slot = static_cast<int>(p_.params.size());
    Parameter q{"o" + std::to_string(slot), Direction::out, s_.g.dtype(value), s_.b.shape_of(value), {}};
    stores_.push_back(s_.b.store(s_.b.param(slot, q), q, value));
    p_.params.push_back(std::move(q));
  }

  ProgramState s_;
  std::vector<Maker> makers_;
  Program p_;
  std::vector<Id> stores_;
};

}  // namespace

Program random_program(Graph& g, std::uint64_t seed, bool symbolic) { return ProgramMaker(g, seed, symbolic).make(); }

}  // namespace kiln::compiler::testing
