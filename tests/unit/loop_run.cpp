#include <algorithm>

#include "compiler/schedule/dependencies.h"
#include "tests/unit/loop_programs.h"

namespace kiln::compiler::testing {
namespace {

std::size_t slot(int i) { return static_cast<std::size_t>(i); }

class Run {
 public:
  Run(Graph& g, const Schedule& s, const Symbols& symbols) : g_(g), s_(s), symbols_(symbols) {
    for (std::size_t b = 0; b < s.buffers.size(); ++b) {
      Data d(slot(static_cast<int>(index_at(g, s.buffers[b].size, {}))));
      for (std::size_t i = 0; i < d.size(); ++i) d[i].i = static_cast<std::int64_t>(10 * b + i + 1);
      memory_.push_back(std::move(d));
    }
  }

  std::vector<Data> operator()() {
    kernels(0, s_.kernels.size(), -1);
    memory_.resize(s_.program.params.size());
    return std::move(memory_);
  }

 private:
  // The recursion is as deep as loops nest.
  void kernels(std::size_t first, std::size_t end, int around) {
    for (std::size_t last = first; first < end; first = last) {
      int loop = s_.kernels[first].loop;
      while (loop != around && s_.loops[slot(loop)].parent != around) loop = s_.loops[slot(loop)].parent;
      const auto is_next = [&](std::size_t k) {
        return loop == around ? s_.kernels[k].loop == around : is_inside(s_.kernels[k].loop, loop);
      };
      while (last < end && is_next(last)) ++last;
      if (loop == around)
        together(first, last);
      else
        iterations(first, last, loop);
    }
  }
  bool is_inside(int loop, int outer) const {
    while (loop >= 0 && loop != outer) loop = s_.loops[slot(loop)].parent;
    return loop == outer;
  }

  void iterations(std::size_t first, std::size_t end, int number) {
    const HostLoop& l = s_.loops[slot(number)];
    const Symbols now = with_numbers();
    if (l.count != no_id) symbols_[std::string(g_.name(l.count))] = 0;
    const std::int64_t from = index_at(g_, l.begin, now), to = index_at(g_, l.end, now);
    for (std::int64_t t = from; t < to && (l.condition < 0 || memory_[slot(l.condition)][0].i != 0); t += l.step) {
      if (l.counter != no_id) symbols_[std::string(g_.name(l.counter))] = t;
      kernels(first, end, number);
      if (l.count != no_id) ++symbols_[std::string(g_.name(l.count))];
    }
  }

  Symbols with_numbers() const {
    Symbols out = symbols_;
    for (const Symbol& y : s_.program.symbols)
      if (y.kind == Symbol::Kind::element) out[y.name] = memory_[slot(y.buffer)][0].i;
    return out;
  }

  void together(std::size_t first, std::size_t end) {
    std::vector<bool> done(end - first, false);
    for (std::size_t n = first; n < end; ++n) {
      std::size_t k = end - 1;
      const auto waits = [&](std::size_t d) { return d >= first && !done[d - first]; };
      while (done[k - first] || std::ranges::any_of(s_.kernels[k].depends_on, waits)) --k;
      kernel(s_.kernels[k]);
      done[k - first] = true;
    }
  }

  std::size_t actual(int b) const {
    const Buffer& buffer = s_.buffers[slot(b)];
    if (buffer.among.empty()) return slot(b);
    const auto count = static_cast<std::size_t>(symbols_.at(std::string(g_.name(buffer.count))));
    return slot(buffer.among[count % buffer.among.size()]);
  }

  // Runs one kernel alone, on a copy of its buffers' contents.
  void kernel(const Kernel& k) {
    Schedule one;
    one.kernels.push_back(k);
    one.kernels[0].depends_on.clear();
    std::vector<Data> data;
    for (std::size_t i = 0; i < k.buffers.size(); ++i) {
      const Buffer& b = s_.buffers[slot(k.buffers[i])];
      one.buffers.push_back({b.dtype, b.size, static_cast<int>(i)});
      one.program.params.push_back({"p", Direction::inout, b.dtype, {b.size}, {}});
      one.kernels[0].buffers[i] = static_cast<int>(i);
      data.push_back(memory_[actual(k.buffers[i])]);
    }
    data = run_schedule(g_, one, with_numbers(), data, false);
    for (const int i : access_of(g_, one.kernels[0]).stores) memory_[actual(k.buffers[slot(i)])] = data[slot(i)];
  }

  Graph& g_;
  const Schedule& s_;
  Symbols symbols_;
  std::vector<Data> memory_;  // by buffer
};

}  // namespace

std::vector<Data> run_loops(Graph& g, const Schedule& s, const Symbols& symbols) { return Run(g, s, symbols)(); }

}  // namespace kiln::compiler::testing
