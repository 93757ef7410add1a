#include <kiln/dsl.h>

#include <cstdlib>
using namespace kiln;

inline constexpr dim<"N"> N;

struct numbers : program<numbers> {  // Weyl's sequence
  in<u32> seed;
  out<u32, N> y;
  constexpr void body() { y = (iota<0, u32>(y) + seed) * 2654435769u; }
};

static const programs<numbers> exported;
