#include "compiler/schedule/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "compiler/ir/index_bounds.h"
#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/remark.h"
#include "compiler/schedule/copies.h"
#include "compiler/schedule/memory_in_order.h"
#include "compiler/schedule/task_order.h"
#include "compiler/symbolic/bounds.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t alignment = KILN_WORKSPACE_ALIGNMENT;
constexpr double typical_symbol = 128;
constexpr std::size_t most_pairs = std::size_t{1} << 25;  // kernels times buffers: about half a second

std::int64_t aligned(std::int64_t n) { return (n + alignment - 1) / alignment * alignment; }

Poly byte_poly(Graph& g, const Buffer& b) { return poly_of(g, index_mul(g, b.stored(), g.index(bytes(b.dtype)))); }

double typical_atom(const Graph& g, const Schedule& s, Id atom) {
  // An atom that is no symbol is mostly a quotient of an extent, or the factor 0 or 1 of a version (product_versions.h).
  if (g.op(atom) != Op::SYM) return std::min(typical_symbol / 2, static_cast<double>(Bounds(g, facts_of(s.program))(atom).max));
  for (const Symbol& y : s.program.symbols)
    if (y.name == g.name(atom)) return std::clamp(typical_symbol, static_cast<double>(y.min), static_cast<double>(y.max));
  return typical_symbol;
}

std::int64_t typical_bytes(const Graph& g, const Schedule& s, const Poly& p) {
  double sum = 0;
  for (const Monomial& m : p) {
    auto product = static_cast<double>(m.coefficient);
    for (const Id atom : m.atoms) product *= typical_atom(g, s, atom);
    sum += product;
  }
  return aligned(static_cast<std::int64_t>(std::clamp(sum, 0.0, 0x1p52)));
}

// Whether larger coefficients give a larger value, so that they can bound a maximum. The atoms of every term must be >= 0.
bool has_nonnegative_terms(const Graph& g, const Schedule& s, const Poly& p) {
  std::vector<SymbolFacts> facts;
  for (const Symbol& y : s.program.symbols) facts.push_back({y.name, y.min, y.max});
  for (const Monomial& m : p)
    for (const Id atom : m.atoms)
      if (g.op(atom) != Op::SYM && !proves_nonnegative(g, atom, facts)) return false;
  return true;
}

// An upper bound of max(a, b, 0).
Poly larger_coefficients(const Graph& g, const Poly& a, const Poly& b) {
  Poly out = a;
  for (const Monomial& m : b) {
    const auto it = std::ranges::find(out, m.atoms, &Monomial::atoms);
    if (it == out.end())
      out.push_back(m);
    else
      it->coefficient = std::max(it->coefficient, m.coefficient);
  }
  std::erase_if(out, [](const Monomial& m) { return m.coefficient <= 0; });  // 0, the arena's begin, is a third operand
  return normalise_poly(g, std::move(out));
}

bool same(const Poly& a, const Poly& b) {
  return std::ranges::equal(
      a, b, [](const Monomial& x, const Monomial& y) { return x.coefficient == y.coefficient && x.atoms == y.atoms; });
}

// An offset: the maximum of a few polynomials. None of them has at least the coefficients of another one in every term.
using Position = std::vector<Poly>;
constexpr std::size_t most_polynomials = 8;

// Adds a polynomial to a maximum. Beyond most_polynomials the result is an upper bound, because every call evaluates the
// maximum of every buffer.
void raise(const Graph& g, Position& at, const Poly& p) {
  for (const Poly& q : at)
    if (same(larger_coefficients(g, q, p), q)) return;
  std::erase_if(at, [&](const Poly& q) { return same(larger_coefficients(g, p, q), p); });
  if (at.size() < most_polynomials)
    at.push_back(p);
  else
    at.back() = larger_coefficients(g, at.back(), p);
}

Poly sum(const Graph& g, Poly a, const Poly& b) {
  a.insert(a.end(), b.begin(), b.end());
  return normalise_poly(g, std::move(a));
}

bool is_aligned(const Poly& p) {
  return std::ranges::all_of(p, [](const Monomial& m) { return m.coefficient % alignment == 0; });
}

// The bytes to reserve for a size. Offsets are polynomials that are rounded down to lines at the end, so a size that may not be
// a multiple of a line gets alignment - 1 bytes more.
Poly room(const Graph& g, const Poly& size) {
  if (is_aligned(size)) return size;
  if (size.size() == 1 && size[0].atoms.empty()) return {{aligned(size[0].coefficient), {}}};
  return sum(g, size, {{alignment - 1, {}}});
}

// The value of a position as an index expression.
Id end_of(Graph& g, const Position& at) {
  Id out = g.index(0);
  for (std::size_t i = 0; i < at.size(); ++i) out = i == 0 ? index_from(g, at[i]) : index_max(g, out, index_from(g, at[i]));
  return out;
}

// The same, rounded down to a line.
Id line_of(Graph& g, const Position& at) {
  const Id end = end_of(g, at);
  if (std::ranges::all_of(at, is_aligned)) return end;
  const Id line = g.index(alignment);
  return index_mul(g, index_floordiv(g, end, line), line);
}

