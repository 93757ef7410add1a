// Draws the paths of points outside of the Mandelbrot set. Each start is followed twice: first to find out whether and when it
// escapes, then to count every point on its path. Many paths cross one pixel, so the counts are atomic.
#include <kiln/dsl.h>

#include "../common/random.h"

using namespace kiln;

inline constexpr dim<"N"> N;

struct paths : program<paths> {
  in<u32> frame;
  in<i32> max_iter;
  inout<i32, N, N, 3> counts;
  constexpr void body() {
    for (auto [row, column] : kernel(N, N)) {
      auto pixel = cast<u32>(row) * cast<u32>(size<N>()) + cast<u32>(column);
      auto seed = var(pcg(pixel + frame * cast<u32>(size<N * N>())));
      for ([[maybe_unused]] auto start : loop(8)) {
        auto random = [&] {
          seed = pcg(seed);
          return 4.0f * (cast<f32>(seed) / 4294967296.0f) - 2.0f;
        };
        auto cx = random();
        auto cy = random();
        auto zx = var(0.0f), zy = var(0.0f);
        auto next = [&] {
          auto x = zx * zx - zy * zy + cx, y = 2.0f * zx * zy + cy;
          zx = x;
          zy = y;
        };
        auto time = var(0);
        for (auto k : loop(max_iter)) {
          next();
          time = k;
          break_if(zx * zx + zy * zy > 32.0f);
        }
        if (auto escaped = when(zx * zx + zy * zy > 32.0f)) {
          auto channel = select(time < 60, 2, select<i32>(time < 200, 1, 0));
          zx = 0.0f;
          zy = 0.0f;
          for ([[maybe_unused]] auto k : loop(time)) {
            next();
            auto scale = 0.25f * cast<f32>(size<N>());
            auto x = cast<i32>(floor((zx + 2.0f) * scale)), y = cast<i32>(floor((zy + 2.0f) * scale));
            counts.at<mode::skip>(x, y, channel).atomic_add(1);
            counts.at<mode::skip>(x, cast<i32>(size<N>()) - 1 - y, channel).atomic_add(1);  // the set is symmetric to this axis
          }
        }
      }
    }
  }
};

static const programs<paths> exported;
