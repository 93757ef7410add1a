#include "compiler/rangeify/scalar_kernels.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/builder.h"
#include "compiler/ir/index_poly.h"
#include "compiler/ir/rewrite_in_order.h"
#include "compiler/ir/scopes.h"
#include "compiler/rangeify/scalar_loops.h"

namespace kiln::compiler {
namespace {

// A kernel with one work item, under construction.
struct ScalarKernel {
  Id range = no_id;
  std::vector<Id> init, final;
  std::map<std::size_t, std::size_t> state_of;  // by slot of the loop: number of the state
};

class Rewriter {
 public:
  Rewriter(Graph& g, const std::vector<Id>& order, Id sink)
      : g_(g), build_(g), order_(order), regions_(find_regions(g, std::span(&sink, 1))), loops_(g, order, regions_) {
    for (const Id id : order)
      if (g_.op(id) == Op::RANGE) ranges_ = std::max(ranges_, g_.range_number(id) + 1);
    for (const Id id : order)
      if (g_.op(id) == Op::FOR && stands_alone(id)) loop_of_[g_.range_of(id)] = id;
    for (const Id id : order)
      if (g_.op(id) == Op::GET && becomes_kernel(g_.scope(id))) wanted_[g_.scope(id)].push_back(g_.slot(id));
    find_kept_elements();
    done_.assign(order.back() + 1, no_id);
  }

  Id run() {
    return rewrite_in_order(g_, order_, done_, [&](Id id) { return rewritten(id); });
  }

 private:
  bool is_host(std::uint32_t region) const {
    return !regions_.list[region].in_kernel && (region == 0 || !loops_.is_scalar(regions_.list[region].owner));
  }
  bool stands_alone(Id loop) const { return is_host(regions_.of[loop]) && !is_host(regions_.owned[loop]); }

  bool becomes_kernel(Id scope) const { return g_.op(scope) == Op::FOR && loop_of_.contains(g_.range_of(scope)); }

  std::vector<Id> sources(Id id) const {
    std::vector<Id> out;
    for (const Id s : g_.src(id)) out.push_back(done_[s]);
    return out;
  }

  Id rewritten(Id id) {
    const Op op = g_.op(id);
    if (op == Op::CARRY && loop_of_.contains(g_.range_of(id))) return carry(id);
    if (becomes_kernel(id)) return loop(id);
    if (op == Op::GET && becomes_kernel(g_.scope(id)))
      return build_.get(done_[g_.scope(id)], kernels_.at(g_.scope(id)).state_of.at(g_.slot(id)));
    if (is_host(regions_.of[id]) && is_write(op)) return write(id);
    if (is_host(regions_.of[id]) && op == Op::INDEX && index_gate(g_, id).gate != no_id) return read(id);
    if (op == Op::OLD && old_.contains(g_.operand(id))) return old_.at(g_.operand(id));
    const Id same = g_.with_src(id, sources(id));
    return kept_.contains(id) ? build_.stage(same) : same;
  }

  // A kernel that changes a tensor would need a copy of the whole tensor if its work items loaded an element as it was before
  // the kernel. A buffer of one element is cheaper.
  void find_kept_elements() {
    std::vector<bool> is_changed(order_.back() + 1), in_kernel(order_.back() + 1);
    for (const Id id : order_)
      if (g_.op(id) == Op::KERNEL || g_.op(id) == Op::FOR || is_write(g_.op(id)) || g_.op(id) == Op::CARRY)
        for (const Id s : g_.src(id)) is_changed[s] = true;
    for (const Id id : order_ | std::views::reverse) {
      const bool inside = regions_.list[regions_.of[id]].in_kernel;
      if (!inside && !in_kernel[id]) continue;
      if (!inside && g_.op(id) == Op::INDEX && is_changed[g_.data(id)]) kept_.insert(id);
      if (inside || is_elementwise(g_.op(id)))
        for (const Id s : g_.src(id)) in_kernel[s] = true;
    }
  }

  Id one_work_item() { return build_.range(g_.index(1), ranges_++); }
  Id finish(const ScalarKernel& k) { return build_.kernel(std::span(&k.range, 1), k.init, k.final); }

  // Makes a new state of a number or small tensor.
  void keep(ScalarKernel& k, Id value) {
    const std::vector<Id> extents = build_.shape_of(value);
    k.init.push_back(build_.broadcast_to(g_.constant(g_.dtype(value), 0), extents));
    Id state = build_.carry(k.range, k.init.back(), k.init.size() - 1);
    if (extents.empty()) {
      k.final.push_back(build_.update(state, no_id, value, {}));
      return;
    }
    std::vector<Id> at(extents.size(), g_.index(0));
    for (std::size_t axis = 0; axis < extents.size();) {  // counts up, the first axis fastest
      if (axis == 0) state = build_.update(state, no_id, build_.element(value, at), at);
      const std::int64_t next = g_.value(at[axis]) + 1;
      const bool carries = next == g_.value(extents[axis]);
      at[axis] = g_.index(carries ? 0 : next);
      axis = carries ? axis + 1 : 0;
    }
    k.final.push_back(state);
  }

