// random_grads [--count N] [--seed S] [--compiled K]: random programs with derivatives. Gradients and tangents of each program
// are compared with dual numbers (tests/grad/dual.h), with each other (dot product), and for symmetry of second derivatives.
// Every fourth program has loops and kernels. Its tangents are compared with differences (check_tangent.h).
// Every K-th program is also compiled and compared with the interpreter, bit for bit. A failure prints the program and ends the
// run with 1.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>

#include "compiler/autodiff/differentiate.h"
#include "compiler/interp/interpret.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "tests/fuzz/check_program.h"
#include "tests/fuzz/check_tangent.h"
#include "tests/fuzz/command_line.h"
#include "tests/fuzz/random_gradient.h"
#include "tests/fuzz/random_program.h"
#include "tests/grad/dual.h"

namespace kiln::compiler::testing {
namespace {

struct Options {
  std::uint64_t count = 1000, seed = 0, compiled = 0;
  int symbolic_percent = 20;
  bool print = false;
};

// Products of many numbers underflow, with errors of this size.
constexpr double least = 1e-200;

struct Figures {
  std::uint64_t programs = 0, dual = 0, dots = 0, second = 0, not_finite = 0, without_rule = 0, compiled = 0;
};

std::vector<double> doubles(const Array& a) {
  std::vector<double> v(a.data.size() / sizeof(double));
  if (!v.empty()) std::memcpy(v.data(), a.data.data(), a.data.size());
  return v;
}

// Numbers of moderate size, with equal ones now and then.
void fill(Array& a, Draw& draw) {
  std::vector<double> v(a.data.size() / sizeof(double));
  for (double& x : v) x = draw.one_in(12) ? 1.0 : draw.between(-2000, 2000) / 977.0;
  if (!v.empty()) std::memcpy(a.data.data(), v.data(), a.data.size());
}

class Checker {
 public:
  Checker(std::uint64_t seed, bool symbolic, Figures& figures)
      : seed_(seed), figures_(figures), p_(random_gradient(g_, seed, symbolic)) {}

  std::string text() { return write_program(g_, p_.program, {.locations = false}); }

  // Empty if everything agrees.
  std::string run(bool compiled) {
    verify(g_, p_.program);
    ++figures_.programs;
    int n = 0;
    for (const SymbolValues& symbols : symbol_choices(p_.program, seed_)) {
      auto arguments = random_arguments(g_, p_.program, symbols, seed_, 3'000'000);
      if (!arguments || ++n > 2) continue;
      if (const std::string problem = at(*arguments); !problem.empty()) return problem;
    }
    if (!compiled) return {};
    ++figures_.compiled;
    const CheckResult r = check_program(text(), seed_);
    return r.finding ? r.finding->kind + ": " + r.finding->text : "";
  }

 private:
  const Parameter& param(int slot) const { return p_.program.params[static_cast<std::size_t>(slot)]; }

  std::string at(std::vector<Array>& arguments) {
    Draw draw(seed_ + 77);
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (p_.program.params[i].direction == Direction::in) fill(arguments[i], draw);
    std::vector<Array> out;
    try {
      out = interpret(g_, p_.program, arguments);
    } catch (const Diagnostic& d) {
      if (d.id() == "E-pad") return {};  // an empty axis has no element to repeat
      throw;
    }
    Program plain = p_.program;
    differentiate(g_, plain);
    std::unordered_map<Id, std::vector<double>> along, along_u;
    std::vector<std::vector<double>> v, u;
    for (std::size_t i = 0; i < p_.xs.size(); ++i) {
      v.push_back(doubles(arguments[static_cast<std::size_t>(p_.v[i])]));
      u.push_back(doubles(arguments[static_cast<std::size_t>(p_.u[i])]));
      along[p_.parameters[i]] = v.back();
      along_u[p_.parameters[i]] = u.back();
    }
    const auto of = [&](int slot) { return doubles(out[static_cast<std::size_t>(slot)]); };
    const std::vector<double> c = doubles(arguments[static_cast<std::size_t>(p_.c)]), t = of(p_.tangent);
    try {
      return compare(plain, arguments, along, v, u, c, t, of);
    } catch (const NoDual&) {
      ++figures_.without_rule;
      return {};
    }
  }

  Id stored(const Program& p, int slot) const {
    for (const Id s : g_.src(p.sink))
      if (g_.name(g_.src(s, 0)) == param(slot).name) return g_.src(s, 1);
    return no_id;
  }

