#include "compiler/races/store_races.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/range_ids.h"
#include "compiler/ir/scopes.h"
#include "compiler/races/accesses.h"
#include "compiler/races/dependence_test.h"
#include "compiler/races/families.h"
#include "compiler/races/report.h"
#include "compiler/races/work_items.h"
#include "compiler/symbolic/linear.h"

namespace kiln::compiler {
namespace {

using Kind = WorkItemAccess::Kind;

constexpr std::int64_t second_copy = program_range_limit;  // added to the range numbers of the second work item

class RaceTest {
 public:
  RaceTest(Graph& g, const Program& p, const Regions& regions, const std::vector<Id>& origins, const std::map<Id, Id>& loops,
           WorkItems work_items)
      : g_(g),
        p_(p),
        regions_(regions),
        loops_(loops),
        work_items_(std::move(work_items)),
        facts_(facts_where(g, p, work_items_)),
        accesses_(g, regions, origins, work_items_.scope),
        forms_(g, facts_, [&](Id range) { return loops.contains(range) ? loops.at(range) : no_id; }) {}

  void check() {
    const auto& list = accesses_.list();
    if (std::ranges::none_of(list, [](const WorkItemAccess& a) { return a.kind != Kind::read; })) return;
    std::set<Place> seen;
    for (const WorkItemAccess& a : list)
      if (AccessForm t = form_of(a); seen.insert(place_of(t)).second) access_forms_.push_back(std::move(t));
    std::vector<Id> own;
    for (const Id r : work_items_.ranges) own.push_back(forms_(r));
    make_second(own);
    std::erase_if(access_forms_, [&](const AccessForm& t) { return is_promised(t); });
    const std::vector<Family> all = families_of(g_, access_forms_);
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t j = 0; j <= i; ++j) check(all[i], all[j]);
  }

 private:
  // Key of an access. One access stands for all with the same key.
  using Place = std::tuple<Id, Kind, bool, std::vector<Id>, Conditions>;
  Place place_of(const AccessForm& t) const { return {t.access->memory, t.access->kind, is_promised(t), t.index, t.holds}; }

  AccessForm form_of(const WorkItemAccess& a) {
    AccessForm t;
    t.access = &a;
    for (const Id i : a.index) t.index.push_back(forms_(i));
    for (const auto& [gate, holds] : a.gates) forms_.add(t.holds, gate, holds);
    return t;
  }

  // Makes the second work item: a second RANGE for each range of the scope, a second name for each named value of the scope.
  void make_second(const std::vector<Id>& own) {
    std::map<Id, Id> of_program;  // by RANGE of a form, ascending: the program's RANGE
    for (const NamedValue& r : forms_.ranges()) of_program[r.name] = r.value;
    for (const auto& [range, value] : of_program) {
      if (!accesses_.is_inside(value)) continue;
      const Id end = substitute(g_, g_.end(range), second_);
      second_[range] = g_.range(end, g_.range_number(range) + second_copy, g_.range_kind(range));
    }
    for (const Id r : own) axes_.emplace_back(r, second_.contains(r) ? second_.at(r) : r);
    for (const NamedValue& n : forms_.names()) {
      if (!accesses_.is_inside(n.value) || second_.contains(n.name)) continue;
      const std::string name = std::string(g_.name(n.name)) + "'";
      facts_.syms[name] = facts_.of(g_.name(n.name));
      second_[n.name] = g_.sym(name);
      add_shared(n);
    }
  }

  // Adds a shared value if the value depends on nothing but the axes.
  void add_shared(const NamedValue& n) {
    DependenceProblem::SharedValue value{n.name, second_.at(n.name), {}};
    const std::vector<Id>& ranges = work_items_.ranges;
    for (const Id id : g_.reachable(n.value)) {
      if (!accesses_.is_inside(id)) continue;
      if (const auto axis = std::ranges::find(ranges, id); axis != ranges.end())
        value.axes.push_back(index_at(ranges, axis));
      else if (!is_elementwise(g_.op(id)) && g_.op(id) != Op::INDEX)
        return;
    }
    shared_.push_back(std::move(value));
  }

