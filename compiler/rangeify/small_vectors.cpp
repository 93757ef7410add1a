#include "compiler/rangeify/small_vectors.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/index_poly.h"
#include "compiler/ir/kernel_body.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/reduce_identity.h"
#include "compiler/ir/regions.h"
#include "compiler/ir/rewrite_in_order.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/shapes.h"
#include "compiler/rangeify/small_reduce.h"

namespace kiln::compiler {
namespace {

using Extents = std::vector<std::int64_t>;

std::size_t count(const Extents& e) {
  std::size_t n = 1;
  for (const std::int64_t x : e) n *= narrow<std::size_t>(x);
  return n;
}

// Row-major order: the indices of a linear index, and the linear index of indices.
Extents place(std::size_t flat, const Extents& extents) {
  Extents at(extents.size());
  auto rest = narrow<std::int64_t>(flat);
  for (std::size_t a = extents.size(); a-- > 0;) {
    at[a] = rest % extents[a];
    rest /= extents[a];
  }
  return at;
}
std::size_t flat(const Extents& at, const Extents& extents) {
  std::int64_t n = 0;
  for (std::size_t a = 0; a < extents.size(); ++a) n = n * extents[a] + at[a];
  return narrow<std::size_t>(n);
}

class Unrolling {
 public:
  Unrolling(Graph& g, Program& p) : g_(g), shapes_(g), p_(p) {}

  void run() {
    const Id roots[] = {p_.sink};
    const std::vector<Id> order = g_.reachable(roots);
    inside_ = inside_regions(g_, order);
    if (std::ranges::none_of(order, [&](Id id) { return is_small(id); })) return;
    const std::vector<Id> origins = state_origins(g_, roots);
    for (const Id id : order) {
      is_memory_.resize(id + 1);
      is_memory_[id] = memory(id, origins);
      if (g_.op(id) == Op::FOR) loop_of_[g_.range_of(id)] = id;
    }
    p_.sink = rewrite_in_order(g_, order, parts_, [&](Id id) { return rewritten(id); })[0];
  }

 private:
  using Parts = std::vector<Id>;

  // Whether the node is a value of rank 1 or more in the body of a KERNEL or FOR, and not a result of a write or a local array.
  bool is_small(Id id) {
    const DType d = g_.dtype(id);
    if (!inside_[id] || d == DType::index || d == DType::none || is_write(g_.op(id)) || g_.op(id) == Op::LOCAL) return false;
    return shapes_.rank(id) > 0;
  }

  // Whether the node is a state of memory: of a tensor that a KERNEL updates, or of a local array.
  bool memory(Id id, const std::vector<Id>& origins) {
    if (g_.dtype(id) == DType::index || g_.dtype(id) == DType::none || !inside_[id]) return false;
    const Id origin = origins[id];
    const Op op = g_.op(origin);
    if (op == Op::LOCAL) return true;
    return op == Op::CARRY && is_kernel_range(g_.range_of(origin));
  }
  bool is_kernel_range(Id range) {
    if (!ranges_known_) {
      ranges_known_ = true;
      for (const Id id : g_.reachable(p_.sink))
        if (g_.op(id) == Op::KERNEL)
          for (const Id r : kernel_parts(g_, id).ranges) kernel_ranges_[r] = true;
    }
    return kernel_ranges_.contains(range);
  }

  Extents extents(Id id) {
    Extents out;
    for (const Id e : shapes_.of(id)) {
      const auto v = index_value(g_, e);
      if (!v) fail(id);
      out.push_back(*v);
    }
    if (std::cmp_greater(count(out), max_small_elements)) fail(id);
    return out;
  }
  [[noreturn]] void fail(Id id) {
    throw Diagnostic("E-scope", where(g_, g_.loc(id)),
                     "expected tensors inside a kernel or loop to have constant extents and at most " +
                         std::to_string(max_small_elements) + " elements, got `" + std::string(name(g_.op(id))) + "`");
  }

