// Tangents of reductions, running sums, and kernels that add up elements.
#include <algorithm>
#include <cmath>

#include "compiler/interp/interpret.h"
#include "compiler/ir/builder.h"
#include "tests/grad/dual.h"
#include "tests/grad/dual_elements.h"

namespace kiln::compiler::testing {

// Running sums.
Tangent Duals::scanned(Id node, const std::unordered_map<Id, Tangent>& known) const {
  const ReduceKind kind = g_.scan_kind(node);
  const Tangent& x = known.at(g_.src(node, 0));
  const Array& values = values_.at(g_.src(node, 0));
  const Places extents = values_.at(node).extents;
  const std::size_t axis = g_.slot(node, 1);
  const bool exclusive = g_.arg(node, 2) != 0, reversed = g_.arg(node, 3) != 0;
  Tangent out{std::vector<double>(x.value.size(), 0), std::vector<double>(x.value.size(), 0)};
  for (std::size_t k = 0; k < x.value.size(); ++k) {
    Places at = place(k, extents);
    const std::int64_t own = at[axis];
    std::vector<std::size_t> terms;  // in the order of the scan
    for (std::int64_t& i = at[axis] = 0; i < extents[axis]; ++i)
      if (!(i == own ? exclusive : (i > own) != reversed)) terms.push_back(flat(at, extents));
    if (reversed) std::ranges::reverse(terms);
    if (kind == ReduceKind::sum || kind == ReduceKind::prod) {
      for (const std::size_t t : terms) {
        double others = 1;
        for (const std::size_t o : terms)
          if (o != t && kind == ReduceKind::prod) others *= real(values, o);
        out.value[k] += others * x.value[t];
        out.scale[k] += std::abs(others) * x.scale[t];
      }
    } else if (!terms.empty()) {  // the first of equal elements
      std::size_t best = terms[0];
      for (const std::size_t t : terms)
        if (kind == ReduceKind::max ? real(values, t) > real(values, best) : real(values, t) < real(values, best)) best = t;
      out.value[k] = x.value[best];
      out.scale[k] = x.scale[best];
    }
  }
  return out;
}

// A result of a kernel that adds up elements of tensors is linear in them: the same kernel adds up their tangents.
std::optional<Tangent> Duals::added(Id node, const std::unordered_map<Id, Tangent>& known) const {
  std::unordered_map<Id, Array> values, scales;
  for (const Id id : g_.reachable(g_.scope(node))) {
    if (g_.op(id) != Op::INDEX || !values_.contains(g_.data(id))) continue;
    const Id tensor = g_.data(id);
    values.insert_or_assign(tensor, values_.at(tensor));
    const auto t = known.find(tensor);
    if (!is_float64(g_, tensor)) continue;
    Array zero = values_.at(tensor);
    std::ranges::fill(zero.data, std::byte{0});
    values.insert_or_assign(tensor, zero);
    if (t == known.end()) continue;
    std::memcpy(values.at(tensor).data.data(), t->second.value.data(), zero.data.size());
    std::memcpy(zero.data.data(), t->second.scale.data(), zero.data.size());
    scales.insert_or_assign(tensor, zero);
  }
  if (scales.empty()) return std::nullopt;
  for (const auto& [tensor, array] : values) scales.try_emplace(tensor, array);
  const Array value = with_others(node, values), scale = with_others(node, scales);
  Tangent out;
  for (std::size_t k = 0; k < count(value.extents); ++k) {
    out.value.push_back(real(value, k));
    out.scale.push_back(real(scale, k));
  }
  return out;
}

// The result of a kernel with other elements of the tensors that it reads.
Array Duals::with_others(Id get, const std::unordered_map<Id, Array>& tensors) const {
  Builder b(g_);
  b.trust_bounds();
  Program p = given_;
  std::vector<Array> in = arguments_;
  std::unordered_map<Id, Id> made;
  const auto add = [&](Id like, Direction direction, Array a) {
    Parameter q{"d" + std::to_string(p.params.size()), direction, g_.dtype(like), b.shape_of(like), {}};
    p.params.push_back(q);
    in.push_back(std::move(a));
    return b.param(static_cast<int>(p.params.size()) - 1, q);
  };
  for (Parameter& q : p.params) q.direction = Direction::in;
  for (const Id id : g_.reachable(get)) {
    if (const auto t = tensors.find(id); t != tensors.end()) {
      made[id] = add(id, Direction::in, t->second);
      continue;
    }
    std::vector<Id> src = g_.sources(id);
    for (Id& s : src) s = made.at(s);
    made[id] = g_.with_src(id, src);
  }
  const Id result = add(get, Direction::out, Array::zeros(g_.dtype(get), values_.at(get).extents));
  const Id stores[] = {b.store(result, p.params.back(), made.at(get))};
  p.sink = g_.make(Op::SINK, DType::none, stores);
  return interpret(g_, p, in).back();
}

Tangent Duals::reduced(Id node, const std::unordered_map<Id, Tangent>& known) const {
  const ReduceKind kind = g_.reduce_kind(node);
  const auto src = g_.src(node);
  std::vector<std::size_t> axes;
  for (std::size_t i = 1; i < g_.args(node).size(); ++i) axes.push_back(g_.slot(node, i));
  const Places from = values_.at(src[0]).extents, to = values_.at(node).extents;
  std::vector<std::vector<std::size_t>> terms(count(to));  // the elements of each sum, in row-major order
  for (std::size_t k = 0; k < count(from); ++k) {
    const Places at = place(k, from);
    Places kept;
    for (std::size_t a = 0; a < at.size(); ++a)
      if (std::ranges::find(axes, a) == axes.end()) kept.push_back(at[a]);
    terms[flat(kept, to)].push_back(k);
  }
  Tangent out{std::vector<double>(count(to), 0), std::vector<double>(count(to), 0)};
  const auto add = [&](std::size_t k, double d, Id source, std::size_t element) {
    const auto t = known.find(source);
    if (t == known.end()) return;
    out.value[k] += d * t->second.value[element];
    out.scale[k] += std::abs(d) * t->second.scale[element];
  };
  for (std::size_t k = 0; k < terms.size(); ++k) {
    const auto x = [&](Id source, std::size_t i) { return real(values_.at(source), i); };
    if (kind == ReduceKind::max || kind == ReduceKind::min) {
      if (terms[k].empty()) continue;
      // Over several axes a nest, last axis first: of equal elements the one that is first in row-major order.
      std::size_t best = terms[k][0];
      for (const std::size_t i : terms[k])
        if (kind == ReduceKind::max ? x(src[0], i) > x(src[0], best) : x(src[0], i) < x(src[0], best)) best = i;
      add(k, 1, src[0], best);
      continue;
    }
    for (const std::size_t i : terms[k]) {
      if (kind == ReduceKind::sum) add(k, 1, src[0], i);
      if (kind == ReduceKind::fma || kind == ReduceKind::dot) {
        add(k, x(src[1], i), src[0], i);
        add(k, x(src[0], i), src[1], i);
      }
      if (kind != ReduceKind::prod) continue;
      double others = 1;
      for (const std::size_t j : terms[k])
        if (j != i) others *= x(src[0], j);
      add(k, others, src[0], i);
    }
  }
  return out;
}

}  // namespace kiln::compiler::testing
