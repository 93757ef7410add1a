#include "compiler/ir/verify_kernels.h"

#include <algorithm>
#include <string>

#include "compiler/ir/nth.h"
#include "compiler/ir/open_ranges.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/state.h"
#include "compiler/ir/verify_loops.h"
#include "compiler/ir/verify_nodes.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t most_stack = std::int64_t{1} << 20;  // bytes of arrays in a kernel, as lowering allows

constexpr VerifyRule kernel_table[] = {
    {"KP", "buffers", "kernel slots name buffers of the same type"},
    {"K", "kernel-form", "ENDs over LOOP ranges: of STOREs, or of the states of a kernel of the program; no tensor is left"},
    {"K", "range-end",
     "a RANGE's end is made of constants and symbols, in a reduction of RANGEs too, and a constant one is at least 0 where no "
     "FOR has the RANGE"},
    {"K", "kernel-ends", "all ENDs have the same first RANGE, those of a kernel of the program all RANGEs"},
    {"KP", "state-access",
     "what has an ENTRY is accessed through its states; so is the memory of an ATOMIC and, at level K, every LOCAL"},
    {"P", "access-lanes", "an access has an index of its lanes, a gate and an alternative of one lane or as many"},
    {"P", "loop-type", "a loop counts in i64, upwards"},
    {"P", "array", "arrays have constant extents above 0, of 1 MiB together"},
};

bool is_reduce_kind(const Graph& g, Id range) { return g.range_kind(range) == RangeKind::reduce; }

// ---- kernels

bool is_left_of_tensors(Op op) {
  return op == Op::PARAM || op == Op::STAGE || op == Op::INDEX || op == Op::KERNEL || op == Op::UPDATE;
}
// Operations that occur only in kernels that the program wrote. A FOR without them carries values, as a sum of fuse_rows does.
bool is_of_explicit(Op op) { return op == Op::ENTRY || op == Op::LOCAL || op == Op::ATOMIC || op == Op::OLD; }

class KernelVerifier {
 public:
  KernelVerifier(const Graph& g, const Schedule& s, std::size_t i)
      : g_(g), s_(s), k_(s.kernels[i]), is_lowered_(!s.lowered.empty()), nodes_(g.reachable(std::span(&k_.sink, 1))) {}

  void check() {
    for (const Id id : nodes_) {
      check_node(g_, is_lowered_ ? Level::program : Level::kernel, id);
      if (g_.op(id) == Op::BUFFER) check_slot(id);
      if (g_.op(id) == Op::LOCAL) check_array(id);
    }
    if (is_lowered_)
      for (const Id id : nodes_) check_lowered(id);
    else
      check_form();
    check_states();
    verify_loops(g_, k_.sink);
  }

 private:
  void check_slot(Id id) const {
    const auto slot = g_.slot(id);
    if (slot >= k_.buffers.size() || nth(s_.buffers, k_.buffers[slot]).dtype != g_.dtype(id))
      violated(g_, id, "buffers", "a slot of kernel " + k_.name + " that names a buffer of this type");
  }

  void check_array(Id id) {
    std::int64_t size = bytes(g_.dtype(id)) * g_.lanes(id);
    for (const Id extent : g_.src(id).subspan(1)) {
      if (g_.value(extent) < 1) violated(g_, id, "array", "extents above 0");
      if (is_lowered_) size = std::min(size * std::min(g_.value(extent), most_stack + 1), most_stack + 1);
    }
    if (is_lowered_ && (left_ -= size) < 0)
      violated(g_, id, "array", "arrays of " + std::to_string(most_stack) + " bytes together");
  }

  void check_form() const {
    for (const Id id : nodes_) {
      if (is_left_of_tensors(g_.op(id)) || (!k_.is_explicit && is_of_explicit(g_.op(id))))
        violated(g_, id, "kernel-form",
                 "an operation of kernels" + std::string(k_.is_explicit ? "" : " that the program did not write"));
      if (g_.op(id) == Op::END && !std::ranges::binary_search(nodes_, k_.sink)) violated(g_, id, "kernel-form", "a SINK");
    }
    check_ends();
    check_range_ends();
  }

