#include "compiler/ir/verify_loops.h"

#include <algorithm>
#include <vector>

#include "compiler/ir/open_ranges.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/state.h"
#include "compiler/ir/verify_nodes.h"
#include "compiler/ir/verify_states.h"

namespace kiln::compiler {
namespace {

constexpr VerifyRule loop_table[] = {
    {"KP", "ranges-ended", "every RANGE that reaches the sink is ended before it"},
    {"KP", "loop-range",
     "each FOR has a RANGE of its own, on which its bounds and initial values, and LOADs in them, do not depend"},
    {"KP", "loop-carry", "a CARRY has its FOR's initial value of that slot"},
    {"KP", "loop-effect", "a FOR is the effect of one FOR or SINK"},
    {"KP", "loop-nesting",
     "the loops that a value depends on, or is an effect of, are inside one another, and around its users"},
    {"KP", "memory-use", "a BUFFER and a LOCAL are what an access or ENTRY names, and no values"},
    {"KP", "effect-use",
     "a STORE to a BUFFER is an effect of a FOR, an END or the SINK, an END of the SINK, and of nothing else"},
};

// The effects of a FOR: its sources behind the carried values.
std::span<const Id> effects_of(const Graph& g, Id loop) { return g.src(loop).subspan(3 + 2 * g.slot(loop)); }

class LoopVerifier {
 public:
  LoopVerifier(const Graph& g, Id sink)
      : g_(g),
        sink_(sink),
        nodes_(g.reachable(std::span(&sink, 1))),
        open_(g, nodes_),
        owner_(nodes_, no_id),
        lister_(nodes_, no_id),
        parent_(nodes_, no_id),
        depth_(nodes_, 0) {}

  void check() {
    for (const Id id : nodes_) {
      if (g_.op(id) == Op::FOR) own(id);
      if (g_.op(id) == Op::FOR) list(id, effects_of(g_, id));
      if (g_.op(id) == Op::SINK) list(id, g_.src(id));
    }
    for (const Id id : nodes_) {
      const Id around = lister_[id];
      open_.visit(id, around == no_id || g_.op(around) != Op::FOR ? no_id : g_.range_of(around));
      check_node(id);
    }
    if (const auto& left = open_.of(sink_); !left.empty())
      violated(g_, left.front(), "ranges-ended", "an END of this RANGE on every path to the sink");
    check_loads();
    for (auto it = nodes_.rbegin(); it != nodes_.rend(); ++it)
      if (g_.op(*it) == Op::FOR) nest(*it);
    for (const Id id : nodes_)
      if (g_.op(id) != Op::FOR) check_chain(id, parent_[id] = innermost(id));
    verify_states(g_, nodes_, parent_);
  }

 private:
  // Without states, a LOAD of a BUFFER that the kernel stores is in the outer loop, so it depends on the RANGE of this loop.
  void check_loads() const {
    const auto effects = g_.src(sink_);
    if (effects.size() != 1 || g_.op(effects[0]) != Op::FOR) return;
    const auto buffer_of = [&](Id id) { return g_.op(g_.state(id)) == Op::BUFFER ? g_.state(id) : no_id; };
    std::vector<Id> stored;
    for (const Id id : nodes_)
      if (g_.op(id) == Op::STORE) stored.push_back(buffer_of(id));
    for (const Id id : g_.reachable(entry_values(g_, effects[0])))
      if (g_.op(id) == Op::LOAD && buffer_of(id) != no_id && std::ranges::find(stored, buffer_of(id)) != stored.end())
        violated(g_, effects[0], "loop-range", "bounds and initial values that do not depend on node %" + std::to_string(id));
  }

  void own(Id loop) {
    const Id range = g_.range_of(loop);
    if (owner_[range] != no_id)
      violated(g_, loop, "loop-range", "a RANGE that no other FOR has, got that of node %" + std::to_string(owner_[range]));
    owner_[range] = loop;
  }

  void list(Id lister, std::span<const Id> effects) {
    for (const Id e : effects) {
      if (g_.op(e) != Op::FOR) continue;
      if (lister_[e] != no_id)
        violated(g_, lister, "loop-effect",
                 "a FOR that is no effect elsewhere, got one of node %" + std::to_string(lister_[e]));
      lister_[e] = lister;
    }
  }

