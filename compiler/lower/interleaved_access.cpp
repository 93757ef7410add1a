#include "compiler/lower/interleaved_access.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "compiler/ir/nth.h"
#include "compiler/ir/state.h"
#include "compiler/lower/access.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/interleave_shuffles.h"
#include "compiler/lower/lane_conditions.h"
#include "compiler/lower/linear_index.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t farthest = std::int64_t{1} << 60;     // offsets up to here can be added without overflow
constexpr std::int64_t longest_row = std::int64_t{1} << 48;  // also multiples by the number of a lane
// Costs in instructions. element_cost: access to one element, and its move into a lane or out of a lane. shuffle_cost: each
// further register that a shuffle reads, if not all components of the rows are accessed (else: interleave_shuffles.h).
constexpr double element_cost = 1.5;
constexpr double shuffle_cost = 2;
// The widest vector of single bytes: AVX-512 moves words between the parts of a register, but bytes only within them.
constexpr int widest_of_bytes = 32;

// Of an access: the condition under which a lane is active, and the value of inactive lanes of a LOAD. no_id: without a gate.
struct Gate {
  Id condition = no_id, inactive = no_id;
  bool of_lanes = false;  // each lane has its own condition; else the condition is a scalar
  auto operator<=>(const Gate&) const = default;
};

// nullopt: inactive lanes have values that are no constants.
std::optional<Gate> gate_of(const Graph& g, Id access) {
  const bool is_load = g.op(access) == Op::LOAD;
  if (g.src(access).size() <= (is_load ? 2 : 3)) return Gate{};
  const Id inactive = is_load ? g.src(access, 2) : no_id, gate = g.src(access, 3);
  if (is_load && !g.is_const(inactive)) return std::nullopt;
  if (g.op(gate) == Op::BROADCAST) return Gate{g.operand(gate), inactive};
  return Gate{gate, inactive, true};
}

// Accesses with equal keys have constant distances: state (of a STORE: memory), stride, lanes, type, terms of the address. They
// have equal gates.
using Key = std::tuple<Id, std::int64_t, int, DType, std::map<Id, std::int64_t>, Gate>;
struct Place {
  Key key;
  std::int64_t offset = 0;
};

std::optional<Place> place_of(const Graph& g, Id access) {
  const bool is_load = g.op(access) == Op::LOAD;
  if (!is_load && g.op(access) != Op::STORE) return std::nullopt;
  const std::optional<Gate> gate = gate_of(g, access);
  if (!gate || g.op(index_of(g, access)) != Op::RAMP) return std::nullopt;
  const DType d = g.dtype(is_load ? access : value_of(g, access));
  const Id index = index_of(g, access);
  const std::int64_t stride = g.stride(index);
  if (stride < 2 || stride > longest_row) return std::nullopt;
  const LinearIndex base = linear_index(g, g.operand(index));
  if (base.constant < -farthest || base.constant > farthest) return std::nullopt;  // outside of any tensor
  const Id state = is_load ? g.state(access) : memory_of(g, access);
  return Place{{state, stride, g.lanes(index), d, base.terms, *gate}, base.constant};
}

// The cost of contiguous accesses and shuffles in place of `n` strided accesses.
double cost_of(std::int64_t stride, std::size_t n, DType d) {
  const auto s = static_cast<double>(stride), accesses = static_cast<double>(n);
  const bool whole = std::cmp_equal(n, stride);
  return s + accesses * (whole ? component_cost(narrow<int>(stride), bytes(d)) : shuffle_cost * (s - 1));
}

// Whether contiguous accesses and shuffles cost less than `n` strided accesses, with `lanes` lanes in a register.
bool pays(std::int64_t stride, std::size_t n, DType d, int lanes) {
  return lanes > 1 && stride <= most_components && cost_of(stride, n, d) < element_cost * static_cast<double>(n) * lanes;
}

