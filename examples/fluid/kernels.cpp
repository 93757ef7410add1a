// A 2-D fluid: advection, a source, pressure by V-cycles of red-black relaxation, vorticity confinement. One program is one
// step; cycles and relaxation are loops of kernels. Component x of the velocity is along rows (axis 0), y along columns.
#include <kiln/dsl.h>

using namespace kiln;
using kiln::dsl::mode;  // for functions; inside a program it is a member

inline constexpr dim<"N", {.min = 8}> N;
inline constexpr dim<"M", {.min = 8}> M;

constexpr auto smooth(float from, float to, auto const& x) {
  auto t = clamp((x - from) / (to - from), 0.0f, 1.0f);
  return t * t * (3.0f - 2.0f * t);
}

// Bilinear interpolation of the field at (x, y).
constexpr auto bil(auto const& field, auto const& x, auto const& y) {
  auto x0 = floor(x), y0 = floor(y);
  auto i = cast<i32>(x0), j = cast<i32>(y0);
  auto fx = x - x0, fy = y - y0;
  return lerp(lerp(field(i, j), field(i, j + 1), fy), lerp(field(i + 1, j), field(i + 1, j + 1), fy), fx);
}

// Catmull-Rom interpolation: the weight of the neighbour at offset K - 1, for the fraction t.
template <int K>
constexpr auto weight(auto const& t) {
  if constexpr (K == 0)
    return ((-0.5f * t + 1.0f) * t - 0.5f) * t;
  else if constexpr (K == 1)
    return (1.5f * t - 2.5f) * t * t + 1.0f;
  else if constexpr (K == 2)
    return ((-1.5f * t + 2.0f) * t + 0.5f) * t;
  else
    return (0.5f * t - 0.5f) * t * t;
}
constexpr auto cub(auto const& field, auto const& x, auto const& y) {
  auto x0 = floor(x), y0 = floor(y);
  auto i = cast<i32>(x0), j = cast<i32>(y0);
  auto fx = x - x0, fy = y - y0;
  auto line = [&](int k) {
    return weight<0>(fy) * field(i + k, j - 1) + weight<1>(fy) * field(i + k, j) + weight<2>(fy) * field(i + k, j + 1) +
           weight<3>(fy) * field(i + k, j + 2);
  };
  return weight<0>(fx) * line(-1) + weight<1>(fx) * line(0) + weight<2>(fx) * line(1) + weight<3>(fx) * line(2);
}

// 0 in the three cells next to a border, else 1.
template <auto Rows, auto Columns>
constexpr auto interior(auto const& s, auto const& i, auto const& j) {
  auto rows = s.template size<Rows, i32>(), columns = s.template size<Columns, i32>();
  return select<f32>(i >= 3 && j >= 3 && i < rows - 3 && j < columns - 3, 1, 0);
}

constexpr auto around(auto const& p, auto const& i, auto const& j) {
  return p(i - 1, j) + p(i + 1, j) + p(i, j - 1) + p(i, j + 1);
}
constexpr auto around_zero(auto const& p, auto const& i, auto const& j) {
  return p.template at<mode::constant>(i - 1, j, 0.0f) + p.template at<mode::constant>(i + 1, j, 0.0f) +
         p.template at<mode::constant>(i, j - 1, 0.0f) + p.template at<mode::constant>(i, j + 1, 0.0f);
}

template <auto Rows, auto Columns>
constexpr void red_black(auto const& s, auto const& p, auto const& f, float factor, int iterations, float omega) {
  for ([[maybe_unused]] auto k : s.loop(iterations))
    for (const int colour : {0, 1})  // cells of one colour read only cells of the other
      for (auto [i, j] : s.template kernel<Rows, Columns>())
        if (auto c = s.when((i + j) % 2 == colour)) {
          auto here = p(i, j);
          p(i, j) = here + omega * (0.25f * (around_zero(p, i, j) - factor * f(i, j)) - here);
        }
}

struct step : program<step> {
  in<f32, N, M> old_vx, old_vy, old_density;
  in<f32, 5> mouse;  // column, row, change of velocity x and y, density
  in<f32> dt, confinement, velocity_decay, density_decay, projection;
  in<i32> cycles;
  out<f32, N, M> vx, vy, density, pressure, divergence, curl, residual;
  out<f32, N / 2, M / 2> f0, p0;  // the coarser levels of the multigrid
  out<f32, N / 2 / 2, M / 2 / 2> f1, p1;