  bool is_plain_store(Id id) const { return g_.op(id) == Op::STORE && names_memory(g_, id); }

  void check_node(Id id) {
    const Op op = g_.op(id);
    const auto src = g_.src(id);
    const std::size_t values = op == Op::FOR                     ? src.size() - effects_of(g_, id).size()
                               : op == Op::SINK || op == Op::END ? 0
                                                                 : src.size();
    for (const Id s : src.first(values))
      if (is_plain_store(s)) violated(g_, id, "effect-use", "no STORE to a BUFFER as a source, got node %" + std::to_string(s));
    for (const Id s : src)
      if (g_.op(s) == Op::SINK || (g_.op(s) == Op::END && op != Op::SINK))
        violated(g_, id, "effect-use", "no SINK and no END as a source, got node %" + std::to_string(s));
    const bool names_memory = op == Op::LOAD || op == Op::STORE || op == Op::ATOMIC || op == Op::ENTRY;
    for (std::size_t i = names_memory ? 1 : 0; i < src.size(); ++i)
      if (is_memory(g_, src[i]))
        violated(g_, id, "memory-use", "a LOAD in the place of memory, got node %" + std::to_string(src[i]));
    if (op == Op::FOR) {
      for (const Id s : src.subspan(1, 2 + g_.slot(id)))
        if (std::ranges::binary_search(open_.of(s), src[0]))
          violated(g_, id, "loop-range", "bounds and initial values that do not depend on its own RANGE");
    }
    if (op == Op::CARRY) check_carry(id);
    for (const Id r : open_.of(id))
      if (owner_[r] != no_id && owner_[r] <= id)
        violated(g_, id, "loop-nesting", "a use inside node %" + std::to_string(owner_[r]) + ", or of what GET takes from it");
  }

  void check_carry(Id id) const {
    const auto [range, value] = g_.operands<2>(id);
    const Id loop = owner_[range];
    const std::size_t slot = g_.slot(id);
    if (loop == no_id) violated(g_, id, "loop-carry", "the RANGE of a FOR");
    const auto init = loop_parts(g_, loop).init;
    if (slot >= init.size() || init[slot] != value || g_.lanes(id) != g_.lanes(value))
      violated(g_, id, "loop-carry", "the initial value of its slot in node %" + std::to_string(loop));
  }

  // The innermost FOR whose RANGE is open at the node; no_id: none.
  Id innermost(Id id) const {
    Id best = no_id;
    for (const Id r : open_.of(id))
      if (const Id loop = owner_[r]; loop != no_id && (best == no_id || depth_[loop] > depth_[best])) best = loop;
    return best;
  }

  // Finds the loop around a FOR. Calls must go from outer to inner loops, which is from larger to smaller ids.
  void nest(Id loop) {
    const Id lister = lister_[loop];
    parent_[loop] = lister == no_id ? innermost(loop) : g_.op(lister) == Op::FOR ? lister : no_id;
    depth_[loop] = parent_[loop] == no_id ? 1 : depth_[parent_[loop]] + 1;
    check_chain(loop, parent_[loop]);
  }

  // Checks that each loop that the node depends on is `inner` or a loop around it.
  void check_chain(Id id, Id inner) const {
    std::size_t found = 0, wanted = 0;
    const auto& open = open_.of(id);
    for (const Id r : open) wanted += owner_[r] != no_id;
    for (; inner != no_id; inner = parent_[inner]) found += std::ranges::binary_search(open, g_.range_of(inner));
    if (found != wanted) violated(g_, id, "loop-nesting", "loops inside one another as those that it depends on");
  }

  const Graph& g_;
  Id sink_;
  std::vector<Id> nodes_;
  OpenRanges open_;
  NodeTable<Id> owner_;   // by RANGE: its FOR
  NodeTable<Id> lister_;  // by FOR: the node whose effect it is
  NodeTable<Id> parent_;  // by node: the innermost FOR around it
  NodeTable<std::uint32_t> depth_;
};

}  // namespace

std::span<const VerifyRule> loop_rules() { return loop_table; }

void verify_loops(const Graph& g, Id sink) { LoopVerifier(g, sink).check(); }

}  // namespace kiln::compiler
