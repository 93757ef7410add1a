// The verifier's rules about RANGEs, declared in verify_kernels.h.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/nth.h"
#include "compiler/ir/open_ranges.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/verify_kernels.h"
#include "compiler/ir/verify_nodes.h"

namespace kiln::compiler {
namespace {

constexpr VerifyRule range_table[] = {
    {"K", "range-program", "ENDs of STOREs to parameters, over RANGEs; reductions over RANGEs of their kind"},
    {"K", "tensor-use", "a tensor is read by INDEX and written in KERNELs, with one index for each axis"},
    {"K", "range-scope", "a RANGE belongs to one FOR, one KERNEL, or to ENDs, STAGEs and REDUCEs"},
    {"K", "kernel-states", "a KERNEL takes STAGEs, and its final states come from the CARRY of their slot"},
};

Level level_in_ranges(Op op) {
  const bool other = op == Op::REDUCE || op == Op::SCAN || op == Op::STAGE || op == Op::RANGE || op == Op::INVALID;
  return other ? Level::kernel : Level::tensor;
}

class RangeVerifier {
 public:
  RangeVerifier(const Graph& g, const Program& p, Id sink)
      : g_(g),
        program_(p),
        sink_(sink),
        nodes_(g.reachable(std::span(&sink, 1))),
        open_(g),
        rank_(sink + 1),
        owner_(sink + 1, no_id) {}

  void check() {
    for (const Id end : g_.src(sink_)) check_end(end);
    for (const Id id : nodes_) {
      if (g_.op(id) != Op::END) check_node(g_, level_in_ranges(g_.op(id)), id);
      own(id);
    }
    for (const Id id : nodes_) {
      open_.visit(id);
      rank_[id] = rank(id);
      check_uses(id);
      if (is_scope(g_.op(id))) check_entry(id);
      if (g_.op(id) == Op::CARRY) check_carry(id);
      if (g_.op(id) == Op::KERNEL) check_kernel(id);
      if (g_.op(id) == Op::PARAM) check_param(id);
      for (const Id r : open_.of(id))
        if (owner_[r] != no_id && owner_[r] <= id)
          violated(g_, id, "range-scope", "a use inside node %" + std::to_string(owner_[r]) + ", or of what GET takes from it");
    }
    if (const auto& left = open_.of(sink_); !left.empty())
      violated(g_, left.front(), "ranges-ended", "an END of this RANGE on every path to the sink");
  }

 private:
  bool is_reduce_kind(Id range) const { return g_.range_kind(range) == RangeKind::reduce; }

  void check_end(Id end) const {
    const auto src = g_.src(end);
    const bool ok = g_.op(end) == Op::END && src.size() >= 2 && g_.op(src[0]) == Op::STORE &&
                    std::ranges::all_of(src.subspan(1), [&](Id r) { return g_.op(r) == Op::RANGE && !is_reduce_kind(r); });
    if (!ok) violated(g_, sink_, "range-program", "ENDs of a STORE to a parameter over its RANGEs");
    if (src.size() - 1 < g_.src(g_.state(src[0])).size())
      violated(g_, end, "range-program", "a RANGE for each axis of the parameter");
  }

  // Records the owner of the RANGEs that the node closes. RANGEs of a FOR or KERNEL have one owner. RANGEs that several ENDs,
  // STAGEs and REDUCEs may close count as owned by the sink.
  void own(Id id) {
    const auto closed = closed_ranges(g_, id);
    for (const Id r : closed) {
      const Id owner = is_scope(g_.op(id)) ? id : sink_;
      if (owner_[r] != no_id && (owner_[r] != owner || owner != sink_))
        violated(g_, id, "range-scope", "RANGEs that node %" + std::to_string(owner_[r]) + " does not have");
      owner_[r] = owner;
      if (g_.op(id) != Op::FOR && is_negative(g_, g_.end(r))) violated(g_, r, "range-end", "an end of at least 0");
      if ((g_.op(id) == Op::REDUCE) != is_reduce_kind(r))
        violated(g_, id, "range-program", "RANGEs of kind reduce in REDUCEs only");
    }
    if (g_.op(id) == Op::STORE && g_.op(g_.state(id)) != Op::PARAM) violated(g_, id, "range-program", "a STORE to a parameter");
  }

  // The number of axes of a tensor; nullopt: the node is a scalar, or not a value.
  std::optional<std::size_t> rank(Id id) const {
    const auto src = g_.src(id);
    switch (g_.op(id)) {
      case Op::PARAM: return src.size();
      case Op::STAGE:
      case Op::LOCAL: return src.size() - 1;
      case Op::UPDATE:
      case Op::ATOMIC: return rank_[src[0]];
      case Op::CARRY: return rank_[src[1]];
      case Op::GET: return rank_[nth(scope_inits(g_, src[0]), g_.slot(id))];
      default: return std::nullopt;
    }
  }

