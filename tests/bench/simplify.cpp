// simplify_bench: random index expressions a second on one core, then time against size for sums and for chains. Prints; judges nothing.
#include <chrono>
#include <cstdio>
#include <random>
#include <vector>

#include "compiler/symbolic/simplify.h"
#include "tests/fuzz/index_expression.h"

namespace kiln::test {
namespace {

using namespace compiler;

double seconds(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void random_mix() {
  constexpr int seeds = 300, each = 100;
  std::vector<std::size_t> sizes;
  double spent = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Graph g;
    IndexExpressions e(g, seed);
    std::vector<Id> roots;
    for (int i = 0; i < each; ++i) roots.push_back(e.next());
    for (Id r : roots) {
      const Id one[] = {r};
      std::size_t operations = 0;
      for (Id id : g.reachable(one)) operations += g.src(id).empty() || g.op(id) == Op::RANGE ? 0 : 1;
      sizes.push_back(operations);
    }
    spent += seconds([&] { simplify_all(g, roots, e.facts()); });
  }
  std::ranges::sort(sizes);
  std::printf("random mix, median %zu operations: %.0f expressions/s\n", sizes[sizes.size() / 2], seeds * each / spent);
}

// sum of k_i x_i over 1000 symbols, in random order and association.
Id random_sum(Graph& g, int terms) {
  std::mt19937_64 random(7);
  std::vector<Id> parts;
  for (int i = 0; i < terms; ++i) {
    const Id x = g.sym("x" + std::to_string(random() % 1000));
    parts.push_back(g.make(Op::MUL, DType::index, {x, g.index(static_cast<std::int64_t>(random() % 9) - 4)}));
  }
  while (parts.size() > 1) {
    std::vector<Id> next;
    for (std::size_t i = 0; i + 1 < parts.size(); i += 2) next.push_back(g.make(Op::ADD, DType::index, {parts[i + 1], parts[i]}));
    if (parts.size() % 2 == 1) next.push_back(parts.back());
    parts = std::move(next);
  }
  return parts[0];
}

// ((x * 3 + r) // 7 + x) % 11 ... : nothing of it folds away.
Id chain(Graph& g, int depth) {
  const Id r = g.make(Op::RANGE, DType::index, {g.index(13)}, {0, 0});
  Id x = g.sym("x");
  for (int i = 0; i < depth; i += 4) {
    x = g.make(Op::ADD, DType::index, {g.make(Op::MUL, DType::index, {x, g.index(3)}), r});
    x = g.make(Op::FLOORMOD, DType::index, {g.make(Op::FLOORDIV, DType::index, {x, g.index(7)}), g.index(11 + i % 5)});
  }
  return x;
}

void against_size(const char* what, Id (*make)(Graph&, int)) {
  for (int n : {1000, 10000, 100000}) {
    Graph g;
    const Id root = make(g, n);
    const double s = seconds([&] { simplify(g, root, {}); });
    std::printf("%s of %6d: %9.3f ms, %7.1f ns each\n", what, n, s * 1e3, s * 1e9 / n);
  }
}

}  // namespace
}  // namespace kiln::test

int main() {
  kiln::test::random_mix();
  kiln::test::against_size("sum", kiln::test::random_sum);
  kiln::test::against_size("chain", kiln::test::chain);
}
