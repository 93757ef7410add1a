// The programs of the first example. Only their object file, made at build time, becomes part of the application.
#include <kiln/dsl.h>

using namespace kiln;

inline constexpr dim<"N"> N;  // symbolic extents; extents with equal names must be equal in a call
inline constexpr dim<"M"> M;

struct saxpy : program<saxpy> {
  in<f32> a;
  in<f32, N> x;
  inout<f32, N> y;
  constexpr void body() { y = a * x + y; }
};

struct dense_gelu : program<dense_gelu> {
  in<f32, M, 768> x;
  in<f32, 768, 3072> w;
  in<f32, 3072> b;
  out<f32, M, 3072> y;
  constexpr void body() { y = gelu(matmul(x, w) + b); }
};

static const programs<saxpy, dense_gelu> exported;
