#include "compiler/proof/independent_iterations.h"

#include <algorithm>
#include <map>
#include <vector>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/state.h"
#include "compiler/lower/access.h"
#include "compiler/symbolic/linear.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

// The accesses to one buffer.
struct Accesses {
  std::vector<Id> indices;  // indices of loads and stores
  bool stored = false, atomic = false;
};

std::map<std::size_t, Accesses> accesses_of(const Graph& g, Id sink) {
  std::map<std::size_t, Accesses> out;
  for (const Id id : g.reachable(sink)) {
    const Op op = g.op(id);
    if (op != Op::LOAD && op != Op::STORE && op != Op::ATOMIC) continue;
    const Id memory = memory_of(g, g.state(id));
    if (g.op(memory) == Op::LOCAL) continue;
    Accesses& a = out[g.slot(memory)];
    a.stored = a.stored || op == Op::STORE;
    a.atomic = a.atomic || op == Op::ATOMIC;
    if (op != Op::ATOMIC) a.indices.push_back(index_of(g, id));
  }
  return out;
}

class Blocks {
 public:
  Blocks(Graph& g, std::span<const Id> ranges, const Facts& facts)
      : g_(g), ranges_(ranges.begin(), ranges.end()), simplify_(g, facts) {}

  bool hold(const std::vector<Id>& indices) {
    std::vector<Id> order = ranges_;
    std::ranges::sort(order);
    do {
      if (hold_in(order, indices)) return true;
    } while (std::ranges::next_permutation(order).found);
    return false;
  }

 private:
  // order: an order of the axes; the last one has the smallest stride.
  bool hold_in(const std::vector<Id>& order, const std::vector<Id>& indices) {
    const std::int64_t size = coefficient(indices[0], order.back());
    if (size < 1) return false;
    Interval all{unbounded, -unbounded};
    for (const Id p : indices) {
      const Id rest = simplify_(g_.make(Op::SUB, DType::index, {p, scaled_number(order, size)}));
      for (const Id id : g_.reachable(rest))
        if (std::ranges::find(order, id) != order.end()) return false;
      const Interval i = simplify_.bounds()(rest);
      all = {std::min(all.min, i.min), std::max(all.max, i.max)};
    }
    return all.min > -unbounded && all.max < unbounded && all.max - all.min < size;
  }

  std::int64_t coefficient(Id linear, Id range) {
    const auto sum = symbolic::sum_of(g_, simplify_(linear));
    if (!sum) return 0;
    for (const Monomial& t : *sum)
      if (t.atoms.size() == 1 && t.atoms[0] == range) return t.coefficient;
    return 0;
  }

  Id scaled_number(const std::vector<Id>& order, std::int64_t size) {
    Id number = g_.index(0), stride = g_.index(size);
    for (std::size_t k = order.size(); k-- > 0;) {
      number = index_add(g_, index_mul(g_, order[k], stride), number);
      stride = index_mul(g_, stride, g_.end(order[k]));
    }
    return number;
  }

  Graph& g_;
  std::vector<Id> ranges_;
  Simplifier simplify_;
};

}  // namespace

bool iterations_are_independent(Graph& g, Id sink, std::span<const Id> ranges, const Facts& facts) {
  Blocks blocks(g, ranges, facts);
  for (const auto& [buffer, a] : accesses_of(g, sink)) {
    if (a.atomic && !a.indices.empty()) return false;
    if (a.stored && !ranges.empty() && !blocks.hold(a.indices)) return false;
  }
  return true;
}

}  // namespace kiln::compiler
