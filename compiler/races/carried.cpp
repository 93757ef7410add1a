#include "compiler/races/carried.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "compiler/symbolic/known.h"

namespace kiln::compiler {

using namespace symbolic;

namespace {

bool is_narrow(DType d) { return is_int(d) && bits(d) <= 32; }
bool is_within(Interval inner, Interval outer) { return inner.min >= outer.min && inner.max <= outer.max; }

class Iteration {
 public:
  Iteration(const Graph& g, Id carry, Interval assumed) : g_(g) { known_.emplace(carry, known_interval(assumed)); }

  Interval operator()(Id root) {
    std::vector<Id> stack{root};
    while (!stack.empty()) {
      const Id id = stack.back();
      const std::size_t before = stack.size();
      if (!known_.contains(id) && is_followed(id))
        for (const Id s : g_.src(id))
          if (!known_.contains(s)) stack.push_back(s);
      if (stack.size() != before) continue;
      stack.pop_back();
      if (!known_.contains(id)) {
        const Known k = made(id);
        known_.emplace(id, k);
      }
    }
    return known_.at(root).interval;
  }

 private:
  bool is_followed(Id id) const {
    if (!is_narrow(g_.dtype(id))) return false;
    switch (g_.op(id)) {
      case Op::ADD:
      case Op::SUB:
      case Op::MUL:
      case Op::CDIV:
      case Op::CMOD:
      case Op::FLOORDIV:
      case Op::FLOORMOD:
      case Op::MIN:
      case Op::MAX:
      case Op::AND:
      case Op::WHERE: return true;
      case Op::SHR: {
        const Id count = g_.src(id, 1);
        return g_.is_const(count) && g_.value(count) >= 0 && g_.value(count) < bits(g_.dtype(id));
      }
      case Op::CAST: return is_narrow(g_.dtype(g_.operand(id)));
      default: return false;
    }
  }

  // The possible values of a node whose sources are known. A result that may not fit its type may wrap to any value.
  Known made(Id id) const {
    const Known all = known_dtype(g_.dtype(id));
    if (!is_narrow(g_.dtype(id))) return all;
    if (g_.op(id) == Op::CONST) return known_constant(g_.value(id));
    if (!is_followed(id)) return all;
    std::vector<Known> src;
    for (const Id s : g_.src(id)) src.push_back(known_.at(s));
    const Known k = g_.op(id) == Op::CAST ? src[0] : known_result(g_.op(id), false, src);
    return is_within(k.interval, all.interval) ? k : all;
  }

  const Graph& g_;
  std::unordered_map<Id, Known> known_;
};

}  // namespace

Interval carried_interval(const Graph& g, Id carry, Interval init, Id yield) {
  const Interval all = known_dtype(g.dtype(carry)).interval, assumed = unite(init, {0, 0});
  return is_within(assumed, all) && is_within(Iteration(g, carry, assumed)(yield), assumed) ? assumed : all;
}

}  // namespace kiln::compiler
