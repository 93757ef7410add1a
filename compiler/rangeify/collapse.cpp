#include "compiler/rangeify/collapse.h"

#include <algorithm>
#include <string>

#include "compiler/ir/literal.h"
#include "compiler/ir/reduce_identity.h"
#include "compiler/rangeify/cases.h"
#include "compiler/rangeify/exact_sum.h"
#include "compiler/rangeify/index_expr.h"
#include "compiler/rangeify/one_hot.h"

namespace kiln::compiler {
namespace {

class Collapse {
 public:
  Collapse(Graph& g, Simplifier& simplify, Id reduce, ReduceKind kind, Id range, Id assumed)
      : g_(g), simplify_(simplify), range_(g, simplify, range), kind_(kind), reduce_(reduce), assumed_(assumed) {}

  // The reduction of `value` over this range alone, without a loop; no_id if no closed form is known.
  Id run(Id value) {
    const DType d = g_.dtype(value);
    if (g_.is_index_const(range_.extent(), 0)) return identity(d);
    if (kind_ == ReduceKind::any || kind_ == ReduceKind::all) return truth(value);
    const auto cases = cases_of(g_, range_, kind_, value);
    if (!cases) return no_id;
    if (kind_ == ReduceKind::sum && is_float(d)) return sum_of_floats(d, *cases);
    if (kind_ == ReduceKind::sum) return sum_of_integers(d, *cases);
    return folded(d, *cases);
  }

 private:
  Id identity(DType d) { return g_.constant(d, reduce_identity(kind_, d)); }
  Id number(DType d, Id count) {
    const auto bits = g_.is_const(count) ? literal_bits(d, std::to_string(g_.value(count))) : std::nullopt;
    return bits ? g_.constant(d, *bits) : g_.make(Op::CAST, d, {count});
  }
  Id is_positive(Id count) { return simplify_(index_less(g_, g_.index(0), count)); }

  // any(v): the number of iterations where v holds is positive. all(v): not any(not v).
  Id truth(Id value) {
    const bool all = kind_ == ReduceKind::all;
    const Clause holds[] = {{value, all}};
    Id any = no_id;
    if (const auto n = range_.count(holds))
      any = is_positive(*n);
    else if (const auto p = one_hot(g_, simplify_, range_, holds, {}, assumed_))
      any = p->gate;
    if (any == no_id || !all) return any;
    return g_.make(Op::NOT, DType::boolean, {any});
  }

  Id sum_of_floats(DType d, const std::vector<Case>& cases) {
    if (cases.size() == 1 && range_.depends(cases[0].value)) {
      const Id v = one_iteration(cases[0]);  // all other terms are 0, and +0 + -0 is +0
      return v == no_id ? no_id : g_.make(Op::ADD, d, {v, g_.constant(d, 0)});
    }
    std::vector<Repeated> numbers;
    for (const Case& c : cases) {
      const auto n = g_.is_const(c.value) ? range_.count(c.when) : std::nullopt;
      if (!n) return no_id;
      numbers.push_back({c.value, *n});
    }
    return exact_sum(g_, d, numbers, simplify_.bounds()(range_.extent()).max);
  }

  // A case without a closed form stays a loop. If it has conditions, the whole reduction stays: nothing would be saved.
  Id sum_of_integers(DType d, const std::vector<Case>& cases) {
    Id sum = no_id;
    std::size_t changed = 0;
    for (const Case& c : cases) {
      Id v = one_choice(d, c);
      changed += v != no_id || !c.factors.empty() ? 1 : 0;
      if (v == no_id && !c.when.empty()) return no_id;
      if (v == no_id) v = loop_over(c.value);
      for (const Id f : c.factors) v = product(v, f);
      sum = sum == no_id ? v : g_.make(Op::ADD, d, {sum, v});
    }
    return sum == no_id ? identity(d) : changed == 0 ? no_id : sum;
  }
  Id loop_over(Id value) {
    return g_.make(Op::REDUCE, g_.dtype(value), {value, range_.range()}, {ReduceKind::sum, g_.reduce_order(reduce_)});
  }

  Id one_choice(DType d, const Case& c) {
    if (range_.depends(c.value)) {
      const Id v = one_iteration(c);
      return v != no_id ? v : progression(d, c);
    }
    const auto n = range_.count(c.when);
    if (!n) return no_id;
    return product(number(d, *n), c.value);
  }

  // The case's value at the only iteration that its conditions select; the identity if no iteration satisfies them.
  Id one_iteration(const Case& c) {
    const auto p = one_hot(g_, simplify_, range_, c.when, c.value, assumed_);
    if (!p) return no_id;
    return chosen(p->gate, p->value);
  }

