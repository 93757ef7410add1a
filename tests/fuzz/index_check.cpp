#include "tests/fuzz/index_check.h"

#include <algorithm>

#include "compiler/ir/diagnostic.h"
#include "compiler/symbolic/infix.h"
#include "compiler/symbolic/linear.h"
#include "tests/fuzz/index_program.h"

namespace kiln::test {
namespace {

using namespace compiler;

class Check {
 public:
  Check(Graph& g, const IndexExpressions& e, std::uint64_t seed) : g_(g), e_(e), seed_(seed), simplify_(g, e.facts()) {}

  // The fault of the simplification of `before`; empty: none.
  std::string fault(Id before) {
    Id after = no_id;
    try {
      after = simplify_(before);
      if (const Id again = simplify(g_, after, e_.facts()); again != after && !overflows(after))
        return "not settled: " + write_infix(g_, after) + " becomes " + write_infix(g_, again);
    } catch (const Diagnostic& e) {
      return e.what();
    }
    const std::vector<Leaf>& leaves = e_.leaves();
    IndexProgram p(g_, leaves, {before, after}, e_.assumptions());
    std::string wrong;
    for (std::size_t batch = 0; batch < p.batches() && wrong.empty(); ++batch) {
      Random random(seed_);
      if (p.few_points())
        p.run_all(batch);
      else
        p.run_corners_and_random(random);
      wrong = compared(p, before, after);
    }
    return wrong;
  }

 private:
  // A sum with a coefficient beyond 64 bits stays as written. Its parts may then need several simplifications.
  bool overflows(Id root) const {
    const Id roots[] = {root};
    return std::ranges::any_of(g_.reachable(roots),
                               [&](Id id) { return g_.dtype(id) == DType::index && !symbolic::sum_of(g_, id); });
  }

  std::string compared(const IndexProgram& p, Id before, Id after) {
    const auto &x = p[before], &y = p[after];
    for (std::size_t i = 0; i < p.lanes; ++i)
      if (p.alive(i) && x[i] != y[i]) return "another value: " + write_infix(g_, after);
    for (Id id : p.nodes())
      if (!g_.src(id).empty() && !within(p, id)) {
        const Interval i = simplify_.bounds()(id);
        return "bounds [" + std::to_string(i.min) + ", " + std::to_string(i.max) + "] of " + write_infix(g_, id);
      }
    return {};
  }

  bool within(const IndexProgram& p, Id id) {
    const Interval in = simplify_.bounds()(id);
    const Congruence c = simplify_.bounds().residue(id);
    const bool classes = g_.dtype(id) == DType::index && c.stride != 1;
    const auto& v = p[id];
    for (std::size_t i = 0; i < p.lanes; ++i) {
      if (!p.alive(i)) continue;
      if ((in.min != -unbounded && v[i] < in.min) || (in.max != unbounded && v[i] > in.max)) return false;
      if (classes && (c.stride == 0 ? v[i] != c.offset : (v[i] - c.offset) % c.stride != 0)) return false;
    }
    return true;
  }

  Graph& g_;
  const IndexExpressions& e_;
  std::uint64_t seed_;
  Simplifier simplify_;
};

// Shrinks the expression while it keeps a fault: takes a part alone, or replaces a part by one of its
// operands or by a constant.
Id shrunk(Graph& g, Id root, const IndexExpressions& e, std::uint64_t seed) {
  const auto fails = [&](Id id) { return !Check(g, e, seed).fault(id).empty(); };
  const auto smaller = [&](Id now) -> Id {
    const Id roots[] = {now};
    const auto parts = g.reachable(roots);
    for (Id part : parts)
      if (part != now && !g.src(part).empty() && fails(part)) return part;
    for (Id part : parts) {
      if (g.is_const(part) || g.op(part) == Op::RANGE || g.op(part) == Op::SYM) continue;
      std::vector<Id> tries(g.src(part).begin(), g.src(part).end());
      if (g.dtype(part) == DType::index) tries.insert(tries.end(), {g.index(0), g.index(1)});
      for (Id t : tries) {
        if (g.dtype(t) != g.dtype(part)) continue;
        const Id next = substitute(g, now, {{part, t}});
        if (next != now && fails(next)) return next;
      }
    }
    return no_id;
  };
  for (int steps = 0; steps < 1000; ++steps) {
    const Id next = smaller(root);
    if (next == no_id) break;
    root = next;
  }
  return root;
}

std::string description(Graph& g, Id root, const IndexExpressions& e, std::uint64_t seed) {
  std::string text =
      "seed " + std::to_string(seed) + ": " + write_infix(g, root) + "\n  " + Check(g, e, seed).fault(root) + "\n  with";
  for (const Leaf& l : e.leaves()) {
    if (g.op(l.id) == Op::RANGE) {
      text += " r" + std::to_string(g.arg(l.id, 0)) + " < " + write_infix(g, g.src(l.id, 0));
      continue;
    }
    text += " " + std::string(g.name(l.id)) + " in " + std::to_string(l.min) + ".." +
            std::to_string(l.min + (l.count - 1) * l.step) + " step " + std::to_string(l.step);
  }
  for (Id a : e.assumptions()) text += ", " + write_infix(g, a);
  return text;
}

}  // namespace

std::string try_seed(std::uint64_t seed, int expressions) {
  Graph g;
  IndexExpressions e(g, seed);
  Check check(g, e, seed);
  for (int i = 0; i < expressions; ++i) {
    const Id before = e.next();
    if (!check.fault(before).empty()) return description(g, shrunk(g, before, e, seed), e, seed);
  }
  return {};
}

}  // namespace kiln::test
