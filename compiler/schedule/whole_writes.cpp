#include "compiler/schedule/whole_writes.h"

#include <algorithm>
#include <map>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/scopes.h"
#include "compiler/rangeify/index_expr.h"

namespace kiln::compiler {
namespace {

bool always(const Graph& g, Id gate) { return g.is_const(gate) && g.value(gate) != 0; }

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

// Adds the constants 0, d, 2*d, ... as a factor. False: the constants are others.
bool add_constants(Graph& g, const std::vector<Id>& constants, std::vector<Factor>& factors) {
  const auto has = [&](Id c) { return std::ranges::find(constants, c) != constants.end(); };
  if (constants.size() == 1) return g.is_index_const(constants[0], 0);
  for (const Id step : constants) {
    if (g.is_index_const(step, 0)) continue;
    bool all = true;
    for (std::int64_t i = 0; i < std::ssize(constants) && all; ++i) all = has(index_mul(g, step, g.index(i)));
    if (!all) continue;
    factors.push_back({step, g.index(std::ssize(constants))});
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

}  // namespace

bool covers(Graph& g, std::span<const Id> ranges, std::span<const Id> indices, Id size) {
  std::vector<Strides> found;
  std::vector<Id> constants;
  for (const Id linear : indices) {
    Strides s = strides_of(g, index_canonical(g, linear), ranges);
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
  std::vector<Id> writes;  // UPDATEs, the last one first
  Id state = parts.final[slot];
  for (; g.op(state) == Op::UPDATE; state = g.state(state)) {
    if (!always(g, write_parts(g, state).gate)) return false;
    writes.push_back(state);
  }
  if (g.op(state) != Op::CARRY || reads.contains(state)) return false;
  std::vector<Id> indices;
  for (std::size_t i = writes.size(); i-- > 0;) {
    const WriteParts w = write_parts(g, writes[i]);
    const std::vector<Id> at(w.index.begin(), w.index.end());
    indices.push_back(row_major(g, at, extents));
    // A read between two writes must read an element that the same work item has written.
    const auto read = reads.find(writes[i]);
    if (read == reads.end()) continue;
    for (const Id r : read->second)
      if (std::ranges::find(indices, row_major(g, g.sources(r, 1), extents)) == indices.end()) return false;
  }
  return covers(g, ranges, indices, index_product(g, extents));
}

}  // namespace kiln::compiler
