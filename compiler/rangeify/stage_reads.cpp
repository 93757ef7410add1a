#include "compiler/rangeify/stage_reads.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/ir/nth.h"
#include "compiler/ir/scopes.h"

namespace kiln::compiler {

StageReads::StageReads(const Graph& g, const Program& p) : g_(g), nest_of_(p.sink + 1, nullptr) {
  const std::vector<Id> nodes = g.reachable(p.sink);
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const Id id = nodes[i];
    const Nest* nest = nest_of_[id];
    if (g.op(id) == Op::SINK) nest = nest_with({}, {});
    if (nest == nullptr) continue;  // an extent
    hand_on(id, *nest);
    if (g.op(id) == Op::INDEX && g.op(g.data(id)) == Op::STAGE) reads_[g.data(id)].push_back(id);
  }
  for (auto& [stage, reads] : reads_) std::ranges::reverse(reads);
}

void StageReads::hand_on(Id node, const Nest& nest) {
  const auto src = g_.src(node);
  const Op op = g_.op(node);
  if (op == Op::RANGE || op == Op::PARAM) return;
  if (op == Op::KERNEL) {  // runs once, for all readers of its results
    const std::span<const Id> ranges = scope_ranges(g_, node);
    const Nest* own = nest_with({}, ranges);
    for (const Id s : src.subspan(ranges.size())) nest_of_[s] = own;
    return;
  }
  const bool opens = op == Op::END || op == Op::STAGE || op == Op::REDUCE;
  std::size_t values = src.size();
  while (opens && values > 1 && g_.op(src[values - 1]) == Op::RANGE) --values;
  const Nest* inside = !opens ? &nest : nest_with(op == Op::REDUCE ? nest : Nest{}, src.subspan(values));
  for (const Id s : src.first(values))
    if (const Nest*& had = nest_of_[s]; had == nullptr || had->size() < inside->size()) had = inside;
}

const StageReads::Nest* StageReads::nest_with(const Nest& outer, std::span<const Id> inner) {
  Nest n = outer;
  n.insert(n.end(), inner.begin(), inner.end());
  return &nests_.emplace(std::move(n), true).first->first;
}

const std::vector<Id>& StageReads::of(Id stage) const {
  const auto it = reads_.find(stage);
  return it == reads_.end() ? none_ : it->second;
}

std::vector<Id> StageReads::loops(Id read) const {
  const auto index = g_.src(read).subspan(1);
  const std::vector<Id> used = ranges_in(g_, index);
  Nest n = *nest_of_[read];
  // Threads may share the iterations of the outermost loop, so no value is computed once for all of them.
  const auto shared = std::ranges::find_if(n, [&](Id r) { return !g_.is_index_const(g_.end(r), 1); });
  const std::size_t fewest = shared == n.end() ? 0 : index_at(n, shared) + 1;
  while (n.size() > fewest && std::ranges::find(used, n.back()) == used.end()) n.pop_back();
  return n;
}

std::vector<Id> ranges_in(const Graph& g, std::span<const Id> roots) {
  std::vector<Id> todo(roots.begin(), roots.end()), found;
  std::unordered_set<Id> seen;
  while (!todo.empty()) {
    const Id id = todo.back();
    todo.pop_back();
    if (!seen.insert(id).second) continue;
    if (g.op(id) == Op::RANGE)
      found.push_back(id);
    else if (!is_storage(g, id))
      todo.insert(todo.end(), g.src(id).begin(), g.src(id).end());
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace kiln::compiler
