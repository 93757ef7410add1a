#include "compiler/lower/check_plan.h"

#include <algorithm>

#include "compiler/ir/power_of_two.h"
#include "compiler/ir/scopes.h"
#include "compiler/lower/access.h"
#include "compiler/lower/chain_blocks.h"
#include "compiler/lower/expand.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/range_parts.h"

namespace kiln::compiler {
namespace {

class PlanCheck {
 public:
  PlanCheck(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges, std::span<const LoopPlan> plan)
      : g_(g), stores_(stores), ranges_(ranges), plan_(plan) {}

  std::string run() const {
    if (std::ranges::any_of(plan_, [](const LoopPlan& p) { return p.step < 1; })) return "a loop has no iterations";
    if (std::ranges::count(plan_, true, &LoopPlan::lanes) > 1) return "two loops have lanes";
    for (const Id r : ranges_) {
      const auto runs = [&](const LoopPlan& p) { return p.range == r && !p.block; };
      if (std::ranges::count_if(plan_, runs) != 1) return "a range has no loop, or more than one";
    }
    for (std::size_t i = 0; i < plan_.size(); ++i)
      if (std::string broken = rule_of(i); !broken.empty()) return broken;
    return {};
  }

 private:
  std::string rule_of(std::size_t i) const {
    const LoopPlan& p = plan_[i];
    if (p.rows) return rows(i);
    if (p.chain) return chain(i);
    if (std::ranges::find(ranges_, p.range) == ranges_.end()) return "a loop has no range of the kernel";
    if (p.block) return block(i);
    if (std::string broken = tails(p); !broken.empty()) return broken;
    return p.lanes ? lanes(i) : copies(i);
  }

  // Rows of reductions are inside of a block of columns and outside of the lanes over them.
  std::string rows(std::size_t i) const {
    const bool is_between =
        i > 0 && plan_[i - 1].block && i + 1 < plan_.size() && plan_[i + 1].lanes && plan_[i + 1].range == plan_[i - 1].range;
    if (!is_between) return "rows are not between a block and its lanes";
    const auto is_once = [](const LoopPlan& l) { return l.block || l.step == 1; };
    return std::ranges::all_of(plan_.first(i), is_once) ? "" : "rows are in copies, which would share their accumulators";
  }

  // Terms of a chain are inside of a block of rows and outside of the lanes and the copies of its rows.
  std::string chain(std::size_t i) const {
    const auto outer = plan_.first(i), inner = plan_.subspan(i + 1);
    const auto has_block = [&](const LoopPlan& l) {
      return l.block && std::ranges::find(inner, l.range, &LoopPlan::range) != inner.end();
    };
    const auto is_row = [&](const LoopPlan& l) { return !l.block && !l.rows && !l.chain && g_.is_const(g_.end(l.range)); };
    const bool is_between = std::ranges::count_if(outer, has_block) == 1 && std::ranges::all_of(inner, is_row) &&
                            std::ranges::any_of(inner, &LoopPlan::lanes);
    if (!is_between) return "terms are not between a block of rows and the lanes and copies in it";
    const auto is_apart = [&](const LoopPlan& l) {
      return l.block || (!l.rows && !l.chain && !l.lanes && (l.step == 1 || g_.is_const(g_.end(l.range))));
    };
    if (!std::ranges::all_of(outer, is_apart)) return "terms are in copies, which would share their accumulators";
    return chain_nest(g_, g_.reachable(stores_)).empty() ? "terms of more than one chain, or of a chain without constant bounds"
                                                         : "";
  }

  std::string block(std::size_t i) const {
    for (const LoopPlan& later : plan_.subspan(i + 1))
      if (later.range == plan_[i].range)
        return plan_[i].step % later.step == 0 ? "" : "a block is no multiple of the step of the loop inside it";
    return "a block has no loop inside it";
  }

  static std::string tails(const LoopPlan& p) {
    if (p.step == 1) return "";
    int above = p.step;
    for (const Tail& t : p.tails) {
      if (t.step < 1 || t.step > above || (t.step == above && !t.masked)) return "the steps of tails do not fall";
      if (t.masked && !p.lanes) return "a tail without lanes has a mask";
      if (p.lanes && t.step != floor_power_of_two(t.step)) return "the lanes of a tail are no power of two";
      above = t.step;
    }
    const bool is_whole = !p.tails.empty() && (p.tails.back().step == 1 || p.tails.back().masked);
    return is_whole || p.masked_all ? "" : "iterations remain after the last tail";
  }

