#include "compiler/schedule/whole_writes.h"

#include <algorithm>
#include <map>

#include "compiler/ir/index_multiples.h"
#include "compiler/ir/index_poly.h"
#include "compiler/ir/scopes.h"
#include "compiler/rangeify/index_expr.h"

namespace kiln::compiler {
namespace {

// A linear index as a sum of stride * range, plus the rest. A stride with data in it matches no factor, because
// sizes have no data.
struct Strides {
  std::map<Id, Poly> of;  // by range: its stride
  Poly rest;
};

Strides strides_of(const Graph& g, Id linear, std::span<const Id> ranges) {
  Strides out;
  for (Monomial m : poly_of(g, linear)) {
    const auto range = std::ranges::find_first_of(m.atoms, ranges);
    if (range == m.atoms.end()) {
      out.rest.push_back(m);
      continue;
    }
    const Id r = *range;
    m.atoms.erase(range);
    out.of[r].push_back(m);
  }
  return out;
}

struct Factor {
  Id stride, extent;
};

// Adds factors whose sums are the constants: 0, d, 2*d, ... is one factor, and 0, 1, w, w + 1 are two. False: there are none.
bool add_constants(Graph& g, const std::vector<Id>& constants, std::vector<Factor>& factors) {
  const auto has = [&](Id c) { return std::ranges::find(constants, c) != constants.end(); };
  if (constants.size() == 1) return g.is_index_const(constants[0], 0);
  for (const Id step : constants) {
    if (g.is_index_const(step, 0)) continue;
    const auto after = [&](Id c, std::int64_t steps) { return index_add(g, c, index_mul(g, step, g.index(steps))); };
    std::vector<Id> first;  // constants without one that is a step before
    for (const Id c : constants)
      if (!has(after(c, -1))) first.push_back(c);
    const std::int64_t n = first.empty() ? 0 : std::ssize(constants) / std::ssize(first);
    if (n * std::ssize(first) != std::ssize(constants)) continue;
    bool all = true;
    for (const Id c : first)
      for (std::int64_t i = 1; i < n && all; ++i) all = has(after(c, i));
    std::vector<Factor> more = factors;
    more.push_back({step, g.index(n)});
    if (!all || n < 2 || !add_constants(g, first, more)) continue;
    factors = std::move(more);
    return true;
  }
  return false;
}

bool is_mixed_radix(Graph& g, std::vector<Factor> factors, Id size) {
  Id stride = g.index(1);
  while (!factors.empty()) {
    const auto next = std::ranges::find(factors, stride, &Factor::stride);
    if (next == factors.end()) return false;
    stride = index_mul(g, stride, next->extent);
    factors.erase(next);
  }
  return stride == index_canonical(g, size);
}

// Adds (extent - 1) * stride to the rest if the stride is negative: the range then counts down.
void count_up(Graph& g, Strides& s, Id range) {
  const auto it = s.of.find(range);
  if (it == s.of.end() || std::ranges::any_of(it->second, [](const Monomial& m) { return m.coefficient >= 0; })) return;
  const Poly stride = normalise_poly(g, it->second);
  const Poly last = add_poly(g, poly_of(g, index_canonical(g, g.end(range))), constant_sum(-1));
  s.rest = settled(g, add_poly(g, normalise_poly(g, s.rest), mul_poly(g, stride, last)));
  it->second = scale_poly(g, stride, -1);
}

class Writes {
 public:
  Writes(Graph& g, std::span<const Id> extents, const std::unordered_map<Id, std::vector<Id>>& reads)
      : g_(g), extents_(extents), reads_(reads) {}