  // Indices that stand for all members of a family: a SYM for the offset on each axis where members differ.
  std::vector<Id> any_place(const Family& f, std::string_view which) {
    std::vector<Id> out;
    for (std::size_t k = 0; k < f.base.size(); ++k) {
      const Family::Offsets o = f.offsets[k];
      Id offset = g_.index(o.least);
      if (o.step != 0) {
        const std::string name = std::string(which) + std::to_string(k);
        facts_.syms[name] = {0, (o.most - o.least) / o.step, 1};
        const Id steps = g_.make(Op::MUL, DType::index, {g_.sym(name), g_.index(o.step)});
        offset = g_.make(Op::ADD, DType::index, {steps, offset});
      }
      out.push_back(g_.make(Op::ADD, DType::index, {f.base[k], offset}));
    }
    return out;
  }

  void check(const Family& a, const Family& b) {
    if (a.members[0]->access->memory != b.members[0]->access->memory) return;
    const bool are_many = a.members.size() * b.members.size() > 1;
    if (are_many) {
      const auto here = any_place(a, "$offset");
      const auto there = any_place(b, "$other_offset");
      if (!may_conflict(here, a.holds, there, b.holds)) return;
    }
    for (const AccessForm* x : a.members)
      for (const AccessForm* y : b.members) {
        check(*x, *y);
        if (x == y) break;
      }
  }

  DependenceProblem problem_of(const std::vector<Id>& a, const Conditions& of_a, const std::vector<Id>& b,
                               const Conditions& of_b) {
    DependenceProblem m{{}, axes_, shared_};
    for (std::size_t i = 0; i < a.size(); ++i) m.holds.zero.push_back(g_.make(Op::SUB, DType::index, {a[i], second(b[i])}));
    m.holds.append(of_a);
    Conditions others = of_b;
    others.for_each([&](Id& id) { id = second(id); });
    m.holds.append(others);
    return m;
  }
  bool may_conflict(const std::vector<Id>& a, const Conditions& of_a, const std::vector<Id>& b, const Conditions& of_b) {
    return !is_impossible(g_, facts_, problem_of(a, of_a, b, of_b));
  }

  void check(const AccessForm& a, const AccessForm& b) {
    const auto is = [&](Kind k) { return a.access->kind == k && b.access->kind == k; };
    if (is(Kind::read) || is(Kind::atomic) || are_apart(a, b)) return;
    if (!done_.insert({a.index, b.index, a.holds, b.holds}).second) return;
    const DependenceProblem m = problem_of(a.index, a.holds, b.index, b.holds);
    if (!is_impossible(g_, facts_, m)) report_race(g_, {p_, regions_, loops_, work_items_, facts_, forms_, second_}, a, b, m);
  }

  // Whether two indices are different constants on one axis, as in y(i, 0) and y(i, 1). This shortcut decides most pairs of a
  // long kernel.
  bool are_apart(const AccessForm& a, const AccessForm& b) const {
    for (std::size_t i = 0; i < a.index.size(); ++i)
      if (g_.is_const(a.index[i]) && g_.is_const(b.index[i]) && a.index[i] != b.index[i]) return true;
    return false;
  }

  bool is_promised(const AccessForm& t) const { return t.access->kind == Kind::store && is_unique(g_, t.access->node); }

  Id second(Id id) { return substitute(g_, id, second_); }

  Graph& g_;
  const Program& p_;
  const Regions& regions_;
  const std::map<Id, Id>& loops_;
  WorkItems work_items_;
  Facts facts_;
  WorkItemAccesses accesses_;
  IndexForms forms_;
  std::vector<AccessForm> access_forms_;
  std::unordered_map<Id, Id> second_;
  std::vector<std::pair<Id, Id>> axes_;
  std::vector<DependenceProblem::SharedValue> shared_;
  std::set<std::tuple<std::vector<Id>, std::vector<Id>, Conditions, Conditions>> done_;
};

}  // namespace

void store_races(Graph& g, const Program& p) {
  const Id roots[] = {p.sink};
  const std::vector<Id> order = g.reachable(roots);
  if (std::ranges::none_of(order, [&](Id id) { return g.op(id) == Op::KERNEL; })) return;
  const Regions regions = find_regions(g, roots);
  const std::vector<Id> origins = state_origins(g, roots);
  std::map<Id, Id> loops;  // by RANGE: its FOR
  for (const Id id : order)
    if (g.op(id) == Op::FOR) loops[loop_parts(g, id).range] = id;
  std::vector<WorkItems> all = barrier_intervals(g, regions, order);
  for (const Id id : order)
    if (g.op(id) == Op::KERNEL) all.push_back({id, id, {scope_ranges(g, id).begin(), scope_ranges(g, id).end()}});
  for (WorkItems& work_items : all) RaceTest(g, p, regions, origins, loops, std::move(work_items)).check();
}

}  // namespace kiln::compiler