  std::string lanes(std::size_t i) const {
    const LoopPlan& p = plan_[i];
    if (p.vectors < 1 || p.step % p.vectors != 0) return "the lanes are not divided among the vectors";
    if (p.step / p.vectors != floor_power_of_two(p.step / p.vectors)) return "the lanes are no power of two";
    if (p.vectors > 1 && (p.align != 0 || p.masked_all)) return "vectors side by side are aligned or masked";
    if (p.align != floor_power_of_two(p.align)) return "an alignment is no power of two";
    if (p.past_caches < 0 || (p.past_caches > 0 && p.align == 0)) return "stores past the caches have no alignment";
    const std::string_view side_by_side = why_no_lanes(g_, stores_, p.range, 1);
    if (side_by_side.empty() || why_no_lanes(g_, stores_, p.range, written_out_after(i)).empty()) return "";
    return "lanes: " + std::string(side_by_side);
  }

  std::string copies(std::size_t i) const {
    const LoopPlan& p = plan_[i];
    if (p.masked_all || p.align != 0 || p.past_caches != 0) return "a loop without lanes has a mask";
    if (p.step > 1 && bounds_loops(g_, stores_, p.range) &&
        !(has_whole_blocks(i) && !bounds_unequal_loops(g_, stores_, p.range)))
      return "copies: the number of iterations of an inner loop depends on them";
    const auto has_loop = [&](Id id) { return g_.op(id) == Op::FOR; };
    if (p.shares_loads && std::ranges::any_of(g_.reachable(stores_), has_loop)) return "copies share loads of inner loops";
    if (p.transposes == no_id) return "";
    if (i + 1 != plan_.size()) return "copies that transpose loads have a loop inside them";
    const auto before = plan_.first(i);
    const auto is_lanes = [&](const LoopPlan& other) { return other.lanes && other.range == p.transposes; };
    return std::ranges::any_of(before, is_lanes) ? "" : "copies transpose loads to lanes that are not around them";
  }

  // Whether the loop can be cut behind the last whole block of a reduction (range_parts.h): a plain loop inside plain loops.
  bool has_whole_blocks(std::size_t i) const {
    const LoopPlan& p = plan_[i];
    const auto is_plain = [&](const LoopPlan& l) { return l.step == 1 && !l.lanes && !l.block; };
    return p.transposes == no_id && !p.shares_loads && std::ranges::all_of(plan_.first(i), is_plain);
  }

  // The iterations of the loops after this one, each of which is written out whole.
  std::int64_t written_out_after(std::size_t i) const {
    std::int64_t n = 1;
    for (const LoopPlan& p : plan_.subspan(i + 1))
      if (p.range != no_id && g_.is_index_const(g_.end(p.range), p.step)) n *= p.step;
    return n;
  }

  const Graph& g_;
  std::span<const Id> stores_, ranges_;
  std::span<const LoopPlan> plan_;
};

}  // namespace

std::string check_plan(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges, std::span<const LoopPlan> plan) {
  return PlanCheck(g, stores, ranges, plan).run();
}

bool all_stores_have_stride(const Graph& g, std::span<const Id> stores, Id range, std::int64_t stride) {
  return std::ranges::all_of(stores, [&](Id s) { return index_stride(g, index_of(g, s), range) == stride; });
}

namespace {

// Each lane of a gather has an index and a load of its own: more of them would take LLVM seconds.
constexpr std::int64_t most_gathers = 96;

// LOADs whose elements for neighbouring iterations are not at one known distance.
std::int64_t gathers_over(const Graph& g, std::span<const Id> stores, Id range) {
  return std::ranges::count_if(g.reachable(stores), [&](Id id) {
    return g.op(id) == Op::LOAD && g.src(id).size() > 1 && !index_stride(g, index_of(g, id), range);
  });
}

}  // namespace

std::string_view why_no_lanes(const Graph& g, std::span<const Id> stores, Id range, std::int64_t stride) {
  if (!all_stores_have_stride(g, stores, range, stride)) return "its stores are not to neighbouring elements";
  if (has_vectors_over(g, stores, range)) return "an inner loop has lanes already";
  if (bounds_loops(g, stores, range)) return "the number of iterations of an inner loop depends on it";
  if (gathers_over(g, stores, range) > most_gathers) return "it has too many loads of elements that are not neighbours";
  return {};
}

}  // namespace kiln::compiler