class Interleaving {
 public:
  Interleaving(Graph& g, Id sink, const Target& target) : g_(g), target_(target) {
    std::map<Key, std::vector<std::pair<std::int64_t, Id>>> found;
    for (const Id id : g.reachable(sink))
      if (g.op(id) == Op::LOAD)
        if (const auto p = place_of(g, id)) found[p->key].emplace_back(p->offset, id);
    for (auto& [key, loads] : found) group(key, loads);
  }

  Id run(Id sink) {
    return rewrite(g_, sink, [&](Id id, std::span<const Id> x) -> Id {
      if (const auto it = extents_.find(id); it != extents_.end()) return load(id, x, it->second);
      if (const auto it = columns_.find(id); it != columns_.end()) return column(id, x, it->second);
      if (g_.op(id) == Op::FOR) return loop(id, x);
      return g_.op(id) == Op::SINK ? g_.make(Op::SINK, DType::none, stores(x, x)) : no_id;
    });
  }

 private:
  // The elements that the LOADs of a group read: from `before` elements before a LOAD's own first element to `after` elements
  // behind its last.
  struct Extent {
    std::int64_t before = 0, after = 0;
  };

  int register_lanes(DType d, int lanes) const {
    const int widest = bytes(d) == 1 ? std::min(widest_of_bytes, target_.vector_bytes) : target_.vector_bytes;
    return std::min(lanes, widest / bytes(d));
  }

  // LOADs whose offsets differ by less than the stride read the same vectors.
  void group(const Key& key, std::vector<std::pair<std::int64_t, Id>>& loads) {
    const auto& [state, stride, lanes, dtype, terms, gate] = key;
    std::ranges::sort(loads);
    if (stride > most_components) return far_rows(key, loads);
    for (std::size_t i = 0, end = 0; i < loads.size(); i = end) {
      while (end < loads.size() && loads[end].first < loads[i].first + stride) ++end;
      if (!pays(stride, end - i, dtype, register_lanes(dtype, lanes))) continue;
      for (std::size_t k = i; k < end; ++k)
        extents_[loads[k].second] = {loads[k].first - loads[i].first, loads[end - 1].first - loads[k].first};
    }
  }

  // LOADs of consecutive columns share parts of rows.
  void far_rows(const Key& key, const std::vector<std::pair<std::int64_t, Id>>& loads) {
    const auto& [state, stride, lanes, dtype, terms, gate] = key;
    const int together = columns_together(register_lanes(dtype, lanes), bytes(dtype));
    if (gate.of_lanes || together < 2) return;
    for (std::size_t i = 0, end = 0; i < loads.size(); i = end) {
      while (end < loads.size() && loads[end].first == loads[i].first + static_cast<std::int64_t>(end - i)) ++end;
      const std::int64_t last = static_cast<std::int64_t>(end - i) - together;
      if (last < 0) continue;
      for (std::size_t k = i; k < end; ++k) {
        const auto c = static_cast<std::int64_t>(k - i);
        columns_[loads[k].second] = narrow<int>(c - std::min(c / together * together, last));
      }
    }
  }

  // Column number `c` of a part of each lane's row. The LOADs of the other columns make the same nodes.
  Id column(Id id, std::span<const Id> x, int c) {
    const DType d = g_.dtype(id);
    const std::int64_t stride = g_.stride(x[1]);
    const int lanes = g_.lanes(id), n = register_lanes(d, lanes), together = columns_together(n, bytes(d));
    LinearIndex at = linear_index(g_, g_.operand(x[1]));
    at.constant -= c;
    std::vector<Id> parts;
    for (int first = 0; first < lanes; first += n) {
      std::vector<Id> rows;
      for (int row = 0; row < n; ++row, at.constant += stride) rows.push_back(row_part(id, x, at, together));
      parts.push_back(nth(columns_of_rows(g_, rows), c));
    }
    std::vector<std::int64_t> all;
    for (int i = 0; i < lanes; ++i) all.push_back(i);
    return shuffle(d, parts, all);
  }

