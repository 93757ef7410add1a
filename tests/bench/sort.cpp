// The sorts of examples/sort, compared with std::sort.
#include <algorithm>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

#include "tests/bench/speed.h"

namespace {

using namespace kiln;

template <class K>
struct memory {
  std::vector<K> keys, other_keys;
  std::vector<std::int32_t> values, other_values, counts, totals = std::vector<std::int32_t>(256);
  std::vector<std::int64_t> length, table, digits{256};
  kiln_dtype type = std::is_same_v<K, float> ? KILN_F32 : KILN_U32;

  explicit memory(std::size_t n) : keys(n), other_keys(n), values(n), other_values(n) {
    const std::size_t groups = (n + 1023) / 1024;
    counts.resize(256 * groups);
    length = {static_cast<std::int64_t>(n)};
    table = {static_cast<std::int64_t>(groups), 256};
  }
  void start(const std::vector<K>& input) {
    keys = input;
    std::iota(values.begin(), values.end(), 0);
  }
  std::vector<kiln_tensor> radix(bool with_values) {
    std::vector<kiln_tensor> a{bench::argument(keys.data(), type, length)};
    if (with_values) a.push_back(bench::argument(values.data(), KILN_I32, length));
    a.push_back(bench::argument(other_keys.data(), type, length));
    if (with_values) a.push_back(bench::argument(other_values.data(), KILN_I32, length));
    a.push_back(bench::argument(counts.data(), KILN_I32, table));
    a.push_back(bench::argument(totals.data(), KILN_I32, digits));
    return a;
  }
  // Checks that keys are sorted. Values say where the keys came from.
  bool sorted(const std::vector<K>& expected, const std::vector<K>& input) const {
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (input[static_cast<std::size_t>(values[i])] != keys[i]) return false;
    return keys == expected;
  }
};

std::vector<std::uint32_t> random_keys(std::size_t n) {
  std::mt19937 random(1);
  std::vector<std::uint32_t> keys(n);
  for (auto& k : keys) k = static_cast<std::uint32_t>(random());
  return keys;
}

bool radix_sorts(std::size_t n, const char* keys_line, const char* values_line, bool measured_elsewhere) {
  const std::vector<std::uint32_t> input = random_keys(n);
  memory<std::uint32_t> m(n);
  const compiler::testing::CompiledProgram keys = bench::compiled("radix_keys_u32"), pairs = bench::compiled("radix_u32");
  const context memory;
  std::vector<double> a, b, c;
  std::vector<std::uint32_t> expected;
  bool same = true;
  for (int repeat = 0; repeat < 7; ++repeat) {
    m.start(input);
    a.push_back(bench::seconds([&] { (void)keys.call(m.radix(false), memory.get()); }));
    expected = input;
    c.push_back(bench::seconds([&] { std::sort(expected.begin(), expected.end()); }));
    same = same && m.keys == expected;
    m.start(input);
    b.push_back(bench::seconds([&] { (void)pairs.call(m.radix(true), memory.get()); }));
    same = same && m.sorted(expected, input);
  }
  bench::print_line(keys_line, bench::median(a), "std::sort", bench::median(c), 1);
  if (measured_elsewhere)
    bench::print_line(values_line, bench::median(b), bench::survey_wall, 713e-3, 20);
  else
    bench::print_line(values_line, bench::median(b), "std::sort of keys", bench::median(c), 0);
  return same;
}

bool bitonic_sort(std::size_t n, const char* line) {
  const compiler::testing::CompiledProgram sort = bench::compiled("bitonic");
  const context context;
  memory<float> m(n);
  std::vector<float> input;
  for (const std::uint32_t k : random_keys(n)) input.push_back(static_cast<float>(k % 16000000));
  std::vector<float> expected = input;
  std::sort(expected.begin(), expected.end());
  std::int32_t steps = 1000;
  const std::vector<std::int64_t> none;
  const kiln_tensor args[] = {bench::argument(&steps, KILN_I32, none), bench::argument(m.keys.data(), KILN_F32, m.length),
                              bench::argument(m.values.data(), KILN_I32, m.length)};
  std::vector<double> times;
  bool same = true;
  for (int repeat = 0; repeat < 3; ++repeat) {
    m.start(input);
    times.push_back(bench::seconds([&] { (void)sort.call(args, context.get()); }));
    same = same && m.sorted(expected, input);
  }
  bench::print_line(line, bench::median(times), bench::survey_wall, 3060e-3, 8);
  return same;
}

}  // namespace

// --sample: only one sort of 2^20 numbers.
int main(int argc, char** argv) {
  bench::print_head();
  const bool small = radix_sorts(1 << 20, "radix sort, 2^20 u32", "radix sort, 2^20 u32 with values", true);
  if (argc > 1 && std::string_view(argv[1]) == "--sample") return bench::result(small);
  const bool large = radix_sorts(4157818, "radix sort, 4157818 u32", "radix sort, 4157818 u32 with values", false);
  const bool pairs = bitonic_sort(1 << 20, "bitonic sort, 2^20 f32 with values");
  return bench::result(small && large && pairs);
}
