#include "compiler/rangeify/kernel_over.h"

#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/nth.h"
#include "compiler/ir/regions.h"

namespace kiln::compiler {

Id kernel_over(Graph& g, Id kernel, const KernelBody& body, std::span<const Id> init, const std::function<Id(Id)>& storage) {
  const std::vector<Id> ranges(kernel_parts(g, kernel).ranges.begin(), kernel_parts(g, kernel).ranges.end());
  const std::vector<Id> final(kernel_parts(g, kernel).final.begin(), kernel_parts(g, kernel).final.end());
  std::unordered_map<Id, Id> done;
  std::unordered_set<Id> memory;  // states of the kernel and of local arrays; any other value that a loop carries is a number
  const auto at = [&](Id id) {
    if (const auto it = done.find(id); it != done.end()) return it->second;
    return g.make(Op::INDEX, g.dtype(id), {storage(id)});  // a rank-0 value from outside
  };
  for (const Id id : body.nodes) {
    std::vector<Id> src = g.sources(id);
    g.set_loc(g.loc(id));
    const bool at_entry = g.op(id) == Op::CARRY && src[0] == ranges[0];
    if (at_entry || g.op(id) == Op::LOCAL || memory.contains(continued_state(g, id))) memory.insert(id);
    if (g.op(id) == Op::INDEX && src.size() == 1 && done.contains(src[0]) && !memory.contains(src[0])) {
      done[id] = done.at(src[0]);  // the element of a number
      continue;
    }
    for (std::size_t i = 0; i < src.size(); ++i) {
      if (at_entry && i == 1)
        src[i] = nth(init, g.slot(id));
      else if (g.op(id) == Op::INDEX && i == 0 && !done.contains(src[0]))
        src[i] = storage(src[0]);
      else
        src[i] = at(src[i]);
    }
    done[id] = g.with_src(id, src);
  }
  std::vector<Id> src;
  for (const Id r : ranges) src.push_back(done.contains(r) ? done.at(r) : r);
  src.insert(src.end(), init.begin(), init.end());
  for (const Id f : final) src.push_back(done.at(f));
  return g.with_src(kernel, src);
}

}  // namespace kiln::compiler
