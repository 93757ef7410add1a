#include "tests/fuzz/check_tangent.h"

#include <cmath>
#include <cstring>

#include "compiler/interp/interpret.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "tests/fuzz/check_program.h"
#include "tests/fuzz/random_program.h"
#include "tests/fuzz/random_tangent.h"

namespace kiln::compiler::testing {
namespace {

using Values = std::vector<double>;

Values doubles(const Array& a) {
  Values v(a.data.size() / sizeof(double));
  if (!v.empty()) std::memcpy(v.data(), a.data.data(), a.data.size());
  return v;
}
void put(Array& a, const Values& v) { std::memcpy(a.data.data(), v.data(), a.data.size()); }

class TangentChecker {
 public:
  TangentChecker(std::uint64_t seed, TangentFigures& figures)
      : seed_(seed), figures_(figures), p_(random_tangent(g_, seed)), arguments_(*random_arguments(g_, p_.program, {}, seed)) {
    Draw draw(seed + 99);
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      Array& a = arguments_[i];
      if (p_.program.params[i].direction != Direction::in) continue;
      if (p_.program.params[i].dtype == DType::f64) {
        Values v(a.data.size() / sizeof(double));
        // No two are equal: at a tie the differences are a mean of two slopes, at every distance.
        for (std::size_t k = 0; k < v.size(); ++k) v[k] = draw.between(-1000, 1000) / 733.0 + static_cast<double>(k) / 2311.0;
        put(a, v);
      } else {
        for (std::size_t k = 0; k < a.data.size() / 4; ++k) {
          const std::int32_t place = draw.below(static_cast<int>(a.data.size() / 4));
          std::memcpy(a.data.data() + 4 * k, &place, 4);
        }
      }
    }
    const Values u = argument(p_.u), v = argument(p_.v);
    Values both = u;
    both.insert(both.end(), v.begin(), v.end());
    put(arguments_[index(p_.both)], both);
  }

  std::string text() { return write_program(g_, p_.program, {.locations = false}); }

  std::string run(bool compiled) {
    verify(g_, p_.program);
    ++figures_.programs;
    const std::vector<Array> out = interpret(g_, p_.program, arguments_);
    const auto of = [&](int slot) { return doubles(out[index(slot)]); };
    for (const auto& [slot, along] : {std::pair{p_.along_u, p_.u}, std::pair{p_.along_v, p_.v}})
      if (const std::string problem = compare("tangent", of(slot), p_.value, along); !problem.empty()) return problem;
    if (const std::string problem = compare("second", of(p_.second), p_.along_u, p_.v); !problem.empty()) return problem;
    Values both = of(p_.along_u);
    const Values other = of(p_.along_v);
    both.insert(both.end(), other.begin(), other.end());
    const Values together = of(p_.along_both);
    for (std::size_t k = 0; k < both.size(); ++k)
      if (!(std::abs(together[k] - both[k]) <= 1e-12 * std::max(1.0, std::abs(both[k]))))
        return difference("directions", k, together[k], both[k]);
    if (const std::string problem = same_values(of(p_.value)); !problem.empty()) return problem;
    if (const std::string problem = same_gradient(of(p_.along_u), compiled); !problem.empty()) return problem;
    if (!compiled) return {};
    const CheckResult r = check_program(text(), seed_);
    return r.finding ? r.finding->kind + ": " + r.finding->text : "";
  }

 private:
  static std::size_t index(int slot) { return static_cast<std::size_t>(slot); }
  Values argument(int slot) { return doubles(arguments_[index(slot)]); }

  // The program with one output.
  const Program& only(int slot) {
    if (slot == only_slot_) return only_;
    only_slot_ = slot;
    only_ = p_.program;
    only_.params.clear();
    std::vector<Id> stores;
    for (std::size_t i = 0; i < p_.program.params.size(); ++i)
      if (p_.program.params[i].direction == Direction::in || std::cmp_equal(i, slot))
        only_.params.push_back(p_.program.params[i]);
    Builder b(g_);
    for (const Id s : g_.sources(p_.program.sink))  // a copy: the graph grows in this loop
      if (g_.name(g_.src(s, 0)) == p_.program.params[index(slot)].name) {
        const Id value = g_.src(s, 1);
        const auto last = only_.params.size() - 1;
        stores.push_back(b.store(b.param(last, only_.params[last]), only_.params[last], value));
      }
    only_.sink = g_.make(Op::SINK, DType::none, stores);
    return only_;
  }
  Values at(int slot, int along, double h) {
    const Program& p = only(slot);
    std::vector<Array> arguments;
    for (std::size_t i = 0; i < arguments_.size(); ++i)
      if (p_.program.params[i].direction == Direction::in || std::cmp_equal(i, slot)) arguments.push_back(arguments_[i]);
    Values x = argument(p_.x);
    const Values d = argument(along);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] += h * d[k];
    put(arguments[index(p_.x)], x);
    return doubles(interpret(g_, p, arguments).back());
  }

