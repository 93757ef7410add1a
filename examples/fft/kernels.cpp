// Fast Fourier transform, radix 2, decimation in time; a complex number is an axis of two. Stages are kernels over the pairs.
#include <kiln/dsl.h>

using namespace kiln;

inline constexpr dim<"N", {.min = 2, .max = 1 << 30}> N;
inline constexpr float pi = 3.14159265f;

// All 32 bits, the last one first.
constexpr auto reversed(auto const& i) {
  auto swap = [](auto const& x, unsigned mask, unsigned shift) { return ((x & mask) << shift) | ((x >> shift) & mask); };
  auto r = swap(swap(swap(swap(cast<u32>(i), 0x55555555u, 1), 0x33333333u, 2), 0x0f0f0f0fu, 4), 0x00ff00ffu, 8);
  return (r << 16u) | (r >> 16u);
}

// Two elements whose distance is `half`, in place. get(k, c) and set(k, c, value) have component c of element k; turn: pi /
// half, negative forward.
constexpr void butterfly(auto const& pair, auto const& half, auto const& turn, auto const& get, auto const& set) {
  auto low = pair & (half - 1);
  auto k = 2 * (pair - low) + low, l = k + half;
  auto angle = turn * cast<f32>(low);
  auto c = cos(angle), s = sin(angle);
  auto re = get(l, 0), im = get(l, 1);
  auto tr = c * re - s * im, ti = c * im + s * re;
  auto ur = get(k, 0), ui = get(k, 1);
  set(k, 0, ur + tr);
  set(k, 1, ui + ti);
  set(l, 0, ur - tr);
  set(l, 1, ui - ti);
}

// Any power of two: elements in the order of reversed bits, then a loop over the stages.
struct transform : program<transform> {
  in<f32, N, 2> x;
  in<f32> sign;  // -1 forward; 1 inverse, which divides by nothing
  out<f32, N, 2> y;
  constexpr void body() {
    auto shift = var<u32>(32);  // 32 - log2 N
    for (auto k : loop(31)) {
      break_if((1 << k) >= size<N, i32>());
      shift -= 1;
    }
    for (auto [i] : kernel(N)) {
      auto from = reversed(i) >> shift;
      y(i, 0) = x(from, 0);
      y(i, 1) = x(from, 1);
    }
    for (auto t : loop(31)) {
      auto half = 1 << t;
      break_if(half >= size<N, i32>());
      auto turn = sign * pi / cast<f32>(half);
      for (auto [pair] : kernel<N / 2>())
        butterfly(
            pair, half, turn, [&](auto const& k, int c) { return y.at<mode::constant>(k, c, 0.0f); },
            [&](auto const& k, int c, auto const& v) { y.at<mode::skip>(k, c) = v; });
    }
  }
};

// Both axes of a picture of a size that is known: all stages in one program.
inline constexpr int size_2d = 256, bits_2d = 8;

struct low_pass : program<low_pass> {
  in<f32, size_2d, size_2d> picture;
  in<f32> cutoff;                       // of the filter exp(-f^2 / (2 cutoff^2))
  out<f32, size_2d, size_2d> spectrum;  // log2(1 + size), frequency 0 in the middle
  out<f32, size_2d, size_2d> filtered;
  out<f32, size_2d, size_2d, 2> a, b;  // while it works

  static constexpr auto place(auto const& i) { return reversed(i) >> static_cast<unsigned>(32 - bits_2d); }

  constexpr void both_axes(auto const& y, float sign) {
    for (int half = 1; half < size_2d; half *= 2) {
      const float turn = sign * pi / static_cast<float>(half);
      for (auto [line_, pair] : kernel(size_2d, size_2d / 2)) {
        auto line = line_ + 0;
        butterfly(
            pair, half, turn, [&](auto const& k, int c) { return y(line, k, c); },
            [&](auto const& k, int c, auto const& v) { y(line, k, c) = v; });
      }
      for (auto [pair, line_] : kernel(size_2d / 2, size_2d)) {
        auto line = line_ + 0;
        butterfly(
            pair, half, turn, [&](auto const& k, int c) { return y(k, line, c); },
            [&](auto const& k, int c, auto const& v) { y(k, line, c) = v; });
      }
    }
  }

  constexpr void body() {
    for (auto [i, j] : kernel(size_2d, size_2d)) {
      a(i, j, 0) = picture(place(i), place(j));
      a(i, j, 1) = 0.0f;
    }
    both_axes(a, -1);
    for (auto [i, j] : kernel(size_2d, size_2d)) {
      auto p = (i + size_2d / 2) % size_2d, q = (j + size_2d / 2) % size_2d;
      auto re = a(p, q, 0), im = a(p, q, 1);
      spectrum(i, j) = log2(1.0f + sqrt(re * re + im * im));
    }
    for (auto [i, j] : kernel(size_2d, size_2d)) {
      auto p = cast<i32>(place(i)), q = cast<i32>(place(j));
      auto f = [](auto const& k) { return cast<f32>(min(k, size_2d - k)); };
      auto f2 = f(p) * f(p) + f(q) * f(q);
      auto h = exp(-f2 / (2.0f * cutoff * cutoff)) / static_cast<float>(size_2d * size_2d);
      b(i, j, 0) = h * a(p, q, 0);
      b(i, j, 1) = h * a(p, q, 1);
    }
    both_axes(b, 1);
    for (auto [i, j] : kernel(size_2d, size_2d)) filtered(i, j) = b(i, j, 0);
  }
};

