// Fast Fourier transforms, radix 2, decimation in time: the elements are put into the order of reversed bits. Then a loop runs
// over the stages, and each stage is a kernel over pairs.
#include <tuple>
#include <utility>

#include "parts.h"

inline constexpr facts length{.min = 2, .max = 1 << 30};  // the program also requires a power of two
inline constexpr dim<"N", length> N;
inline constexpr dim<"M", length> M;
inline constexpr dim<"K", length> K;

// Calls f(i), f(i, j) or f(i, j, k) in a kernel over these extents.
template <auto... Extents>
constexpr void each(auto const& s, auto const& f) {
  if constexpr (sizeof...(Extents) == 1)
    for (auto [i] : s.template kernel<Extents...>()) f(i);
  else if constexpr (sizeof...(Extents) == 2)
    for (auto [i, j] : s.template kernel<Extents...>()) f(i, j);
  else
    for (auto [i, j, k] : s.template kernel<Extents...>()) f(i, j, k);
}

template <bool First>
constexpr auto one_of(auto const& a, auto const& b) {
  if constexpr (First)
    return a;
  else
    return b;
}

// 32 minus log2 of an extent.
template <auto Extent>
constexpr auto unused_bits(auto const& s) {
  auto bits = s.template var<u32>(32);
  for (auto k : s.loop(31)) {
    s.break_if((1 << k) >= s.template size<Extent, i32>());
    bits -= 1;
  }
  return bits;
}

// All stages along an axis of y, whose extents are `Extents` and then 2. sign: -1 forward, 1 inverse. It works in place,
// because one work item reads and writes both elements of a pair.
template <int axis, auto... Extents>
constexpr void stages(auto const& s, auto const& sign, auto const& y) {
  constexpr auto last = std::get<axis>(std::tuple(Extents...));
  const auto of_axes = [&]<std::size_t... A>(std::index_sequence<A...>) {
    for (auto t : s.loop(31)) {
      auto half = 1 << t;
      s.break_if(half >= s.template size<last, i32>());
      auto angle_step = sign * pi / cast<f32>(half);
      each<one_of<A == axis>(Extents / 2, Extents)...>(s, [&](auto const&... position) {
        const auto at = std::tie(position...);
        auto const& pair = std::get<axis>(at);
        auto low = pair & (half - 1);
        auto k = 2 * (pair - low) + low, l = k + half;
        auto get = [&](auto const& e, int c) {
          return y.template at<mode::constant>(one_of<(A == axis)>(e, std::get<A>(at))..., c, 0.0f);
        };
        auto set = [&](auto const& e, int c, auto const& v) {
          y.template at<mode::skip>(one_of<(A == axis)>(e, std::get<A>(at))..., c) = v;
        };
        auto angle = angle_step * cast<f32>(low);
        auto cosine = cos(angle), sine = sin(angle);
        auto re = get(l, 0), im = get(l, 1);
        auto tr = cosine * re - sine * im, ti = cosine * im + sine * re;
        auto ur = get(k, 0), ui = get(k, 1);
        set(k, 0, ur + tr);
        set(k, 1, ui + ti);
        set(l, 0, ur - tr);
        set(l, 1, ui - ti);
      });
    }
  };
  of_axes(std::make_index_sequence<sizeof...(Extents)>());
}

struct transform : program<transform> {
  in<f32, N, 2> x;
  in<f32> sign;  // -1: forward; 1: inverse, without the division by the number of points
  out<f32, N, 2> y;
  constexpr void body() {
    auto unused = unused_bits<N>(*this);
    for (auto [i] : kernel(N))
      for (int c : {0, 1}) y(i, c) = x(reversed(i) >> unused, c);
    stages<0, N>(*this, sign, y);
  }
};

// Transforms all axes.
struct transform_3d : program<transform_3d> {
  in<f32, N, M, K, 2> x;
  in<f32> sign;
  out<f32, N, M, K, 2> y;
  constexpr void body() {
    auto n = unused_bits<N>(*this), m = unused_bits<M>(*this), k = unused_bits<K>(*this);
    for (auto [a, b, c] : kernel(N, M, K))
      for (int part : {0, 1}) y(a, b, c, part) = x(reversed(a) >> n, reversed(b) >> m, reversed(c) >> k, part);
    stages<0, N, M, K>(*this, sign, y);
    stages<1, N, M, K>(*this, sign, y);
    stages<2, N, M, K>(*this, sign, y);
  }
};

// Removes the high frequencies of a picture.
struct low_pass : program<low_pass> {
  in<f32, H, W> picture;
  in<bool> sinc;
  in<f32> cutoff;
  out<f32, square, square> spectrum;
  out<f32, H, W> filtered;
  out<f32, square, square, 2> a, b;  // intermediate values

  constexpr void both_axes(float sign, auto const& y) {
    stages<0, square, square>(*this, sign, y);
    stages<1, square, square>(*this, sign, y);
  }
  constexpr void body() {
    auto place = [](auto const& i) { return cast<i32>(reversed(i) >> 22u); };
    for (auto [i, j] : kernel(square, square)) {
      a(i, j, 0) = padded(picture, place(i), place(j));
      a(i, j, 1) = 0.0f;
    }
    both_axes(-1, a);
    for (auto [i, j] : kernel(square, square))
      spectrum(i, j) = logarithm(a(shifted(i), shifted(j), 0), a(shifted(i), shifted(j), 1));
    for (auto [i, j] : kernel(square, square)) {
      auto p = place(i), q = place(j);
      auto factor = low_pass_factor(p, q, sinc, cutoff);
      for (int c : {0, 1}) b(i, j, c) = factor * a(p, q, c);
    }
    both_axes(1, b);
    for (auto [i, j] : kernel(H, W)) filtered(i, j) = b(i, j, 0);
  }
};

static const programs<transform, transform_3d, low_pass> exported;