  // Element k of a source. A scalar is every element.
  Id part(Id source, std::size_t k) {
    while (!inside_[source] && is_movement(g_.op(source)) && shapes_.rank(source) > 0) {
      const DType d = g_.dtype(source);
      std::tie(source, k) = moved(source, k);
      if (source == no_id) return g_.constant(d, 0);
    }
    const Parts& p = parts_.at(source);
    if (inside_[source] || g_.dtype(source) == DType::index || shapes_.rank(source) == 0) return p[p.size() == 1 ? 0 : k];
    if (g_.op(source) == Op::IOTA) return g_.make(Op::CAST, g_.dtype(source), {g_.index(k)});
    std::vector<Id> src{p[0]};  // a tensor from outside
    for (const std::int64_t i : place(k, extents(source))) src.push_back(g_.index(i));
    return g_.make(Op::INDEX, g_.dtype(source), src);
  }

  Parts plain(Id id) {
    std::vector<Id> src;
    for (const Id s : g_.src(id)) src.push_back(part(s, 0));
    return {g_.with_src(id, src)};
  }

  Parts whole(Id id) {  // a node outside of regions, or memory: no source is split
    std::vector<Id> src;
    for (const Id s : g_.src(id)) src.push_back(parts_.at(s)[0]);
    return {g_.with_src(id, src)};
  }

  Parts rewritten(Id id) {
    const Op op = g_.op(id);
    if (!inside_[id] && op != Op::KERNEL) return whole(id);
    if (op == Op::FOR) return loop(id);
    if (op == Op::CARRY || op == Op::GET) return carried(id);
    if (op == Op::INDEX) return element(id);
    if (is_memory_[id] || op == Op::KERNEL) return whole(id);
    if (is_elementwise(op)) return elementwise(id);
    if (op == Op::REDUCE) return reduce(id);
    if (op == Op::SCAN) return scan(id);
    if (is_movement(op)) return movement(id);
    return plain(id);
  }

  Parts elementwise(Id id) {
    if (g_.dtype(id) == DType::index) return plain(id);
    const std::size_t n = count(extents(id));
    Parts out;
    for (std::size_t k = 0; k < n; ++k) {
      std::vector<Id> src;
      for (const Id s : g_.src(id)) src.push_back(part(s, k));
      out.push_back(g_.with_src(id, src));
    }
    return out;
  }

  std::size_t width(Id value) { return is_memory_[value] || g_.dtype(value) == DType::index ? 1 : count(extents(value)); }

  // The first new slot of old slot i, in a loop that carries tensors element by element.
  std::size_t slot(Id loop, std::size_t i) {
    std::size_t at = 0;
    for (std::size_t k = 0; k < i; ++k) at += width(scope_inits(g_, loop)[k]);
    return at;
  }

  Parts carried(Id id) {
    const bool get = g_.op(id) == Op::GET;
    const Id range = get ? no_id : g_.range_of(id);
    const Id loop = get ? g_.scope(id) : loop_of_.contains(range) ? loop_of_.at(range) : no_id;
    if (loop == no_id || g_.op(loop) == Op::KERNEL) return whole(id);
    const auto i = g_.slot(id);
    const std::size_t first = slot(loop, i), n = width(get ? scope_inits(g_, loop)[i] : g_.src(id, 1));
    Parts out;
    for (std::size_t k = 0; k < n; ++k) {
      const Id of = parts_.at(get ? loop : range)[0];
      out.push_back(get ? g_.make(Op::GET, g_.dtype(id), {of}, {first + k})
                        : g_.make(Op::CARRY, g_.dtype(id), {of, entry_part(g_.src(id, 1), k)}, {first + k}));
    }
    return out;
  }
  Id entry_part(Id value, std::size_t k) { return is_memory_[value] ? parts_.at(value)[0] : part(value, k); }

  Parts loop(Id id) {
    const std::vector<Id> src = g_.sources(id);
    const auto n = g_.slot(id);
    std::vector<Id> out{parts_.at(src[0])[0], parts_.at(src[1])[0], parts_.at(src[2])[0]};
    for (std::size_t i = 3; i < 3 + 2 * n; ++i) {
      const std::size_t w = width(src[3 + (i - 3) % n]);
      for (std::size_t k = 0; k < w; ++k) out.push_back(entry_part(src[i], k));
    }
    std::vector<std::int64_t> args(g_.args(id).begin(), g_.args(id).end());
    args[0] = (std::ssize(out) - 3) / 2;
    return {g_.make(Op::FOR, DType::none, out, args)};
  }

