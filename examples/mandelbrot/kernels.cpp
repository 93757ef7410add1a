// The Mandelbrot set: each pixel runs a loop that ends when its point escapes.
#include <kiln/dsl.h>

using namespace kiln;

inline constexpr dim<"H"> H;
inline constexpr dim<"W"> W;

// The number of iterations until |z| > 2, at most max_iter.
struct escape : program<escape> {
  in<f32> x0, y0, dx;
  in<i32> max_iter;
  out<i32, H, W> iterations;
  constexpr void body() {
    for (auto [y, x] : kernel(H, W)) {
      auto cx = x0 + dx * cast<f32>(x), cy = y0 + dx * cast<f32>(y);
      auto zx = var(0.0f), zy = var(0.0f);
      auto n = var(0);
      for (auto k : loop(max_iter)) {
        auto x2 = zx * zx, y2 = zy * zy;
        break_if(x2 + y2 > 4.0f);
        zy = 2.0f * zx * zy + cy;
        zx = x2 - y2 + cx;
        n = k + 1;
      }
      iterations(y, x) = n;
    }
  }
};

// Bands of colour by the logarithm of the count. Points that did not escape are black.
struct colours : program<colours> {
  in<i32, H, W> iterations;
  in<i32> max_iter;
  out<u8, H, W, 3> rgb;
  constexpr void body() {
    auto t = 1.1f * log2(cast<f32>(iterations) + 1.0f);
    auto channel = [&](float phase) { return select(iterations == max_iter, 0.0f, 0.5f - 0.5f * cos(t + phase)); };
    rgb = cast<u8>(round(255.0f * stack<2>(channel(-1.2f), channel(-0.6f), channel(0.0f))));
  }
};

static const programs<escape, colours> exported;
