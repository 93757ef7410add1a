#include "compiler/lower/rows_side_by_side.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

#include "compiler/ir/power_of_two.h"
#include "compiler/ir/scopes.h"
#include "compiler/lower/access.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/rewrite.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

constexpr int light_row = 24;          // most operations of an iteration for which some rows fit registers
constexpr int few_operations = 3;      // of an iteration that needs few registers beside its accumulators
constexpr int rows_of_reductions = 4;  // rows side by side
constexpr std::int64_t beyond_caches = std::int64_t{16} << 20;  // bytes

// Contiguous LOADs over all rows.
struct Streams {
  std::int64_t bytes = 0;  // the most bytes that one LOAD reads, if the number and distance of its rows are constants
  Id unknown = no_id;      // a LOAD for which they are no constants
};

Streams streams_over(const Graph& g, std::span<const Id> stores, Id range) {
  Streams s;
  for (const Id id : g.reachable(stores)) {
    if (g.op(id) != Op::LOAD || access_of(g, id) != Access::contiguous) continue;
    const std::optional<std::int64_t> row = index_stride(g, g.operand(index_of(g, id)), range);
    std::int64_t elements = 0;
    if (row == 0) continue;
    if (!row || !g.is_const(g.end(range)))
      s.unknown = id;
    else if (!__builtin_mul_overflow(*row, g.value(g.end(range)), &elements))
      s.bytes = std::max(s.bytes, std::min(elements, beyond_caches) * bytes(g.dtype(id)));
  }
  return s;
}

// The number of operations in one iteration of a reduction's loop. Loops inside of it do not count. nullopt: the loop needs the
// result of another loop over the same row, as a variance needs the mean.
std::optional<int> operations_of(const Graph& g, const LoopParts& l) {
  int operations = 0;
  std::vector<Id> todo(l.yield.begin(), l.yield.end());
  std::unordered_set<Id> seen;
  while (!todo.empty()) {
    const Id id = todo.back();
    todo.pop_back();
    if (!seen.insert(id).second || g.op(id) == Op::CARRY) continue;
    if (is_elementwise(g.op(id)) && g.dtype(id) != DType::index) ++operations;
    if (g.op(id) != Op::GET)
      todo.insert(todo.end(), g.src(id).begin(), g.src(id).end());
    else if (!std::ranges::binary_search(g.reachable(std::vector{id}), l.range))
      return std::nullopt;
  }
  return operations;
}

}  // namespace

void rows_side_by_side(const Graph& g, std::span<const Id> stores, bool is_narrow, const Target& target, LoopPlan& plan) {
  int registers = 0;  // of the accumulators of one row
  int operations = 0;
  for (const Id id : g.reachable(stores)) {
    if (g.op(id) != Op::FOR) continue;
    const LoopParts l = loop_parts(g, id);
    const int here = operations_of(g, l).value_or(light_row + 1);
    if (l.conditional || here > light_row) return;
    operations = std::max(operations, here);
    int size = 0;
    for (const Id init : l.init) size += g.lanes(init) * bytes(g.dtype(init));
    registers = std::max(registers, size / target.vector_bytes);
  }
  if (registers == 0) return;
  if (!is_narrow) {
    const Streams s = streams_over(g, stores, plan.range);
    if (s.bytes < beyond_caches && s.unknown == no_id) return;
    if (s.bytes < beyond_caches) plan.streams = s.unknown;
  }
  const int fitting = operations <= few_operations ? target.vector_registers - 2 : target.vector_registers / 2;
  plan.step = std::clamp(fitting / registers, 1, rows_of_reductions);
}

Id is_beyond_caches(Graph& g, Id load, Id range, const Facts& facts) {
  const Id index = g.operand(index_of(g, load)), zero = g.index(0), one = g.index(1);
  const Id next = substitute(g, index, {{range, one}}), first = substitute(g, index, {{range, zero}});
  const Id distance = Simplifier(g, facts)(sub_index(g, next, first));
  if (std::ranges::any_of(g.reachable(std::vector{distance}), [&](Id id) { return g.op(id) == Op::RANGE; })) return one;
  const Id factors[] = {distance, g.end(range)};
  return product_reaches(g, factors, beyond_caches / bytes(g.dtype(load)));
}

}  // namespace kiln::compiler
