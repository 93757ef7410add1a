#include "compiler/schedule/placement.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace kiln::compiler {
namespace {

using Order = std::vector<std::uint32_t>;

class PlacementSearch {
 public:
  PlacementSearch(const PlacementProblem& p, SearchLimits limits)
      : p_(p), effort_(limits.effort), patience_(limits.patience * std::ssize(p.sizes) * std::ssize(p.sizes)) {
    for (const auto& c : p.conflicts) cost_of_placing_ += 1 + std::ssize(c);
  }

  Placement run() {
    std::vector<std::int64_t> pressure(p_.sizes);  // size of a block and of all blocks in conflict with it
    for (std::size_t b = 0; b < pressure.size(); ++b)
      for (const std::uint32_t c : p_.conflicts[b]) pressure[b] += p_.sizes[c];
    Order order(p_.sizes.size());
    std::iota(order.begin(), order.end(), 0);
    start(order);
    std::ranges::stable_sort(order, std::greater{}, [&](std::uint32_t b) { return p_.sizes[b]; });
    start(order);
    std::ranges::stable_sort(order, std::greater{}, [&](std::uint32_t b) { return pressure[b]; });
    start(order);
    std::ranges::stable_sort(order, std::greater{}, [&](std::uint32_t b) { return p_.conflicts[b].size(); });
    start(order);
    improve();
    return best_;
  }

 private:
  bool done() const { return best_.total <= p_.lower_bound || effort_ <= 0; }

  void start(const Order& order) {
    if (!best_order_.empty() && done()) return;
    effort_ -= cost_of_placing_;
    Placement made = place_in_order(p_, order);
    if (!best_order_.empty() && made.total >= best_.total) return;
    best_ = std::move(made);
    best_order_ = order;
  }

  // Moves a random block that reaches the peak to an earlier place in the order. In half of the steps, two random blocks change
  // places as well. An order that is no worse is kept, so that the search can leave plateaus.
  void improve() {
    Placement here = best_;
    Order order = best_order_;
    std::int64_t in_vain = 0;
    while (!order.empty() && !done() && in_vain++ < patience_) {
      Order next = order;
      Order tops;
      for (std::uint32_t i = 0; i < next.size(); ++i)
        if (here.offsets[next[i]] + p_.sizes[next[i]] == here.total) tops.push_back(i);
      const auto from = static_cast<std::ptrdiff_t>(tops[random_() % tops.size()]);
      const auto to = static_cast<std::ptrdiff_t>(random_() % static_cast<std::uint64_t>(from + 1));
      std::rotate(next.begin() + to, next.begin() + from, next.begin() + from + 1);
      if (random_() % 2 == 0) std::swap(next[random_() % next.size()], next[random_() % next.size()]);
      effort_ -= cost_of_placing_;
      Placement made = place_in_order(p_, next);
      if (made.total > here.total) continue;
      here = std::move(made);
      order = std::move(next);
      if (here.total >= best_.total) continue;
      best_ = here;
      in_vain = 0;
    }
  }

  const PlacementProblem& p_;
  std::int64_t effort_, patience_, cost_of_placing_ = 1;
  Placement best_;
  Order best_order_;
  std::mt19937_64 random_{1};
};

}  // namespace

Placement place_in_order(const PlacementProblem& p, std::span<const std::uint32_t> order) {
  Placement out;
  out.offsets.assign(p.sizes.size(), -1);
  std::vector<std::pair<std::int64_t, std::int64_t>> near;  // begin and end of the placed blocks in conflict with b
  for (const std::uint32_t b : order) {
    near.clear();
    for (const std::uint32_t c : p.conflicts[b])
      if (out.offsets[c] >= 0) near.emplace_back(out.offsets[c], out.offsets[c] + p.sizes[c]);
    std::ranges::sort(near);
    std::int64_t at = 0;
    for (const auto& [begin, end] : near) {
      if (at + p.sizes[b] <= begin) break;
      at = std::max(at, end);
    }
    out.offsets[b] = at;
    out.total = std::max(out.total, at + p.sizes[b]);
  }
  return out;
}

Placement place(const PlacementProblem& p, SearchLimits limits) { return PlacementSearch(p, limits).run(); }

}  // namespace kiln::compiler
