#include "compiler/ir/call_symbols.h"

#include <algorithm>
#include <iterator>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/index_proof.h"

namespace kiln::compiler {
namespace {

bool depends_on(const Graph& g, Id id, Id symbol) { return std::ranges::binary_search(g.reachable(id), symbol); }

bool is_known(const std::vector<Id>& known, Id id) { return std::ranges::find(known, id) != known.end(); }

bool is_never_0(const Graph& g, const Program& p, const Poly& slope) {
  std::vector<SymbolFacts> facts;
  for (const Symbol& s : p.symbols) facts.push_back({s.name, s.min, s.max});
  const Poly below = add_poly(g, slope, {{-1, {}}}), above = add_poly(g, scale_poly(g, slope, -1), {{-1, {}}});
  return IndexProof(g, facts).nonnegative(below) || IndexProof(g, facts).nonnegative(above);
}

// loc: the declaration of the first item beyond the limit, if a text has it.
[[noreturn]] void fail_limit(const Graph& g, SourceLoc loc, const std::string& text, std::size_t most, std::size_t got) {
  throw Diagnostic("E-limit", where(g, loc.line != 0 ? loc : g.loc()),
                   text + ": expected at most " + std::to_string(most) + ", got " + std::to_string(got));
}

}  // namespace

std::optional<Poly> slope_in(const Graph& g, Id extent, Id symbol) {
  Poly slope;
  for (Monomial m : poly_of(g, extent)) {
    const auto n = erase(m.atoms, symbol);
    if (n > 1 || std::ranges::any_of(m.atoms, [&](Id a) { return depends_on(g, a, symbol); })) return std::nullopt;
    if (n == 1) slope.push_back(std::move(m));
  }
  return slope;
}

Id open_symbol(const Graph& g, Id extent, const std::vector<Id>& known) {
  Id open = no_id;
  for (const Id id : g.reachable(extent)) {
    if (g.op(id) != Op::SYM || is_known(known, id)) continue;
    if (open != no_id) return no_id;
    open = id;
  }
  return open;
}

std::vector<Id> given_symbols(const Graph& g, const Program& p) {
  std::vector<Id> known, extents;
  for (const Parameter& q : p.params) extents.insert(extents.end(), q.extents.begin(), q.extents.end());
  for (const Id e : extents)
    if (g.op(e) == Op::SYM && !is_known(known, e)) known.push_back(e);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Id e : extents) {
      const Id s = open_symbol(g, e, known);
      const auto slope = s == no_id ? std::nullopt : slope_in(g, e, s);
      if (!slope || !is_never_0(g, p, *slope)) continue;
      known.push_back(s);
      changed = true;
    }
  }
  return known;
}

void check_call(const Graph& g, const Program& p) {
  const std::size_t arguments = p.params.size();
  if (arguments > KILN_MAX_ARGS)
    fail_limit(g, p.params[KILN_MAX_ARGS].loc, "parameters of program `" + p.name + "`", KILN_MAX_ARGS, arguments);
  std::vector<Symbol> extents;
  std::ranges::copy_if(p.symbols, std::back_inserter(extents), [](const Symbol& s) { return s.kind == Symbol::Kind::extent; });
  if (extents.size() > KILN_MAX_SYMBOLS)
    fail_limit(g, extents[KILN_MAX_SYMBOLS].loc, "symbols of program `" + p.name + "`", KILN_MAX_SYMBOLS, extents.size());
  const std::vector<Id> known = given_symbols(g, p);
  for (const Symbol& s : extents) {
    if (std::ranges::any_of(known, [&](Id id) { return g.name(id) == s.name; })) continue;
    throw Diagnostic("E-symbol", where(g, s.loc.line != 0 ? s.loc : g.loc()),
                     "no argument gives the symbol `" + s.name + "`: expected it as the extent of an axis, alone or as in 2*" +
                         s.name + " + 1");
  }
}

void check_run(const Graph& g, const Schedule& s) {
  const auto numbers = static_cast<std::size_t>(
      std::ranges::count_if(s.program.symbols, [](const Symbol& y) { return y.kind != Symbol::Kind::extent; }));
  if (numbers > KILN_MAX_NUMBERS)
    fail_limit(g, {}, "counters and bounds of loops that program `" + s.program.name + "` keeps", KILN_MAX_NUMBERS, numbers);
  for (const Kernel& k : s.kernels)
    if (k.buffers.size() > KILN_MAX_BUFFERS)
      fail_limit(g, {}, "buffers of kernel `" + k.name + "`", KILN_MAX_BUFFERS, k.buffers.size());
}

}  // namespace kiln::compiler