  template <class Of>
  std::string compare(const Program& plain, const std::vector<Array>& arguments,
                      const std::unordered_map<Id, std::vector<double>>& along, const std::vector<std::vector<double>>& v,
                      const std::vector<std::vector<double>>& u, const std::vector<double>& c, const std::vector<double>& t,
                      Of&& of) {
    Duals duals(g_, plain, arguments);
    if (!duals.is_contained(stored(plain, p_.value), along)) {
      ++figures_.not_finite;
      return {};
    }
    const Tangent dual = duals.tangent(stored(plain, p_.value), along);
    const std::vector<double> y = of(p_.value);
    double expected = 0, scale = 0, got = 0, terms = 0;
    bool is_claimed = true;
    for (std::size_t k = 0; k < t.size(); ++k) {
      if (!std::isfinite(y[k]) || !std::isfinite(dual.value[k]) || !(dual.scale[k] < 1e12)) {
        is_claimed = false;  // and nothing of the gradient, which is a sum over all k
        continue;
      }
      if (!(std::abs(t[k] - dual.value[k]) <= 1e-9 * dual.scale[k] + least))
        return difference("tangent", k, t[k], dual.value[k]);
      expected += c[k] * dual.value[k];
      scale += std::abs(c[k]) * dual.scale[k];
    }
    for (std::size_t i = 0; i < p_.xs.size(); ++i)
      is_claimed = is_claimed && !duals.overflows(stored(plain, p_.gradient + static_cast<int>(i)));
    if (!is_claimed) {
      ++figures_.not_finite;
      return {};
    }
    ++figures_.dual;
    for (std::size_t i = 0; i < p_.xs.size(); ++i) {
      const std::vector<double> g = of(p_.gradient + static_cast<int>(i));
      for (std::size_t k = 0; k < g.size(); ++k) {
        got += g[k] * v[i][k];
        terms += std::abs(g[k] * v[i][k]);
      }
    }
    if (!(std::abs(got - expected) <= 1e-9 * (scale + terms) + least)) return difference("gradient", 0, got, expected);
    ++figures_.dots;
    double uhv = 0, vhu = 0, size = 0;
    for (std::size_t i = 0; i < p_.xs.size(); ++i) {
      const auto n = static_cast<int>(i);
      const std::vector<double> hv = of(p_.second_v + n), hu = of(p_.second_u + n);
      const Id gradient = stored(plain, p_.gradient + n);
      if (!duals.is_contained(gradient, along)) return {};
      const Tangent h = duals.tangent(gradient, along);
      for (std::size_t k = 0; k < hv.size(); ++k) {
        if (!(std::abs(hv[k] - h.value[k]) <= 1e-9 * h.scale[k] + least)) return difference("second", k, hv[k], h.value[k]);
        uhv += u[i][k] * hv[k];
        vhu += v[i][k] * hu[k];
        size += std::abs(u[i][k]) * h.scale[k] + std::abs(v[i][k] * hu[k]);
      }
    }
    if (!(std::abs(uhv - vhu) <= 1e-9 * size + least)) return difference("symmetry", 0, uhv, vhu);
    ++figures_.second;
    return {};
  }

  Graph g_;
  std::uint64_t seed_;
  Figures& figures_;
  GradientProgram p_;
};

std::string checked(const Options& o, std::uint64_t seed, bool compiled, Figures& f, std::string& text) {
  if (seed % 4 == 3) {
    TangentFigures none;
    return check_tangent(seed, false, none, text);
  }
  Checker checker(seed, static_cast<int>(seed * 37 % 100) < o.symbolic_percent, f);
  text = checker.text();
  return o.print ? "" : checker.run(compiled);
}

int run(const Options& o) {
  Figures f;
  TangentFigures scopes;
  for (std::uint64_t seed = o.seed; seed < o.seed + o.count; ++seed) {
    const bool has_scopes = seed % 4 == 3, compiled = o.compiled > 0 && seed % o.compiled == 0;
    std::string problem, text;
    try {
      if (has_scopes && !o.print)
        problem = check_tangent(seed, o.compiled > 0 && seed / 4 % o.compiled == 0, scopes, text);
      else
        problem = checked(o, seed, compiled, f, text);
    } catch (const std::exception& e) {
      problem = std::string("exception: ") + e.what();
    }
    if (o.print || !problem.empty()) {
      std::cout << (o.print ? "" : "seed " + std::to_string(seed) + ": " + problem + "\n") << text;
      return o.print ? 0 : 1;
    }
  }
  std::cout << f.programs << " programs: " << f.dual << " tangents and " << f.dots << " gradients equal dual numbers, "
            << f.second << " with second derivatives, " << f.without_rule << " without a rule in the reference, "
            << f.not_finite << " not finite, " << f.compiled << " compiled; " << scopes.programs
            << " programs with scopes: " << scopes.compared << " tangents equal differences, " << scopes.gradients
            << " gradients equal tangents, " << scopes.kinks << " at a kink\n";
  return f.dots * 2 >= f.programs ? 0 : 1;
}

}  // namespace
}  // namespace kiln::compiler::testing

int main(int argc, char** argv) {
  kiln::compiler::testing::Options o;
  kiln::test::CommandLine line("Random programs with derivatives against dual numbers");
  line.option("--count", o.count, "number of programs");
  line.option("--seed", o.seed, "the first seed");
  line.option("--compiled", o.compiled, "compile every K-th program too");
  line.option("--symbolic", o.symbolic_percent, "percentage of programs with symbolic extents");
  line.flag("--print", o.print, "print the seed's program and stop");
  if (const auto status = line.parse(argc, argv)) return *status;
  return kiln::compiler::testing::run(o);
}
