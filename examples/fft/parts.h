// Functions that the transforms share. A complex number is an axis of two.
#pragma once

#include <kiln/dsl.h>

using namespace kiln;
using kiln::dsl::mode;  // for functions; inside a program it is a member

inline constexpr float pi = 3.14159265f;

// Reverses the order of all 32 bits.
constexpr auto reversed(auto const& i) {
  auto swap = [](auto const& x, unsigned mask, unsigned shift) { return ((x & mask) << shift) | ((x >> shift) & mask); };
  auto r = swap(swap(swap(swap(cast<u32>(i), 0x55555555u, 1), 0x33333333u, 2), 0x0f0f0f0fu, 4), 0x00ff00ffu, 8);
  return (r << 16u) | (r >> 16u);
}

// Pictures have at most 1024 x 1024 pixels. Pixels outside of a smaller picture are 0.
inline constexpr int square = 1024;
inline constexpr dim<"H", {.max = square}> H;
inline constexpr dim<"W", {.max = square}> W;

constexpr auto padded(auto const& picture, auto const& i, auto const& j) {
  return picture.template at<mode::constant>(i, j, 0.0f);
}
// For a picture of the spectrum: an index with frequency 0 in the middle, and the logarithm of a magnitude.
constexpr auto shifted(auto const& i) { return (i + square / 2) % square; }
constexpr auto logarithm(auto const& re, auto const& im) { return log2(1.0f + sqrt(re * re + im * im)); }

// The filter at frequency f = |(p, q)|: exp(-f^2 / 2 c^2) or sin(f / c) / (f / c), times the inverse transform's factor.
constexpr auto low_pass_factor(auto const& p, auto const& q, auto const& sinc, auto const& cutoff) {
  auto frequency = [](auto const& k) { return cast<f32>(min(k, square - k)); };
  auto f2 = frequency(p) * frequency(p) + frequency(q) * frequency(q);
  auto angle = sqrt(f2) / cutoff;
  auto factor = select(sinc, select(f2 == 0.0f, 1.0f, sin(angle) / angle), exp(-f2 / (2.0f * cutoff * cutoff)));
  return factor / static_cast<float>(square * square);
}
