#include "compiler/rangeify/index_map.h"

#include "compiler/ir/nth.h"
#include "compiler/rangeify/index_expr.h"

namespace kiln::compiler {

MapId IndexMaps::intern(IndexMap m) {
  std::uint64_t h = m.gate;
  for (Id i : m.index) h = (h ^ i) * 0x9e3779b97f4a7c15u + (h >> 29);
  const auto [begin, end] = by_hash_.equal_range(h);
  for (auto it = begin; it != end; ++it)
    if (maps_[it->second] == m) return it->second;
  const auto id = static_cast<MapId>(maps_.size());
  maps_.push_back(std::move(m));
  by_hash_.emplace(h, id);
  return id;
}

Id MapRules::condition(Id expr) {
  if (expr == no_id) return no_id;
  const Id c = simple(expr);
  return g_.is_const(c) && g_.value(c) != 0 ? no_id : c;
}

IndexMap MapRules::movement(Id node, const IndexMap& out) {
  switch (g_.op(node)) {
    case Op::RESHAPE: return reshape(node, out);
    case Op::EXPAND: return expand(node, out);
    case Op::SLICE: return slice(node, out);
    case Op::PAD: return pad(node, out);
    case Op::SHEAR: return shear(node, out);
    case Op::UNSHEAR: return unshear(node, out);
    default: break;
  }
  IndexMap in{std::vector<Id>(out.index.size()), out.gate};  // PERMUTE
  for (std::size_t i = 0; i < out.index.size(); ++i) nth(in.index, g_.arg(node, i)) = out.index[i];
  return in;
}

IndexMap MapRules::reshape(Id node, const IndexMap& out) {
  const std::vector<Id> from = shapes_.of(g_.data(node));
  const std::vector<Id> to = shapes_.of(node);
  return {reshape_index(g_, simplify_, from, to, out.index), out.gate};
}

IndexMap MapRules::expand(Id node, const IndexMap& out) {
  const std::vector<Id> from = shapes_.of(g_.data(node));
  IndexMap in = out;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (g_.is_index_const(from[i], 1)) in.index[i] = g_.index(0);
  return in;
}

IndexMap MapRules::slice(Id node, const IndexMap& out) {
  IndexMap in = out;
  for (std::size_t i = 0; i < out.index.size(); ++i) {
    const Id step = g_.index(g_.arg(node, i));
    in.index[i] = simple(index_add(g_, g_.src(node, 1 + i), index_mul(g_, out.index[i], step)));
  }
  return in;
}

Id MapRules::pad_inside(Id node, const IndexMap& out) {
  const std::vector<Id> from = shapes_.of(g_.data(node));
  const std::vector<Id> to = shapes_.of(node);
  Id inside = no_id;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Id before = g_.src(node, 2 + i), end = simple(index_add(g_, before, from[i]));
    if (!g_.is_index_const(before, 0)) inside = both(g_, inside, condition(index_less_equal(g_, before, out.index[i])));
    if (end != to[i]) inside = both(g_, inside, condition(index_less(g_, out.index[i], end)));
  }
  return inside;
}

IndexMap MapRules::pad(Id node, const IndexMap& out) {
  const PadMode mode = g_.pad_mode(node);
  const std::vector<Id> from = shapes_.of(g_.data(node));
  const std::vector<Id> to = shapes_.of(node);
  IndexMap in = out;
  if (mode == PadMode::constant) in.gate = both(g_, in.gate, pad_inside(node, out));
  const Id zero = g_.index(0), one = g_.index(1);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Id n = from[i], before = g_.src(node, 2 + i);
    if (n == to[i] && g_.is_index_const(before, 0)) continue;
    Id k = g_.is_index_const(n, 1) ? zero : index_sub(g_, out.index[i], before);  // an axis of extent 1 has no other index
    if (mode == PadMode::edge) {
      k = index_max(g_, zero, index_min(g_, k, index_sub(g_, n, one)));
    } else if (mode == PadMode::wrap) {
      k = index_floormod(g_, k, n);
    } else if (mode == PadMode::reflect) {  // period 2(n-1); floormod by 0 is 0, so n = 1 repeats its only element
      const Id steps = index_sub(g_, n, one);
      const Id period = index_mul(g_, g_.index(2), steps);
      k = index_floormod(g_, k, period);
      k = index_min(g_, k, index_sub(g_, period, k));
    }
    // An empty axis has no element to repeat: nothing may be loaded.
    if (mode != PadMode::constant) in.gate = both(g_, in.gate, condition(index_less(g_, zero, n)));
    in.index[i] = simple(k);
  }
  return in;
}

