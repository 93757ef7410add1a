// A step of examples/fluid on 256 x 512 cells.
#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/bench/speed.h"

namespace {

using namespace kiln;

constexpr std::int64_t n = 256, m = 512;

struct arguments {
  std::vector<std::vector<float>> data;
  std::vector<std::vector<std::int64_t>> extents;
  std::int32_t cycles = 1;
  std::vector<kiln_tensor> list;

  void add(std::vector<std::int64_t> shape, std::vector<float> values = {}) {
    values.resize(static_cast<std::size_t>(std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>())));
    data.push_back(std::move(values));
    extents.push_back(std::move(shape));
  }
  arguments() {
    for (int i = 0; i < 3; ++i) add({n, m});
    add({5}, {256, 128, 0.5f, 2, 1});
    for (const float value : {1.0f, 0.02f, 0.999f, 0.999f, 0.5f}) add({}, {value});
    for (int i = 0; i < 7; ++i) add({n, m});
    for (int i = 0; i < 2; ++i) add({n / 2, m / 2});
    for (int i = 0; i < 2; ++i) add({n / 4, m / 4});
    for (std::size_t i = 0; i < data.size(); ++i) list.push_back(bench::argument(data[i].data(), KILN_F32, extents[i]));
    list.insert(list.begin() + 9, bench::argument(&cycles, KILN_I32, extents[4]));
  }
  // The new velocities and ink become the next step's old ones.
  void advance() {
    for (std::size_t k = 0; k < 3; ++k) std::swap(list[k].data, list[10 + k].data);
  }
};

}  // namespace

int main() {
  bench::print_head();
  const compiler::testing::CompiledProgram step = bench::compiled("step");
  arguments a;
  const context memory;
  std::vector<double> times;
  bool done = true;
  for (int k = 0; k < 80; ++k) {
    const double t = bench::seconds([&] { done = step.call(a.list, memory.get()).code == 0 && done; });
    if (k >= 20) times.push_back(t);  // skips the first steps, which start from rest
    a.advance();
  }
  bench::print_line("fluid, step of 256 x 512", bench::median(times), bench::survey, 14.6e-3, 4);
  return bench::result(done);
}
