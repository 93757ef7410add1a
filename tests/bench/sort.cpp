// Radix sort of 2^20 random u32 keys (examples/sort) beside std::sort, one thread, interleaved, in processor time. Ends with 1
// when the results differ.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <random>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "generator/import.h"
#include "generator/registry.h"
#include "kiln/view.h"
#include "tests/run/compiled.h"

namespace {

using namespace kiln;

constexpr std::int64_t n = 1 << 20, groups = n / 1024;

double seconds(const std::function<void()>& f) {
  const std::clock_t t = std::clock();
  f();
  return static_cast<double>(std::clock() - t) / CLOCKS_PER_SEC;
}
double median(std::vector<double> v) {
  std::ranges::sort(v);
  return v[v.size() / 2];
}

compiler::testing::CompiledProgram compiled(std::string_view name) {
  for (const record::program* p : generator::registered_programs()) {
    if (p->name != name) continue;
    compiler::Graph g;
    const compiler::Program program = generator::import_program(g, *p);
    return {g, program, __builtin_cpu_supports("avx512f") != 0 ? "x86-64-v4" : "x86-64-v3"};
  }
  throw std::runtime_error("no such program");
}

struct memory {
  std::vector<std::uint32_t> keys = std::vector<std::uint32_t>(n), other_keys = keys;
  std::vector<std::int32_t> values = std::vector<std::int32_t>(n), other_values = values, counts = values,
                            totals = std::vector<std::int32_t>(256);
  std::vector<std::int64_t> length{n}, table{groups, 256}, digits{256};
  kiln_tensor tensor(void* data, kiln_dtype d, const std::vector<std::int64_t>& extents) const {
    return {data, extents.data(), nullptr, d, static_cast<std::int32_t>(extents.size())};
  }
  std::vector<kiln_tensor> arguments(bool with_values) {
    std::vector<kiln_tensor> a{tensor(keys.data(), KILN_U32, length)};
    if (with_values) a.push_back(tensor(values.data(), KILN_I32, length));
    a.push_back(tensor(other_keys.data(), KILN_U32, length));
    if (with_values) a.push_back(tensor(other_values.data(), KILN_I32, length));
    a.push_back(tensor(counts.data(), KILN_I32, table));
    a.push_back(tensor(totals.data(), KILN_I32, digits));
    return a;
  }
};

bool bitonic() {
  const compiler::testing::CompiledProgram sort = compiled("bitonic");
  const kiln::context context;
  memory m;
  std::vector<float> keys(n), sorted;
  std::mt19937 random(1);
  for (float& k : keys) k = static_cast<float>(random() % 16000000);
  sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  const std::vector<std::int64_t> none;
  std::int32_t steps = 1000;
  const kiln_tensor args[] = {m.tensor(&steps, KILN_I32, none), m.tensor(keys.data(), KILN_F32, m.length),
                              m.tensor(m.values.data(), KILN_I32, m.length)};
  const double t = seconds([&] { (void)sort.call(args, context.get()); });
  std::printf("bitonic sort of 2^20 f32 with values: %.2f ms\n", 1e3 * t);
  return keys == sorted;
}

}  // namespace

int main() {
  std::mt19937 random(1);
  std::vector<std::uint32_t> input(n);
  for (auto& k : input) k = static_cast<std::uint32_t>(random());
  memory m;
  const compiler::testing::CompiledProgram keys = compiled("radix_keys_u32"), pairs = compiled("radix_u32");
  const kiln::context context;
  std::vector<double> a, b, c;
  std::vector<std::uint32_t> sorted;
  bool same = true;
  for (int repeat = 0; repeat < 7; ++repeat) {
    m.keys = input;
    a.push_back(seconds([&] { (void)keys.call(m.arguments(false), context.get()); }));
    sorted = input;
    c.push_back(seconds([&] { std::sort(sorted.begin(), sorted.end()); }));
    same = same && m.keys == sorted;
    m.keys = input;
    b.push_back(seconds([&] { (void)pairs.call(m.arguments(true), context.get()); }));
    same = same && m.keys == sorted;
  }
  std::printf("radix sort of 2^20 u32: keys %.2f ms, with values %.2f ms; std::sort of keys %.2f ms\n", 1e3 * median(a),
              1e3 * median(b), 1e3 * median(c));
  return bitonic() && same ? 0 : 1;
}
