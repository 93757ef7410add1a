// Twins of calls, as in twins.cpp: arguments that a generated function does not accept.
#include <kiln/view.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace my {
kiln::status rows(kiln::view<const float, -1, -1> x, kiln::view<float, -1> y, const kiln::context& kiln_with = {});
kiln::status half(kiln::view<const kiln::float16, -1> x, kiln::view<float, 4> y, const kiln::context& kiln_with = {});
kiln::status mask(float a, kiln::view<const bool, -1> p, kiln::view<float, -1, -1> y, const kiln::context& kiln_with = {});
}  // namespace my

// clang-format off
#ifndef BAD
#define BAD 0
#endif

kiln::status calls(std::vector<float>& v, const std::vector<float>& constant, float* p, std::vector<bool>& bits, std::vector<std::uint16_t>& words,
                   std::vector<kiln::float16>& halves, std::vector<std::vector<float>>& nested, std::array<float, 3>& three, std::vector<double>& wide) {
  kiln::view<float, -1, -1> m(p, 2, 3);
  float four[4], square[2][2];
  auto flags = std::make_unique<bool[]>(3);
  std::array<bool, 3> all{};
  if (!my::rows(m, v) || !my::rows(kiln::view<const float, -1, -1>(v.data(), 1, 2), four) || !my::half(halves, four) || !my::mask(1, all, square) ||
      !my::mask(1, kiln::view<const bool, -1>(flags.get(), 3), m) || !my::rows(square, std::span(v)) || !my::rows(m, kiln::view<float, -1>(p, 3)))
    return my::half(std::vector<kiln::float16>(4), four);
#if BAD == 1
  return my::rows(v, v);  //! a container has one axis write kiln view of data and extents|a container has one axis: write kiln::view
#elif BAD == 2
  return my::rows(p, v);  //! a pointer has no size write kiln view of pointer and extents|a pointer has no size: write kiln::view
#elif BAD == 3
  return my::rows(m, p);  //! a pointer has no size write kiln view of pointer and extents|a pointer has no size: write kiln::view
#elif BAD == 4
  return my::mask(1, bits, m);  //! vector bool holds bits use an array of bool|holds bits: use an array of bool
#elif BAD == 5
  return my::half(words, four);  //! the argument has another element type|f16 is kiln::float16
#elif BAD == 6
  return my::rows(nested, v);  //! rows of their own do not lie together use one buffer and kiln view|use one buffer and kiln::view
#elif BAD == 7
  return my::rows(m, constant);  //! an output is written the argument is const|an output is written, and the argument is const
#elif BAD == 8
  return my::half({1, 2, 3}, four);  //! an argument is no list of numbers name an array|is no list of numbers
#elif BAD == 9
  return my::rows(m, std::vector<float>(4));  //! the result in a temporary would be lost name the container|give the container a name
#elif BAD == 10
  return my::rows(m, std::array<float, 4>{});  //! the result in a temporary would be lost name the container|give the container a name
#elif BAD == 11
  return my::half(halves, three);  //! the argument has another static size|another static size
#elif BAD == 12
  return my::rows(wide, v);  //! the argument has another element type|another element type
#elif BAD == 13
  return my::rows(v, m);  //! a container has one axis write kiln view of data and extents|a container has one axis: write kiln::view
#elif BAD == 14
  return my::rows(m);  //! too few arguments to function
#elif BAD == 15
  return my::mask(bits, 1, m);  //! cannot convert|no viable conversion
#elif BAD == 16
  return my::rows(m, std::move(v));  //! the result in a temporary would be lost name the container|give the container a name
#elif BAD == 17
  return my::rows(kiln::view<float, -1>(p, 6), v);  //! the argument has another number of axes|another number of axes
#elif BAD == 18
  return my::rows(m, square);  //! the argument has another number of axes|another number of axes
#elif BAD == 19
  return my::rows(kiln::view<double, -1, -1>(wide.data(), 2, 3), v);  //! the argument has another element type|another element type
#elif BAD == 20
  return my::mask(1, all, kiln::view<const float, -1, -1>(p, 2, 3));  //! an output is written the argument is const|an output is written, and the argument is const
#elif BAD == 21
  return my::half(halves, kiln::view<float, -1>(p, 4));  //! the argument has another static size|another static size
#endif
  return my::rows(m, v);
}
