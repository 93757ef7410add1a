#include "compiler/schedule/iteration_copies.h"

#include <algorithm>

#include "compiler/ir/nth.h"
#include "compiler/schedule/copies.h"
#include "compiler/schedule/dependencies.h"

namespace kiln::compiler {
namespace {

constexpr std::size_t longest_cycle = 5;

struct Candidate {
  std::size_t kernel;
  Id end;
  Copied copy;
};

bool has(const std::vector<int>& sorted, int b) { return std::ranges::binary_search(sorted, b); }

class Iteration {
 public:
  Iteration(Graph& g, const Schedule& s, int loop, const std::set<int>& fixed) : g_(g), s_(s), loop_(loop) {
    const auto is_inside = [&](const Kernel& k) { return is_in(s, k.loop, loop); };
    const auto first = std::ranges::find_if(s.kernels, is_inside);
    first_ = index_at(s.kernels, first);
    end_ = index_at(s.kernels, std::find_if_not(first, s.kernels.end(), is_inside));
    for (std::size_t k = first_; k < end_; ++k) {
      const Kernel& kernel = s.kernels[k];
      if (kernel.loop != loop) continue;
      for (const Id end : g.sources(kernel.sink))
        if (const auto c = copy_of(g, s, kernel, end); c && !fixed.contains(c->to) && !fixed.contains(c->from))
          candidates_.push_back({k, end, *c});
    }
  }

  // Drops candidates one by one until no candidate prevents the change.
  std::optional<Rotation> find() {
    if (candidates_.empty()) return std::nullopt;  // most loops copy nothing, and access_of() for all kernels takes time
    for (const Kernel& k : s_.kernels) access_.push_back(access_of(g_, k));
    while (!candidates_.empty()) {
      const std::optional<std::size_t> obstacle = in_the_way();
      if (!obstacle) return std::move(change_);
      candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(*obstacle));
    }
    return std::nullopt;
  }

 private:
  std::optional<std::size_t> in_the_way() {
    change_ = {};
    where_.clear();
    for (const Candidate& c : candidates_) change_.dropped[c.kernel].push_back(c.end);
    bool is_empty = true;
    for (std::size_t k = first_; k < end_; ++k) {
      if (const auto c = run(k)) return c;
      is_empty = is_empty && is_dropped(k);
    }
    if (is_empty) return candidates_.size() - 1;
    if (const auto c = find_places()) return c;
    return find_cycles() ? std::nullopt : std::optional(candidates_.size() - 1);
  }

  bool is_dropped(std::size_t k) const {
    const auto it = change_.dropped.find(k);
    return it != change_.dropped.end() && it->second.size() == g_.src(s_.kernels[k].sink).size();
  }

  int place(int b) const {
    const auto it = where_.find(b);
    return it == where_.end() ? b : it->second;
  }

