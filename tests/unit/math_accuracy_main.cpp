// math_accuracy [--count=N | --every] [--threads=N] [--type=f32|f64] [--op=NAME]: prints a table of the largest errors.
// --every: over all values of f32, for functions of one operand.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/unit/math_accuracy.h"

int main(int argc, char** argv) {
  using namespace kiln::compiler;
  std::size_t count = 10000000;
  unsigned threads = 4;
  bool every = false;
  std::string_view only_type, only_op;
  for (int i = 1; i < argc; ++i) {
    const std::string_view a = argv[i];
    const std::string_view value = a.substr(std::min(a.size(), a.find('=') + 1));
    if (a.starts_with("--count="))
      count = std::strtoull(value.data(), nullptr, 10);
    else if (a == "--every")
      every = true, only_type = "f32";
    else if (a.starts_with("--threads="))
      threads = static_cast<unsigned>(std::max(1ul, std::strtoul(value.data(), nullptr, 10)));
    else if (a.starts_with("--type="))
      only_type = value;
    else if (a.starts_with("--op="))
      only_op = value;
    else
      return std::fprintf(stderr, "usage: math_accuracy [--count=N | --every] [--threads=N] [--type=f32|f64] [--op=NAME]\n"), 2;
  }
  std::printf(
      "| function | type | inputs | max ulp | at x | at y | got | wrong specials | the last of them "
      "|\n|---|---|---|---|---|---|---|---|---|\n");
  for (DType d : {DType::f32, DType::f64}) {
    if (!only_type.empty() && only_type != name(d)) continue;
    for (Op op : kiln::tests::transcendentals()) {
      if (!only_op.empty() && only_op != name(op)) continue;
      if (every && arity(op) != 1) continue;
      const auto a = every ? kiln::tests::measure_every_float(op, threads) : kiln::tests::measure(op, d, count, threads);
      std::printf("| %s | %s | %zu | %.4f | %a | %a | %a | %zu | %a, %a: %a |\n", std::string(name(op)).c_str(),
                  std::string(name(d)).c_str(), every ? kiln::tests::every_float : count, a.ulp, a.x, a.y, a.got,
                  a.wrong_specials, a.special_x, a.special_y, a.special_got);
      std::fflush(stdout);
    }
  }
}
