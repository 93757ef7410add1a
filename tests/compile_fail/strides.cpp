// Twins of parameters with strides, as in twins.cpp: with -DBAD=n the line of case n is compiled in.
#include <kiln/dsl.h>
using namespace kiln;

inline constexpr dim<"N"> N;
inline constexpr dim<"H"> H;
inline constexpr dim<"W"> W;

// clang-format off
struct strides : program<strides> {
  pitched<in<f32, H, W>> x;
  pitched<in<u8, H, W, 3>, 1> image;
  strided<in<f32, W>> column;
  strided<inout<f32, H, W>> y;
  pitched<out<f32, H, W>> z;
#if BAD == 1
  pitched<in<f32, N>> bad;  //! of one axis write strided
#elif BAD == 2
  pitched<f32> bad;  //! write pitched of in f32 H W
#elif BAD == 3
  strided<in<f32>> bad;  //! an in out or inout with axes
#elif BAD == 4
  strided<pitched<in<f32, H, W>>> bad;  //! an in out or inout with axes
#elif BAD == 5
  pitched<in<f32, H, W>, 3> bad;  //! two axes or more
#elif BAD == 6
  pitched<expr<f32, H, W>> bad;  //! an in out or inout with axes
#endif
  constexpr void body() {
    y = x + y + column;
    z = y;
    for (auto [i, j] : kernel(H, W)) z(i, j) = cast<f32>(image(i, j, 0)) + y(i, j);
#if BAD == 7
    x = 1.0f;  //! an in parameter is read only|an in<> parameter is read-only
#elif BAD == 8
    column(0) = 1.0f;  //! an in parameter is read only|an in<> parameter is read-only
#endif
  }
};
static const programs<strides> exported;