  // Where differences of two steps disagree, there is a kink between them. A kink at the point itself shows in the slopes to
  // the right and to the left: they differ by as much at both steps. Without a kink the difference shrinks with the step.
  std::string compare(const char* what, const Values& got, int slot, int along) {
    const Values here = at(slot, along, 0);
    struct Slopes {
      Values slope, jump;
    };
    const auto slopes = [&](double h) {
      const Values a = at(slot, along, h), b = at(slot, along, -h), c = at(slot, along, 2 * h), d = at(slot, along, -2 * h);
      Slopes s{Values(a.size()), Values(a.size())};
      for (std::size_t k = 0; k < a.size(); ++k) {
        s.slope[k] = (8 * (a[k] - b[k]) - (c[k] - d[k])) / (12 * h);
        s.jump[k] = std::abs(a[k] - 2 * here[k] + b[k]) / h;
      }
      return s;
    };
    const Slopes near = slopes(1e-4), far = slopes(3e-4);
    for (std::size_t k = 0; k < got.size(); ++k) {
      const double expected = near.slope[k], size = std::max(1.0, std::abs(expected));
      const bool is_kink_here = near.jump[k] > 1e-6 * size && near.jump[k] > far.jump[k] / 2;
      if (is_kink_here || !(std::abs(expected - far.slope[k]) <= 1e-6 * size)) {
        ++figures_.kinks;
        continue;
      }
      ++figures_.compared;
      if (!(std::abs(got[k] - expected) <= 1e-5 * size)) return difference(what, k, got[k], expected);
    }
    return {};
  }

  // The product of v and the tangent along u is that of the gradient, for the cotangent v, and u. Reverse mode refuses some
  // loops.
  std::string same_gradient(const Values& along_u, bool compiled) {
    Program p = p_.program;
    std::erase_if(p.params, [](const Parameter& q) { return q.direction != Direction::in; });
    std::vector<Array> arguments(arguments_.begin(), arguments_.begin() + std::ssize(p.params));
    Builder b(g_);
    const Id v = b.param(index(p_.v), p.params[index(p_.v)]), g = b.gradient(p_.y, v, p_.by, true);
    p.params.push_back({"g", Direction::out, DType::f64, b.shape_of(g), {}});
    const Id store[] = {b.store(b.param(p.params.size() - 1, p.params.back()), p.params.back(), g)};
    p.sink = g_.make(Op::SINK, DType::none, store);
    arguments.push_back(arguments_[index(p_.along_u)]);
    try {
      const Values got = doubles(interpret(g_, p, arguments).back()), u = argument(p_.u), c = argument(p_.v);
      double forward = 0, reverse = 0, size = 1;
      for (std::size_t k = 0; k < got.size(); ++k) {
        forward += c[k] * along_u[k], reverse += got[k] * u[k];
        size += std::abs(c[k] * along_u[k]) + std::abs(got[k] * u[k]);
      }
      ++figures_.gradients;
      if (!(std::abs(forward - reverse) <= 1e-10 * size)) return difference("gradient", 0, reverse, forward);
    } catch (const Diagnostic& d) {
      if (d.id() != "E-grad") throw;
      return {};
    }
    if (!compiled) return {};
    const CheckResult r = check_program(write_program(g_, p, {.locations = false}), seed_);
    return r.finding ? "gradient: " + r.finding->kind + ": " + r.finding->text : "";
  }

  std::string same_values(const Values& got) {
    const Values plain = at(p_.value, p_.u, 0);
    for (std::size_t k = 0; k < got.size(); ++k)
      if (std::memcmp(&got[k], &plain[k], sizeof(double)) != 0) return difference("value", k, got[k], plain[k]);
    return {};
  }

  Graph g_;
  std::uint64_t seed_;
  TangentFigures& figures_;
  TangentProgram p_;
  std::vector<Array> arguments_;
  Program only_;
  int only_slot_ = -1;
};

}  // namespace

std::string difference(const char* what, std::size_t k, double got, double expected) {
  return std::string(what) + " " + std::to_string(k) + ": expected " + std::to_string(expected) + ", got " +
         std::to_string(got);
}

std::string check_tangent(std::uint64_t seed, bool compiled, TangentFigures& figures, std::string& text) {
  TangentChecker checker(seed, figures);
  text = checker.text();
  return checker.run(compiled);
}

}  // namespace kiln::compiler::testing