IndexMap MapRules::shear(Id node, const IndexMap& out) {
  const std::size_t k = g_.slot(node, 0), o = g_.slot(node, 1);
  const Id by_window = index_mul(g_, out.index[o], g_.index(g_.arg(node, 2)));
  const Id by_tap = index_mul(g_, out.index[k], g_.index(g_.arg(node, 3)));
  IndexMap in = out;
  const bool is_one = g_.is_index_const(shapes_.of(g_.data(node))[o], 1);
  in.index[o] = is_one ? g_.index(0) : simple(index_add(g_, by_window, by_tap));
  return in;
}

// From the first element of the tap's windows to the element.
Id MapRules::distance(Id node, const IndexMap& out) {
  const std::size_t k = g_.slot(node, 0), o = g_.slot(node, 1);
  return index_sub(g_, out.index[o], index_mul(g_, out.index[k], g_.index(g_.arg(node, 3))));
}

Id MapRules::unshear_inside(Id node, const IndexMap& out) {
  const Id stride = g_.index(g_.arg(node, 2)), zero = g_.index(0), d = distance(node, out);
  const Id windows = shapes_.of(g_.data(node))[g_.slot(node, 1)];
  const Id end = index_mul(g_, windows, stride);
  Id inside = condition(index_less_equal(g_, zero, d));
  inside = both(g_, inside, condition(index_less(g_, d, end)));
  if (g_.arg(node, 2) == 1) return inside;
  const Id between = index_floormod(g_, d, stride);
  return both(g_, inside, condition(index_less_equal(g_, between, zero)));
}

IndexMap MapRules::unshear(Id node, const IndexMap& out) {
  const std::size_t o = g_.slot(node, 1);
  IndexMap in = out;
  const Id inside = unshear_inside(node, out);
  in.gate = both(g_, in.gate, inside);
  const bool is_one = g_.is_index_const(shapes_.of(g_.data(node))[o], 1);
  const Id stride = g_.index(g_.arg(node, 2)), d = distance(node, out);
  in.index[o] = is_one ? g_.index(0) : simple(index_floordiv(g_, d, stride));
  return in;
}

Id MapRules::concat_offset(Id node, std::size_t k) {
  const auto axis = g_.slot(node);
  Id offset = g_.index(0);
  for (std::size_t j = 0; j < k; ++j) {
    const Id part = g_.src(node, j);
    offset = index_add(g_, offset, shapes_.of(part)[axis]);
  }
  return simple(offset);
}

Id MapRules::concat_before_end(Id node, std::size_t k, const IndexMap& out) {
  const auto axis = g_.slot(node);
  return simple(index_less(g_, out.index[axis], concat_offset(node, k + 1)));
}

IndexMap MapRules::concat(Id node, std::size_t k, const IndexMap& out) {
  const auto axis = g_.slot(node);
  const std::size_t parts = g_.src(node).size();
  const Id begin = concat_offset(node, k);
  IndexMap in = out;
  if (k > 0) in.gate = both(g_, in.gate, condition(index_less_equal(g_, begin, out.index[axis])));
  if (k + 1 < parts) in.gate = both(g_, in.gate, condition(concat_before_end(node, k, out)));
  const bool is_one = g_.is_index_const(shapes_.of(g_.src(node, k))[axis], 1);  // index 0 is the only one that passes the gate
  in.index[axis] = is_one ? g_.index(0) : simple(index_sub(g_, out.index[axis], begin));
  return in;
}

}  // namespace kiln::compiler