  void check_ends() const {
    const auto first = g_.src(g_.src(k_.sink).front());
    for (const Id end : g_.src(k_.sink)) {
      const auto src = g_.src(end);
      const bool plain = g_.op(end) == Op::END && g_.op(src[0]) == Op::STORE && g_.op(g_.state(src[0])) == Op::BUFFER;
      if (g_.op(end) != Op::END || plain == k_.is_explicit)
        violated(g_, end, "kernel-form",
                 k_.is_explicit ? "an END of a state, over ranges" : "an END of a STORE to a BUFFER, over ranges");
      if (const Id memory = memory_of(g_, src[0]); k_.is_explicit && memory != no_id && g_.op(memory) != Op::BUFFER)
        violated(g_, end, "kernel-form", "a state of a BUFFER: a LOCAL is of the kernel alone");
      for (const Id r : src.subspan(1)) {
        if (g_.range_kind(r) != RangeKind::loop) violated(g_, end, "kernel-form", "LOOP ranges");
        if (std::ranges::count(src.subspan(1), r) != 1) violated(g_, end, "kernel-form", "each RANGE once");
      }
      if (!std::ranges::equal(src.subspan(1).first(std::min<std::size_t>(src.size() - 1, 1)),
                              first.subspan(1).first(std::min<std::size_t>(first.size() - 1, 1))) ||
          (k_.is_explicit && !std::ranges::equal(src.subspan(1), first.subspan(1))))
        violated(g_, end, "kernel-ends", "the RANGEs of the other ENDs");
    }
    for (const Id id : nodes_)
      for (const Id r : closed_ranges(g_, id)) {
        if (g_.op(id) == Op::REDUCE && !is_reduce_kind(g_, r)) violated(g_, id, "kernel-form", "REDUCE ranges");
        if (g_.op(id) != Op::FOR && is_negative(g_, g_.end(r))) violated(g_, r, "range-end", "an end of at least 0");
      }
  }

  // Memory with states may be accessed through its states only. An ATOMIC always has a state and, before lowering, so has every
  // access of a LOCAL.
  void check_states() const {
    std::vector<Id> changed;
    for (const Id id : nodes_)
      if (g_.op(id) == Op::ENTRY) changed.push_back(g_.src(id, 0));
    for (const Id id : nodes_) {
      const Op op = g_.op(id);
      if ((op != Op::LOAD && op != Op::STORE && op != Op::ATOMIC) || !names_memory(g_, id)) continue;
      const Id memory = g_.state(id);
      if (op == Op::ATOMIC || (g_.op(memory) == Op::LOCAL && !is_lowered_) ||
          std::ranges::find(changed, memory) != changed.end())
        violated(g_, id, "state-access", "a state of node %" + std::to_string(memory));
    }
  }

  void check_range_ends() const {
    for (const Id id : nodes_) {
      if (g_.op(id) != Op::RANGE) continue;
      for (const Id n : g_.reachable(g_.src(id)))
        if (!is_elementwise(g_.op(n)) && g_.op(n) != Op::CONST && g_.op(n) != Op::SYM &&
            (k_.is_explicit || g_.op(n) != Op::RANGE))
          violated(g_, id, "range-end", "an end of constants and symbols, got node %" + std::to_string(n));
    }
  }

  // ---- program level

  void check_lowered(Id id) const {
    const auto src = g_.src(id);
    const Op op = g_.op(id);
    const auto fits = [&](std::size_t i, int lanes) { return g_.lanes(src[i]) == 1 || g_.lanes(src[i]) == lanes; };
    if (op == Op::LOAD) {
      const int lanes = g_.lanes(id);
      if (g_.lanes(src[1]) != lanes || (src.size() == 4 && !(fits(2, lanes) && fits(3, lanes))))
        violated(g_, id, "access-lanes", "an index of " + std::to_string(lanes) + " lanes");
    }
    if (op == Op::STORE) {
      const int lanes = g_.lanes(src[2]);
      if (g_.lanes(src[1]) != lanes || (src.size() == 4 && !fits(3, lanes)))
        violated(g_, id, "access-lanes", "an index of " + std::to_string(lanes) + " lanes");
    }
    if (op == Op::RANGE && (g_.dtype(id) != DType::i64 || g_.lanes(id) != 1))
      violated(g_, id, "loop-type", "a RANGE of type i64");
    if (op == Op::FOR)
      for (const Id s : src.first(3))
        if (g_.dtype(s) != DType::i64 || g_.lanes(s) != 1 || loop_parts(g_, id).step < 1)
          violated(g_, id, "loop-type", "bounds of type i64 and a step above 0");
    if (op == Op::END) violated(g_, id, "loop-type", "no END after lowering");
  }

  const Graph& g_;
  const Schedule& s_;
  const Kernel& k_;
  const bool is_lowered_;
  const std::vector<Id> nodes_;
  std::int64_t left_ = most_stack;
};

}  // namespace

std::span<const VerifyRule> kernel_rules() { return kernel_table; }

void verify_kernel(const Graph& g, const Schedule& s, std::size_t i) { KernelVerifier(g, s, i).check(); }

}  // namespace kiln::compiler
