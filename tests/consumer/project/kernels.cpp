#include <kiln/dsl.h>
using namespace kiln;

inline constexpr dim<"N"> N;

struct axpy : program<axpy> {
  in<f32> a;
  in<f32, N> x;
  inout<f32, N> y;
  constexpr void body() { y = a * x + y; }
};

struct row_sums : program<row_sums> {
  in<f32, N, 3> x;
  out<f32, N> y;
  constexpr void body() { y = sum<1>(x); }
};

static const programs<axpy, row_sums> exported;