  // Records kernel k, then its dropped copies. Returns a candidate that cannot be dropped because of k.
  std::optional<std::size_t> run(std::size_t k) {
    const auto dropped = change_.dropped.find(k);
    const KernelAccess rest =
        dropped == change_.dropped.end() ? access_[k] : access_of(g_, without(g_, s_.kernels[k], dropped->second));
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const Candidate& c = candidates_[i];
      if (c.kernel <= k && (has(rest.stores, c.copy.to) || has(rest.stores, c.copy.from))) return i;
    }
    change_.renamed[k] = where_;
    const std::map<int, int> before = where_;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const Candidate& c = candidates_[i];
      if (c.kernel != k) continue;
      // Two copies to one buffer both stay: a kernel that overwrites the first copy's source does not wait for
      // the buffer's readers.
      if (where_.contains(c.copy.to)) return i;
      const auto from = before.find(c.copy.from);
      where_[c.copy.to] = from == before.end() ? c.copy.from : from->second;
    }
    return std::nullopt;
  }

  // A kernel that stores to the buffer also uses it: it may keep some elements, or read the old ones.
  bool uses(std::size_t k, int b) const { return has(access_[k].loads, b) || has(access_[k].stores, b); }
  bool is_parameter(int b) const { return nth(s_.buffers, b).param >= 0; }

  // Whether the buffer is a temporary of one iteration: the loop stores it whole before any other use, and no later
  // kernel uses it.
  bool is_scratch(int b) {
    if (is_parameter(b)) return false;
    bool is_first = true;
    for (std::size_t k = 0; k < s_.kernels.size(); ++k) {
      if (!uses(k, b)) continue;
      if (k >= end_) return false;
      if (is_first && (s_.kernels[k].loop != loop_ || !stores_whole(g_, s_, s_.kernels[k], b))) return false;
      is_first = false;
    }
    return true;
  }

  // Whether the buffer's value is needed after the loop. In an outer loop, the next run of this loop may read the value again.
  bool is_needed_behind(int b) {
    if (is_parameter(b)) return true;
    if (nth(s_.loops, loop_).parent >= 0) return !is_scratch(b);
    for (std::size_t k = end_; k < s_.kernels.size(); ++k)
      if (uses(k, b)) return true;
    return false;
  }

  // Finds the place of each buffer's value in the next iteration. A temporary of one iteration has no value to keep,
  // so it moves to the place that the buffers before it leave free. This keeps cycles short. Returns a candidate
  // that cannot be dropped.
  std::optional<std::size_t> find_places() {
    std::set<int> all;
    std::map<int, std::size_t> last;  // by buffer: the last candidate that copies to it
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      all.insert({candidates_[i].copy.to, candidates_[i].copy.from});
      last[candidates_[i].copy.to] = i;
    }
    std::set<int> taken, idle;
    for (const int b : all) {
      if (is_scratch(b))
        idle.insert(b);
      else if (!last.contains(b))
        taken.insert(b);
    }
    next_.clear();
    for (const int b : all) {
      if (idle.contains(b)) continue;
      next_[b] = place(b);
      if (last.contains(b) && !taken.insert(place(b)).second) return last.at(b);
    }
    std::map<int, int> last_in;  // by place: the buffer that moves there
    for (const auto& [b, next] : next_) last_in[next] = b;
    for (const int b : idle) {
      int left = b;
      for (auto it = last_in.find(b); it != last_in.end(); it = last_in.find(left)) left = it->second;
      next_[b] = left;
    }
    return std::nullopt;
  }

  // False: a cycle is too long, or there is no free buffer to bring its values back.
  bool find_cycles() {
    std::set<int> seen;
    for (const auto& [b, next] : next_) {
      Cycle c;
      for (int at = b; seen.insert(at).second; at = next_.at(at)) c.buffers.push_back(at);
      if (c.buffers.size() < 2) continue;
      if (c.buffers.size() > longest_cycle || !find_way_back(c)) return false;
      change_.cycles.push_back(std::move(c));
    }
    return true;
  }

  // Finds the copies that bring a cycle's values back. They run in order, but have the effect of simultaneous copies: a buffer
  // is overwritten only after its value is copied. If no order achieves this, one value is first copied to a free buffer.
  bool find_way_back(Cycle& c) {
    const std::size_t n = c.buffers.size();
    for (std::size_t iterations = 1; iterations < n; ++iterations) {
      std::vector<std::pair<int, int>> open, order;
      const auto is_read = [&](int b) { return std::ranges::find(open, b, &std::pair<int, int>::second) != open.end(); };
      for (std::size_t i = 0; i < n; ++i)
        if (is_needed_behind(c.buffers[i])) open.emplace_back(c.buffers[i], c.buffers[(i + iterations) % n]);
      while (!open.empty()) {
        auto next = std::ranges::find_if(open, [&](const auto& move) { return !is_read(move.first); });
        if (next == open.end()) {
          next = open.begin();
          const auto free = std::ranges::find_if(next_, [&](const auto& b) { return is_free(c, b.first); });
          if (free == next_.end()) return false;
          order.emplace_back(free->first, next->first);
          std::ranges::find(open, next->first, &std::pair<int, int>::second)->second = free->first;
        }
        order.push_back(*next);
        open.erase(next);
      }
      c.back.push_back(std::move(order));
    }
    return true;
  }

  // Whether buffer b has no value that is needed while cycle c is brought back, except for values of c itself.
  bool is_free(const Cycle& c, int b) {
    const Buffer &here = nth(s_.buffers, b), &there = nth(s_.buffers, c.buffers[0]);
    const bool is_alone = std::ranges::find(c.buffers, b) != c.buffers.end() || next_.at(b) == b;
    return is_alone && !is_needed_behind(b) && here.size == there.size && here.dtype == there.dtype;
  }

  Graph& g_;
  const Schedule& s_;
  const int loop_;
  std::size_t first_ = 0, end_ = 0;  // the loop's kernels are first_ .. end_ - 1
  std::vector<Candidate> candidates_;
  std::vector<KernelAccess> access_;  // by kernel
  Rotation change_;
  std::map<int, int> where_;  // by buffer that a dropped copy stores: the buffer with the same value
  std::map<int, int> next_;   // by buffer: the place of its value in the next iteration
};

}  // namespace

bool is_in(const Schedule& s, int loop, int outer) {
  while (loop >= 0 && loop != outer) loop = nth(s.loops, loop).parent;
  return loop == outer;
}

Kernel without(Graph& g, const Kernel& k, const std::vector<Id>& ends) {
  Kernel out = k;
  std::vector<Id> kept = g.sources(k.sink);
  std::erase_if(kept, [&](Id end) { return std::ranges::find(ends, end) != ends.end(); });
  out.sink = g.with_src(k.sink, kept);
  return out;
}

std::optional<Rotation> find_rotation(Graph& g, const Schedule& s, int loop, const std::set<int>& fixed) {
  return Iteration(g, s, loop, fixed).find();
}

}  // namespace kiln::compiler
