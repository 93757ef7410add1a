// Transforms of 1024 points by the 512 work items of a workgroup: all stages in one kernel, with a barrier after each.
#include "parts.h"

inline constexpr int points = 1024, bits = 10;
static_assert(points == square && points == 1 << bits);
inline constexpr dim<"B"> B;

// At index half + low: exp(i pi low / half), the factor of an inverse transform's stage `half`.
constexpr void twiddle(auto const& w, auto const& k) {
  auto ones = k | (k >> 1);
  for (int shift : {2, 4, 8, 16}) ones = ones | (ones >> shift);
  auto half = max(ones ^ (ones >> 1), 1);  // the highest bit of k
  auto angle = pi * cast<f32>(k - half) / cast<f32>(half);
  w(0, k) = cos(angle);
  w(1, k) = sin(angle);
}

// t: the work item. w: the factors. get(k, c) and set(k, c, value) access component c of point k.
constexpr void transform_in_workgroup(auto const& t, auto const& sign, auto const& w, auto const& get, auto const& set) {
  auto s = scope(t);
  auto re = s.template shared<f32, points>(), im = s.template shared<f32, points>();
  for (int first : {0, points / 2}) {
    auto k = t + first;
    auto from = cast<i32>(reversed(k) >> static_cast<unsigned>(32 - bits));
    re(k) = get(from, 0);
    im(k) = get(from, 1);
  }
  for (int half = 1; half < points; half *= 2) {
    s.barrier();
    auto low = t & (half - 1);
    auto k = 2 * (t - low) + low, l = k + half;
    auto c = w(0, half + low);
    auto d = sign * w(1, half + low);
    auto tr = c * re(l) - d * im(l), ti = c * im(l) + d * re(l);
    auto ur = re(k) + 0.0f, ui = im(k) + 0.0f;
    re(k) = ur + tr;
    im(k) = ui + ti;
    re(l) = ur - tr;
    im(l) = ui - ti;
  }
  s.barrier();
  for (int first : {0, points / 2}) {
    auto k = t + first;
    set(k, 0, re(k));
    set(k, 1, im(k));
  }
}

// Many transforms, each by one workgroup.
struct transforms : program<transforms> {
  in<f32, B, points, 2> x;
  in<f32> sign;
  out<f32, B, points, 2> y;
  out<f32, 2, points> w;  // intermediate values
  constexpr void body() {
    for (auto [k] : kernel(points)) twiddle(w, k);
    for (auto [row, i] : kernel(B, points / 2).workgroup<1, points / 2>()) {
      auto b = group_id(row);
      transform_in_workgroup(
          local_id(i), sign, w, [&](auto const& k, int c) { return x(b, k, c); },
          [&](auto const& k, int c, auto const& v) { y(b, k, c) = v; });
    }
  }
};

// The same as low_pass with four kernels. Each kernel transforms the lines of one axis and writes them as rows.
struct low_pass_in_workgroups : program<low_pass_in_workgroups> {
  in<f32, H, W> picture;
  in<bool> sinc;
  in<f32> cutoff;
  out<f32, square, square> spectrum;
  out<f32, H, W> filtered;
  out<f32, square, square, 2> a, b;  // intermediate values
  out<f32, 2, square> w;

  constexpr void lines(float sign, auto const& get, auto const& set) {
    for (auto [row, i] : kernel(square, square / 2).workgroup<1, square / 2>()) {
      auto line = group_id(row);
      transform_in_workgroup(
          local_id(i), sign, w, [&](auto const& k, int c) { return get(line, k, c); },
          [&](auto const& k, int c, auto const& v) { set(line, k, c, v); });
    }
  }

  constexpr void body() {
    for (auto [k] : kernel(square)) twiddle(w, k);
    const auto to_a = [&](auto const& line, auto const& k, int c, auto const& v) { a(line, k, c) = v; };
    const auto to_b = [&](auto const& line, auto const& k, int c, auto const& v) { b(line, k, c) = v; };
    const auto row = [&](auto const& i, auto const& j, int c) { return padded(picture, i, j) * (c == 0 ? 1.0f : 0.0f); };
    const auto column = [&](auto const& q, auto const& i, int c) { return a(i, q, c); };
    lines(-1, row, to_a);
    lines(-1, column, to_b);
    for (auto [i, j] : kernel(square, square))
      spectrum(i, j) = logarithm(b(shifted(j), shifted(i), 0), b(shifted(j), shifted(i), 1));
    const auto passed = [&](auto const& q, auto const& p, int c) { return b(q, p, c) * low_pass_factor(p, q, sinc, cutoff); };
    const auto back = [&](auto const& i, auto const& q, int c) { return a(q, i, c); };
    const auto to_picture = [&](auto const& i, auto const& j, int c, auto const& v) {
      if (c == 0) filtered.at<mode::skip>(i, j) = v;
    };
    lines(1, passed, to_a);
    lines(1, back, to_picture);
  }
};

static const programs<transforms, low_pass_in_workgroups> exported;
