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
            pair, half, turn, [&](auto const& k, int c) { return y(k, c); },
            [&](auto const& k, int c, auto const& v) { y(k, c) = v; });
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

static const programs<transform, low_pass> exported;
