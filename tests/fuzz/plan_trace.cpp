#include "tests/fuzz/plan_trace.h"

#include <algorithm>
#include <map>

#include "compiler/interp/index_value.h"
#include "compiler/schedule/task_order.h"

namespace kiln::compiler::testing {
namespace {

class Trace {
 public:
  Trace(const Graph& g, const Schedule& s, const std::vector<KernelUses>& uses,
        const std::function<bool(std::size_t)>& is_checked, const std::function<bool(std::size_t, std::size_t)>& overlap)
      : g_(g), s_(s), uses_(uses), is_checked_(is_checked), overlap_(overlap) {}

  std::string run(int iterations) {
    iterations_ = iterations;
    holds_.assign(s_.buffers.size(), false);
    counts_.clear();
    kernels(0, s_.kernels.size(), -1);
    return problem_;
  }

 private:
  // The recursion is as deep as loops nest.
  void kernels(std::size_t first, std::size_t end, int around) {
    for (std::size_t k = first; k < end && problem_.empty();) {
      int loop = s_.kernels[k].loop;
      if (loop == around) {
        kernel(k++);
        continue;
      }
      while (s_.loops[static_cast<std::size_t>(loop)].parent != around) loop = s_.loops[static_cast<std::size_t>(loop)].parent;
      std::size_t last = k;
      while (last < end && is_inside(s_.kernels[last].loop, loop)) ++last;
      iterations(k, last, loop);
      k = last;
    }
  }
  bool is_inside(int loop, int outer) const {
    while (loop >= 0 && loop != outer) loop = s_.loops[static_cast<std::size_t>(loop)].parent;
    return loop == outer;
  }

  void iterations(std::size_t first, std::size_t end, int number) {
    const HostLoop& l = s_.loops[static_cast<std::size_t>(number)];
    const std::string who = "loop " + std::to_string(number);
    const Id bounds[] = {l.begin, l.end};
    for (const int b : numbers_in(g_, s_, bounds)) read(who, static_cast<std::size_t>(b));
    if (l.count != no_id) counts_[std::string(g_.name(l.count))] = 0;
    const std::int64_t most = counted(l);
    for (std::int64_t t = 0; t < most && problem_.empty(); ++t) {
      if (l.condition >= 0) read(who, static_cast<std::size_t>(l.condition));
      kernels(first, end, number);
      if (l.count != no_id) ++counts_[std::string(g_.name(l.count))];
    }
  }

  // The number of iterations: if the bounds depend only on numbers of iterations, their value, else the number under test.
  std::int64_t counted(const HostLoop& l) const {
    const Id bounds[] = {l.begin, l.end};
    bool only_counts = false;
    for (const Id id : g_.reachable(bounds))
      if (g_.op(id) == Op::SYM) {
        if (!counts_.contains(std::string(g_.name(id)))) return iterations_;
        only_counts = true;
      }
    if (!only_counts) return iterations_;
    IndexValues value(g_, counts_);
    const std::int64_t begin = value(l.begin).value();
    return std::max<std::int64_t>(0, value(l.end).value() - begin);
  }

  // The buffer that a rotating buffer is now.
  std::size_t actual(std::size_t b) const {
    const Buffer& buffer = s_.buffers[b];
    if (buffer.among.empty()) return b;
    const auto count = static_cast<std::size_t>(counts_.at(std::string(g_.name(buffer.count))));
    return static_cast<std::size_t>(buffer.among[count % buffer.among.size()]);
  }
  std::set<std::size_t> actual(const std::set<std::size_t>& buffers) const {
    std::set<std::size_t> out;
    for (const std::size_t b : buffers) out.insert(actual(b));
    return out;
  }

  void kernel(std::size_t k) {
    const std::string who = "kernel " + std::to_string(k);
    const Id roots[] = {s_.kernels[k].sink};
    for (const int b : numbers_in(g_, s_, roots)) read(who, static_cast<std::size_t>(b));
    const std::set<std::size_t> reads = actual(uses_[k].reads), writes = actual(uses_[k].writes);
    for (const std::size_t b : reads)
      if (!writes.contains(b)) read(who, b);
    for (const std::size_t b : writes) {
      for (std::size_t other = 0; other < holds_.size(); ++other) {
        if (other == b || !is_checked_(other) || !overlap_(b, other)) continue;
        if (reads.contains(other) || writes.contains(other)) fail(who, other);
        holds_[other] = false;
      }
      holds_[b] = true;
    }
  }

  void read(const std::string& who, std::size_t b) {
    if (is_checked_(b) && !holds_[b]) fail(who, b);
  }
  void fail(const std::string& who, std::size_t b) {
    if (problem_.empty())
      problem_ = who + " uses buffer " + std::to_string(b) + " where it does not hold its value (iteration count " +
                 std::to_string(iterations_) + ")";
  }

  const Graph& g_;
  const Schedule& s_;
  const std::vector<KernelUses>& uses_;
  const std::function<bool(std::size_t)>& is_checked_;
  const std::function<bool(std::size_t, std::size_t)>& overlap_;
  int iterations_ = 0;
  std::vector<bool> holds_;
  std::map<std::string, std::int64_t> counts_;  // iterations made, by symbol
  std::string problem_;
};

}  // namespace

std::string trace_problem(const Graph& g, const Schedule& s, const std::vector<KernelUses>& uses,
                          const std::function<bool(std::size_t)>& is_checked,
                          const std::function<bool(std::size_t, std::size_t)>& overlap) {
  Trace trace(g, s, uses, is_checked, overlap);
  std::string problem;
  for (int iterations = 0; iterations < 4 && problem.empty(); ++iterations) problem = trace.run(iterations);
  return problem;
}

}  // namespace kiln::compiler::testing
