#include "compiler/schedule/ping_pong.h"

#include <algorithm>
#include <string>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/remark.h"
#include "compiler/schedule/copies.h"
#include "compiler/schedule/dependencies.h"
#include "compiler/schedule/iteration_copies.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t most_iterations = std::int64_t{1} << 62;

class PingPong {
 public:
  PingPong(Graph& g, Schedule& s) : g_(g), s_(s) {
    // A symbol or loop without a buffer has -1 as its buffer, which no kernel uses.
    for (const Symbol& y : s.program.symbols) fixed_.insert(y.buffer);
    for (const HostLoop& l : s.loops) fixed_.insert(l.condition);
  }

  // Inner loops first, because they have more iterations.
  void run() {
    for (int l = count_of(s_.loops); l-- > 0;)
      if (const auto change = find_rotation(g_, s_, l, fixed_); change && is_worth(nth(s_.loops, l), *change))
        apply(l, *change);
  }

 private:
  // Rotating buffers do not pay in a loop of at most one iteration, such as a condition: a copy after the loop
  // would replace the copy in it.
  bool is_worth(const HostLoop& l, const Rotation& change) const {
    const auto iterations = index_value(g_, index_sub(g_, l.end, l.begin));
    return change.cycles.empty() || !iterations || *iterations > l.step;
  }

  void apply(int loop, const Rotation& change) {
    std::map<int, int> rotating;  // by buffer: its rotating buffer
    std::vector<HostLoop> loops;
    std::vector<Kernel> copies;  // `loop` is an index into `loops`
    if (!change.cycles.empty()) {
      const Id count = new_count();
      nth(s_.loops, loop).count = count;
      for (const Cycle& c : change.cycles) {
        explain(c, change);
        add_rotating(c, count, rotating);
        bring_back(c, count, nth(s_.loops, loop).parent, loops, copies);
      }
    }
    for (const auto& [k, names] : change.renamed) {
      const auto renamed = [&](int b) {
        const auto moved = names.find(b);
        const int now = moved == names.end() ? b : moved->second;
        const auto rotated = rotating.find(now);
        return rotated == rotating.end() ? now : rotated->second;
      };
      Kernel& kernel = s_.kernels[k];
      if (const auto ends = change.dropped.find(k); ends != change.dropped.end()) kernel = without(g_, kernel, ends->second);
      std::ranges::transform(kernel.buffers, kernel.buffers.begin(), renamed);
      if (kernel.at_entry) std::ranges::transform(*kernel.at_entry, kernel.at_entry->begin(), renamed);
    }
    rebuild(loop, loops, copies);
  }

  void explain(const Cycle& c, const Rotation& change) const {
    if (change.dropped.empty()) return;
    remark(g_, g_.store(change.dropped.begin()->second[0]), remarks::rotated, [&] {
      return std::to_string(c.buffers.size()) + " buffers change places after each iteration of the loop: nothing is copied";
    });
  }

  Id new_count() {
    for (int n = 0;; ++n) {
      const std::string name = "count." + std::to_string(n);
      if (std::ranges::find(s_.program.symbols, name, &Symbol::name) != s_.program.symbols.end()) continue;
      s_.program.symbols.push_back({.name = name, .max = most_iterations, .kind = Symbol::Kind::count});
      return g_.sym(name);
    }
  }

  void add_rotating(const Cycle& c, Id count, std::map<int, int>& rotating) {
    for (std::size_t i = 0; i < c.buffers.size(); ++i) {
      Buffer rotated = nth(s_.buffers, c.buffers[i]);
      rotated.param = -1;
      rotated.count = count;
      for (std::size_t iteration = 0; iteration < c.buffers.size(); ++iteration)
        rotated.among.push_back(c.buffers[(i + iteration) % c.buffers.size()]);
      rotating[c.buffers[i]] = count_of(s_.buffers);
      fixed_.insert(c.buffers[i]);
      s_.buffers.push_back(rotated);
    }
  }

  void bring_back(const Cycle& c, Id count, int parent, std::vector<HostLoop>& loops, std::vector<Kernel>& copies) {
    for (std::size_t iterations = 1; iterations <= c.back.size(); ++iterations) {
      if (c.back[iterations - 1].empty()) continue;
      // The loop has one iteration if count % n == iterations, else none: (count - iterations - 1) % n is then n - 1, and any
      // other remainder divided by n - 1 is 0.
      const auto n = std::ssize(c.buffers);
      const Id from_next = index_sub(g_, count, g_.index(iterations + 1));
      HostLoop l;
      l.parent = parent;
      l.begin = g_.index(0);
      const Id last = g_.index(n - 1), remainder = index_floormod(g_, from_next, g_.index(n));
      l.end = index_floordiv(g_, remainder, last);
      for (const auto& [to, from] : c.back[iterations - 1]) {
        copies.push_back(copy_kernel(g_, s_, to, from));
        copies.back().at_entry.emplace();
        copies.back().loop = count_of(loops);
      }
      loops.push_back(l);
    }
  }

  // Inserts loops and their kernels after loop `loop`, and removes kernels that store nothing.
  void rebuild(int loop, const std::vector<HostLoop>& loops, std::vector<Kernel>& copies) {
    const int added = count_of(loops);
    int behind = loop + 1;
    while (behind < std::ssize(s_.loops) && is_in(s_, behind, loop)) ++behind;
    std::size_t last = 0;
    for (std::size_t k = 0; k < s_.kernels.size(); ++k)
      if (is_in(s_, s_.kernels[k].loop, loop)) last = k;
    std::vector<Kernel> kernels;
    std::vector<std::vector<std::size_t>> now(s_.kernels.size());  // by old number: the kernels to wait for
    for (std::size_t k = 0; k < s_.kernels.size(); ++k) {
      Kernel kernel = std::move(s_.kernels[k]);
      std::set<std::size_t> needs;
      for (const std::size_t d : kernel.depends_on) needs.insert(now[d].begin(), now[d].end());
      kernel.depends_on.assign(needs.begin(), needs.end());
      if (kernel.loop >= behind) kernel.loop += added;
      if (g_.src(kernel.sink).empty()) {
        now[k] = kernel.depends_on;
      } else {
        now[k] = {kernels.size()};
        kernels.push_back(std::move(kernel));
      }
      if (k == last) append(kernels, copies, behind);
    }
    for (std::size_t k = 0; k < kernels.size(); ++k) kernels[k].name = s_.program.name + "_k" + std::to_string(k);
    s_.kernels = std::move(kernels);
    for (HostLoop& l : s_.loops)
      if (l.parent >= behind) l.parent += added;
    s_.loops.insert(s_.loops.begin() + behind, loops.begin(), loops.end());
  }

  // The copies of one loop run in order.
  static void append(std::vector<Kernel>& kernels, std::vector<Kernel>& copies, int first_loop) {
    int last_loop = -1;
    for (Kernel& k : copies) {
      k.loop += first_loop;
      if (k.loop == last_loop) k.depends_on.push_back(kernels.size() - 1);
      last_loop = k.loop;
      kernels.push_back(std::move(k));
    }
  }

  Graph& g_;
  Schedule& s_;
  std::set<int> fixed_;  // buffers that do not rotate
};

}  // namespace

void ping_pong(Graph& g, Schedule& s) { PingPong(g, s).run(); }

}  // namespace kiln::compiler
