#include "compiler/schedule/turn_copies.h"

#include <algorithm>

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

class Turn {
 public:
  Turn(Graph& g, const Schedule& s, int loop, const std::set<int>& fixed) : g_(g), s_(s), loop_(loop) {
    const auto is_inside = [&](const Kernel& k) { return is_in(s, k.loop, loop); };
    const auto first = std::ranges::find_if(s.kernels, is_inside);
    first_ = static_cast<std::size_t>(first - s.kernels.begin());
    end_ = static_cast<std::size_t>(std::find_if_not(first, s.kernels.end(), is_inside) - s.kernels.begin());
    for (std::size_t k = first_; k < end_; ++k) {
      const Kernel& kernel = s.kernels[k];
      if (kernel.loop != loop) continue;
      for (const Id end : std::vector<Id>(g.src(kernel.sink).begin(), g.src(kernel.sink).end()))
        if (const auto c = copy_of(g, s, kernel, end); c && !fixed.contains(c->to) && !fixed.contains(c->from))
          candidates_.push_back({k, end, *c});
    }
  }

  // Without a copy that stands in the way, until none does.
  std::optional<RoleChange> find() {
    if (candidates_.empty()) return std::nullopt;  // most loops copy nothing, and what follows takes time
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

  // The kernel, and then its copies: a copy that it makes impossible.
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
      // Of two copies to a buffer both stay: who overwrites the first one's source does not wait for who reads the buffer.
      if (where_.contains(c.copy.to)) return i;
      const auto from = before.find(c.copy.from);
      where_[c.copy.to] = from == before.end() ? c.copy.from : from->second;
    }
    return std::nullopt;
  }

  // Who stores may leave some elements, or ask what was there.
  bool uses(std::size_t k, int b) const { return has(access_[k].loads, b) || has(access_[k].stores, b); }
  bool is_parameter(int b) const { return s_.buffers[static_cast<std::size_t>(b)].param >= 0; }

  // Temporaries of a turn: stored whole before anything else, and used nowhere else.
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

  // In a loop around this one, the next run of this one may go on from what the last one left.
  bool is_needed_behind(int b) {
    if (is_parameter(b)) return true;
    if (s_.loops[static_cast<std::size_t>(loop_)].parent >= 0) return !is_scratch(b);
    for (std::size_t k = end_; k < s_.kernels.size(); ++k)
      if (uses(k, b)) return true;
    return false;
  }

  // Where each buffer is in the next turn. One that holds nothing goes to the place that those before it leave: then as few as
  // can be change roles with each other.
  std::optional<std::size_t> find_places() {
    std::set<int> all;
    std::map<int, std::size_t> last;  // copy to a buffer
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
    std::map<int, int> last_in;  // by place: who goes there
    for (const auto& [b, next] : next_) last_in[next] = b;
    for (const int b : idle) {
      int left = b;
      for (auto it = last_in.find(b); it != last_in.end(); it = last_in.find(left)) left = it->second;
      next_[b] = left;
    }
    return std::nullopt;
  }

  // False: one is too long, or nothing is free to bring it back by.
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

  // Copies that run one after the other do what they should at once: what is overwritten has been copied before, to a buffer
  // that nobody needs where there is no other way.
  bool find_way_back(Cycle& c) {
    const std::size_t n = c.buffers.size();
    for (std::size_t turns = 1; turns < n; ++turns) {
      std::vector<std::pair<int, int>> open, order;
      const auto is_read = [&](int b) { return std::ranges::find(open, b, &std::pair<int, int>::second) != open.end(); };
      for (std::size_t i = 0; i < n; ++i)
        if (is_needed_behind(c.buffers[i])) open.emplace_back(c.buffers[i], c.buffers[(i + turns) % n]);
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

  // Does a buffer hold nothing when a cycle is brought back, but for what the cycle left in it?
  bool is_free(const Cycle& c, int b) {
    const Buffer &here = s_.buffers[static_cast<std::size_t>(b)], &there = s_.buffers[static_cast<std::size_t>(c.buffers[0])];
    const bool is_alone = std::ranges::find(c.buffers, b) != c.buffers.end() || next_.at(b) == b;
    return is_alone && !is_needed_behind(b) && here.size == there.size && here.dtype == there.dtype;
  }

  Graph& g_;
  const Schedule& s_;
  const int loop_;
  std::size_t first_ = 0, end_ = 0;  // kernels of the loop
  std::vector<Candidate> candidates_;
  std::vector<KernelAccess> access_;  // by kernel
  RoleChange change_;
  std::map<int, int> where_;  // what a buffer would hold that is copied to
  std::map<int, int> next_;   // by buffer: its place in the next turn
};

}  // namespace

bool is_in(const Schedule& s, int loop, int outer) {
  while (loop >= 0 && loop != outer) loop = s.loops[static_cast<std::size_t>(loop)].parent;
  return loop == outer;
}

Kernel without(Graph& g, const Kernel& k, const std::vector<Id>& ends) {
  Kernel out = k;
  std::vector<Id> kept(g.src(k.sink).begin(), g.src(k.sink).end());
  std::erase_if(kept, [&](Id end) { return std::ranges::find(ends, end) != ends.end(); });
  out.sink = g.with_src(k.sink, kept);
  return out;
}

std::optional<RoleChange> find_role_change(Graph& g, const Schedule& s, int loop, const std::set<int>& fixed) {
  return Turn(g, s, loop, fixed).find();
}

}  // namespace kiln::compiler
