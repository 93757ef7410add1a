#include "compiler/codegen/fast_path.h"

#include <algorithm>

#include "compiler/ir/run_expression.h"
#include "compiler/symbolic/bounds.h"

namespace kiln::compiler {
namespace {

constexpr std::size_t most_arguments = 8, most_kernels = 24, most_axes = 16;
constexpr std::int64_t fast_extent = std::int64_t{1} << 32;

bool is_evaluable(Op op) { return op == Op::CONST || op == Op::SYM || expr_code(op); }

// The expressions that the fast path evaluates, and the largest values of symbols for which none of them can overflow.
class FastPath {
 public:
  FastPath(const Graph& g, const Schedule& schedule, std::span<const LoweredKernel> lowered) : g_(g), schedule_(schedule) {
    for (const Parameter& p : schedule.program.params) {
      expressions_.insert(expressions_.end(), p.extents.begin(), p.extents.end());
      axes_ += p.extents.size();
    }
    for (const LoweredKernel& l : lowered) expressions_.insert(expressions_.end(), {l.trip_count, l.work});
    for (const Buffer& b : schedule.buffers)
      if (b.offset != no_id) expressions_.push_back(b.offset);
    if (schedule.workspace_bytes != no_id) expressions_.push_back(schedule.workspace_bytes);
  }

  // nullopt: the program has no fast path.
  std::optional<Facts> find() {
    const Program& p = schedule_.program;
    if (!p.checks.empty() || !schedule_.loops.empty() || p.params.empty() || p.params.size() > most_arguments ||
        axes_ > most_axes || schedule_.kernels.size() > most_kernels || !every_symbol_is_an_extent())
      return std::nullopt;
    for (const int bits : {40, 31, 20, 15, 12, 10, 8})
      if (const Facts f = limited(std::int64_t{1} << bits); never_overflows(f)) return f;
    return std::nullopt;
  }

 private:
  bool every_symbol_is_an_extent() const {
    return std::ranges::all_of(schedule_.program.symbols, [&](const Symbol& s) {
      if (s.kind == Symbol::Kind::stride) return true;
      return std::ranges::any_of(schedule_.program.params, [&](const Parameter& p) {
        return std::ranges::any_of(p.extents, [&](Id e) { return g_.op(e) == Op::SYM && g_.name(e) == s.name; });
      });
    });
  }

  Facts limited(std::int64_t most) const {
    Facts f = facts_of(extents_of(schedule_.program));
    for (auto& [name, fact] : f.syms) fact.max = std::min(fact.max, most);
    return f;
  }

  bool never_overflows(const Facts& facts) const {
    Bounds bounds(g_, facts);
    const auto small = [](Interval i) { return i.min > -unbounded && i.max < unbounded; };
    for (const Id id : g_.reachable(expressions_)) {
      if (!is_evaluable(g_.op(id)) || !small(bounds(id))) return false;
      if ((g_.op(id) == Op::FLOORDIV || g_.op(id) == Op::FLOORMOD) && bounds(g_.src(id, 1)).min < 1) return false;
    }
    return std::ranges::all_of(facts.syms, [](const auto& s) { return s.second.min >= 0 && s.second.min <= s.second.max; }) &&
           std::ranges::all_of(schedule_.program.params, [&](const Parameter& p) {
             Interval size{bytes(p.dtype), bytes(p.dtype)};
             bool short_axes = true;
             for (const Id e : p.extents) {
               size = mul(size, bounds(e));
               short_axes = short_axes && bounds(e).max <= fast_extent;
             }
             return small(size) && (short_axes || p.free_strides == 0);
           });
  }

  const Graph& g_;
  const Schedule& schedule_;
  std::vector<Id> expressions_;
  std::size_t axes_ = 0;
};

// Whether an expression is 0 where the condition is 0.
class ZeroIf {
 public:
  ZeroIf(const Graph& g, Bounds& bounds, Id condition) : g_(g), bounds_(bounds), condition_(condition) {}

  bool operator()(Id e) const {
    if (e == condition_ || g_.is_index_const(e, 0)) return true;
    if (g_.src(e).size() != 2) return false;
    const auto [a, b] = g_.operands<2>(e);
    const auto is_zero_beside = [&](Id x, Id other) {
      return (*this)(x) && (g_.op(e) == Op::MIN ? bounds_(other).min >= 0 : bounds_(other).max <= 0);
    };
    switch (g_.op(e)) {
      case Op::MUL: return (*this)(a) || (*this)(b);
      case Op::ADD:
      case Op::SUB: return (*this)(a) && (*this)(b);
      case Op::FLOORDIV: return (*this)(a);
      case Op::MIN:
      case Op::MAX: return ((*this)(a) && (*this)(b)) || is_zero_beside(a, b) || is_zero_beside(b, a);
      default: return false;
    }
  }

 private:
  const Graph& g_;
  Bounds& bounds_;
  const Id condition_;
};

}  // namespace

KernelGroup kernel_group(const Graph& g, const Facts& facts, std::span<const LoweredKernel> lowered, std::size_t first) {
  Bounds bounds(g, facts);
  KernelGroup best{no_id, first + 1};
  for (const Id id : g.reachable(lowered[first].trip_count)) {
    if (g.op(id) != Op::MAX && g.op(id) != Op::MIN) continue;
    if (const Interval i = bounds(id); i.min < 0 || i.max > 1) continue;
    const ZeroIf is_zero(g, bounds, id);
    std::size_t end = first;
    while (end < lowered.size() && is_zero(lowered[end].trip_count)) ++end;
    if (end > first && (best.condition == no_id || end > best.end)) best = {id, end};
  }
  return best;
}

std::vector<Symbol> extents_of(const Program& p) {
  std::vector<Symbol> out;
  std::ranges::copy_if(p.symbols, std::back_inserter(out), [](const Symbol& s) { return s.kind == Symbol::Kind::extent; });
  return out;
}

std::optional<Facts> fast_path_facts(const Graph& g, const Schedule& schedule, std::span<const LoweredKernel> lowered) {
  return FastPath(g, schedule, lowered).find();
}

}  // namespace kiln::compiler
