// Poisson's equation, laplacian(p) = f with p = 0 outside: red-black relaxation, a loop of two kernels and a sum.
#include <kiln/dsl.h>

using namespace kiln;
using kiln::dsl::mode;  // for functions; inside a program it is a member

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;
inline constexpr dim<"K"> K;

// The sum of the four neighbours. Neighbours outside count as 0.
constexpr auto around(auto const& p, auto const& i, auto const& j) {
  return p.template at<mode::constant>(i - 1, j, 0.0) + p.template at<mode::constant>(i + 1, j, 0.0) +
         p.template at<mode::constant>(i, j - 1, 0.0) + p.template at<mode::constant>(i, j + 1, 0.0);
}

struct relax : program<relax> {
  in<f64, N, M> f;
  in<f64> omega;
  inout<f64, N, M> p;
  out<f64, K> error;  // log10 of the mean residual after each of K iterations
  constexpr void body() {
    for (auto t : loop(K)) {
      for (const int colour : {0, 1})  // cells of one colour read only cells of the other
        for (auto [i, j] : kernel(N, M))
          if (auto c = when((i + j) % 2 == colour)) {
            auto here = p(i, j);
            p(i, j) = here + omega * (0.25 * (around(p, i, j) - f(i, j)) - here);
          }
      auto q = pad<1, 1, 1>(pad<0, 1, 1>(p, 0.0), 0.0);
      auto neighbours = slice<0, 0, N>(slice<1, 1, M + 1>(q)) + slice<0, 2, N + 2>(slice<1, 1, M + 1>(q)) +
                        slice<0, 1, N + 1>(slice<1, 0, M>(q)) + slice<0, 1, N + 1>(slice<1, 2, M + 2>(q));
      error(t) = 0.30102999566398120 * log2(mean(abs(neighbours - 4.0 * p - f)));
    }
  }
};

static const programs<relax> exported;