// A lower bound of the arena: the maximum over all kernels of the bytes of temporaries that are live during the kernel.
std::int64_t most_alive(const Schedule& s, const MemoryProblem& m, const TaskOrder& order,
                        const std::vector<std::vector<std::size_t>>& users) {
  std::int64_t most = 0;
  for (std::size_t k = 0; k < s.kernels.size(); ++k) {
    std::int64_t alive = 0;
    for (std::size_t i = 0; i < m.buffers.size(); ++i) {
      const auto& u = users[m.buffers[i]];
      const bool begun = std::ranges::any_of(u, [&](std::size_t j) { return j == k || order.before(j, k); });
      const bool needed = begun && std::ranges::any_of(u, [&](std::size_t j) { return j == k || order.before(k, j); });
      if (needed) alive += m.placement.sizes[i];
    }
    most = std::max(most, alive);
  }
  return most;
}

void add_conflicts(MemoryProblem& m, const TaskOrder& order, const std::vector<std::vector<std::size_t>>& users) {
  const auto ends_before = [&](std::size_t a, std::size_t b) {
    for (const std::size_t j : users[a])
      for (const std::size_t k : users[b])
        if (!order.before(j, k)) return false;
    return true;
  };
  m.placement.conflicts.resize(m.buffers.size());
  for (std::uint32_t i = 0; i < m.buffers.size(); ++i)
    for (std::uint32_t j = 0; j < i; ++j) {
      if (ends_before(m.buffers[i], m.buffers[j]) || ends_before(m.buffers[j], m.buffers[i])) continue;
      m.placement.conflicts[i].push_back(j);
      m.placement.conflicts[j].push_back(i);
    }
  for (auto& c : m.placement.conflicts) std::ranges::sort(c);
}

std::string name_of(const Schedule& s, int buffer) {
  const int param = nth(s.buffers, buffer).param;
  return param < 0 ? "a temporary" : "`" + nth(s.program.params, param).name + "`";
}

// Whether the loop has at most one iteration. ping_pong inserts such loops after a loop with rotating buffers. They copy values
// back.
bool is_brought_back(const Graph& g, const Schedule& s, int loop) {
  if (loop < 0 || nth(s.loops, loop).condition >= 0) return false;
  return Bounds(g, facts_of(s.program))(nth(s.loops, loop).end).max <= 1;
}

// Makes remarks about kernels that only copy: ping_pong could not remove them.
void explain_copies(Graph& g, const Schedule& s) {
  if (g.remarks() == nullptr) return;
  for (const Kernel& k : s.kernels) {
    if (is_brought_back(g, s, k.loop)) continue;
    const std::vector<Id> ends = g.sources(k.sink);
    for (const Id end : ends)
      if (const auto copied = copy_of(g, s, k, end); copied && !g.is_const(nth(s.buffers, copied->to).size))
        remark(g, g.store(end), remarks::copied, [&] {
          return "copies " + index_text_or_id(g, nth(s.buffers, copied->to).size) + " elements from " +
                 name_of(s, copied->from) + " to " + name_of(s, copied->to) +
                 (k.loop >= 0 ? ", in each iteration of the loop around it" : ", once");
        });
  }
}

}  // namespace

MemoryProblem memory_problem(Graph& g, const Schedule& s) {
  MemoryProblem m;
  for (std::size_t b = 0; b < s.buffers.size(); ++b) {
    if (!s.buffers[b].is_temporary()) continue;
    const Poly size = byte_poly(g, s.buffers[b]);
    if (!has_nonnegative_terms(g, s, size)) continue;
    m.buffers.push_back(b);
    m.placement.sizes.push_back(typical_bytes(g, s, size));
  }
  const TaskOrder order(s);
  const auto users = buffer_users(g, s);
  add_conflicts(m, order, users);
  m.placement.lower_bound = most_alive(s, m, order, users);
  return m;
}

void memory_plan(Graph& g, Schedule& s) {
  explain_copies(g, s);
  if (s.kernels.size() * s.buffers.size() > most_pairs) return memory_in_order(g, s);
  const MemoryProblem m = memory_problem(g, s);
  const Placement placed = place(m.placement);
  std::vector<std::uint32_t> upwards(m.buffers.size());
  std::iota(upwards.begin(), upwards.end(), 0);
  std::ranges::stable_sort(upwards, {}, [&](std::uint32_t i) { return placed.offsets[i]; });
  std::vector<Position> ends(m.buffers.size());  // by block; empty: not placed yet
  Position top;
  for (const std::uint32_t i : upwards) {
    Position begin;
    for (const std::uint32_t c : m.placement.conflicts[i])
      for (const Poly& p : ends[c]) raise(g, begin, p);
    Buffer& b = s.buffers[m.buffers[i]];
    b.offset = line_of(g, begin);
    if (begin.empty()) begin.emplace_back();
    const Poly size = room(g, byte_poly(g, b));
    for (const Poly& p : begin) {
      raise(g, ends[i], larger_coefficients(g, sum(g, p, size), {}));
      raise(g, top, ends[i].back());
    }
  }
  // Buffers that are not part of the problem follow one after the other, after all others.
  Id end = end_of(g, top);
  if (!std::ranges::all_of(top, is_aligned)) end = index_add(g, end, g.index(alignment - 1));
  for (Buffer& b : s.buffers) {
    if (!b.is_temporary() || b.offset != no_id) continue;
    const Id line = g.index(alignment);
    b.offset = index_mul(g, index_floordiv(g, end, line), line);
    const Poly size = byte_poly(g, b);
    const Id room = index_from(g, size);
    end = index_add(g, end, index_add(g, room, g.index(alignment - 1)));
  }
  s.workspace_bytes = end;
}

}  // namespace kiln::compiler