  // Whether the writes from the CARRY of a KERNEL or FOR to this state write every element, and read only elements that the
  // same iteration has written. After writes of a KERNEL that cover all elements, any access may follow, because a work
  // item reads no element that another one writes.
  bool cover(Id state, const std::vector<Id>& ranges, bool is_loop) {
    std::vector<Id> steps;  // UPDATEs, and GETs of FORs, the last one first
    for (; g_.op(state) == Op::UPDATE || g_.op(state) == Op::GET; state = before(state)) steps.push_back(state);
    if (g_.op(state) != Op::CARRY || reads_.contains(state)) return false;
    const Id size = index_product(g_, extents_);
    std::vector<Id> indices;
    for (std::size_t i = steps.size(); i-- > 0;) {
      const Id step = steps[i];
      if (g_.op(step) == Op::GET) return (!is_loop || (i == 0 && !reads_.contains(step))) && loop_covers(step, ranges);
      const WriteParts w = write_parts(g_, step);
      if (!holds(w.gate)) return false;
      const std::vector<Id> at(w.index.begin(), w.index.end());
      indices.push_back(row_major(g_, at, extents_));
      if (!is_loop && covers(g_, ranges, indices, size)) return true;
      if (!reads_written(step, indices)) return false;
    }
    return is_loop && covers(g_, ranges, indices, size);
  }

 private:
  // Whether the gate holds if the tensor has elements. Without elements there is nothing to write.
  bool holds(Id gate) {
    if (g_.is_const(gate)) return g_.value(gate) != 0;
    if (g_.op(gate) != Op::LT || !g_.is_index_const(g_.src(gate, 0), 0)) return false;
    const Id end = index_canonical(g_, g_.src(gate, 1));
    return std::ranges::any_of(extents_, [&](Id extent) { return index_canonical(g_, extent) == end; });
  }

  Id before(Id state) const {
    return g_.op(state) == Op::UPDATE ? g_.state(state) : scope_inits(g_, g_.scope(state))[g_.slot(state)];
  }

  // A read between two writes must read an element that the same work item has written.
  bool reads_written(Id state, const std::vector<Id>& indices) {
    const auto read = reads_.find(state);
    return read == reads_.end() || std::ranges::all_of(read->second, [&](Id r) {
             return std::ranges::find(indices, row_major(g_, g_.sources(r, 1), extents_)) != indices.end();
           });
  }

  bool loop_covers(Id get, std::vector<Id> ranges) {
    const Id loop = g_.scope(get);
    if (g_.op(loop) != Op::FOR) return false;
    const LoopParts l = loop_parts(g_, loop);
    if (l.conditional || l.step != 1 || !g_.is_index_const(l.begin, 0)) return false;
    const Id yield = l.yield[g_.slot(get)], end = l.end, range = l.range;
    const Id last = index_canonical(g_, end), limit = index_canonical(g_, g_.end(range));
    if (last != limit) return false;
    ranges.push_back(range);
    return cover(yield, ranges, true);
  }

  Graph& g_;
  std::span<const Id> extents_;
  const std::unordered_map<Id, std::vector<Id>>& reads_;
};

}  // namespace

bool covers(Graph& g, std::span<const Id> ranges, std::span<const Id> indices, Id size) {
  std::vector<Strides> found;
  std::vector<Id> constants;
  for (const Id linear : indices) {
    Strides s = strides_of(g, index_canonical(g, linear), ranges);
    for (const Id r : ranges) count_up(g, s, r);
    const Id rest = index_from(g, s.rest);
    if (std::ranges::find(constants, rest) == constants.end()) constants.push_back(rest);
    found.push_back(std::move(s));
  }
  std::vector<Factor> factors;
  if (found.empty() || !add_constants(g, constants, factors)) return false;
  for (const Id r : ranges) {
    if (g.is_index_const(g.end(r), 1)) continue;  // always 0
    const auto stride = [&](const Strides& s) { return s.of.contains(r) ? index_from(g, s.of.at(r)) : no_id; };
    const Id first = stride(found[0]);
    if (first == no_id || std::ranges::any_of(found, [&](const Strides& s) { return stride(s) != first; })) return false;
    factors.push_back({first, index_canonical(g, g.end(r))});
  }
  return is_mixed_radix(g, std::move(factors), size);
}

bool writes_all(Graph& g, Id kernel, std::size_t slot, std::span<const Id> extents,
                const std::unordered_map<Id, std::vector<Id>>& reads) {
  const KernelParts parts = kernel_parts(g, kernel);
  const std::vector<Id> ranges(parts.ranges.begin(), parts.ranges.end());
  return Writes(g, extents, reads).cover(parts.final[slot], ranges, false);
}

}  // namespace kiln::compiler