  // The kernel of a loop. The memory that the loop carries becomes states of the kernel.
  ScalarKernel& kernel_of(Id loop) {
    const auto [it, made] = kernels_.try_emplace(loop);
    ScalarKernel& k = it->second;
    if (!made) return k;
    k.range = one_work_item();
    const LoopParts l = loop_parts(g_, loop);
    std::size_t state = 0;
    for (std::size_t slot = 0; slot < l.init.size(); ++slot)
      if (loops_.is_memory(loop, slot)) k.state_of[slot] = state++;
    return k;
  }
  Id init_of(Id loop, std::size_t slot, Id outside) {
    ScalarKernel& k = kernel_of(loop);
    return k.state_of.contains(slot) ? build_.carry(k.range, outside, k.state_of.at(slot)) : outside;
  }

  Id carry(Id id) {
    const auto [range, outside] = g_.operands<2>(id);
    const Id init = init_of(loop_of_.at(range), g_.slot(id), done_[outside]);
    return g_.with_src(id, std::vector<Id>{done_[range], init});
  }

  Id loop(Id id) {
    ScalarKernel& k = kernel_of(id);
    std::vector<Id> src = sources(id);
    const std::size_t n = loop_parts(g_, id).init.size();
    for (const auto& [slot, state] : k.state_of) k.init.push_back(src[3 + slot]);
    for (std::size_t slot = 0; slot < n; ++slot) src[3 + slot] = init_of(id, slot, src[3 + slot]);
    if (k.state_of.empty()) src[1] = index_add(g_, src[1], k.range);  // adds 0, but puts the loop into the kernel's body
    const Id inside = g_.with_src(id, src);
    for (const auto& [slot, state] : k.state_of) k.final.push_back(build_.get(inside, slot));
    for (const std::size_t slot : wanted_[id]) {
      if (k.state_of.contains(slot)) continue;
      k.state_of[slot] = k.init.size();
      keep(k, build_.get(inside, slot));
    }
    return finish(k);
  }

  // A value of the kernel with elements of its state in place of the same elements of the tensor outside. A tensor with readers
  // outside of its kernel would need a copy.
  Id reading(Id state, Id outside, Id value) {
    std::set<Id> nodes;
    std::vector<Id> todo{value};
    while (!todo.empty()) {
      const Id id = todo.back();
      todo.pop_back();
      if (!nodes.insert(id).second || !is_elementwise(g_.op(id))) continue;
      todo.insert(todo.end(), g_.src(id).begin(), g_.src(id).end());
    }
    std::unordered_map<Id, Id> inside{{outside, state}};
    for (const Id id : nodes) {
      if (!is_elementwise(g_.op(id)) && (g_.op(id) != Op::INDEX || g_.data(id) != outside)) continue;
      std::vector<Id> src = g_.sources(id);
      for (Id& s : src)
        if (const auto at = inside.find(s); at != inside.end()) s = at->second;
      inside.try_emplace(id, g_.with_src(id, src));
    }
    const auto at = inside.find(value);
    return at == inside.end() ? value : at->second;
  }

  Id write(Id id) {
    std::vector<Id> src = sources(id);
    ScalarKernel k{one_work_item(), {src[0]}, {}, {}};
    const Id outside = src[0];
    src[0] = build_.carry(k.range, outside, 0);
    for (Id& s : std::span(src).subspan(1)) s = reading(src[0], outside, s);
    k.final.push_back(g_.with_src(id, src));
    if (g_.op(id) == Op::ATOMIC) keep(k, build_.old(k.final[0]));
    const Id kernel = finish(k);
    if (g_.op(id) == Op::ATOMIC) old_[id] = build_.get(kernel, 1);
    return build_.get(kernel, 0);
  }

  Id read(Id id) {
    ScalarKernel k{one_work_item(), {}, {}, {}};
    keep(k, g_.with_src(id, sources(id)));
    return build_.get(finish(k), 0);
  }

  Graph& g_;
  Builder build_;
  const std::vector<Id>& order_;
  const Regions regions_;
  const ScalarLoops loops_;
  std::int64_t ranges_ = 0;
  std::vector<Id> done_;
  std::unordered_map<Id, Id> loop_of_;                       // by RANGE: the loop that becomes a kernel
  std::unordered_map<Id, std::vector<std::size_t>> wanted_;  // by loop: slots that are used after it
  std::unordered_map<Id, ScalarKernel> kernels_;             // by loop
  std::unordered_set<Id> kept_;                              // INDEX nodes whose element kernels need as it was
  std::unordered_map<Id, Id> old_;                           // by ATOMIC: the value of the element before it
};

}  // namespace

void scalar_kernels(Graph& g, Program& p) {
  const std::vector<Id> order = g.reachable(p.sink);
  const auto is_element = [&](Id id) { return g.op(id) == Op::FOR || g.op(id) == Op::INDEX || is_write(g.op(id)); };
  if (std::ranges::any_of(order, is_element)) p.sink = Rewriter(g, order, p.sink).run();
}

}  // namespace kiln::compiler
