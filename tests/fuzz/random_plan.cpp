#include "tests/fuzz/random_plan.h"

#include <algorithm>
#include <array>
#include <memory>

#include "compiler/lower/check_plan.h"
#include "tests/fuzz/random_program.h"

namespace kiln::compiler::testing {
namespace {

constexpr int most_copies = 12;    // of the code of all loops together
constexpr int most_registers = 4;  // of the lanes, for elements of 4 bytes
constexpr int most_attempts = 16;  // until the plan is that of vectorize_plan

class RandomPlan {
 public:
  RandomPlan(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges, const Target& target, Draw& draw)
      : g_(g), stores_(stores), ranges_(ranges), target_(target), draw_(draw) {}

  std::vector<LoopPlan> make() {
    for (int i = 0; i < most_attempts; ++i) {
      std::vector<LoopPlan> plan = draw_.one_in(4) ? changed(vectorize_plan(g_, stores_, ranges_, target_)) : fresh();
      if (check_plan(g_, stores_, ranges_, plan).empty()) return plan;
    }
    return vectorize_plan(g_, stores_, ranges_, target_);
  }

 private:
  // The plan with other steps and tails.
  std::vector<LoopPlan> changed(std::vector<LoopPlan> plan) {
    for (LoopPlan& p : plan) {
      if (p.rows || p.block || draw_.one_in(2)) continue;
      if (p.lanes)
        set_lanes(p);
      else if (p.step == 1 || draw_.one_in(2))
        set_copies(p);
    }
    return plan;
  }

  std::vector<LoopPlan> fresh() {
    copies_left_ = most_copies;
    std::vector<Id> order(ranges_.begin(), ranges_.end());
    if (draw_.one_in(3))
      for (auto end = order.begin() + 1; end != order.end(); ++end)
        std::iter_swap(end, order.begin() + draw_.below(static_cast<int>(end - order.begin()) + 1));
    std::vector<LoopPlan> plan;
    for (const Id r : order) plan.push_back({.range = r});
    const Id lanes = draw_.one_in(5) ? no_id : lanes_range();
    for (LoopPlan& p : plan)
      if (p.range == lanes)
        set_lanes(p);
      else if (draw_.one_in(2))
        set_copies(p);
    if (draw_.one_in(3)) add_block(plan);
    return plan;
  }

  Id lanes_range() {
    std::vector<Id> may;
    for (const Id r : ranges_)
      if (why_no_lanes(g_, stores_, r, 1).empty()) may.push_back(r);
    return may.empty() ? no_id : draw_.of(may);
  }

  void set_lanes(LoopPlan& p) {
    const int one_register = target_.vector_bytes / 4;
    p.lanes = true;
    p.step = 2;
    while (p.step < most_registers * one_register && !draw_.one_in(4)) p.step *= 2;
    p.masked_all = draw_.one_in(6);
    p.align = draw_.one_in(4) ? target_.vector_bytes : 0;
    p.past_caches = p.align != 0 && draw_.one_in(2) ? 1 : 0;
    p.tails.clear();
    for (int n = p.step; n > 1 && !draw_.one_in(3);) {
      n = std::max(1, n / draw_.of(std::array{2, 4}));
      p.tails.push_back({n, false});
    }
    if (draw_.one_in(2))
      p.tails = {{draw_.one_in(2) ? p.step : std::max(2, p.step / 2), true}};
    else if (p.tails.empty() || p.tails.back().step != 1)
      p.tails.push_back({1, false});
  }

  void set_copies(LoopPlan& p) {
    p.step = draw_.between(1, std::max(1, std::min(6, copies_left_)));
    copies_left_ /= p.step;
    p.tails = {{1, false}};
    if (p.step > 2 && draw_.one_in(2)) p.tails.insert(p.tails.begin(), {draw_.between(2, p.step - 1), false});
  }

  // A loop over blocks of a range, around the loop over the range.
  void add_block(std::vector<LoopPlan>& plan) {
    const auto at = draw_.below(static_cast<int>(plan.size()));
    const LoopPlan inside = plan[static_cast<std::size_t>(at)];
    const int steps = draw_.between(1, 9), where = draw_.below(at + 1);
    plan.insert(plan.begin() + where, {.range = inside.range, .step = inside.step * steps, .block = true});
  }

  const Graph& g_;
  std::span<const Id> stores_, ranges_;
  const Target& target_;
  Draw& draw_;
  int copies_left_ = most_copies;
};

}  // namespace

PlanMaker random_plans(std::uint64_t seed) {
  return [draw = std::make_shared<Draw>(seed)](const Graph& g, std::span<const Id> stores, std::span<const Id> ranges,
                                               const Target& target) {
    if (ranges.empty()) return vectorize_plan(g, stores, ranges, target);
    return RandomPlan(g, stores, ranges, target, *draw).make();
  };
}

}  // namespace kiln::compiler::testing
