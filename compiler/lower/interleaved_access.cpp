#include "compiler/lower/interleaved_access.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "compiler/ir/nth.h"
#include "compiler/lower/access.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/linear_index.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t longest_stride = 16;
constexpr std::int64_t farthest = std::int64_t{1} << 60;  // offsets up to here can be added without overflow
// Costs in instructions. element_cost: access to one element, and its move into a lane or out of a lane. shuffle_cost: each
// further register that a shuffle reads.
constexpr double element_cost = 1.5;
constexpr double shuffle_cost = 2;

// Of a LOAD whose lanes are all active or all inactive: the condition, and the value of inactive lanes. no_id: without a gate.
struct UniformGate {
  Id condition = no_id, inactive = no_id;
  auto operator<=>(const UniformGate&) const = default;
};

// nullopt: a gate that may differ from lane to lane.
std::optional<UniformGate> uniform_gate(const Graph& g, Id load) {
  if (g.src(load).size() == 2) return UniformGate{};
  const Id inactive = g.src(load, 2), gate = g.src(load, 3);
  if (g.op(gate) != Op::BROADCAST || !g.is_const(inactive)) return std::nullopt;
  return UniformGate{g.operand(gate), inactive};
}

// Accesses with equal keys have constant distances: state, stride, lanes, type, terms of the address. They have equal gates.
using Key = std::tuple<Id, std::int64_t, int, DType, std::map<Id, std::int64_t>, UniformGate>;
struct Place {
  Key key;
  std::int64_t offset = 0;
};

std::optional<Place> place_of(const Graph& g, Id access) {
  const bool is_load = g.op(access) == Op::LOAD;
  if (!is_load && (g.op(access) != Op::STORE || access_of(g, access) != Access::strided)) return std::nullopt;
  const std::optional<UniformGate> gate = is_load ? uniform_gate(g, access) : UniformGate{};
  if (!gate || g.op(index_of(g, access)) != Op::RAMP) return std::nullopt;
  const DType d = g.dtype(is_load ? access : value_of(g, access));
  const Id index = index_of(g, access);
  const std::int64_t stride = g.stride(index);
  if (stride < 2 || stride > longest_stride) return std::nullopt;
  const LinearIndex base = linear_index(g, g.operand(index));
  if (base.constant < -farthest || base.constant > farthest) return std::nullopt;  // outside of any tensor
  return Place{{g.state(access), stride, g.lanes(index), d, base.terms, *gate}, base.constant};
}

