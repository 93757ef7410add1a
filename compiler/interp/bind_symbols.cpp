#include "compiler/interp/index_value.h"
#include "compiler/interp/interpret.h"
#include "compiler/ir/call_symbols.h"
#include "compiler/ir/diagnostic.h"

namespace kiln::compiler {
namespace {

using Values = std::map<std::string, std::int64_t>;

std::optional<std::int64_t> value_of(const Graph& g, Id extent, const Values& symbols) {
  return IndexValues(g, symbols)(extent);
}

// Solves extent(s) == got for an extent that is linear in s.
std::optional<std::int64_t> solve(const Graph& g, Id extent, const std::string& s, Values known, std::int64_t got) {
  known[s] = 0;
  const auto at0 = value_of(g, extent, known);
  known[s] = 1;
  const auto at1 = value_of(g, extent, known);
  std::int64_t slope = 0, offset = 0;
  if (!at0 || !at1 || __builtin_sub_overflow(*at1, *at0, &slope) || __builtin_sub_overflow(got, *at0, &offset) || slope == 0)
    return std::nullopt;
  if (offset % slope != 0 || offset / slope < 0) return std::nullopt;
  known[s] = offset / slope;
  return value_of(g, extent, known) == got ? std::optional(known[s]) : std::nullopt;
}

void check_forms(const Program& p, std::span<const Array> arguments) {
  if (arguments.size() != p.params.size())
    throw Diagnostic("E-argument", p.name,
                     "expected " + std::to_string(p.params.size()) + " arguments, got " + std::to_string(arguments.size()));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Parameter& q = p.params[i];
    const Array& a = arguments[i];
    const std::string where = p.name + "." + q.name;
    if (a.dtype != q.dtype)
      throw Diagnostic("E-argument", where,
                       "expected dtype " + std::string(name(q.dtype)) + ", got " + std::string(name(a.dtype)));
    if (a.extents.size() != q.extents.size())
      throw Diagnostic("E-argument", where,
                       "expected rank " + std::to_string(q.extents.size()) + ", got " + std::to_string(a.extents.size()));
    const std::size_t need = a.elements() * size_of(a.dtype);
    if (q.direction != Direction::out && a.data.size() != need)
      throw Diagnostic("E-argument", where,
                       "expected " + std::to_string(need) + " bytes, got " + std::to_string(a.data.size()));
  }
}

void check_facts(const Program& p, const Values& values) {
  for (const Symbol& s : p.symbols) {
    if (s.kind == Symbol::Kind::stride) continue;  // the interpreter's arrays are dense
    const auto it = values.find(s.name);
    if (it == values.end()) throw Diagnostic("E-argument", p.name, "no argument determines the extent " + s.name);
    const std::int64_t v = it->second;
    if (v < s.min || v > s.max || v % s.multiple_of != 0)
      throw Diagnostic("E-fact", p.name,
                       "extent " + s.name + " is " + std::to_string(v) + ", declared " + std::to_string(s.min) + ".." +
                           std::to_string(s.max) + ", multiple of " + std::to_string(s.multiple_of));
  }
}

}  // namespace

std::map<std::string, std::int64_t> bind_symbols(const Graph& g, const Program& p, std::span<const Array> arguments) {
  check_forms(p, arguments);
  Values values;
  std::vector<Id> known;
  const auto each_extent = [&](auto visit) {
    for (std::size_t i = 0; i < p.params.size(); ++i)
      for (std::size_t a = 0; a < p.params[i].extents.size(); ++a)
        visit(p.params[i], a, p.params[i].extents[a], arguments[i].extents[a]);
  };
  each_extent([&](const Parameter&, std::size_t, Id e, std::int64_t got) {
    if (g.op(e) == Op::SYM && values.try_emplace(std::string(g.name(e)), got).second) known.push_back(e);
  });
  for (bool changed = true; changed;) {
    changed = false;
    each_extent([&](const Parameter&, std::size_t, Id e, std::int64_t got) {
      const Id s = open_symbol(g, e, known);
      if (s == no_id || !slope_in(g, e, s)) return;
      const auto v = solve(g, e, std::string(g.name(s)), values, got);
      if (!v) return;
      values[std::string(g.name(s))] = *v;
      known.push_back(s);
      changed = true;
    });
  }
  check_facts(p, values);
  each_extent([&](const Parameter& q, std::size_t axis, Id e, std::int64_t got) {
    const auto expected = value_of(g, e, values);
    if (expected != got)
      throw Diagnostic("E-conflict", p.name + "." + q.name,
                       "axis " + std::to_string(axis) + " is " + std::to_string(got) + ", expected " +
                           (expected ? std::to_string(*expected) : "a solvable extent"));
  });
  return values;
}

}  // namespace kiln::compiler
