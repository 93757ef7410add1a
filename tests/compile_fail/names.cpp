// Twins of names, as in twins.cpp: Kiln's functions where the program, another program or a dim has the same name.
#include <kiln/dsl.h>

using namespace kiln;

inline constexpr dim<"N"> N;
inline constexpr dim<"prod"> prod;

// clang-format off
#ifndef BAD
#define BAD 0
#endif

struct max : program<max> {
  in<f32, N> x;
  out<f32, N> y;
  constexpr void body() { y = kiln::dsl::max(x, 0); }
};
struct kernel : program<kernel> {
  in<f32, N> x;
  out<f32, N> y;
  constexpr void body() {
    for (auto [i] : program::kernel(N)) y(i) = x(i);
#if BAD == 5
    for (auto [i] : kernel(N)) y(i) = x(i);  //! this name means a program here write kiln dsl name for the function|this name means a program here
#endif
  }
};

#define CALLED(NAME)                          \
  struct NAME : program<NAME> {               \
    in<f32, N> x;                             \
    out<f32, N> y;                            \
    constexpr void body() { y = x * 2; }      \
  };
CALLED(conv)
CALLED(histogram)
CALLED(matmul)
CALLED(mode)
CALLED(pool)
CALLED(scope)
CALLED(softmax)
CALLED(sort)
CALLED(status)
CALLED(str)
CALLED(sum)
CALLED(transpose)
CALLED(view)

struct relu : program<relu> {
  in<f32, N, prod> x;
  in<f32, N> v;
  out<f32, N, prod> y;
  out<f32> total;
  constexpr void body() {
    y = kiln::dsl::relu(x);
    total = kiln::dsl::prod(v);
#if BAD == 1
    y = relu(x);  //! this name means a program here write kiln dsl name for the function|write kiln::dsl::NAME\(x\)
#elif BAD == 2
    y = max(x, 0.0f);  //! this name means a program here write kiln dsl name for the function|write kiln::dsl::NAME\(x\)
#elif BAD == 3
    total = prod(v);  //! this name means a dim here write kiln dsl name for the function|write kiln::dsl::NAME\(x\)
#elif BAD == 4
    total = max(v);  //! this name means a program here write kiln dsl name for the function|write kiln::dsl::NAME\(x\)
#endif
  }
};
static const programs<relu, max, kernel, conv, histogram, matmul, mode, pool, scope, softmax, sort, status, str, sum, transpose, view> exported;
// clang-format on