  Id row_part(Id id, std::span<const Id> x, const LinearIndex& at, int elements) {
    const DType d = g_.dtype(id);
    std::vector<Id> s{x[0], ramp(g_, make_index(g_, at), 1, elements)};
    if (x.size() > 2) {
      s.push_back(g_.constant(d, static_cast<std::uint64_t>(g_.value(x[2])), elements));
      s.push_back(g_.make(Op::BROADCAST, DType::boolean, {g_.operand(x[3])}, {}, {}, elements));
    }
    return g_.make(Op::LOAD, d, s, g_.args(id), g_.name(id), elements);
  }

  Id shuffle(DType d, std::vector<Id> vectors, std::vector<std::int64_t> lanes) {
    const int n = count_of(lanes);
    if (vectors.size() == 1 && g_.lanes(vectors[0]) == n && std::ranges::is_sorted(lanes)) return vectors[0];
    return g_.make(Op::SHUFFLE, d, vectors, lanes, {}, n);
  }

  Id load(Id id, std::span<const Id> x, const Extent& extent) {
    const LinearIndex base = linear_index(g_, g_.operand(x[1]));
    const std::int64_t stride = g_.stride(x[1]);
    const int lanes = g_.lanes(id), n = register_lanes(g_.dtype(id), lanes);
    std::vector<Id> parts;
    for (int first = 0; first < lanes; first += n) {
      LinearIndex at = base;
      at.constant += first * stride;
      parts.push_back(load_part(id, x, at, {stride, first, n, extent}));
    }
    std::vector<std::int64_t> all;
    for (int i = 0; i < lanes; ++i) all.push_back(i);
    return shuffle(g_.dtype(id), parts, all);
  }

  // Lanes first .. first + lanes - 1 of an access. Element 0 is the first one that any access of the group uses in lane
  // `first`.
  struct Part {
    std::int64_t stride, first;
    int lanes;
    Extent extent;
  };

  // The last vector ends at the last element, because memory behind it may be invalid.
  Id load_part(Id id, std::span<const Id> x, LinearIndex at, const Part& p) {
    const std::int64_t elements = p.extent.before + p.extent.after + p.stride * (p.lanes - 1) + 1;
    at.constant -= p.extent.before;
    const std::int64_t start = at.constant, last = elements - p.lanes;
    std::vector<Id> vectors;
    for (std::int64_t first = 0; first < elements; first += p.lanes) {
      const std::int64_t begin = std::min(first, last);
      at.constant = start + begin;
      std::vector<Id> s{x[0], ramp(g_, make_index(g_, at), 1, p.lanes)};
      if (x.size() > 2) {
        s.push_back(g_.constant(g_.dtype(id), static_cast<std::uint64_t>(g_.value(x[2])), p.lanes));
        s.push_back(gate(x[3], begin, p));
      }
      vectors.push_back(g_.make(Op::LOAD, g_.dtype(id), s, g_.args(id), g_.name(id), p.lanes));
    }
    if (std::ssize(vectors) == p.stride && elements == p.stride * p.lanes)
      return component_of(g_, vectors, narrow<int>(p.extent.before), target_);
    std::vector<std::int64_t> from;
    for (int i = 0; i < p.lanes; ++i) {
      const std::int64_t position = p.extent.before + i * p.stride, vector = position / p.lanes;
      const std::int64_t begin = std::min(vector * p.lanes, last);
      from.push_back(vector * p.lanes + position - begin);
    }
    return shuffle(g_.dtype(id), vectors, from);
  }

  // The gate of the elements from number `begin` on. An element that a lane reads has the lane's condition. An element that no
  // lane reads has the conditions of both lanes beside it. So the vector reads nothing before the first active lane and nothing
  // behind the last active lane.
  Id gate(Id lanes, std::int64_t begin, const Part& p) {
    const std::int64_t widest = p.extent.before + p.extent.after;  // from the first to the last element of one lane
    std::vector<std::int64_t> before, behind;                      // the lane that reads the element, or the lanes beside it
    for (std::int64_t element = begin; element < begin + p.lanes; ++element) {
      before.push_back(p.first + element / p.stride);
      behind.push_back(p.first + (std::max(element - widest, std::int64_t{0}) + p.stride - 1) / p.stride);
    }
    return condition_of_both(g_, lanes, before, behind);
  }

