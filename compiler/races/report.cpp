#include "compiler/races/report.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/index/floor_div.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/scopes.h"
#include "compiler/races/example.h"
#include "compiler/races/work_item_values.h"
#include "compiler/symbolic/infix.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

using Kind = WorkItemAccess::Kind;
using Axes = std::vector<std::pair<Id, Id>>;

class RaceReport {
 public:
  RaceReport(Graph& g, const TestedWorkItems& t)
      : g_(g),
        p_(t.program),
        regions_(t.regions),
        loops_(t.loops),
        work_items_(t.work_items),
        facts_(t.facts),
        forms_(t.forms),
        second_(t.second) {}

  [[noreturn]] void fail(const AccessForm& a, const AccessForm& b, const DependenceProblem& m) {
    const bool first = a.access->kind == Kind::store || (a.access->kind == Kind::atomic && b.access->kind == Kind::read);
    const AccessForm &write = first ? a : b, &other = first ? b : a;
    constexpr std::string_view verbs[] = {"read", "store to", "change"};
    const bool of_workgroup = work_items_.scope != work_items_.kernel;
    std::string text = std::string("work items of ") + (of_workgroup ? "a workgroup" : "the kernel") + " write " +
                       name(write.access->memory) + " at " + place(write, m.axes) + ", and others " +
                       (of_workgroup ? "between the same barriers " : "") + "may " +
                       std::string(nth(verbs, other.access->kind)) + " the same element";
    if (&write != &other) text += " at " + place(other, m.axes) + " (" + where(g_, g_.loc(other.access->node)) + ")";
    const std::string found = example(a, b, m, first);
    throw Diagnostic("E-race", where(g_, g_.loc(write.access->node)), text + found + "; " + advice(a, b, found.empty()));
  }

 private:
  Id second(Id id) { return substitute(g_, id, second_); }

  // The memory in words: the parameter that a kernel's state ends in, or an array of the workgroup.
  std::string name(Id memory) const {
    if (g_.op(memory) == Op::LOCAL) return "a shared array";
    const std::size_t slot = g_.slot(memory);
    std::vector<Id> open;
    std::set<std::pair<Id, bool>> seen;
    for (const Id store : g_.src(p_.sink)) {
      const auto [target, value] = g_.operands<2>(store);
      const std::string& param = p_.params[g_.slot(target)].name;
      open.assign(1, value);
      std::set<Id> met;
      while (!open.empty()) {
        const Id id = open.back();
        open.pop_back();
        if (!met.insert(id).second) continue;
        const Op op = g_.op(id);
        if (op == Op::GET) {
          const Id scope = g_.scope(id);
          const std::size_t k = g_.slot(id);
          if (scope == work_items_.kernel && k == slot) return "`" + param + "`";
          open.push_back(scope_inits(g_, scope)[k]);
          if (g_.op(scope) == Op::FOR) open.push_back(loop_parts(g_, scope).yield[k]);
        } else if (op == Op::UPDATE || op == Op::ATOMIC) {
          open.push_back(g_.state(id));
        } else if (op == Op::CARRY) {
          open.push_back(g_.src(id, 1));
        } else if (op == Op::WHERE) {
          open.push_back(g_.src(id, 1));
          open.push_back(g_.src(id, 2));
        }
      }
    }
    return "a tensor";
  }

  // By name of a result that may wrap: its value if nothing wraps, for both work items.
  std::unordered_map<Id, Id> exact_forms() {
    std::unordered_map<Id, Id> exact;
    for (const NamedValue& n : forms_.exact()) {
      exact[n.name] = substitute(g_, n.value, exact);
      if (second_.contains(n.name)) exact[second_.at(n.name)] = second(exact[n.name]);
    }
    return exact;
  }

  // The indices in words: axes are i, j, k, loops n0, n1, ...; data is `...`.
  std::string place(const AccessForm& t, const Axes& axes) {
    std::unordered_map<Id, Id> map;
    for (std::size_t a = 0; a < axes.size(); ++a)
      map[axes[a].first] = g_.sym(a < 3 ? std::string(1, static_cast<char>('i' + a)) : "i" + std::to_string(a));
    for (const NamedValue& r : forms_.ranges())
      if (!map.contains(r.name)) map[r.name] = g_.sym("n" + std::to_string(g_.range_number(r.name)));
    for (const NamedValue& n : forms_.names())
      map[n.name] = g_.name(n.name).starts_with(wraps_prefix) ? g_.index(0) : g_.sym("...");
    Facts facts = facts_;
    facts.syms["..."] = {anything.min, anything.max, 1};
    Simplifier simplify(g_, facts);
    std::string out;
    const std::unordered_map<Id, Id> exact = exact_forms();
    for (const Id i : t.index)
      out += (out.empty() ? "(" : ", ") + write_infix(g_, simplify(substitute(g_, substitute(g_, i, exact), map)));
    return out.empty() ? "()" : out + ")";
  }

