#include "generator/tools/plan_neighbours.h"

#include <algorithm>
#include <set>
#include <string>

#include "compiler/lower/check_plan.h"
#include "compiler/lower/plan_text.h"

namespace kiln::generator {
namespace {

using namespace compiler;

constexpr int most_copies = 16, most_registers = 8;  // of one loop
constexpr int most_block = 4096;

class Neighbours {
 public:
  Neighbours(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges, std::span<const LoopPlan> plan,
             const Target& target)
      : g_(g), stores_(stores), ranges_(ranges), plan_(plan.begin(), plan.end()), target_(target) {
    seen_.insert(plan_text(g, ranges, plan));
  }

  std::vector<std::vector<LoopPlan>> make() {
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      if (plan_[i].block)
        blocks(i);
      else if (plan_[i].range == no_id)
        steps(i, {plan_[i].step / 2, plan_[i].step * 2});
      else if (plan_[i].lanes)
        lanes(i);
      else
        copies(i);
      orders(i);
    }
    return std::move(out_);
  }

 private:
  template <class Change>
  void add(const Change& change) {
    std::vector<LoopPlan> plan = plan_;
    change(plan);
    const bool fits = std::ranges::all_of(plan, [&](const LoopPlan& p) {
      return p.block || p.range == no_id || p.step <= (p.lanes ? most_registers * target_.vector_bytes / 4 : most_copies);
    });
    if (fits && check_plan(g_, stores_, ranges_, plan).empty() && seen_.insert(plan_text(g_, ranges_, plan)).second)
      out_.push_back(std::move(plan));
  }

  // Other steps, with the tails that fit them. A block around the loop grows to a multiple.
  void steps(std::size_t i, std::initializer_list<int> all) {
    for (const int step : all) {
      if (step < 1) continue;
      add([&](std::vector<LoopPlan>& plan) {
        LoopPlan& p = plan[i];
        p.step = step;
        if (p.lanes && p.tails.back().masked)
          for (Tail& t : p.tails) t.step = std::min(t.step, step);
        else if (!p.block && p.range != no_id)
          p.tails = step > 2 ? std::vector<Tail>{{step / 2, false}, {1, false}} : std::vector<Tail>{{1, false}};
        if (p.transposes == no_id && p.range != no_id)
          for (LoopPlan& b : plan)
            if (b.block && b.range == p.range && !p.block) b.step = (b.step + step - 1) / step * step;
      });
    }
  }

  void blocks(std::size_t i) {
    for (const int step : {plan_[i].step / 2, plan_[i].step * 2})
      add([&](std::vector<LoopPlan>& plan) { plan[i].step = std::min(step, most_block); });
    add([&](std::vector<LoopPlan>& plan) { plan.erase(plan.begin() + static_cast<std::ptrdiff_t>(i)); });
  }

  void lanes(std::size_t i) {
    const LoopPlan& p = plan_[i];
    steps(i, {p.step / 2, p.step * 2, p.step * 4});
    const int one = std::max(1, target_.vector_bytes / 4);
    for (const std::vector<Tail>& tails : {std::vector<Tail>{{1, false}},
                                           {{p.step, true}},
                                           {{std::min(p.step, one), true}},
                                           {{one, false}, {one, true}},
                                           {{one, false}, {1, false}}})
      add([&](std::vector<LoopPlan>& plan) { plan[i].tails = tails; });
    add([&](std::vector<LoopPlan>& plan) {
      plan[i].align = p.align == 0 ? target_.vector_bytes : 0;
      plan[i].past_caches = 0;
    });
    for (std::size_t k = 0; k < plan_.size(); ++k)  // lanes in another loop
      if (!plan_[k].block && plan_[k].range != no_id && k != i)
        add([&](std::vector<LoopPlan>& plan) {
          plan[k] = {.range = plan[k].range, .step = p.step, .lanes = true, .tails = p.tails};
          plan[i] = {.range = p.range};
        });
  }

  void copies(std::size_t i) {
    const LoopPlan& p = plan_[i];
    steps(i, {p.step - 1, p.step + 1, p.step / 2, p.step * 2, 1});
    add([&](std::vector<LoopPlan>& plan) { plan[i].tails = {{1, false}}; });
    add([&](std::vector<LoopPlan>& plan) { plan[i].shares_loads = !p.shares_loads; });
    for (const int iterations : {8, 32})
      add([&](std::vector<LoopPlan>& plan) {
        plan.insert(plan.begin(), {.range = p.range, .step = p.step * iterations, .block = true});
      });
  }

  void orders(std::size_t i) {
    if (i + 1 < plan_.size()) add([&](std::vector<LoopPlan>& plan) { std::swap(plan[i], plan[i + 1]); });
  }

  const Graph& g_;
  std::span<const Id> stores_, ranges_;
  std::vector<LoopPlan> plan_;
  const Target& target_;
  std::set<std::string> seen_;
  std::vector<std::vector<LoopPlan>> out_;
};

}  // namespace

std::vector<std::vector<LoopPlan>> plan_neighbours(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges,
                                                   std::span<const LoopPlan> plan, const Target& target) {
  return Neighbours(g, stores, ranges, plan, target).make();
}

}  // namespace kiln::generator