  Id loop(Id id, std::span<const Id> x) {
    const auto values = x.first(3 + 2 * g_.slot(id)), old = x.subspan(values.size());
    std::vector<Id> s(values.begin(), values.end());
    for (std::size_t i = 3 + g_.slot(id); i < s.size(); ++i) s[i] = chained(s[i], x);
    const std::vector<Id> effects = stores(old, x);
    s.insert(s.end(), effects.begin(), effects.end());
    return g_.with_src(id, s);
  }

  // Replaces STOREs in the chain of states that ends at `last`. users: all nodes that may load from them, or nodes above.
  Id chained(Id last, std::span<const Id> users) {
    std::vector<Id> chain;
    Id state = last;
    for (; g_.op(state) == Op::STORE && !names_memory(g_, state); state = g_.state(state)) chain.push_back(state);
    if (chain.size() < 2) return last;
    std::ranges::reverse(chain);
    std::unordered_map<Id, int> uses;
    for (const Id id : g_.reachable(users)) {
      // A LOAD from a state in the chain needs the STOREs as they are.
      if (g_.op(id) == Op::LOAD && std::ranges::find(chain, g_.state(id)) != chain.end()) return last;
      for (const Id s : g_.src(id)) ++uses[s];
    }
    for (std::size_t i = 0; i < chain.size();) {
      const std::vector<Id> components = components_at(std::span(chain).subspan(i), uses);
      if (components.empty()) {
        std::vector<Id> s = g_.sources(chain[i++]);
        s[0] = state;
        state = g_.with_src(chain[i - 1], s);
        continue;
      }
      for (const Id made : store(components, state)) state = made;
      i += components.size();
    }
    return state;
  }

  // The first STOREs of the chain, if they store all components of the same rows; in the order of memory. Else empty.
  // Nothing loads from the states between them.
  std::vector<Id> components_at(std::span<const Id> chain, const std::unordered_map<Id, int>& uses) {
    const std::optional<Place> first = place_of(g_, chain[0]);
    if (!first) return {};
    const auto stride = static_cast<std::size_t>(std::get<1>(first->key));
    if (chain.size() < stride) return {};
    std::vector<std::pair<std::int64_t, Id>> places;
    for (const Id id : chain.first(stride)) {
      const std::optional<Place> p = place_of(g_, id);
      if (!p || p->key != first->key || (id != chain[stride - 1] && uses.at(id) != 1)) return {};
      places.emplace_back(p->offset, id);
    }
    return in_order(first->key, places);
  }

  // The STOREs of all components of the same rows in the order of memory; empty: some are missing, or shuffles cost more.
  std::vector<Id> in_order(const Key& key, std::span<std::pair<std::int64_t, Id>> places) const {
    const auto& [state, stride, lanes, dtype, terms, gate] = key;
    std::ranges::sort(places);
    std::vector<Id> out;
    for (std::size_t i = 0; i < places.size(); ++i)
      if (places[i].first == places[0].first + static_cast<std::int64_t>(i)) out.push_back(places[i].second);
    const bool whole = std::ssize(out) == stride && out.size() == places.size();
    return whole && pays(stride, out.size(), dtype, register_lanes(dtype, lanes)) ? out : std::vector<Id>{};
  }

  // The STOREs of an equal key as parts of as many as the stride has elements, which follow each other. Several parts may store
  // the same rows, as a last vector does that overlaps with the one before it.
  static std::vector<std::span<std::pair<std::int64_t, Id>>> rows_of(const Key& key,
                                                                     std::span<std::pair<std::int64_t, Id>> places) {
    std::vector<std::span<std::pair<std::int64_t, Id>>> out;
    const auto stride = static_cast<std::size_t>(std::get<1>(key));
    for (; places.size() >= stride; places = places.subspan(stride)) out.push_back(places.first(stride));
    return places.empty() ? out : decltype(out){};
  }