  // The values of the program's RANGEs and named values at one of the two work items of a problem.
  WorkItemValues::Numbers numbers(const ProblemValues& v, bool is_second) const {
    WorkItemValues::Numbers out;
    const auto take = [&](const NamedValue& n) {
      const auto at = v.find(is_second && second_.contains(n.name) ? second_.at(n.name) : n.name);
      const bool is_range = g_.op(n.value) == Op::RANGE;
      if (at != v.end() || is_range) out[n.value] = at != v.end() ? at->second : 0;
    };
    for (const NamedValue& r : forms_.ranges()) take(r);
    for (const NamedValue& n : forms_.names()) take(n);
    return out;
  }

  // The extents of an example. Symbols that the problem does not contain get small values.
  std::map<std::string, std::int64_t, std::less<>> extents(const ProblemValues& v) const {
    std::map<std::string, std::int64_t, std::less<>> out;
    for (const Symbol& s : p_.symbols) {
      const SymFact f = facts_.of(s.name);
      const std::int64_t least = std::min(f.max, std::max<std::int64_t>(f.min, 2));
      out[s.name] = floor_div(least + f.multiple_of - 1, f.multiple_of) * f.multiple_of;
    }
    for (const auto& [id, value] : v)
      if (g_.op(id) == Op::SYM && !g_.name(id).starts_with("$")) out[std::string(g_.name(id))] = value;
    return out;
  }

  // Whether, for some contents of the arguments, both accesses happen and touch one element.
  bool is_real(const AccessForm& a, const AccessForm& b, const ProblemValues& v) const {
    const auto sizes = extents(v);
    const WorkItemValues::Numbers first = numbers(v, false), second = numbers(v, true);
    constexpr std::uint64_t contents = 4;
    for (std::uint64_t seed = 0; seed < contents; ++seed) {
      ArgumentValues arguments(seed);
      const auto of_first = WorkItemValues(g_, regions_, loops_, sizes, first, arguments).element(*a.access);
      if (of_first && of_first == WorkItemValues(g_, regions_, loops_, sizes, second, arguments).element(*b.access))
        return true;
    }
    return false;
  }

  // ", as work items (0, 8) and (1, 0) do where N = 2". The work item that writes comes first. The search uses exact forms of
  // results that may wrap, because small values do not wrap.
  std::string example(const AccessForm& a, const AccessForm& b, DependenceProblem m, bool write_is_first) {
    const std::unordered_map<Id, Id> exact = exact_forms();
    m.holds.for_each([&](Id& id) { id = substitute(g_, id, exact); });
    const auto found = example_of(g_, facts_, m, [&](const ProblemValues& v) { return is_real(a, b, v); });
    if (!found) return "";
    const auto item = [&](bool is_first) {
      std::string s;
      for (const auto& [x, y] : m.axes) s += (s.empty() ? "(" : ", ") + std::to_string(found->at(is_first ? x : y));
      return s + ")";
    };
    std::string text = ", as work items " + item(write_is_first) + " and " + item(!write_is_first) + " do";
    std::map<std::string, std::int64_t> named;
    for (const auto& [id, value] : *found)
      if (g_.op(id) == Op::SYM && !g_.name(id).starts_with("$")) named[std::string(g_.name(id))] = value;
    bool is_first = true;
    for (const auto& [name, value] : named) {
      text += (is_first ? " where " : ", ") + name + " = " + std::to_string(value);
      is_first = false;
    }
    return text;
  }

  std::string advice(const AccessForm& a, const AccessForm& b, bool is_unsure) const {
    std::vector<Id> places = a.access->index;
    places.insert(places.end(), b.access->index.begin(), b.access->index.end());
    for (const Id id : is_unsure ? g_.reachable(places) : std::vector<Id>{})
      if (forms_.may_wrap(id))
        return std::string(compiler::name(g_.dtype(id))) +
               " may not hold the place: " + (bits(g_.dtype(id)) < 64 ? "take indices of i64, kernel<i64>(...), or " : "") +
               "bound it by facts, dim<\"N\", {.max = ...}>";
    const std::string unsure = is_unsure ? "no two that do were found: where none do, the proof falls short; " : "";
    if (a.access->kind == Kind::read || b.access->kind == Kind::read)
      return unsure +
             "write to another tensor, read nothing outside (mode::constant), or promise by unique(...) that no two work items "
             "do";
    return unsure + "make it atomic, write nothing outside (mode::skip), or promise by unique(...) that no two work items do";
  }

  Graph& g_;
  const Program& p_;
  const Regions& regions_;
  const std::map<Id, Id>& loops_;
  const WorkItems& work_items_;
  const Facts& facts_;
  const IndexForms& forms_;
  const std::unordered_map<Id, Id>& second_;
};

}  // namespace

void report_race(Graph& g, const TestedWorkItems& tested, const AccessForm& a, const AccessForm& b,
                 const DependenceProblem& problem) {
  RaceReport(g, tested).fail(a, b, problem);
}

}  // namespace kiln::compiler
