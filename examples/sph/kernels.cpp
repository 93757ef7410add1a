// Smoothed particles with gravity, and a renderer of spheres that finds the front sphere of each pixel by atomic maxima.
#include <kiln/dsl.h>

using namespace kiln;

inline constexpr dim<"N", {.max = 65535}> N;  // so that a particle's number fits 16 bits of a pixel
inline constexpr dim<"H"> H;
inline constexpr dim<"W"> W;

// Three coordinates as scalars.
template <class X, class Y, class Z>
struct vec3 {
  X x;
  Y y;
  Z z;
};
template <class X, class Y, class Z>
vec3(X, Y, Z) -> vec3<X, Y, Z>;

template <class... A, class... B>
constexpr auto operator+(vec3<A...> const& a, vec3<B...> const& b) {
  return vec3{a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class... A, class... B>
constexpr auto operator-(vec3<A...> const& a, vec3<B...> const& b) {
  return vec3{a.x - b.x, a.y - b.y, a.z - b.z};
}
constexpr auto dot3(auto const& a, auto const& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
constexpr auto scaled(auto const& a, auto const& s) { return vec3{a.x * s, a.y * s, a.z * s}; }
constexpr auto length(auto const& a) { return sqrt(dot3(a, a)); }
constexpr auto row(auto const& t, auto const& i) { return vec3{t(i, 0), t(i, 1), t(i, 2)}; }
constexpr auto normalised(auto const& a) { return scaled(a, 1.0f / (length(a) + 1e-5f)); }

// Sets rho(i) to the density around particle i.
constexpr void densities(auto const& s, auto const& x, auto const& radius, auto const& rho) {
  for (auto [i] : s.template kernel<N>()) {
    auto here = row(x, i);
    auto density = s.var(0.0f);
    for (auto j : s.template loop<N>()) {
      auto d = row(x, j) - here;
      density += exp(-dot3(d, d) / (radius * radius));
    }
    rho(i) = density;
  }
}

// Calls then(i, axis, force) for each particle and axis. p: the program with radius, rest, stiffness, viscosity, gravity.
constexpr void forces(auto const& p, auto const& x, auto const& v, auto const& rho, auto const& then) {
  auto r2 = p.radius * p.radius;
  for (auto [i] : p.template kernel<N>()) {
    auto here = row(x, i), speed = row(v, i);
    auto fx = p.var(0.0f), fy = p.var(0.0f), fz = p.var(0.0f);
    auto own = rho(i);
    for (auto j : p.template loop<N>()) {
      auto dx = row(x, j) - here, dv = row(v, j) - speed;
      auto square = dot3(dx, dx);
      auto d = sqrt(square + 1e-4f), near = sqrt(square);
      auto w = exp(-d * d / r2);
      auto slope = -2.0f / r2 * w;  // the gradient of w is slope * dx
      auto pull = p.gravity / (d * d * d);
      auto friction = p.viscosity * dot3(dv, dx) / (near + 1e-5f) * slope;
      auto pressure = p.stiffness * 0.5f * (own + rho(j) - 2.0f * p.rest) * slope;
      auto apart = near + 1e-8f;
      auto all = select(i == j, 0.0f, pull - friction + pressure - 250.0f * w / (apart * apart));
      fx += dx.x * all;
      fy += dx.y * all;
      fz += dx.z * all;
    }
    then(i, 0, fx), then(i, 1, fy), then(i, 2, fz);
  }
}

struct step : program<step> {
  in<f32, N, 3> x, v;
  in<f32> radius, rest, stiffness, viscosity, gravity, dt;
  out<f32, N, 3> next_x, next_v, force;
  out<f32, N> rho;
  constexpr void body() {
    densities(*this, x, radius, rho);
    forces(*this, x, v, rho, [&](auto const& i, int axis, auto const& f) {
      auto speed = v(i, axis) + dt * f;
      force(i, axis) = f;
      next_v(i, axis) = speed;
      next_x(i, axis) = x(i, axis) + dt * speed;
    });
  }
};

// Many steps, in place.
struct steps : program<steps> {
  in<i32> count;
  in<f32> radius, rest, stiffness, viscosity, gravity, dt;
  inout<f32, N, 3> x, v;
  out<f32, N, 3> force;
  out<f32, N> rho;
  constexpr void body() {
    force = full<f32, N, 3>(0);
    rho = full<f32, N>(0);
    for ([[maybe_unused]] auto k : loop(count)) {
      densities(*this, x, radius, rho);
      forces(*this, x, v, rho, [&](auto const& i, int axis, auto const& f) { force(i, axis) = f; });
      v = v + dt * force;
      x = x + dt * v;
    }
  }
};

// A camera is its position and three axes: the first points down the image, the second to the right, the third forward.
struct spheres : program<spheres> {
  in<f32, N, 3> x;
  in<f32, 4, 3> camera;
  in<f32> radius;
  out<u32, H, W> ids;  // upper half: inverse depth; lower half: the particle's number plus 1
  out<f32, H, W, 3> canvas;

  constexpr auto direction(auto const& i, auto const& j, auto const& rows, auto const& columns, auto const& scale) const {
    auto u = (cast<f32>(j) - 0.5f * columns) / scale, v = (cast<f32>(i) - 0.5f * rows) / scale;
    return normalised(row(camera, 3) + scaled(row(camera, 2), u) + scaled(row(camera, 1), v));
  }
  // The distance at which a ray from the camera meets the sphere around a centre. If it misses: NaN, or not above 0.
  constexpr auto hit(auto const& centre, auto const& ray) const {
    auto oc = row(camera, 0) - centre;
    auto b = dot3(oc, ray);
    auto off = oc - scaled(ray, b);
    return -b - sqrt(radius * radius - dot3(off, off));
  }

  constexpr void body() {
    auto rows = cast<f32>(size<H>()), columns = cast<f32>(size<W>());
    auto scale = min(rows, columns);
    ids = full<u32, H, W>(0);
    for (auto [p] : kernel(N)) {
      auto centre = row(x, p);
      auto d = centre - row(camera, 0);
      auto z = dot3(d, row(camera, 3));
      auto column = dot3(d, row(camera, 2)) / z * scale + 0.5f * columns;
      auto line = dot3(d, row(camera, 1)) / z * scale + 0.5f * rows;
      if (auto seen = when(z > 0.0f && line >= 0.0f && line < rows && column >= 0.0f && column < columns)) {
        auto reach = cast<i32>(ceil(clamp(0.75f * columns * radius / (z + 1e-4f), 1.0f, 200.0f)));
        auto i0 = cast<i32>(line), j0 = cast<i32>(column);
        for (auto a : loop(-reach, reach + 1))
          for (auto b : loop(-reach, reach + 1)) {
            auto i = i0 + a, j = j0 + b;
            auto t = hit(centre, direction(i, j, rows, columns, scale));
            if (auto inside = when(t > 0.0f)) {
              auto depth = floor(32767.0f * ((1.0f / clamp(t, 0.1f, 10.0f) - 0.1f) / 9.9f));
              auto key = (cast<u32>(depth) << 16) | ((cast<u32>(p) + 1) & 0xffff);
              ids.at<mode::skip>(i, j).atomic_max(key);
            }
          }
      }
    }
    for (auto [i, j] : kernel(H, W)) {
      auto id = cast<i32>(ids(i, j) & 0xffff);
      for (int c = 0; c < 3; ++c) canvas(i, j, c) = 0.0f;
      if (auto found = when(id != 0)) {
        auto ray = direction(i, j, rows, columns, scale);
        auto centre = row(x, id - 1);
        auto t = hit(centre, ray);
        auto point = row(camera, 0) + scaled(ray, t);
        auto shade = dot3(normalised(centre - point), row(camera, 3));
        for (int c = 0; c < 3; ++c)
          canvas(i, j, c) = (0.5f + 0.5f * cos(0.1f * cast<f32>(id - 1) + static_cast<float>(2 * c))) * shade;
      }
    }
  }
};

static const programs<step, steps, spheres> exported;