  // Replaces the STOREs of all components of the same rows. The new STOREs are at the place of the last old one.
  std::vector<Id> stores(std::span<const Id> old, std::span<const Id> users) {
    std::vector<Id> effects;
    for (const Id e : old) effects.push_back(chained(e, users));
    std::map<Key, std::vector<std::pair<std::int64_t, Id>>> found;
    for (const Id e : effects)
      if (g_.op(e) == Op::STORE && g_.op(g_.state(e)) == Op::BUFFER)
        if (const auto p = place_of(g_, e)) found[p->key].emplace_back(p->offset, e);
    std::map<std::size_t, std::vector<Id>> instead;
    for (auto& [key, places] : found)
      for (const std::span<std::pair<std::int64_t, Id>> rows : rows_of(key, places)) {
        const std::vector<Id> components = in_order(key, rows);
        if (components.empty()) continue;
        std::size_t last = 0;
        for (const Id c : components) {
          const std::size_t at = index_at(effects, std::ranges::find(effects, c));
          last = std::max(last, at);
          instead[at];
        }
        instead[last] = store(components, no_id);
      }
    std::vector<Id> out;
    for (std::size_t i = 0; i < effects.size(); ++i)
      if (const auto it = instead.find(i); it == instead.end())
        out.push_back(effects[i]);
      else
        out.insert(out.end(), it->second.begin(), it->second.end());
    return out;
  }

  // state: the state before the STOREs in a chain; no_id: they are effects in their order.
  std::vector<Id> store(const std::vector<Id>& components, Id state) {
    const Id index = index_of(g_, components[0]), buffer = g_.state(components[0]);
    const DType d = g_.dtype(value_of(g_, components[0]));
    const int stride = count_of(components);
    const int lanes = g_.lanes(index), n = register_lanes(d, lanes);
    LinearIndex at = linear_index(g_, g_.operand(index));
    std::vector<Id> out;
    for (int first = 0; first < lanes; first += n) {
      std::vector<Id> parts;
      for (const Id c : components) parts.push_back(part(value_of(g_, c), first, n));
      const std::vector<Id> vectors = in_rows(g_, parts, target_);
      for (int k = 0; k < stride; ++k, at.constant += n) {
        const Id place = ramp(g_, make_index(g_, at), 1, n);
        const Id before = state == no_id ? buffer : out.empty() ? state : out.back();
        std::vector<Id> s{before, place, nth(vectors, k)};
        if (g_.src(components[0]).size() > 3)
          s.push_back(gate(g_.src(components[0], 3), k * n, {stride, first, n, {.after = stride - 1}}));
        out.push_back(g_.make(Op::STORE, DType::none, s, g_.args(components[0])));
      }
    }
    return out;
  }

  Id part(Id value, int first, int lanes) {
    std::vector<std::int64_t> from;
    for (int i = 0; i < lanes; ++i) from.push_back(first + i);
    return shuffle(g_.dtype(value), {value}, from);
  }

  Graph& g_;
  const Target& target_;
  std::unordered_map<Id, Extent> extents_;  // by LOAD
  std::unordered_map<Id, int> columns_;     // by LOAD: its place among the columns that are loaded together
};

}  // namespace

double interleaved_cost(std::int64_t stride, std::int64_t components, DType d, int lanes) {
  if (stride < 2 || stride > most_components || lanes < 2) return std::numeric_limits<double>::infinity();
  return cost_of(stride, static_cast<std::size_t>(components), d) / static_cast<double>(components) / lanes;
}

Id interleaved_access(Graph& g, Id sink, const Target& target) { return Interleaving(g, sink, target).run(sink); }

}  // namespace kiln::compiler