  // Takes values from places upstream, found by a Runge-Kutta step. New values stay near the bilinear interpolation.
  constexpr void advect() {
    for (auto [i, j] : kernel(N, M)) {
      auto x = cast<f32>(i), y = cast<f32>(j);
      auto x1 = old_vx(i, j), y1 = old_vy(i, j);
      auto at = [&](auto const& dx, auto const& dy, float part, auto const& field) {
        return bil(field, x - dx * dt * part, y - dy * dt * part);
      };
      auto x2 = at(x1, y1, 0.5f, old_vx), y2 = at(x1, y1, 0.5f, old_vy);
      auto x3 = at(x2, y2, 0.5f, old_vx), y3 = at(x2, y2, 0.5f, old_vy);
      auto x4 = at(x3, y3, 1.0f, old_vx), y4 = at(x3, y3, 1.0f, old_vy);
      auto px = x - (x1 + 2.0f * x2 + 2.0f * x3 + x4) * dt / 6.0f, py = y - (y1 + 2.0f * y2 + 2.0f * y3 + y4) * dt / 6.0f;
      auto moved = [&](auto const& field) {
        auto b = bil(field, px, py);
        return clamp(cub(field, px, py), min(0.99f * b, 1.01f * b), max(0.99f * b, 1.01f * b));
      };
      auto dx = x - mouse(1), dy = y - mouse(0);
      auto source = exp(-(dx * dx + dy * dy) / 100.0f);
      vx(i, j) = (moved(old_vx) + source * mouse(2)) * velocity_decay;
      vy(i, j) = (moved(old_vy) + source * mouse(3)) * velocity_decay;
      auto ink = moved(old_density) + source * source * mouse(4);
      density(i, j) = max(ink * interior<N, M>(*this, i, j), 0.0f) * density_decay;
    }
  }

  constexpr void differentiate() {
    for (auto [i, j] : kernel(N, M)) {
      divergence(i, j) = 0.5f * (vx(i + 1, j) - vx(i - 1, j) + vy(i, j + 1) - vy(i, j - 1));
      curl(i, j) = 0.5f * abs(vy(i + 1, j) - vy(i - 1, j) - vx(i, j + 1) + vx(i, j - 1));
    }
  }

  template <auto Rows, auto Columns>
  constexpr auto left(auto const& p, auto const& f, float factor, auto const& i, auto const& j) const {
    return interior<Rows, Columns>(*this, i, j) * (factor * f(i, j) - (around(p, i, j) - 4.0f * p(i, j)));
  }
  static constexpr auto halved(auto const& fine, auto const& i, auto const& j) {
    auto a = 2 * i, b = 2 * j;
    return 0.25f * (fine(a, b) + fine(a + 1, b) + fine(a, b + 1) + fine(a + 1, b + 1));
  }
  static constexpr auto doubled(auto const& coarse, auto const& i, auto const& j) {
    return bil(coarse, 0.5f * cast<f32>(i), 0.5f * cast<f32>(j));
  }

  // Solves for the pressure, starting from 0. Residuals go down two levels, each half as fine, and corrections come back.
  constexpr void solve() {
    pressure = full<f32, N, M>(0);
    for ([[maybe_unused]] auto cycle : loop(cycles)) {
      for (auto [i, j] : kernel<N / 2, M / 2>())
        f0(i, j) = halved([&](auto const& a, auto const& b) { return left<N, M>(pressure, divergence, 1.0f, a, b); }, i, j);
      p0 = full<f32, N / 2, M / 2>(0);
      red_black<N / 2, M / 2>(*this, p0, f0, 4.0f, 4, 1.2f);
      for (auto [i, j] : kernel<N / 2 / 2, M / 2 / 2>())
        f1(i, j) = halved([&](auto const& a, auto const& b) { return left<N / 2, M / 2>(p0, f0, 4.0f, a, b); }, i, j);
      p1 = full<f32, N / 2 / 2, M / 2 / 2>(0);
      red_black<N / 2 / 2, M / 2 / 2>(*this, p1, f1, 4.0f, 12, 1.5f);
      for (auto [i, j] : kernel<N / 2, M / 2>()) p0(i, j) += doubled(p1, i, j);
      for (auto [i, j] : kernel(N, M)) pressure(i, j) += doubled(p0, i, j);
      red_black<N, M>(*this, pressure, divergence, 1.0f, 1, 1.0f);
    }
  }

  constexpr void project() {
    for (auto [i, j] : kernel(N, M)) {
      auto inside = interior<N, M>(*this, i, j);
      auto gx = curl(i + 1, j) - curl(i - 1, j), gy = curl(i, j + 1) - curl(i, j - 1);
      auto scale = inside / (sqrt(gx * gx + gy * gy) + 1e-5f) * curl(i, j) * dt * confinement * inside;
      vx(i, j) += -inside * projection * (pressure(i + 1, j) - pressure(i - 1, j)) - gy * scale;
      vy(i, j) += -inside * projection * (pressure(i, j + 1) - pressure(i, j - 1)) + gx * scale;
      residual(i, j) = left<N, M>(pressure, divergence, 1.0f, i, j);
    }
  }

  constexpr void body() {
    advect();
    differentiate();
    solve();
    project();
  }
};

// Shows ink as fire over the speed in blue.
struct colours : program<colours> {
  in<f32, N, M> vx, vy, density;
  in<f32> speed_scale, density_scale;
  out<f32, N, M, 3> canvas;
  constexpr void body() {
    auto a = clamp(speed_scale * sqrt(vx * vx + vy * vy), 0.0f, 1.0f), d = clamp(density_scale * density, 0.0f, 1.0f);
    canvas = stack<2>(smooth(0, 0.33f, a) + smooth(0.66f, 1, d), smooth(0.33f, 0.66f, a) + smooth(0.33f, 0.66f, d),
                      smooth(0.66f, 1, a) + smooth(0, 0.33f, d));
  }
};

static const programs<step, colours> exported;