  Parts reduce(Id id) {
    const ReduceKind kind = g_.reduce_kind(id);
    const std::vector<std::int64_t> axes(g_.args(id).begin() + 1, g_.args(id).end());
    const Id x = g_.data(id);
    Extents in = extents(x);
    Parts values;
    for (std::size_t k = 0; k < count(in); ++k) values.push_back(part(x, k));
    if (operands_of(kind) == 2) return sum_of_products(id, kind, axes);
    for (std::size_t i = axes.size(); i-- > 0;) {
      const DType result = i > 0 ? accumulation_dtype(g_.dtype(id)) : g_.dtype(id);
      values = over_axis(kind, result, values, in, g_.slot(id, i + 1));
    }
    return values;
  }

  Parts over_axis(ReduceKind kind, DType result, const Parts& values, Extents& in, std::size_t axis) {
    Extents out = in;
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(axis));
    Parts made;
    for (std::size_t k = 0; k < count(out); ++k) {
      Extents at = place(k, out);
      at.insert(at.begin() + static_cast<std::ptrdiff_t>(axis), 0);
      Parts line;
      for (; at[axis] < in[axis]; ++at[axis]) line.push_back(values[flat(at, in)]);
      made.push_back(small_reduce(g_, kind, axis + 1 == in.size(), result, line));
    }
    in = out;
    return made;
  }

  Parts scan(Id id) {
    const auto axis = g_.slot(id, 1);
    const bool reversed = g_.arg(id, 3) != 0;
    const Extents in = extents(id);
    Parts made(count(in));
    for (std::size_t k = 0; k < count(in); ++k) {
      Extents at = place(k, in);
      if (at[axis] != 0) continue;
      std::vector<std::size_t> line;
      for (; at[axis] < in[axis]; ++at[axis]) line.push_back(flat(at, in));
      if (reversed) std::ranges::reverse(line);
      Parts values;
      for (const std::size_t i : line) values.push_back(part(g_.data(id), i));
      const Parts results = small_scan(g_, g_.scan_kind(id), g_.arg(id, 2) != 0, g_.dtype(id), values);
      for (std::size_t i = 0; i < line.size(); ++i) made[line[i]] = results[i];
    }
    return made;
  }

  Parts sum_of_products(Id id, ReduceKind kind, const std::vector<std::int64_t>& axes) {
    const auto [x, y] = g_.operands<2>(id);
    const Extents in = extents(x), out = extents(id);
    Extents inner;
    for (const std::int64_t a : axes) inner.push_back(nth(in, a));
    Parts made;
    for (std::size_t k = 0; k < count(out); ++k) {
      Parts a, b;
      for (std::size_t j = 0; j < count(inner); ++j) {
        Extents at = place(k, out);
        const Extents within = place(j, inner);
        for (std::size_t i = 0; i < axes.size(); ++i) at.insert(at.begin() + axes[i], within[i]);
        a.push_back(part(x, flat(at, in)));
        b.push_back(part(y, flat(at, in)));
      }
      if (a.empty())
        made.push_back(g_.constant(g_.dtype(id), 0));
      else
        made.push_back(kind == ReduceKind::dot ? small_dot(g_, a, b) : small_fma(g_, a, b));
    }
    return made;
  }

  Parts movement(Id id) {
    const Extents out = extents(id);
    Parts made;
    for (std::size_t k = 0; k < count(out); ++k) {
      const auto [source, at] = moved(id, k);
      made.push_back(source == no_id ? g_.constant(g_.dtype(id), 0) : part(source, at));
    }
    return made;
  }

  std::int64_t constant(Id index) const {
    const auto v = index_value(g_, index);
    if (!v)
      throw Diagnostic("E-scope", where(g_, g_.loc(index)), "expected constant offsets of a tensor inside a kernel or loop");
    return *v;
  }

