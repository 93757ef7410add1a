// index_campaign [--count N] [--seed S] [--jobs J]: random index expressions. The simplified one has the same value everywhere
// it was tried (all points of small domains, else corners and random points), bounds hold for every part, simplifying again
// changes nothing, rewriting settles. A failure is shrunk, printed with the seed that makes it, and ends the run with 1.
#include <CLI/CLI.hpp>
#include <atomic>
#include <iostream>
#include <mutex>
#include <thread>

#include "compiler/ir/diagnostic.h"
#include "compiler/symbolic/infix.h"
#include "compiler/symbolic/simplify.h"
#include "tests/fuzz/index_expression.h"

namespace kiln::test {
namespace {

using namespace compiler;

constexpr int expressions_per_seed = 100;  // they share a graph, as those of a kernel do
constexpr int random_points = 64;
constexpr std::uint64_t exhaustive_points = 256;

// Calls f after each run of the program; f returns false to stop.
class Points {
 public:
  Points(const Graph& g, const Facts& facts, IndexProgram& p, std::uint64_t seed)
      : g_(g), facts_(facts), p_(p), random_(seed) {}

  template <class F>
  void each(F f) {
    if (all(f)) return;
    for (int i = 0; i < random_points + 4; ++i) {
      const int corner = i < 4 ? i : -1;
      if (choose(corner) && p_.run(values_) && !f()) return;
    }
  }

 private:
  struct Domain {
    std::int64_t min, step, count;
  };
  // Of a leaf, when those before it have their values.
  Domain domain(Id leaf) {
    if (g_.op(leaf) == Op::RANGE) return {0, 1, std::max<std::int64_t>(0, end(leaf))};
    const SymFact f = facts_.of(g_.name(leaf));
    const std::int64_t first = -symbolic::floor_div(-f.min, f.multiple_of) * f.multiple_of;
    return {first, f.multiple_of, symbolic::floor_div(f.max - first, f.multiple_of) + 1};
  }
  // The ends here are symbols, constants, sums and products of them: evaluated with the leaves chosen so far.
  std::int64_t end(Id range) {
    const Id e = g_.src(range, 0);
    const auto at = [&](Id id) {
      if (g_.is_const(id)) return g_.arg(id, 0);
      const auto it = std::ranges::find(p_.leaves(), id);
      return values_[static_cast<std::size_t>(it - p_.leaves().begin())];
    };
    if (g_.op(e) == Op::ADD) return at(g_.src(e, 0)) + at(g_.src(e, 1));
    if (g_.op(e) == Op::MUL) return at(g_.src(e, 0)) * at(g_.src(e, 1));
    return at(e);
  }

  // Corner 0: all least; 1: all greatest; 2, 3: mixed. False: a loop that does not happen.
  bool choose(int corner) {
    values_.assign(p_.leaves().size(), 0);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const Domain d = domain(p_.leaves()[i]);
      if (d.count <= 0) return false;
      const bool top = corner == 1 || (corner == 2 && i % 2 == 0) || (corner == 3 && i % 2 == 1);
      const std::int64_t k = corner < 0 ? std::uniform_int_distribution<std::int64_t>(0, d.count - 1)(random_)
                             : top      ? d.count - 1
                                        : 0;
      values_[i] = d.min + k * d.step;
    }
    return true;
  }

  // Every point, when there are few. False: too many, and f was not called.
  template <class F>
  bool all(F f) {
    std::vector<std::vector<std::int64_t>> points{{}};
    for (Id leaf : p_.leaves()) {
      std::vector<std::vector<std::int64_t>> next;
      for (const auto& p : points) {
        values_ = p;
        const Domain d = domain(leaf);
        if (next.size() + static_cast<std::uint64_t>(std::max<std::int64_t>(0, d.count)) > exhaustive_points) return false;
        for (std::int64_t k = 0; k < d.count; ++k) {
          next.push_back(p);
          next.back().push_back(d.min + k * d.step);
        }
      }
      points = std::move(next);
    }
    for (const auto& p : points)
      if (p_.run(p) && !f()) return true;
    return true;
  }

