#include "compiler/lower/narrow_integers.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/lower/rewrite.h"
#include "compiler/symbolic/value_bounds.h"

namespace kiln::compiler {
namespace {

bool is_wide(DType d) { return d == DType::i32 || d == DType::u32; }
bool is_narrow(DType d) { return d == DType::boolean || (is_int(d) && bits(d) <= 16); }

// Whether the operation has the same result in 16 bits, if all operands and the result fit.
bool keeps_value(const Graph& g, Id id) {
  const Op op = g.op(id);
  if (op == Op::CAST) return is_wide(g.dtype(g.operand(id))) || is_narrow(g.dtype(g.operand(id)));
  if (op == Op::REDUCE) return g.reduce_kind(id) == ReduceKind::sum || g.reduce_kind(id) == ReduceKind::fma;
  return op == Op::FMA || is_exact_arithmetic(op);
}

// Groups of 32-bit values that are operands of each other.
class Groups {
 public:
  Groups(const Graph& g, Id sink, const Facts& facts)
      : g_(g), indices_(g, facts), values_(g, indices_), nodes_(g.reachable(sink)) {
    for (const Id id : nodes_)
      if (is_member(id)) group_.emplace(id, id);
    for (const Id id : nodes_) visit(id);
    for (const auto& [id, parent] : group_) {
      Limits& l = limits_[find(id)];
      const Interval i = values_(id);
      include(l, i);
      l.has_narrow_source |= g_.op(id) == Op::CAST && is_narrow(g_.dtype(g_.operand(id)));
      l.operations += g_.op(id) == Op::CAST ? 0 : 1;
    }
  }

  // The 16-bit type of a value; nullopt: it stays.
  std::optional<DType> narrowed(Id id) {
    if (!group_.contains(id)) return std::nullopt;
    const Limits& l = limits_.at(find(id));
    if (!l.fits || !l.has_narrow_source || !l.has_narrow_user || l.operations == 0) return std::nullopt;
    if (l.values.min >= 0 && l.values.max <= 65535) return DType::u16;
    return fits_i16(l.values) ? std::optional(DType::i16) : std::nullopt;
  }

  ValueBounds& values() { return values_; }

 private:
  struct Limits {
    Interval values{0, 0};
    bool fits = true;  // all members and users keep their values
    bool has_narrow_source = false, has_narrow_user = false;
    int operations = 0;
  };

  // A constant belongs to no group: other kernels and groups may use it too.
  bool is_member(Id id) const { return is_wide(g_.dtype(id)) && g_.op(id) != Op::CONST; }

  static void include(Limits& l, Interval i) { l.values = {std::min(l.values.min, i.min), std::max(l.values.max, i.max)}; }

  Id find(Id id) {
    while (group_.at(id) != id) id = group_.at(id) = group_.at(group_.at(id));
    return id;
  }

  void join(Id a, Id b) {
    const Id x = find(a), y = find(b);
    if (x == y) return;
    const Limits &l = limits_[x], &m = limits_[y];
    Limits both{l.values, l.fits && m.fits, false, l.has_narrow_user || m.has_narrow_user, 0};
    include(both, m.values);
    group_[y] = x;
    limits_[x] = both;
  }

  // What the node means for the groups of its 32-bit operands and of itself.
  void visit(Id id) {
    const bool member = is_member(id), user = g_.op(id) == Op::CAST && is_narrow(g_.dtype(id)),
               compares = is_comparison(g_.op(id));
    const bool keeps = member ? keeps_value(g_, id) : user || compares;
    Id first = member ? id : no_id;
    if (member && !keeps) limits_[find(id)].fits = false;
    for (const Id s : g_.src(id)) {
      if (!is_wide(g_.dtype(s)) || g_.op(s) == Op::CONST) continue;
      if (first == no_id) first = s;
      join(first, s);
      Limits& l = limits_[find(s)];
      l.fits &= keeps;
      l.has_narrow_user |= user || compares;
    }
    if (first == no_id) return;
    Limits& l = limits_[find(first)];
    for (const Id s : g_.src(id))
      if (is_wide(g_.dtype(s)) && g_.op(s) == Op::CONST) include(l, values_(s));
    // A count of 16 and more means another shift in 16 bits.
    if (g_.op(id) == Op::SHL || g_.op(id) == Op::SHR) {
      const Interval count = values_(g_.src(id, 1));
      l.fits &= count.min >= 0 && count.max <= 15;
    }
  }

  const Graph& g_;
  Bounds indices_;
  ValueBounds values_;
  const std::vector<Id> nodes_;
  std::unordered_map<Id, Id> group_;
  std::unordered_map<Id, Limits> limits_;  // by the group's root
};

}  // namespace

Id narrow_integers(Graph& g, Id sink, const Facts& facts) {
  Groups groups(g, sink, facts);
  return rewrite(g, sink, [&](Id id, std::span<const Id> x) -> Id {
    if (g.op(id) == Op::CAST && g.dtype(x[0]) == g.dtype(id)) return x[0];  // to the type that the value has now
    std::optional<DType> d = groups.narrowed(id);
    const bool is_member = d.has_value();
    if (is_comparison(g.op(id)))
      for (const Id s : g.src(id))
        if (const std::optional<DType> of_operand = groups.narrowed(s)) d = of_operand;
    if (!d) return no_id;
    if (g.op(id) == Op::CAST) return g.dtype(x[0]) == *d ? x[0] : g.make(Op::CAST, *d, {x[0]});
    std::vector<Id> src(x.begin(), x.end());
    const std::vector<std::int64_t> args(g.args(id).begin(), g.args(id).end());
    for (Id& s : src)
      if (is_wide(g.dtype(s))) s = g.constant(*d, static_cast<std::uint64_t>(groups.values()(s).min));
    return g.make(g.op(id), is_member ? *d : g.dtype(id), src, std::span(args), {}, g.lanes(id));
  });
}

}  // namespace kiln::compiler
