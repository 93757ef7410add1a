// Host loops that carry whole tensors: a Jacobi step and the wave equation. Compared: as compiled, without the pass ping_pong
// (with copies back in each iteration), and as C++ loops that swap pointers. One thread, alternating runs, least of several.
// Prints microseconds per iteration. The times are not tested.
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "compiler/ir/text.h"
#include "compiler/pipeline/compile.h"
#include "tests/run/compiled.h"

using namespace kiln::compiler;
using testing::CompiledProgram;

namespace {

constexpr int runs = 7;

constexpr const char* jacobi = R"(program jacobi
in    i32 [] steps
inout f32 [H, W] u
%0 = param steps
%1 = param u
%2 = cast index %0
%3 = range (2147483647), id 0
%4 = carry %3, %1, slot 0
%5 = pad [H + 2, W + 2] %4, before [1, 1]
%6 = slice [H, W] %5, begin [0, 1]
%7 = slice [H, W] %5, begin [2, 1]
%8 = slice [H, W] %5, begin [1, 0]
%9 = slice [H, W] %5, begin [1, 2]
%10 = add %6, %7
%11 = add %8, %9
%12 = add %10, %11
%13 = const f32 0.25
%14 = mul %12, %13
%15 = for %3, (0), %2, %1, %14
%16 = get %15, slot 0
store u, %16
)";

constexpr const char* wave = R"(program wave
in    i32 [] steps
inout f32 [H, W] now
inout f32 [H, W] before
%0 = param steps
%1 = param now
%2 = param before
%3 = cast index %0
%4 = range (2147483647), id 0
%5 = carry %4, %1, slot 0
%6 = carry %4, %2, slot 1
%7 = pad [H + 2, W + 2] %5, before [1, 1]
%8 = slice [H, W] %7, begin [0, 1]
%9 = slice [H, W] %7, begin [2, 1]
%10 = slice [H, W] %7, begin [1, 0]
%11 = slice [H, W] %7, begin [1, 2]
%12 = add %8, %9
%13 = add %10, %11
%14 = add %12, %13
%15 = const f32 0.5
%16 = mul %14, %15
%17 = sub %16, %6
%18 = for %4, (0), %3, %1, %2, %17, %5
%19 = get %18, slot 0
%20 = get %18, slot 1
store now, %19
store before, %20
)";

using Grid = std::vector<float>;

// Sum of the four neighbours (0 outside) times `factor`, minus the third grid if there is one.
void step(const float* u, float* next, const float* less, float factor, std::size_t h, std::size_t w) {
  for (std::size_t i = 0; i < h; ++i) {
    const float *row = u + i * w, *above = i > 0 ? row - w : nullptr, *below = i + 1 < h ? row + w : nullptr;
    const auto one = [&](std::size_t j, float left, float right) {
      const float sum = ((above != nullptr ? above[j] : 0) + (below != nullptr ? below[j] : 0)) + (left + right);
      next[i * w + j] = less != nullptr ? sum * factor - less[i * w + j] : sum * factor;
    };
    one(0, 0, w > 1 ? row[1] : 0);
    if (above != nullptr && below != nullptr && less != nullptr)
      for (std::size_t j = 1; j + 1 < w; ++j)
        next[i * w + j] = ((above[j] + below[j]) + (row[j - 1] + row[j + 1])) * factor - less[i * w + j];
    else if (above != nullptr && below != nullptr)
      for (std::size_t j = 1; j + 1 < w; ++j) next[i * w + j] = ((above[j] + below[j]) + (row[j - 1] + row[j + 1])) * factor;
    else
      for (std::size_t j = 1; j + 1 < w; ++j) one(j, row[j - 1], row[j + 1]);
    if (w > 1) one(w - 1, row[w - 2], 0);
  }
}

void jacobi_by_hand(Grid& u, Grid&, int steps, std::size_t h, std::size_t w) {
  Grid other(u.size());
  for (int t = 0; t < steps; ++t) {
    step(u.data(), other.data(), nullptr, 0.25F, h, w);
    u.swap(other);
  }
}
void wave_by_hand(Grid& now, Grid& before, int steps, std::size_t h, std::size_t w) {
  Grid next(now.size());
  for (int t = 0; t < steps; ++t) {
    step(now.data(), next.data(), before.data(), 0.5F, h, w);
    before.swap(now);
    now.swap(next);
  }
}

std::unique_ptr<CompiledProgram> with_copies(const Graph& g, const Program& p) {
  CompileOptions options;
  options.symbol_prefix.assign(1, 't').append(1, '_');
  options.disabled = {"ping_pong"};
  return std::make_unique<CompiledProgram>(p, compile(g, p, options).code.object);
}

double microseconds(const std::function<void()>& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

struct alignas(64) Line {
  char bytes[64];
};

bool measure(const char* text, void (*by_hand)(Grid&, Grid&, int, std::size_t, std::size_t), std::int64_t side,
             std::int32_t steps) {
  Graph g;
  const Program p = read_program(g, text, "rotating");
  const CompiledProgram rotating(g, p);
  const auto copies = with_copies(g, p);
  const auto n = static_cast<std::size_t>(side);
  Grid start(n * n);
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = static_cast<float>(i * 7919 % 1000) * 0.002F - 1;
  // Shifts arguments by half a page: a load soon after a store to the same place of another page would wait for the store.
  constexpr std::size_t half_page = 32;
  std::vector<Line> workspace(3 * (start.size() / 16 + 2) + half_page);
  const std::int64_t extents[] = {side, side};
  Grid results[3][2];
  double times[3] = {1e30, 1e30, 1e30};
  for (int run = 0; run < runs; ++run)
    for (int way = 0; way < 3; ++way) {
      Grid &a = results[way][0] = start, &b = results[way][1] = start;
      const kiln_tensor args[] = {{&steps, nullptr, nullptr, KILN_I32, 0},
                                  {a.data(), extents, nullptr, KILN_F32, 2},
                                  {b.data(), extents, nullptr, KILN_F32, 2}};
      kiln_context context{};
      context.workspace = workspace.data() + half_page;
      context.workspace_bytes = static_cast<std::int64_t>((workspace.size() - half_page) * sizeof(Line));
      const std::span used(args, p.params.size());
      const double took = microseconds([&] {
        if (way == 2) return by_hand(a, b, steps, n, n);
        if ((way == 0 ? rotating : *copies).call(used, &context).code != KILN_OK) std::abort();
      });
      times[way] = std::min(times[way], took / steps);
    }
  std::printf("%-8s %5lld x %-5lld %10.3f %10.3f %10.3f | %5.2f %5.2f\n", p.name.c_str(), static_cast<long long>(side),
              static_cast<long long>(side), times[0], times[1], times[2], times[1] / times[0], times[2] / times[0]);
  return results[0][0] == results[1][0] && results[0][1] == results[1][1] && results[0][0] == results[2][0];
}

}  // namespace

// --sample: small grids only.
int main(int argc, char** argv) {
  const int largest = argc > 1 && std::string_view(argv[1]) == "--sample" ? 256 : 2048;
  std::printf("%-8s %13s %10s %10s %10s | %s\n", "", "", "rotate, us", "copies, us", "C++, us", "copies, C++ by rotation");
  bool is_right = true;
  for (const auto& [side, steps] : {std::pair{8, 10001}, {64, 5001}, {256, 1001}, {1024, 101}, {2048, 31}}) {
    if (side > largest) break;
    is_right &= measure(jacobi, jacobi_by_hand, side, steps);
    is_right &= measure(wave, wave_by_hand, side, steps);
  }
  return is_right ? 0 : 1;
}