// exp(i pi low / half) for stage `half` of an inverse transform, at half + low.
constexpr void turn(auto const& w, auto const& k) {
  auto ones = k | (k >> 1);
  for (int shift : {2, 4, 8, 16}) ones = ones | (ones >> shift);
  auto half = max(ones ^ (ones >> 1), 1);  // the highest bit of k
  auto angle = pi * cast<f32>(k - half) / cast<f32>(half);
  w(0, k) = cos(angle);
  w(1, k) = sin(angle);
}

// n points by the n / 2 positions of a group, in its memory: all stages in one kernel, a barrier after each. t: the position.
// w: the turns. get(k, c) and set(k, c, value) have component c of point k.
template <int n>
constexpr void transform_in_group(auto const& t, auto const& sign, auto const& w, auto const& get, auto const& set) {
  scope s(t);
  auto re = s.template group<f32, n>(), im = s.template group<f32, n>();
  int bits = 0;
  while (1 << bits < n) ++bits;
  for (int first : {0, n / 2}) {
    auto k = t + first;
    auto from = cast<i32>(reversed(k) >> static_cast<unsigned>(32 - bits));
    re(k) = get(from, 0);
    im(k) = get(from, 1);
  }
  for (int half = 1; half < n; half *= 2) {
    s.barrier();
    auto low = t & (half - 1);
    auto k = 2 * (t - low) + low, l = k + half;
    auto c = w(0, half + low), d = sign * w(1, half + low);
    auto tr = c * re(l) - d * im(l), ti = c * im(l) + d * re(l);
    auto ur = re(k) + 0.0f, ui = im(k) + 0.0f;
    re(k) = ur + tr;
    im(k) = ui + ti;
    re(l) = ur - tr;
    im(l) = ui - ti;
  }
  s.barrier();
  for (int first : {0, n / 2}) {
    auto k = t + first;
    set(k, 0, re(k));
    set(k, 1, im(k));
  }
}

inline constexpr int points = 1024;
inline constexpr dim<"B"> B;

// Many transforms, each by a group.
struct transforms : program<transforms> {
  in<f32, B, points, 2> x;
  in<f32> sign;
  out<f32, B, points, 2> y;
  out<f32, 2, points> w;  // while it works
  constexpr void body() {
    for (auto [k] : kernel(points)) turn(w, k);
    for (auto [row, i] : kernel(B, points / 2).group<1, points / 2>()) {
      auto b = group_of(row);
      transform_in_group<points>(
          in_group(i), sign, w, [&](auto const& k, int c) { return x(b, k, c); },
          [&](auto const& k, int c, auto const& v) { y(b, k, c) = v; });
    }
  }
};

// As low_pass: four kernels, each of which transforms the lines of one axis and writes them as rows.
struct low_pass_in_groups : program<low_pass_in_groups> {
  in<f32, size_2d, size_2d> picture;
  in<f32> cutoff;
  out<f32, size_2d, size_2d> spectrum;
  out<f32, size_2d, size_2d> filtered;
  out<f32, size_2d, size_2d, 2> a, b;  // while it works
  out<f32, 2, size_2d> w;

  constexpr void lines(float sign, auto const& get, auto const& set) {
    for (auto [row, i] : kernel(size_2d, size_2d / 2).group<1, size_2d / 2>()) {
      auto line = group_of(row);
      transform_in_group<size_2d>(
          in_group(i), sign, w, [&](auto const& k, int c) { return get(line, k, c); },
          [&](auto const& k, int c, auto const& v) { set(line, k, c, v); });
    }
  }

  constexpr void body() {
    for (auto [k] : kernel(size_2d)) turn(w, k);
    const auto to_a = [&](auto const& line, auto const& k, int c, auto const& v) { a(line, k, c) = v; };
    const auto to_b = [&](auto const& line, auto const& k, int c, auto const& v) { b(line, k, c) = v; };
    lines(-1, [&](auto const& i, auto const& j, int c) { return c == 0 ? picture(i, j) * 1.0f : picture(i, j) * 0.0f; }, to_a);
    lines(-1, [&](auto const& q, auto const& i, int c) { return a(i, q, c); }, to_b);
    for (auto [i, j] : kernel(size_2d, size_2d)) {
      auto p = (i + size_2d / 2) % size_2d, q = (j + size_2d / 2) % size_2d;
      auto re = b(q, p, 0), im = b(q, p, 1);
      spectrum(i, j) = log2(1.0f + sqrt(re * re + im * im));
    }
    const auto f = [](auto const& k) { return cast<f32>(min(k, size_2d - k)); };
    const auto damped = [&](auto const& q, auto const& p, int c) {
      auto f2 = f(p) * f(p) + f(q) * f(q);
      return b(q, p, c) * (exp(-f2 / (2.0f * cutoff * cutoff)) / static_cast<float>(size_2d * size_2d));
    };
    lines(1, damped, to_a);
    lines(
        1, [&](auto const& i, auto const& q, int c) { return a(q, i, c); },
        [&](auto const& i, auto const& j, int c, auto const& v) {
          if (c == 0) filtered(i, j) = v;
        });
  }
};

static const programs<transform, low_pass, transforms, low_pass_in_groups> exported;