  // The source of element k of a movement operation, and the index of the element there. no_id: the element is 0.
  std::pair<Id, std::size_t> moved(Id id, std::size_t k) {
    const Id x = g_.data(id);
    const Op op = g_.op(id);
    if (op == Op::RESHAPE) return {x, k};
    Extents at = place(k, extents(id));
    if (op == Op::CONCAT) return joined(id, std::move(at));
    const Extents in = extents(x);
    if (op == Op::SHEAR || op == Op::UNSHEAR) return sheared(id, std::move(at), in);
    Extents from(in.size());
    for (std::size_t a = 0; a < at.size(); ++a) {
      if (op == Op::PERMUTE) nth(from, g_.arg(id, a)) = at[a];
      if (op == Op::EXPAND) from[a] = in[a] == 1 ? 0 : at[a];
      if (op == Op::SLICE) from[a] = constant(g_.src(id, 1 + a)) + at[a] * g_.arg(id, a);
      if (op == Op::PAD) from[a] = at[a] - constant(g_.src(id, 2 + a));
    }
    const auto mode = op == Op::PAD ? g_.pad_mode(id) : PadMode::edge;
    for (std::size_t a = 0; a < from.size(); ++a) {
      const bool is_there = from[a] >= 0 && from[a] < in[a];
      if (!is_there && mode == PadMode::constant) return {g_.src(id, 1), 0};
      if (!is_there) from[a] = padded(mode, from[a], in[a]);
    }
    return {x, flat(from, in)};
  }

  std::pair<Id, std::size_t> sheared(Id id, Extents at, const Extents& in) const {
    std::int64_t& o = at[g_.slot(id, 1)];
    const std::int64_t by_tap = at[g_.slot(id, 0)] * g_.arg(id, 3), stride = g_.arg(id, 2);
    if (g_.op(id) == Op::SHEAR) {
      o = o * stride + by_tap;
    } else {
      const std::int64_t d = o - by_tap;
      if (d < 0 || d % stride != 0 || d / stride >= in[g_.slot(id, 1)]) return {no_id, 0};
      o = d / stride;
    }
    return {g_.data(id), flat(at, in)};
  }

  static std::int64_t padded(PadMode mode, std::int64_t i, std::int64_t n) {
    if (mode == PadMode::edge) return std::clamp<std::int64_t>(i, 0, n - 1);
    if (mode == PadMode::wrap) return ((i % n) + n) % n;
    const std::int64_t period = std::max<std::int64_t>(1, 2 * (n - 1)), m = ((i % period) + period) % period;
    return m < n ? m : period - m;
  }

  std::pair<Id, std::size_t> joined(Id id, Extents at) {
    const auto axis = g_.slot(id);
    const std::span<const Id> sources = g_.src(id);
    std::size_t i = 0;
    for (; at[axis] >= extents(sources[i])[axis]; ++i) at[axis] -= extents(sources[i])[axis];
    return {sources[i], flat(at, extents(sources[i]))};
  }

  // An element of a small tensor at an index that may be unknown: element 0, unless the index equals that of another element.
  Parts element(Id id) {
    const Id tensor = g_.data(id);
    if (is_memory_[tensor] || !inside_[tensor]) return whole(id);
    const Extents in = extents(tensor);
    Id value = part(tensor, 0);
    for (std::size_t k = 1; k < count(in); ++k) {
      const Extents at = place(k, in);
      Id here = no_id;
      for (std::size_t a = 0; a < at.size(); ++a) {
        const Id equal = g_.make(Op::EQ, DType::boolean, {parts_.at(g_.src(id, 1 + a))[0], g_.index(at[a])});
        here = here == no_id ? equal : g_.make(Op::AND, DType::boolean, {here, equal});
      }
      value = g_.make(Op::WHERE, g_.dtype(id), {here, part(tensor, k), value});
    }
    return {value};
  }

  Graph& g_;
  Shapes shapes_;
  Program& p_;
  std::vector<bool> inside_, is_memory_;
  bool ranges_known_ = false;
  std::unordered_map<Id, bool> kernel_ranges_;
  std::unordered_map<Id, Id> loop_of_;  // RANGE -> FOR
  std::unordered_map<Id, Parts> parts_;
};

}  // namespace

void small_vectors(Graph& g, Program& p) { Unrolling(g, p).run(); }

}  // namespace kiln::compiler