  // The sum of k*r + x over the consecutive r that the conditions select.
  Id progression(DType d, const Case& c) {
    const auto line = range_.line(c.value);
    const auto r = line ? range_.common(c.when) : std::nullopt;
    if (!r || simplify_.bounds()(range_.extent()).max > longest_progression) return no_id;
    const auto index = [&](Op op, Id a, Id b) { return g_.make(op, DType::index, {a, b}); };
    const Id n = range_.iterations(*r), two = g_.index(2);
    const Id doubled = index(Op::MUL, r->begin, two), behind = index(Op::SUB, n, g_.index(1));
    const Id ends = index(Op::ADD, doubled, behind);  // first + last
    Id sum = number(d, simplify_(index(Op::FLOORDIV, index(Op::MUL, n, ends), two)));
    if (line->factor != 1) sum = g_.make(Op::MUL, d, {sum, number(d, g_.index(line->factor))});
    if (g_.is_index_const(line->rest, 0)) return sum;
    return g_.make(Op::ADD, d, {sum, g_.make(Op::MUL, d, {number(d, n), number(d, line->rest)})});
  }

  // max, min: a case counts once if any iteration selects it. prod: a case counts once per iteration that selects it.
  Id folded(DType d, const std::vector<Case>& cases) {
    Id all = no_id;
    for (const Case& c : cases) {
      const Id v = range_.depends(c.value) ? one_iteration(c) : repeated(d, c);
      if (v == no_id || (kind_ == ReduceKind::prod && is_float(d) && cases.size() > 1)) return no_id;
      const Op op = kind_ == ReduceKind::max ? Op::MAX : kind_ == ReduceKind::min ? Op::MIN : Op::MUL;
      all = all == no_id ? v : g_.make(op, d, {all, v});
    }
    return all == no_id ? identity(d) : all;
  }

  Id repeated(DType d, const Case& c) {
    const auto n = range_.count(c.when);
    if (!n) return no_id;
    if (kind_ == ReduceKind::prod) return is_float(d) ? no_id : power(c.value, *n);
    return chosen(is_positive(*n), c.value);
  }

  Id chosen(Id condition, Id value) {
    const DType d = g_.dtype(value);
    if (g_.is_const(condition)) return g_.value(condition) != 0 ? value : identity(d);
    return g_.make(Op::WHERE, d, {condition, value, identity(d)});
  }
  Id product(Id a, Id b) {
    const auto is_one = [&](Id x) { return g_.is_const(x) && g_.value(x) == 1; };  // integers
    return is_one(a) ? b : is_one(b) ? a : g_.make(Op::MUL, g_.dtype(a), {a, b});
  }

  // base^exponent by repeated squaring: one factor for each bit of the exponent.
  Id power(Id base, Id exponent) {
    const DType d = g_.dtype(base);
    const std::int64_t most = simplify_.bounds()(exponent).max;
    Id power = g_.constant(d, 1);
    for (int bit = 0; most >> bit != 0; ++bit) {
      const Id shifted = g_.make(Op::FLOORDIV, DType::index, {exponent, g_.index(std::int64_t{1} << bit)});
      const Id lowest = g_.make(Op::FLOORMOD, DType::index, {shifted, g_.index(2)});
      const Id taken = simplify_(g_.make(Op::EQ, DType::boolean, {lowest, g_.index(1)}));
      const Id more = product(power, base);
      if (!g_.is_const(taken))
        power = g_.make(Op::WHERE, d, {taken, more, power});
      else if (g_.value(taken) != 0)
        power = more;
      base = g_.make(Op::MUL, d, {base, base});
    }
    return power;
  }

  Graph& g_;
  Simplifier& simplify_;
  OneRange range_;
  ReduceKind kind_;
  Id reduce_, assumed_;
};

bool depends_on_any(Graph& g, Simplifier& simplify, Id value, std::span<const Id> ranges) {
  return std::ranges::any_of(ranges, [&](Id r) { return OneRange(g, simplify, r).depends(value); });
}

// argmax, argmin of equal elements: the first one, 0. The result for no elements is 0 too.
Id collapsed_index(Graph& g, Simplifier& simplify, Id reduce, std::span<const Id> ranges) {
  return depends_on_any(g, simplify, g.data(reduce), ranges) ? reduce : g.constant(g.dtype(reduce), 0);
}

}  // namespace

Id collapsed(Graph& g, Simplifier& simplify, Id reduce, Id assumed) {
  ReduceKind kind = g.reduce_kind(reduce);
  const std::size_t values = operands_of(kind);
  std::vector<Id> ranges = g.sources(reduce, values);
  if (kind == ReduceKind::argmax || kind == ReduceKind::argmin) return collapsed_index(g, simplify, reduce, ranges);
  Id value = g.data(reduce);
  if (values == 2) {
    if (is_float(g.dtype(value))) return reduce;
    value = g.make(Op::MUL, g.dtype(value), {value, g.src(reduce, 1)});
    kind = ReduceKind::sum;
  }
  bool changed = false;
  for (std::size_t i = ranges.size(); i-- > 0;) {
    const Id now = Collapse(g, simplify, reduce, kind, ranges[i], assumed).run(value);
    if (now == no_id) continue;
    changed = true;
    value = now;
    ranges.erase(ranges.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (!changed || ranges.empty()) return changed ? value : reduce;
  ranges.insert(ranges.begin(), value);
  return g.make(Op::REDUCE, g.dtype(reduce), ranges, {kind, ReduceOrder::sequential});
}

}  // namespace kiln::compiler
