// One pass over arrays: arguments, and the formula for one element.
#include <algorithm>
#include <cmath>

#include "tests/bench/headline/bench.h"

namespace kiln::headline {
namespace {

template <int inputs>
void vectors(const workload& w, problem& p) {
  for (int i = 0; i < inputs; ++i) p.in.push_back({type_of(w.type), w.e});
  p.out.push_back({type_of(w.type), w.e});
}
void saxpy(const workload& w, problem& p) {
  p.in.push_back({type_of(w.type), {}});
  p.in.push_back({type_of(w.type), w.e});
  p.out.push_back({type_of(w.type), w.e, true});
}
double saxpy_element(const problem& p, std::size_t, std::int64_t i) {
  return p.in[0][0] * p.in[1][i] + initial(KILN_F32, 2, i);
}
double exp_element(const problem& p, std::size_t, std::int64_t i) { return std::exp(p.in[0][i]); }
double gelu_element(const problem& p, std::size_t, std::int64_t i) {
  const double x = p.in[0][i];
  return 0.5 * x * (1 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
}
double chain5_element(const problem& p, std::size_t, std::int64_t i) {
  const double a = p.in[0][i], b = p.in[1][i], c = p.in[2][i], d = p.in[3][i];
  return std::max((a * b + c) * d - a, 0.0);
}
double chain20_element(const problem& p, std::size_t, std::int64_t i) {
  const double x = p.in[0][i], z = p.in[1][i];
  double v = x;
  for (int k = 0; k < 5; ++k) v = std::max(v * 0.9 + z, x) - 0.1;
  return v;
}

// Slots of a multiply-add unit, counted twice: exp takes about 13, gelu 22 and a division.
template <int slots>
double work(const workload& w) {
  return 2.0 * slots * static_cast<double>(count(w.e));
}

const families here{
    {"saxpy", saxpy, saxpy_element, work<1>},           {"exponential", vectors<1>, exp_element, work<13>},
    {"gelu_tanh", vectors<1>, gelu_element, work<24>},  {"chain5", vectors<4>, chain5_element, work<4>},
    {"chain20", vectors<2>, chain20_element, work<15>},
};

}  // namespace
}  // namespace kiln::headline