  static bool may_take_tensor(Op op, std::size_t i) {
    switch (op) {
      case Op::INDEX:
      case Op::UPDATE:
      case Op::ATOMIC:
      case Op::STORE:
      case Op::OLD: return i == 0;
      case Op::CARRY: return i == 1;
      case Op::KERNEL:
      case Op::FOR: return true;
      default: return false;
    }
  }

  void check_uses(Id id) const {
    const auto src = g_.src(id);
    const Op op = g_.op(id);
    for (std::size_t i = 0; i < src.size(); ++i) {
      if (rank_[src[i]] && !may_take_tensor(op, i))
        violated(g_, id, "tensor-use", "INDEX to read node %" + std::to_string(src[i]));
      if (owner_[src[i]] == sink_ && g_.op(src[i]) == Op::RANGE && op == Op::CARRY)
        violated(g_, id, "range-scope", "the RANGE of a FOR or KERNEL");
    }
    std::size_t first = 0;  // number of the first index among the sources
    if (op == Op::INDEX) first = 1;
    if (is_write(op)) {
      first = src.size() - write_parts(g_, id).index.size();
      if (is_storage(g_, src[0])) violated(g_, id, "tensor-use", "a state of its KERNEL or a LOCAL");
    }
    if (first != 0 && rank_[src[0]] != src.size() - first)
      violated(g_, id, "tensor-use", "a tensor with " + std::to_string(src.size() - first) + " axes");
  }

  void check_entry(Id scope) const {
    for (const Id s : entry_values(g_, scope))
      for (const Id r : scope_ranges(g_, scope))
        if (std::ranges::binary_search(open_.of(s), r))
          violated(g_, scope, "range-scope", "bounds and initial values that do not depend on its own RANGEs");
    if (g_.op(scope) != Op::FOR) return;
    const LoopParts l = loop_parts(g_, scope);
    for (std::size_t i = 0; i < l.init.size(); ++i)
      if (rank_[l.init[i]] != rank_[l.yield[i]]) violated(g_, scope, "tensor-use", "initial and next values of equal ranks");
  }

  void check_carry(Id id) const {
    const auto [range, value] = g_.operands<2>(id);
    const Id scope = owner_[range];
    if (scope == no_id || scope == sink_) violated(g_, id, "range-scope", "the RANGE of a FOR or KERNEL");
    const auto init = scope_inits(g_, scope);
    const auto slot = g_.slot(id);
    if (scope_ranges(g_, scope)[0] != range || slot >= init.size() || init[slot] != value)
      violated(g_, id, "carry-slot",
               "the first RANGE of node %" + std::to_string(scope) + " and the initial value of its slot");
  }

  void check_kernel(Id id) const {
    const KernelParts k = kernel_parts(g_, id);
    for (std::size_t i = 0; i < k.final.size(); ++i) {
      Id at = k.final[i];
      if (g_.op(k.init[i]) != Op::STAGE || !rank_[at])
        violated(g_, id, "kernel-states", "STAGEs as initial, tensors as final states");
      while (is_write(g_.op(at)) || (g_.op(at) == Op::GET && g_.op(g_.scope(at)) == Op::FOR))
        at = is_write(g_.op(at)) ? g_.state(at) : nth(scope_inits(g_, g_.scope(at)), g_.slot(at));
      if (g_.op(at) != Op::CARRY || g_.range_of(at) != k.ranges[0] || g_.slot(at) != i)
        violated(g_, id, "kernel-states",
                 "writes to CARRY {" + std::to_string(i) + "} of its first RANGE in slot " + std::to_string(i));
    }
  }

  void check_param(Id id) const {
    const auto slot = g_.slot(id);
    const auto& params = program_.params;
    if (slot >= params.size() || params[slot].dtype != g_.dtype(id) || !has_extents(g_, program_, slot, id))
      violated(g_, id, "param", "the declared parameter of slot " + std::to_string(slot));
  }

  const Graph& g_;
  const Program& program_;
  const Id sink_;
  const std::vector<Id> nodes_;
  OpenRanges open_;
  std::vector<std::optional<std::size_t>> rank_;
  std::vector<Id> owner_;  // by RANGE: its FOR or KERNEL, else the sink
};

}  // namespace

std::span<const VerifyRule> range_rules() { return range_table; }

void verify_ranges(const Graph& g, const Program& p, Id sink) { RangeVerifier(g, p, sink).check(); }

}  // namespace kiln::compiler
