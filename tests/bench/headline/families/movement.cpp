// Permutations and changes of the type: arguments, and a reference for one element.
#include <algorithm>
#include <cmath>

#include "tests/bench/headline/bench.h"

namespace kiln::headline {
namespace {

// Axis r of the result is axis order[r] of the input.
template <int... order>
struct permutation {
  static constexpr int list[] = {order...};
  static void arguments(const workload& w, problem& p) {
    p.in.push_back({type_of(w.type), w.e});
    p.out.push_back({type_of(w.type), {w.e[order]...}});
  }
  static double element(const problem& p, std::size_t, std::int64_t e) {
    const extents &in = p.in[0].shape, &out = p.out[0].shape;
    extents at(in.size());
    for (std::size_t r = out.size(); r-- > 0; e /= out[r]) at[static_cast<std::size_t>(list[r])] = e % out[r];
    std::int64_t i = 0;
    for (std::size_t r = 0; r < in.size(); ++r) i = i * in[r] + at[r];
    return p.in[0][i];
  }
};

void planar(const workload& w, problem& p) {
  p.in.push_back({KILN_U8, {w.e[0], w.e[1], 3}});
  p.out.push_back({KILN_U8, {3, w.e[0], w.e[1]}});
}
void grey(const workload& w, problem& p) {
  p.in.push_back({KILN_U8, {w.e[0], w.e[1], 3}});
  p.out.push_back({KILN_U8, w.e});
}
double grey_element(const problem& p, std::size_t, std::int64_t i) {
  return std::floor((77 * p.in[0][3 * i] + 150 * p.in[0][3 * i + 1] + 29 * p.in[0][3 * i + 2] + 128) / 256);
}
void quantised(const workload& w, problem& p) {
  p.in.push_back({KILN_F32, w.e});
  p.out.push_back({KILN_I8, w.e});
  p.out.push_back({KILN_F32, {w.e[0]}});
}
double quantised_element(const problem& p, std::size_t out, std::int64_t i) {
  const std::int64_t n = p.e(1), row = out == 0 ? i / n : i;
  double most = 0;
  for (std::int64_t j = 0; j < n; ++j) most = std::max(most, std::abs(p.in[0][row * n + j]));
  return out == 0 ? std::nearbyint(p.in[0][i] * (127 / most)) : most / 127;
}
void restored(const workload& w, problem& p) {
  p.in.push_back({KILN_I8, w.e});
  p.in.push_back({KILN_F32, {w.e[0]}});
  p.out.push_back({KILN_F32, w.e});
}
double restored_element(const problem& p, std::size_t, std::int64_t i) { return p.in[0][i] * p.in[1][i / p.e(1)]; }

double none(const workload&) { return 0; }
template <int slots>
double work(const workload& w) {
  return 2.0 * slots * static_cast<double>(count(w.e));
}

double row_cost(const workload& w) { return 2 * static_cast<double>(w.e[1]); }

const families here{
    {"transposed", permutation<1, 0>::arguments, permutation<1, 0>::element, none, 0},
    {"permuted_0231", permutation<0, 2, 3, 1>::arguments, permutation<0, 2, 3, 1>::element, none, 0},
    {"permuted_021", permutation<0, 2, 1>::arguments, permutation<0, 2, 1>::element, none, 0},
    {"permuted_210", permutation<2, 1, 0>::arguments, permutation<2, 1, 0>::element, none, 0},
    {"permuted_102", permutation<1, 0, 2>::arguments, permutation<1, 0, 2>::element, none, 0},
    {"planar", planar, permutation<2, 0, 1>::element, none},
    {"grey", grey, grey_element, work<1>},
    {"quantised", quantised, quantised_element, work<4>, 1e-6, 1,
     row_cost},  // a product next to a half may round to either side
    {"restored", restored, restored_element, work<2>, 1e-6},
};

}  // namespace
}  // namespace kiln::headline
