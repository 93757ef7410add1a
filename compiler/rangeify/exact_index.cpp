#include "compiler/rangeify/exact_index.h"

#include <bit>
#include <limits>
#include <optional>
#include <vector>

#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

// Values of the dtype that bounds can tell: those of u64 above 2^62 count as unbounded.
Interval values_of(DType d) {
  if (bits(d) == 64) return is_signed_int(d) ? Interval{-unbounded + 1, unbounded - 1} : Interval{0, unbounded - 1};
  const std::int64_t half = std::int64_t{1} << (bits(d) - 1);
  return is_signed_int(d) ? Interval{-half, half - 1} : Interval{0, 2 * half - 1};
}

class Exact {
 public:
  Exact(Graph& g, const Facts& facts) : g_(g), simplify_(g, facts) {}

  Id run(Id sink) {
    const Id roots[] = {sink};
    const SourceLoc saved = g_.loc();
    const std::vector<Id> order = g_.reachable(roots);
    if (order.empty()) return sink;
    exact_.assign(order.back() + 1, no_id);
    done_.assign(order.back() + 1, no_id);
    for (const Id id : order) {
      g_.set_loc(g_.loc(id));
      done_[id] = rebuilt(id);
      if (is_int(g_.dtype(id))) exact_[id] = fitting(value(id), g_.dtype(id));
    }
    g_.set_loc(saved);
    return done_[sink];
  }

 private:
  Id rebuilt(Id id) {
    std::vector<Id> src(g_.src(id).begin(), g_.src(id).end());
    for (Id& s : src) s = done_[s];
    const bool position = g_.op(id) == Op::CAST && g_.dtype(id) == DType::index;
    if (position && exact_[g_.src(id, 0)] != no_id) return exact_[g_.src(id, 0)];
    const Id made = g_.with_src(id, src);
    return g_.dtype(id) == DType::index && made != id ? simplify_(made) : made;
  }

  Id fitting(Id candidate, DType d) {
    if (candidate == no_id) return no_id;
    const Interval have = simplify_.bounds()(candidate), may = values_of(d);
    return have.min >= may.min && have.max <= may.max ? candidate : no_id;
  }

  Id make(Op op, Id a, Id b) { return a == no_id || b == no_id ? no_id : simplify_(g_.make(op, DType::index, {a, b})); }
  bool nonnegative(Id index) { return index != no_id && simplify_.bounds()(index).min >= 0; }

  // The integer as index arithmetic if none of its operands has wrapped; the operation itself still may.
  Id value(Id id) {
    const Op op = g_.op(id);
    const auto of = [&](std::size_t i) { return exact_[g_.src(id, i)]; };
    switch (op) {
      case Op::CONST: return constant(id);
      case Op::CAST: return g_.dtype(g_.src(id, 0)) == DType::index ? done_[g_.src(id, 0)] : of(0);
      case Op::NEG: return make(Op::SUB, g_.index(0), of(0));
      case Op::ADD:
      case Op::SUB:
      case Op::MUL:
      case Op::MIN:
      case Op::MAX:
      case Op::FLOORDIV:
      case Op::FLOORMOD: return make(op, of(0), of(1));
      case Op::CDIV: return nonnegative(of(0)) && nonnegative(of(1)) ? make(Op::FLOORDIV, of(0), of(1)) : no_id;
      case Op::CMOD: return nonnegative(of(0)) && nonnegative(of(1)) ? make(Op::FLOORMOD, of(0), of(1)) : no_id;
      case Op::SHL: return shifted(id, Op::MUL);
      case Op::SHR: return shifted(id, Op::FLOORDIV);
      case Op::AND: return low_bits(id);
      default: return no_id;
    }
  }

  Id constant(Id id) const {
    const std::int64_t v = g_.arg(id, 0);
    return !is_signed_int(g_.dtype(id)) && v < 0 ? no_id : g_.index(v);
  }

  Id shifted(Id id, Op op) {
    const Id count = g_.src(id, 1);
    if (!g_.is_const(count)) return no_id;
    const std::int64_t n = g_.arg(count, 0) & (bits(g_.dtype(id)) - 1);
    return n > 32 ? no_id : make(op, exact_[g_.src(id, 0)], g_.index(std::int64_t{1} << n));
  }

  // x & (2^k - 1) is the remainder by 2^k.
  Id low_bits(Id id) {
    for (const std::size_t i : {0U, 1U}) {
      const Id mask = g_.src(id, i);
      if (!g_.is_const(mask) || g_.arg(mask, 0) < 1 || g_.arg(mask, 0) > std::numeric_limits<std::int32_t>::max()) continue;
      if (std::has_single_bit(static_cast<std::uint64_t>(g_.arg(mask, 0)) + 1))
        return make(Op::FLOORMOD, exact_[g_.src(id, 1 - i)], g_.index(g_.arg(mask, 0) + 1));
    }
    return no_id;
  }

  Graph& g_;
  Simplifier simplify_;
  std::vector<Id> exact_;  // by node: an integer as index arithmetic
  std::vector<Id> done_;
};

}  // namespace

void exact_index(Graph& g, Program& p) {
  const Facts facts = facts_of(p);
  p.sink = Exact(g, facts).run(p.sink);
}

}  // namespace kiln::compiler