// Whether contiguous accesses and shuffles cost less than `n` strided accesses, with `lanes` lanes in a register.
bool pays(std::int64_t stride, std::size_t n, int lanes) {
  const auto s = static_cast<double>(stride), accesses = static_cast<double>(n);
  return lanes > 1 && s + shuffle_cost * accesses * (s - 1) < element_cost * accesses * lanes;
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
      if (g_.op(id) == Op::FOR) return loop(id, x);
      return g_.op(id) == Op::SINK ? g_.make(Op::SINK, DType::none, stores({x.begin(), x.end()})) : no_id;
    });
  }

 private:
  // The elements that the LOADs of a group read: from `before` elements before a LOAD's own first element to `after` elements
  // behind its last.
  struct Extent {
    std::int64_t before = 0, after = 0;
  };

  int register_lanes(DType d, int lanes) const { return std::min(lanes, target_.vector_bytes / bytes(d)); }

  // LOADs whose offsets differ by less than the stride read the same vectors.
  void group(const Key& key, std::vector<std::pair<std::int64_t, Id>>& loads) {
    const auto& [state, stride, lanes, dtype, terms, gate] = key;
    std::ranges::sort(loads);
    for (std::size_t i = 0, end = 0; i < loads.size(); i = end) {
      while (end < loads.size() && loads[end].first < loads[i].first + stride) ++end;
      if (!pays(stride, end - i, register_lanes(dtype, lanes))) continue;
      for (std::size_t k = i; k < end; ++k)
        extents_[loads[k].second] = {loads[k].first - loads[i].first, loads[end - 1].first - loads[k].first};
    }
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
    std::vector<Id> parts, gate;  // the LOADs' last operands
    if (x.size() > 2) {
      gate.push_back(g_.constant(g_.dtype(id), static_cast<std::uint64_t>(g_.value(x[2])), n));
      gate.push_back(g_.make(Op::BROADCAST, DType::boolean, {g_.operand(x[3])}, {}, {}, n));
    }
    for (int first = 0; first < lanes; first += n) {
      LinearIndex at = base;
      at.constant += first * stride;
      parts.push_back(load_part(id, x[0], at, gate, stride, n, extent));
    }
    std::vector<std::int64_t> all;
    for (int i = 0; i < lanes; ++i) all.push_back(i);
    return shuffle(g_.dtype(id), parts, all);
  }

  // The last vector ends at the last element, because memory behind it may be invalid.
  Id load_part(Id id, Id state, LinearIndex at, std::span<const Id> gate, std::int64_t stride, int lanes,
               const Extent& extent) {
    const std::int64_t elements = extent.before + extent.after + stride * (lanes - 1) + 1;
    at.constant -= extent.before;
    const std::int64_t start = at.constant, last = elements - lanes;
    std::vector<Id> vectors;
    for (std::int64_t first = 0; first < elements; first += lanes) {
      at.constant = start + std::min(first, last);
      std::vector<Id> s{state, ramp(g_, make_index(g_, at), 1, lanes)};
      s.insert(s.end(), gate.begin(), gate.end());
      vectors.push_back(g_.make(Op::LOAD, g_.dtype(id), s, g_.args(id), g_.name(id), lanes));
    }
    std::vector<std::int64_t> from;
    for (int i = 0; i < lanes; ++i) {
      const std::int64_t position = extent.before + i * stride, vector = position / lanes;
      const std::int64_t begin = std::min(vector * lanes, last);
      from.push_back(vector * lanes + position - begin);
    }
    return shuffle(g_.dtype(id), vectors, from);
  }

  Id loop(Id id, std::span<const Id> x) {
    const auto values = x.first(3 + 2 * g_.slot(id)), old = x.subspan(values.size());
    std::vector<Id> s(values.begin(), values.end());
    const std::vector<Id> effects = stores({old.begin(), old.end()});
    s.insert(s.end(), effects.begin(), effects.end());
    return g_.with_src(id, s);
  }

  // Replaces the STOREs of all components of the same rows. The new STOREs are at the place of the last old one.
  std::vector<Id> stores(const std::vector<Id>& effects) {
    std::map<Key, std::vector<std::pair<std::int64_t, std::size_t>>> found;
    for (std::size_t i = 0; i < effects.size(); ++i)
      if (g_.op(effects[i]) == Op::STORE && g_.op(g_.state(effects[i])) == Op::BUFFER)
        if (const auto p = place_of(g_, effects[i])) found[p->key].emplace_back(p->offset, i);
    std::map<std::size_t, std::vector<Id>> instead;
    for (auto& [key, places] : found) {
      const auto& [state, stride, lanes, dtype, terms, gate] = key;
      std::ranges::sort(places);
      const std::size_t n = places.size();
      const bool whole = std::ssize(places) == stride && places.back().first == places[0].first + stride - 1;
      if (!whole || !pays(stride, n, register_lanes(dtype, lanes))) continue;
      std::size_t last = 0;
      std::vector<Id> components;
      for (const auto& [offset, i] : places) {
        last = std::max(last, i);
        components.push_back(effects[i]);
        instead[i];
      }
      instead[last] = store(components);
    }
    std::vector<Id> out;
    for (std::size_t i = 0; i < effects.size(); ++i)
      if (const auto it = instead.find(i); it == instead.end())
        out.push_back(effects[i]);
      else
        out.insert(out.end(), it->second.begin(), it->second.end());
    return out;
  }

  std::vector<Id> store(const std::vector<Id>& components) {
    const Id index = index_of(g_, components[0]), buffer = g_.state(components[0]);
    const DType d = g_.dtype(value_of(g_, components[0]));
    const int stride = count_of(components);
    const int lanes = g_.lanes(index), n = register_lanes(d, lanes);
    LinearIndex at = linear_index(g_, g_.operand(index));
    std::vector<Id> out;
    for (int first = 0; first < lanes; first += n) {
      std::vector<Id> parts;
      for (const Id c : components) parts.push_back(part(value_of(g_, c), first, n));
      for (int k = 0; k < stride; ++k, at.constant += n) {
        std::vector<std::int64_t> from;
        for (int i = k * n; i < (k + 1) * n; ++i) from.push_back((i % stride) * n + i / stride);
        const Id value = shuffle(d, parts, from);
        out.push_back(g_.make(Op::STORE, DType::none, std::vector<Id>{buffer, ramp(g_, make_index(g_, at), 1, n), value},
                              g_.args(components[0])));
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
};

}  // namespace

Id interleaved_access(Graph& g, Id sink, const Target& target) { return Interleaving(g, sink, target).run(sink); }

}  // namespace kiln::compiler
