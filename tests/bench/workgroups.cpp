// Kernels with workgroups, compared with the same in plain C++: Fourier transforms of 1024 points, a transpose by tiles, prefix
// sums and pairwise sums of 256 elements.
#include "tests/bench/workgroups.h"

#include <kiln/dsl.h>

#include <numeric>

#include "tests/bench/speed.h"

using namespace kiln;

namespace {

inline constexpr dim<"N", {.multiple_of = 256}> N;
inline constexpr dim<"M"> M;
inline constexpr int block = 256, side = 16;

struct transposed : program<transposed> {
  in<f32, N, N> x;
  out<f32, N, N> y;
  constexpr void body() {
    for (auto [i, j] : kernel(N, N).workgroup<side, side>()) {
      auto tile = shared<f32, side, side>();
      auto a = local_id(i), b = local_id(j);
      tile(a, b) = x(i, j);
      barrier();
      y(side * group_id(j) + a, side * group_id(i) + b) = tile(b, a);
    }
  }
};

struct running_sums : program<running_sums> {
  in<i32, N> x;
  out<i32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N).workgroup<block>()) {
      auto s = shared<i32, block>();
      auto t = local_id(i);
      s(t) = x(i);
      for (int distance = 1; distance < block; distance *= 2) {
        barrier();
        auto before = s.template at<mode::constant>(t - distance, 0);
        barrier();
        s(t) += before;
      }
      y(i) = s(t);
    }
  }
};

struct sums_in_pairs : program<sums_in_pairs> {
  in<f32, N> x;
  out<f32, M> y;  // N / 256
  constexpr void body() {
    for (auto [i] : kernel(N).workgroup<block>()) {
      auto s = shared<f32, block>();
      auto t = local_id(i);
      s(t) = x(i);
      for (int half = block / 2; half > 0; half /= 2) {
        barrier();
        if (auto c = when(t < half)) s(t) += s(t + half);
      }
      barrier();
      if (auto c = when(t == 0)) y.at<mode::skip>(group_id(i)) = s(0);
    }
  }
};

void report(const char* name, const std::function<void()>& ours, const std::function<void()>& by_hand) {
  std::vector<double> a, b;
  const auto ten = [](const std::function<void()>& f) {
    return bench::seconds([&] {
             for (int i = 0; i < 10; ++i) f();
           }) /
           10;
  };
  for (int repeat = 0; repeat < 7; ++repeat) {
    a.push_back(ten(ours));
    b.push_back(ten(by_hand));
  }
  bench::print_line(name, bench::median(a), "C++ -O3", bench::median(b), 1);
}

template <class T>
std::vector<T> numbers(std::int64_t n) {
  std::vector<T> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i * 2654435761u % 2003) / static_cast<T>(4);
  return x;
}

bool transforms() {
  constexpr std::int64_t rows = 256, points = 1024;
  std::vector<float> x = numbers<float>(rows * points * 2), y(x.size()), hand(x.size()), w(2 * points);
  float sign = -1;
  const compiler::testing::CompiledProgram p = bench::compiled("transforms");
  const std::vector<std::int64_t> shape{rows, points, 2}, none, factors{2, points};
  const kiln_tensor args[] = {bench::argument(x.data(), KILN_F32, shape), bench::argument(&sign, KILN_F32, none),
                              bench::argument(y.data(), KILN_F32, shape), bench::argument(w.data(), KILN_F32, factors)};
  const context memory;
  report(
      "FFT of 1024 points, 256 rows", [&] { (void)p.call(args, memory.get()); },
      [&] { transforms_by_hand(x.data(), sign, w.data(), hand.data(), rows); });
  return y == hand;
}

template <class T>
bool compare(const char* name, const dsl::record::program& program, const std::vector<std::int64_t>& shape,
             const std::vector<std::int64_t>& result, void (*by_hand)(const T*, T*, std::int64_t)) {
  const auto elements = [](const std::vector<std::int64_t>& s) {
    return std::accumulate(s.begin(), s.end(), std::int64_t{1}, std::multiplies<>());
  };
  std::vector<T> x = numbers<T>(elements(shape)), y(static_cast<std::size_t>(elements(result))), hand(y.size());
  const compiler::testing::CompiledProgram p = bench::compiled(program);
  constexpr kiln_dtype d = std::is_same_v<T, float> ? KILN_F32 : KILN_I32;
  const kiln_tensor args[] = {bench::argument(x.data(), d, shape), bench::argument(y.data(), d, result)};
  const context memory;
  const auto ours = [&] { (void)p.call(args, memory.get()); };
  report(name, ours, [&] { by_hand(x.data(), hand.data(), shape[0]); });
  return y == hand;
}

}  // namespace

int main() {
  constexpr std::int64_t n = 1 << 20;
  bench::print_head();
  bool right = transforms();
  right &= compare("transpose of 1024 x 1024, tiles of 16", ir<transposed>, {1024, 1024}, {1024, 1024}, transpose_by_hand);
  right &= compare("sums up to each of 256, 2^20", ir<running_sums>, {n}, {n}, sums_by_hand);
  right &= compare("sums of 256 in pairs, 2^20", ir<sums_in_pairs>, {n}, {n / block}, halvings_by_hand);
  return bench::result(right);
}
