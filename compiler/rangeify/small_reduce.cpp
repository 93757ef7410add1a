#include "compiler/rangeify/small_reduce.h"

#include <algorithm>
#include <vector>

#include "compiler/ir/reduce_identity.h"

namespace kiln::compiler {
namespace {

Id as(Graph& g, Id value, DType d) { return g.dtype(value) == d ? value : g.make(Op::CAST, d, {value}); }
Id condition(Graph& g, Op op, Id a, Id b) { return g.make(op, DType::boolean, {a, b}); }

// The index of the first best value; a NaN is better than every number.
Id index_of_best(Graph& g, ReduceKind kind, DType result, std::span<const Id> values) {
  if (values.empty()) return g.constant(result, 0);
  Id best = values[0], at = g.constant(result, 0);
  for (std::size_t i = 1; i < values.size(); ++i) {
    const Id x = values[i];
    Id better = kind == ReduceKind::argmax ? condition(g, Op::LT, best, x) : condition(g, Op::LT, x, best);
    if (is_float(g.dtype(x))) {
      const Id is_nan = condition(g, Op::NE, x, x), is_number = condition(g, Op::EQ, best, best);
      better = condition(g, Op::AND, condition(g, Op::OR, better, is_nan), is_number);
    }
    best = g.make(Op::WHERE, g.dtype(x), {better, x, best});
    at = g.make(Op::WHERE, result, {better, g.constant(result, i), at});
  }
  return at;
}

}  // namespace

Id small_reduce(Graph& g, ReduceKind kind, bool striped, DType result, std::span<const Id> values) {
  if (kind == ReduceKind::argmax || kind == ReduceKind::argmin) return index_of_best(g, kind, result, values);
  const DType d = accumulation_dtype(result);
  const Id identity = g.constant(d, reduce_identity(kind, d));
  const auto combined = [&](Id a, Id b) { return g.make(operation_of(kind), d, {a, b}); };
  if (!striped) {
    Id sum = identity;
    for (const Id x : values) sum = combined(sum, as(g, x, d));
    return as(g, sum, result);
  }
  std::vector<Id> stripes(reduce_stripes, identity);
  for (std::size_t i = 0; i < values.size(); ++i) {
    Id& stripe = stripes[i % reduce_stripes];
    stripe = combined(stripe, as(g, values[i], d));
  }
  for (std::size_t half = reduce_stripes / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) stripes[i] = combined(stripes[i], stripes[i + half]);
  return as(g, stripes[0], result);
}

std::vector<Id> small_scan(Graph& g, ReduceKind kind, bool exclusive, DType result, std::span<const Id> values) {
  const DType d = accumulation_dtype(result);
  const auto combined = [&](Id a, Id b) { return g.make(operation_of(kind), d, {a, b}); };
  Id groups = g.constant(d, reduce_identity(kind, d)), before = groups;
  std::vector<Id> out;
  for (std::size_t first = 0; first < values.size(); first += scan_group) {
    std::vector<Id> x;
    for (const Id v : values.subspan(first, std::min<std::size_t>(scan_group, values.size() - first))) x.push_back(as(g, v, d));
    for (std::size_t w = 1; w < x.size(); w *= 2)
      for (std::size_t i = w; i < x.size(); ++i)
        if (i / w % 2 == 1) x[i] = combined(x[i / w * w - 1], x[i]);
    for (const Id v : x) {
      const Id next = combined(groups, v);
      out.push_back(as(g, exclusive ? before : next, result));
      before = next;
    }
    groups = before;
  }
  return out;
}

Id small_fma(Graph& g, std::span<const Id> a, std::span<const Id> b) {
  const DType result = g.dtype(a.empty() ? no_id : a[0]), d = accumulation_dtype(result);
  Id sum = g.constant(d, 0);
  for (std::size_t i = 0; i < a.size(); ++i) sum = g.make(Op::FMA, d, {as(g, a[i], d), as(g, b[i], d), sum});
  return as(g, sum, result);
}

// Stripes without elements hold +0, so the tree leaves them out. The sum of blocks adds its +0 to the result, which makes +0 of
// a -0.
Id small_dot(Graph& g, std::span<const Id> a, std::span<const Id> b) {
  const DType result = g.dtype(a.empty() ? no_id : a[0]), d = accumulation_dtype(result);
  const Id zero = g.constant(d, 0);
  std::vector<Id> stripes(std::min<std::size_t>(a.size(), reduce_stripes), zero);
  for (std::size_t i = 0; i < a.size(); ++i) {
    Id& stripe = stripes[i % reduce_stripes];
    stripe = g.make(Op::FMA, d, {as(g, a[i], d), as(g, b[i], d), stripe});
  }
  for (std::size_t half = reduce_stripes / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half && i + half < stripes.size(); ++i)
      stripes[i] = g.make(Op::ADD, d, {stripes[i], stripes[i + half]});
    stripes.resize(std::min(stripes.size(), half));
  }
  return as(g, g.make(Op::ADD, d, {stripes[0], zero}), result);
}

}  // namespace kiln::compiler
