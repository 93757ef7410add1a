// A chain of 20 operations over 16M floats: one Kiln kernel, compared with the same loop written by hand, vectorised by the C++
// compiler and threaded on the same pool. They run alternately. Prints workload, times, ratio and share of the copy bandwidth
// measured in the same run.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "compiler/interp/array.h"
#include "compiler/ir/builder.h"
#include "kiln/pool.h"
#include "tests/run/compiled.h"

using namespace kiln::compiler;

void chain_by_hand(const float* x, const float* y, float* z, std::int64_t begin, std::int64_t end);
void copy_by_hand(const float* x, const float* y, float* z, std::int64_t begin, std::int64_t end);

namespace {

constexpr std::int64_t n = 16 << 20;

// Must compute the same as chain_loop.cpp.
Program chain(Graph& g) {
  Builder b(g);
  Program p;
  p.name = "chain";
  const Id extent = g.sym("N");
  p.symbols = {{"N", 0, std::int64_t{1} << 40, 1}};
  p.params = {{"x", Direction::in, DType::f32, {extent}, {}},
              {"y", Direction::in, DType::f32, {extent}, {}},
              {"z", Direction::out, DType::f32, {extent}, {}}};
  const Id x = b.param(0, p.params[0]), y = b.param(1, p.params[1]);
  const auto constant = [&](float v) { return b.constant(DType::f32, std::bit_cast<std::uint32_t>(v)); };
  Id v = x;
  for (int i = 0; i < 5; ++i) {
    v = b.elementwise(Op::MUL, {v, y});
    v = b.elementwise(Op::ADD, {v, constant(0.5f)});
    v = b.elementwise(Op::SUB, {v, x});
    v = b.elementwise(Op::MUL, {v, constant(0.25f)});
  }
  const Id stores[] = {b.store(b.param(2, p.params[2]), p.params[2], v)};
  p.sink = g.make(Op::SINK, DType::none, stores);
  return p;
}

struct Job {
  const float *x, *y;
  float* z;
  void (*loop)(const float*, const float*, float*, std::int64_t, std::int64_t);
};
void run_job(void* data, std::int64_t begin, std::int64_t end) {
  const Job* j = static_cast<const Job*>(data);
  j->loop(j->x, j->y, j->z, begin, end);
}

double seconds(auto const& f) {
  const auto t = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
}
double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

}  // namespace

int main() {
  Graph g;
  const Program p = chain(g);
  const testing::CompiledProgram compiled(g, p);
  std::vector<float> x(n), y(n), ours(n), hand(n);
  for (std::int64_t i = 0; i < n; ++i)
    x[static_cast<std::size_t>(i)] = static_cast<float>(i % 1000) * 0.001f, y[static_cast<std::size_t>(i)] = 0.9f;
  kiln::pool pool;
  kiln::context context;
  context.executor(pool.executor());
  const kiln_tensor args[] = {kiln::tensor_of(kiln::view<float, n>(x.data())), kiln::tensor_of(kiln::view<float, n>(y.data())),
                              kiln::tensor_of(kiln::view<float, n>(ours.data()))};
  const std::int64_t extents[] = {n};
  std::vector<kiln_tensor> a(args, args + 3);
  for (kiln_tensor& t : a) t.extents = extents;
  const auto kiln_run = [&] {
    if (compiled.call(a, context.get()).code != KILN_OK) std::abort();
  };
  Job job{x.data(), y.data(), hand.data(), chain_by_hand};
  const auto threaded = [&] { pool.executor()->parallel_for(pool.executor(), n, 64, pool.workers() * 4, run_job, &job); };
  std::vector<double> t_kiln, t_hand, t_copy;
  for (int i = 0; i < 12; ++i) {
    job.loop = chain_by_hand;
    t_kiln.push_back(seconds(kiln_run));
    t_hand.push_back(seconds(threaded));
    if (i == 0 && ours != hand) return std::puts("results differ"), 1;
    job.loop = copy_by_hand;
    t_copy.push_back(seconds(threaded));
  }
  const double k = median(t_kiln), h = median(t_hand), c = median(t_copy);
  std::printf("%-28s %10s %10s %8s %18s\n", "workload", "Kiln ms", "C++ ms", "ratio", "share of add x+y");
  std::printf("%-28s %10.3f %10.3f %8.2f %18.2f\n", "chain of 20, 16M f32", k * 1e3, h * 1e3, h / k, c / k);
  std::printf("kernels: %d, threads: %d\n", compiled.description()->n_kernels, pool.workers());
  return compiled.description()->n_kernels == 1 ? 0 : 1;
}
