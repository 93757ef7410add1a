#include "compiler/schedule/segments.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "compiler/ir/nth.h"
#include "compiler/ir/symbols.h"
#include "compiler/schedule/dependencies.h"
#include "compiler/schedule/task_order.h"

namespace kiln::compiler {
namespace {

// The kernels of each segment, in order.
std::vector<std::vector<Kernel>> by_segment(Schedule& s) {
  std::vector<std::vector<Kernel>> out(s.segments.size());
  for (Kernel& k : s.kernels) nth(out, k.segment).push_back(std::move(k));
  return out;
}

// The expressions that contain the symbols of a segment: its graph, and the buffers of its kernels.
std::vector<Id> expressions_of(const Schedule& segment) {
  std::vector<Id> out{segment.program.sink};
  for (const Kernel& k : segment.kernels) {
    out.push_back(k.sink);
    for (const int b : k.buffers) {
      const Buffer& buffer = nth(segment.buffers, b);
      out.insert(out.end(), {buffer.size, buffer.tile, buffer.tile_storage});
    }
  }
  std::erase(out, no_id);
  return out;
}

// Every segment has the symbols of all strides: kernel_split is the first pass that uses them.
bool is_stride(const Symbol& s) { return s.kind == Symbol::Kind::stride; }
std::vector<Symbol> strides_in(const std::vector<Symbol>& symbols) {
  std::vector<Symbol> out;
  std::ranges::copy_if(symbols, std::back_inserter(out), is_stride);
  return out;
}

// A parameter that the segment does not write keeps the direction `in`, even if the segment does not use it.
void set_directions(Schedule& segment, const Segment& p) {
  for (const int w : p.writes) {
    const bool reads = std::ranges::binary_search(p.reads, w);
    nth(segment.program.params, w).direction = reads ? Direction::inout : Direction::out;
  }
}
void forget_directions(Schedule& segment, const Segment& p) {
  for (const int w : p.writes) nth(segment.program.params, w).direction = Direction::in;
}

// Kernels of one loop, in earlier segments, that use a buffer.
struct Earlier {
  std::vector<std::size_t> readers, writers;
};

class Joining {
 public:
  Joining(const Graph& g, Schedule& s) : g_(g), s_(s) {}

  void run() {
    for (std::size_t k = 0; k < s_.kernels.size(); ++k) access_.push_back(access_of(g_, s_.kernels[k]));
    for (std::size_t begin = 0, end = 0; begin < s_.kernels.size(); begin = end) {
      while (end < s_.kernels.size() && s_.kernels[end].segment == s_.kernels[begin].segment) ++end;
      for (std::size_t k = begin; k < end; ++k) settle(k, begin);
      // A writer of this segment depends on all earlier users of the buffer, so later kernels depend on the writer only.
      for (std::size_t k = begin; k < end; ++k)
        for (const int b : access_[k].stores) earlier_.erase({s_.kernels[k].loop, b});
      for (std::size_t k = begin; k < end; ++k) remember(k);
    }
    drop_empty_loops();
    free_states();
    s_.segments.clear();
  }

 private:
  void settle(std::size_t k, std::size_t first_of_segment) {
    Kernel& kernel = s_.kernels[k];
    kernel.loop = nth(s_.segments, kernel.segment).loop;
    kernel.name = s_.program.name + "_k" + std::to_string(k);
    std::set<std::size_t> after;
    for (const std::size_t d : kernel.depends_on) after.insert(d + first_of_segment);
    const auto add = [&](int buffer, bool readers) {
      const auto it = earlier_.find({kernel.loop, buffer});
      if (it == earlier_.end()) return;
      after.insert(it->second.writers.begin(), it->second.writers.end());
      if (readers) after.insert(it->second.readers.begin(), it->second.readers.end());
    };
    for (const int b : reads(k)) add(b, false);
    for (const int b : access_[k].stores) add(b, true);
    kernel.depends_on.assign(after.begin(), after.end());
    kernel.segment = 0;
  }

  std::vector<int> reads(std::size_t k) const {
    std::vector<int> out = numbers_in(g_, s_, std::span(&s_.kernels[k].sink, 1));
    out.insert(out.end(), access_[k].loads.begin(), access_[k].loads.end());
    return out;
  }

  void remember(std::size_t k) {
    const int loop = s_.kernels[k].loop;
    for (const int b : reads(k)) earlier_[{loop, b}].readers.push_back(k);
    for (const int b : access_[k].stores) earlier_[{loop, b}].writers.push_back(k);
  }

  void drop_empty_loops() {
    std::vector<bool> used(s_.loops.size(), false);
    for (const Kernel& k : s_.kernels)
      for (int l = k.loop; l >= 0; l = nth(s_.loops, l).parent) nth(used, l) = true;
    std::vector<int> number(s_.loops.size(), -1);
    std::vector<HostLoop> rest;
    for (std::size_t l = 0; l < s_.loops.size(); ++l) {
      if (!used[l]) continue;
      number[l] = count_of(rest);
      rest.push_back(s_.loops[l]);
      if (rest.back().parent >= 0) rest.back().parent = nth(number, rest.back().parent);
    }
    for (Kernel& k : s_.kernels)
      if (k.loop >= 0) k.loop = nth(number, k.loop);
    s_.loops = std::move(rest);
  }

  void free_states() {
    std::vector<Parameter>& params = s_.program.params;
    for (std::size_t i = 0; i < params.size(); ++i)
      if (params[i].direction == Direction::state) s_.buffers[i].param = -1;
    std::erase_if(params, [](const Parameter& p) { return p.direction == Direction::state; });
  }

  const Graph& g_;
  Schedule& s_;
  std::vector<KernelAccess> access_;
  std::map<std::pair<int, int>, Earlier> earlier_;  // by loop and buffer
};

}  // namespace

void in_segments(Graph& g, Schedule& s, const SegmentPass& pass) {
  if (s.segments.empty()) return pass(g, s);
  const SymbolIndex symbols(s.program.symbols);
  const std::vector<Symbol> strides = strides_in(s.program.symbols);
  std::vector<std::vector<Kernel>> kernels = by_segment(s);
  s.kernels.clear();
  Schedule segment;  // reused: copying all parameters for each segment would be slow
  segment.program = s.program;
  for (Parameter& p : segment.program.params) p.direction = Direction::in;
  for (std::size_t i = 0; i < s.segments.size(); ++i) {
    segment.program.sink = s.segments[i].sink;
    segment.buffers = std::move(s.buffers);
    segment.kernels = std::move(kernels[i]);
    segment.program.symbols = symbols.in(g, expressions_of(segment));
    std::erase_if(segment.program.symbols, is_stride);
    segment.program.symbols.insert(segment.program.symbols.end(), strides.begin(), strides.end());
    set_directions(segment, s.segments[i]);
    pass(g, segment);
    forget_directions(segment, s.segments[i]);
    s.buffers = std::move(segment.buffers);
    s.segments[i].sink = s.buffers.empty() ? segment.program.sink : no_id;
    for (Kernel& k : segment.kernels) {
      k.segment = narrow<int>(i);
      s.kernels.push_back(std::move(k));
    }
  }
}

void join_segments(Graph& g, Schedule& s) {
  if (!s.segments.empty()) Joining(g, s).run();
}

}  // namespace kiln::compiler