  const Graph& g_;
  const Facts& facts_;
  IndexProgram& p_;
  std::mt19937_64 random_;
  std::vector<std::int64_t> values_;
};

// What is wrong with the simplification of `before`, or nothing.
std::string fault(Graph& g, Id before, const Facts& facts, Simplifier& simplifier, std::uint64_t seed) {
  Id after = no_id;
  try {
    after = simplifier(before);
    if (const Id again = Simplifier(g, facts)(after); again != after)
      return "not settled: " + write_infix(g, after) + " becomes " + write_infix(g, again);
  } catch (const Diagnostic& e) {
    return e.what();
  }
  IndexProgram program(g, {before, after});
  Bounds bounds(g, facts);
  std::string wrong;
  Points(g, facts, program, seed).each([&] {
    if (program[before] != program[after]) wrong = "another value: " + write_infix(g, after);
    for (Id id : program.nodes()) {
      if (g.op(id) == Op::RANGE || g.op(id) == Op::SYM || id > before) continue;
      const Interval i = bounds(id);
      const Congruence c = bounds.residue(id);
      const bool inside = program[id] >= i.min && program[id] <= i.max;
      const bool congruent =
          g.dtype(id) != DType::index || (c.stride == 0 ? program[id] == c.offset : (program[id] - c.offset) % c.stride == 0);
      if (!inside || !congruent)
        wrong = "bounds [" + std::to_string(i.min) + ", " + std::to_string(i.max) + "] of " + write_infix(g, id);
    }
    return wrong.empty();
  });
  return wrong;
}

// Smaller expressions with a fault, for as long as there are: a part alone, or a part replaced by one of its operands or a
// constant.
Id shrunk(Graph& g, Id root, const Facts& facts, std::uint64_t seed) {
  const auto fails = [&](Id id) {
    Simplifier s(g, facts);
    return !fault(g, id, facts, s, seed).empty();
  };
  const auto smaller = [&](Id now) -> Id {
    const Id roots[] = {now};
    const auto parts = g.reachable(roots);
    for (Id part : parts)
      if (part != now && !g.src(part).empty() && fails(part)) return part;
    for (Id part : parts) {
      if (g.is_const(part) || g.op(part) == Op::RANGE) continue;
      std::vector<Id> tries(g.src(part).begin(), g.src(part).end());
      if (g.dtype(part) == DType::index) tries.insert(tries.end(), {g.index(0), g.index(1)});
      for (Id t : tries) {
        if (g.dtype(t) != g.dtype(part)) continue;
        const Id next = substitute(g, now, {{part, t}});
        if (next != now && g.op(part) != Op::SYM && fails(next)) return next;
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
  Simplifier s(g, e.facts());
  std::string text =
      "seed " + std::to_string(seed) + ": " + write_infix(g, root) + "\n  " + fault(g, root, e.facts(), s, seed) + "\n  with";
  for (Id leaf : e.leaves()) {
    const SymFact f = e.facts().of(g.name(leaf));
    if (g.op(leaf) == Op::RANGE)
      text += " r" + std::to_string(g.arg(leaf, 0)) + " < " + write_infix(g, g.src(leaf, 0));
    else
      text += " " + std::string(g.name(leaf)) + " in [" + std::to_string(f.min) + ", " + std::to_string(f.max) + "] step " +
              std::to_string(f.multiple_of);
  }
  return text;
}

// The first fault among the expressions of a seed, told; empty when there is none.
std::string try_seed(std::uint64_t seed) {
  Graph g;
  IndexExpressions e(g, seed);
  Simplifier simplifier(g, e.facts());
  for (int i = 0; i < expressions_per_seed; ++i) {
    const Id before = e.next();
    if (!fault(g, before, e.facts(), simplifier, seed).empty())
      return description(g, shrunk(g, before, e.facts(), seed), e, seed);
  }
  return {};
}

int run(int argc, char** argv) {
  std::uint64_t count = 1'000'000, seed = 0;
  unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
  bool keep_going = false;
  CLI::App app("Random index expressions against their simplified form.");
  app.add_option("--count", count, "Expressions")->capture_default_str();
  app.add_option("--seed", seed, "The first seed; each makes 100 expressions")->capture_default_str();
  app.add_option("--jobs", jobs, "Threads")->capture_default_str();
  app.add_flag("--keep-going", keep_going, "Look for more after a fault");
  CLI11_PARSE(app, argc, argv);
  const std::uint64_t seeds = (count + expressions_per_seed - 1) / expressions_per_seed;
  std::atomic<std::uint64_t> next = 0, faults = 0;
  std::mutex telling;
  const auto work = [&] {
    for (std::uint64_t i = next++; i < seeds && (keep_going || faults == 0); i = next++) {
      const std::string wrong = try_seed(seed + i);
      if (wrong.empty()) continue;
      ++faults;
      const std::lock_guard lock(telling);
      std::cout << wrong << '\n';
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < jobs; ++i) threads.emplace_back(work);
  threads.clear();
  std::cout << std::min(next.load(), seeds) * expressions_per_seed << " expressions, " << faults << " faults\n";
  return faults == 0 ? 0 : 1;
}

}  // namespace
}  // namespace kiln::test

int main(int argc, char** argv) { return kiln::test::run(argc, argv); }
