#include "compiler/rangeify/scalar_loops.h"

#include <algorithm>

#include "compiler/ir/nth.h"
#include "compiler/ir/scopes.h"
#include "compiler/rangeify/small_vectors.h"

namespace kiln::compiler {

ScalarLoops::ScalarLoops(Graph& g, std::span<const Id> order, const Regions& regions)
    : g_(g),
      regions_(regions),
      shapes_(g),
      scalar_(regions.list.size(), false),
      written_(regions.of.size(), false),
      memory_(regions.of.size()),
      loop_of_(regions.of.size(), no_id),
      origins_(state_origins(g, std::span(order).last(1))),
      taken_(regions.of.size(), false) {
  find_written(order);
  for (const Id id : order)
    if (g_.op(id) == Op::FOR) loop_of_[g_.range_of(id)] = id;
  for (std::size_t r = 1; r < regions.list.size(); ++r) {  // inner loops before outer ones
    const Region& region = regions.list[r];
    if (region.in_kernel || !slots(region.owner)) continue;
    scalar_[r] = std::ranges::all_of(region.nodes, [&](Id id) { return fits(id); }) &&
                 std::ranges::all_of(region.nodes, [&](Id id) { return uses(id); }) && hands_on(region.owner);
  }
}

bool ScalarLoops::is_large(Id id) {
  if (g_.dtype(id) >= DType::index) return false;
  std::int64_t n = 1;
  for (const Id e : shapes_.of(id)) n = g_.is_const(e) && n <= max_small_elements ? n * g_.value(e) : max_small_elements + 1;
  return n > max_small_elements;
}

void ScalarLoops::find_written(std::span<const Id> order) {
  for (std::size_t i = order.size(); i-- > 0;) {
    const Id id = order[i];
    if (is_write(g_.op(id))) written_[g_.state(id)] = true;
    if (!written_[id]) continue;
    if (g_.op(id) == Op::CARRY) written_[g_.src(id, 1)] = true;
    if (g_.op(id) == Op::GET && g_.op(g_.scope(id)) == Op::FOR) {
      const LoopParts l = loop_parts(g_, g_.scope(id));
      const auto slot = g_.slot(id);
      written_[l.init[slot]] = written_[l.yield[slot]] = true;
    }
  }
}

// Finds the slots in which a loop carries memory. False: the loop carries an index, or memory that changes its slot.
bool ScalarLoops::slots(Id loop) {
  const LoopParts l = loop_parts(g_, loop);
  auto& memory = memory_[loop];
  for (std::size_t k = 0; k < l.init.size(); ++k) memory.push_back(is_large(l.init[k]));
  for (const Id id : regions_.list[regions_.owned[loop]].nodes)
    if (g_.op(id) == Op::CARRY && g_.range_of(id) == l.range && written_[id]) nth(memory, g_.slot(id)) = true;
  for (std::size_t k = 0; k < l.init.size(); ++k)
    if (g_.dtype(l.init[k]) == DType::index || (memory[k] && !keeps_memory(loop, l.yield[k], k))) return false;
  return true;
}

bool ScalarLoops::keeps_memory(Id loop, Id next, std::size_t slot) const {
  while (regions_.of[next] == regions_.owned[loop]) {
    if (is_write(g_.op(next)))
      next = g_.state(next);
    else if (g_.op(next) == Op::GET && g_.op(g_.scope(next)) == Op::FOR)
      next = nth(scope_inits(g_, g_.scope(next)), g_.slot(next));
    else
      break;
  }
  return g_.op(next) == Op::CARRY && g_.range_of(next) == g_.range_of(loop) && g_.slot(next) == slot;
}

// The loop uses the state at the end of each iteration. False: another writer uses that state, or a slot without memory has it
// as a value.
bool ScalarLoops::hands_on(Id loop) {
  const LoopParts l = loop_parts(g_, loop);
  for (std::size_t k = 0; k < l.yield.size(); ++k) {
    if (!memory_[loop][k]) {
      if (is_state(l.yield[k])) return false;
      continue;
    }
    if (taken_[l.yield[k]]) return false;
    taken_[l.yield[k]] = true;
  }
  return true;
}

// Whether the node is a state of memory that the work items of the new kernel would share.
bool ScalarLoops::is_state(Id id) const { return regions_.of[id] != 0 && g_.op(origins_[id]) != Op::LOCAL && is_memory(id); }
bool ScalarLoops::is_memory(Id id) const {
  const Op op = g_.op(id);
  if (is_write(op) || op == Op::LOCAL) return true;
  if (op != Op::CARRY && (op != Op::GET || g_.op(g_.scope(id)) != Op::FOR)) return false;
  const auto& memory = memory_[op == Op::CARRY ? loop_of_[g_.range_of(id)] : g_.scope(id)];
  const auto slot = g_.slot(id);
  return slot < memory.size() && memory[slot];
}

bool ScalarLoops::fits(Id id) {
  if (g_.op(id) == Op::KERNEL || g_.op(id) == Op::GATHER || g_.op(id) == Op::STAGE) return false;
  if (g_.op(id) == Op::FOR) return is_scalar(id);
  return is_memory(id) || !is_large(id);
}

// The rules for states in a kernel: a state has one writer, and all reads of it are by element and before that writer. Nodes
// arrive in the region's order.
bool ScalarLoops::uses(Id id) {
  const Op op = g_.op(id);
  const auto src = g_.src(id);
  if (op == Op::FOR) return enters(id);
  if (is_write(op) && g_.op(origins_[src[0]]) != Op::LOCAL && !is_state(src[0])) return false;
  for (std::size_t i = 0; i < src.size(); ++i) {
    const Id s = src[i];
    if (!is_state(s) || op == Op::CARRY || op == Op::GET || op == Op::OLD) continue;
    if (i != 0 || (op != Op::INDEX && !is_write(op))) return false;
    if (is_write(op) ? !take(s, id) : !read(s, id)) return false;
  }
  return true;
}

// Memory that an inner loop carries must be a state of this region, and a state that enters a loop must be memory of the loop.
bool ScalarLoops::enters(Id loop) {
  const auto init = scope_inits(g_, loop);
  for (std::size_t k = 0; k < init.size(); ++k) {
    const bool is_local = g_.op(origins_[init[k]]) == Op::LOCAL;
    if (!is_local && is_state(init[k]) != memory_[loop][k]) return false;
    if (!is_local && memory_[loop][k] && !take(init[k], loop)) return false;
  }
  return true;
}

bool ScalarLoops::take(Id state, Id writer) {
  if (taken_[state] || regions_.of[state] != regions_.of[writer]) return false;
  return taken_[state] = true;
}
bool ScalarLoops::read(Id state, Id reader) const {
  const Id here = regions_.lifted(reader, regions_.of[state]);
  const bool carried = here != reader && std::ranges::find(scope_inits(g_, here), state) != scope_inits(g_, here).end();
  return !taken_[state] && !carried;
}

}  // namespace kiln::compiler
