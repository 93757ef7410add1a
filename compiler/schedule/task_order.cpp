#include "compiler/schedule/task_order.h"

#include "compiler/ir/nth.h"

#include <algorithm>

namespace kiln::compiler {
namespace {

// The kernels first .. last in the body of `loop` (-1: the program): one kernel, or the kernels of an inner loop.
struct Span {
  std::size_t first, last;
  int loop;
};

class Lifetimes {
 public:
  Lifetimes(const Graph& g, const Schedule& s) : g_(g), s_(s), uses_(s.buffers.size()) {
    for (std::size_t l = 0; l < s.loops.size(); ++l) spans_.push_back({s.kernels.size(), 0, s.loops[l].parent});
    for (std::size_t k = 0; k < s.kernels.size(); ++k)
      for (int l = s.kernels[k].loop; l >= 0; l = nth(s.loops, l).parent) {
        nth(spans_, l).first = std::min(nth(spans_, l).first, k);
        nth(spans_, l).last = k;
      }
  }

  std::vector<std::vector<std::size_t>> find() {
    for (std::size_t k = 0; k < s_.kernels.size(); ++k) {
      const Kernel& kernel = s_.kernels[k];
      for (const int b : kernel.buffers) nth(uses_, b).push_back({k, k, kernel.loop});
      for (const int b : numbers_in(g_, s_, std::span(&kernel.sink, 1))) nth(uses_, b).push_back({k, k, kernel.loop});
    }
    for (std::size_t l = 0; l < s_.loops.size(); ++l) {
      const HostLoop& loop = s_.loops[l];
      const Id bounds[] = {loop.begin, loop.end};
      for (const int b : numbers_in(g_, s_, bounds)) nth(uses_, b).push_back(spans_[l]);
      if (loop.condition >= 0) nth(uses_, loop.condition).push_back(spans_[l]);
      if (loop.count != no_id) use_rotating(l);
    }
    std::vector<std::vector<std::size_t>> out;
    for (const std::vector<Span>& of : uses_) out.push_back(lifetime(of));
    return out;
  }

 private:
  // The buffers among which a loop's rotating buffers alternate are live during all its iterations.
  void use_rotating(std::size_t loop) {
    for (const Buffer& b : s_.buffers) {
      if (b.count != s_.loops[loop].count) continue;
      for (const int one : b.among) nth(uses_, one).push_back(spans_[loop]);
    }
  }

  std::size_t depth(int loop) const {
    std::size_t d = 0;
    for (; loop >= 0; loop = nth(s_.loops, loop).parent) ++d;
    return d;
  }

  // The innermost loop around both.
  int common(int a, int b) const {
    while (a != b) {
      const bool a_is_deeper = depth(a) >= depth(b);
      (a_is_deeper ? a : b) = nth(s_.loops, a_is_deeper ? a : b).parent;
    }
    return a;
  }

  std::vector<std::size_t> lifetime(const std::vector<Span>& uses) const {
    if (uses.empty()) return {};
    int around = uses[0].loop;
    for (const Span& u : uses) around = common(around, u.loop);
    std::size_t first = s_.kernels.size(), last = 0;
    for (Span u : uses) {
      while (u.loop != around) u = nth(spans_, u.loop);
      first = std::min(first, u.first);
      last = std::max(last, u.last);
    }
    return {first, last};
  }

  const Graph& g_;
  const Schedule& s_;
  std::vector<Span> spans_;              // by loop: its kernels, in the body of its parent
  std::vector<std::vector<Span>> uses_;  // by buffer
};

}  // namespace

TaskOrder::TaskOrder(const Schedule& s)
    : in_order_(!s.loops.empty()), words_((s.kernels.size() + 63) / 64), rows_(in_order_ ? 0 : words_ * s.kernels.size()) {
  if (in_order_) return;
  for (std::size_t k = 0; k < s.kernels.size(); ++k)
    for (const std::size_t j : s.kernels[k].depends_on) {
      rows_[k * words_ + j / 64] |= std::uint64_t{1} << (j % 64);
      for (std::size_t w = 0; w < words_; ++w) rows_[k * words_ + w] |= rows_[j * words_ + w];
    }
}

std::vector<int> numbers_in(const Graph& g, const Schedule& s, std::span<const Id> expressions) {
  std::vector<int> out;
  const auto is_number = [](const Symbol& y) { return y.kind == Symbol::Kind::element; };
  if (std::ranges::none_of(s.program.symbols, is_number)) return out;
  for (const Id id : g.reachable(expressions)) {
    if (g.op(id) != Op::SYM) continue;
    for (const Symbol& y : s.program.symbols)
      if (is_number(y) && y.name == g.name(id)) out.push_back(y.buffer);
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<std::vector<std::size_t>> buffer_users(const Graph& g, const Schedule& s) {
  if (!s.loops.empty()) return Lifetimes(g, s).find();
  std::vector<std::vector<std::size_t>> users(s.buffers.size());
  for (std::size_t k = 0; k < s.kernels.size(); ++k) {
    std::vector<int> used = s.kernels[k].buffers;
    for (const int b : numbers_in(g, s, std::span(&s.kernels[k].sink, 1))) used.push_back(b);
    for (const int b : used) {
      auto& of = nth(users, b);
      if (of.empty() || of.back() != k) of.push_back(k);
    }
  }
  return users;
}

}  // namespace kiln::compiler
