// Simplification: expressions per second on one core for the campaign's random mix, printed with the required rate, and time by
// size for sums and chains. Exits with 1 if ten times the size takes more than 25 times as long. (Sorting and caches are
// included; quadratic time would be 100 times.) The speed of the machine decides nothing.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <random>
#include <string_view>
#include <vector>

#include "compiler/symbolic/infix.h"
#include "compiler/symbolic/simplify.h"
#include "tests/fuzz/index_expression.h"

namespace {

using namespace kiln::compiler;
using kiln::test::IndexExpressions;

// Processor time, so that other programs do not count.
double seconds(const std::function<void()>& f) {
  const std::clock_t t = std::clock();
  f();
  return static_cast<double>(std::clock() - t) / CLOCKS_PER_SEC;
}

// The number of operators and calls in the expression's text.
std::size_t operations(const Graph& g, Id root) {
  std::size_t n = 0;
  std::vector<Id> open{root};
  while (!open.empty()) {
    const Id id = open.back();
    open.pop_back();
    if (g.src(id).empty() || g.op(id) == Op::RANGE) continue;
    ++n;
    open.insert(open.end(), g.src(id).begin(), g.src(id).end());
  }
  return n;
}

// Simplifies `together` expressions in each graph.
void rate_of_mix(std::size_t together) {
  constexpr std::uint64_t count = 100'000;
  std::vector<std::size_t> sizes;
  double time = 0;
  for (std::uint64_t seed = 0; seed < count / together; ++seed) {
    Graph g;
    IndexExpressions e(g, seed);
    std::vector<Id> roots;
    for (std::size_t i = 0; i < together; ++i) {
      roots.push_back(e.next());
      sizes.push_back(operations(g, roots.back()));
    }
    time += seconds([&] {
      Simplifier simplify(g, e.facts());
      for (Id r : roots) simplify(r);
    });
  }
  std::ranges::nth_element(sizes, sizes.begin() + count / 2);
  std::printf("random mix, %zu in a graph: %.0f expressions/s (asked for: 100000 on an idle core), median of %zu operations\n",
              together, static_cast<double>(count) / time, sizes[count / 2]);
}

struct Shape {
  const char* name;
  std::function<Id(Graph&, int size)> make;
};

Id symbol(Graph& g, int i) { return g.sym("x" + std::to_string(i)); }
Id make(Graph& g, Op op, Id a, Id b) { return g.make(op, DType::index, {a, b}); }

Id sum_of_symbols(Graph& g, int size) {
  std::mt19937_64 random(1);
  std::vector<Id> open;
  for (int i = 0; i < size; ++i)
    open.push_back(make(g, Op::MUL, symbol(g, i), g.index(static_cast<std::int64_t>(random() % 19) - 9)));
  while (open.size() > 1) {  // in any association
    std::swap(open[random() % open.size()], open.back());
    const Id a = open.back();
    open.pop_back();
    Id& b = open[random() % open.size()];
    b = make(g, Op::ADD, a, b);
  }
  return open.front();
}

Id chain(Graph& g, int size, const std::function<Id(Id, int)>& step) {
  Id x = symbol(g, 0);
  for (int i = 0; i < size; ++i) x = step(x, i);
  return x;
}

std::vector<Shape> shapes() {
  const auto lt = [](Graph& g, Id a, Id b) { return g.make(Op::LT, DType::boolean, {a, b}); };
  const auto of = [](auto step) {
    return [step](Graph& g, int n) { return chain(g, n, [&](Id x, int i) { return step(g, x, i); }); };
  };
  return {
      {"sum of terms", sum_of_symbols},
      {"x + s - t ...",
       of([](Graph& g, Id x, int i) { return make(g, i % 2 == 0 ? Op::ADD : Op::SUB, x, symbol(g, i % 50)); })},
      {"(x + s) // c ...",
       of([](Graph& g, Id x, int i) { return make(g, Op::FLOORDIV, make(g, Op::ADD, x, symbol(g, i)), g.index(2 + i % 7)); })},
      {"(x + s) % c ...",
       of([](Graph& g, Id x, int i) { return make(g, Op::FLOORMOD, make(g, Op::ADD, x, symbol(g, i)), g.index(2 + i % 7)); })},
      {"(x * s) // t ...",
       of([](Graph& g, Id x, int i) { return make(g, Op::FLOORDIV, make(g, Op::MUL, x, symbol(g, i)), symbol(g, i + 1)); })},
      {"min(x + 1, s) ...",
       of([](Graph& g, Id x, int i) { return make(g, Op::MIN, make(g, Op::ADD, x, g.index(1)), symbol(g, i)); })},
      {"max(min(x, s), t) ...",
       of([](Graph& g, Id x, int i) { return make(g, i % 2 == 0 ? Op::MIN : Op::MAX, x, symbol(g, i)); })},
      {"x * s ...", of([](Graph& g, Id x, int i) { return make(g, Op::MUL, x, symbol(g, i)); })},
      {"where(x < s, x, t) ...", of([lt](Graph& g, Id x, int i) {
         return g.make(Op::WHERE, DType::index, {lt(g, x, symbol(g, i)), x, symbol(g, i + 1)});
       })},
      {"where(s < t, x, u) ...", of([lt](Graph& g, Id x, int i) {
         return g.make(Op::WHERE, DType::index, {lt(g, symbol(g, i), symbol(g, i + 1)), x, symbol(g, i + 2)});
       })},
      {"s < t and ...",
       [lt](Graph& g, int n) {
         Id x = lt(g, symbol(g, 0), symbol(g, 1));
         for (int i = 1; i < n; ++i) x = g.make(Op::AND, DType::boolean, {x, lt(g, symbol(g, i), symbol(g, i + 1))});
         return x;
       }},
      {"s < t or not ...",
       [lt](Graph& g, int n) {
         Id x = lt(g, symbol(g, 0), symbol(g, 1));
         for (int i = 1; i < n; ++i) {
           x = g.make(Op::NOT, DType::boolean, {x});
           x = g.make(Op::OR, DType::boolean, {x, lt(g, symbol(g, i), symbol(g, i + 1))});
         }
         return x;
       }},
      {"(x & c) << 1 ...", of([](Graph& g, Id x, int i) {
         return make(g, Op::SHL, make(g, Op::AND, make(g, Op::ADD, x, symbol(g, i)), g.index(255)), g.index(1));
       })},
  };
}

// Milliseconds to simplify a node.
double time_of(const Shape& shape, int size) {
  Graph g;
  const Id root = shape.make(g, size);
  return 1e3 * seconds([&] { simplify(g, root, {}); });
}

// The best of several rounds counts: other programs make a round slower, but never faster. A good first round is enough.
// size: the smallest of three.
bool linear(const Shape& shape, int size) {
  constexpr int most = 10;
  double small = 1e9, middle = 1e9, large = 1e9;
  const auto ok = [&] { return large < 25 * std::max(middle, 1.0); };
  for (int round = 0; round < most && (round == 0 || !ok()); ++round) {
    small = std::min(small, time_of(shape, size));
    middle = std::min(middle, time_of(shape, 10 * size));
    large = std::min(large, time_of(shape, 100 * size));
  }
  std::printf("%-24s %9.2f %9.2f %9.2f ms%s\n", shape.name, small, middle, large, ok() ? "" : "  NOT LINEAR");
  std::fflush(stdout);
  return ok();
}

}  // namespace

// --sample: a tenth of the sizes. Another argument: only the shapes whose names contain it.
int main(int argc, char** argv) {
  const bool is_sample = argc > 1 && std::string_view(argv[1]) == "--sample";
  const int size = is_sample ? 100 : 1000;
  bool ok = true;
  rate_of_mix(100);
  rate_of_mix(1);
  std::printf("\n%-24s %9d %9d %9d\n", "size", size, 10 * size, 100 * size);
  for (const Shape& s : shapes())
    if (argc < 2 || is_sample || std::strstr(s.name, argv[1]) != nullptr) ok = linear(s, size) && ok;
  return ok ? 0 : 1;
}
