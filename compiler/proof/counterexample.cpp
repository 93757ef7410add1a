#include "compiler/proof/counterexample.h"

#include <algorithm>
#include <array>
#include <random>

#include "compiler/proof/evaluate.h"

namespace kiln::compiler {
namespace {

constexpr std::size_t max_near = 150'000, random_points = 100'000;
constexpr std::int64_t max_magnitude = 64;

std::string decimal(Wide v) {
  std::string s;
  const bool negative = v < 0;
  do {
    const int digit = static_cast<int>(v % 10);
    s += static_cast<char>('0' + (digit < 0 ? -digit : digit));
    v /= 10;
  } while (v != 0);
  if (negative) s += '-';
  std::ranges::reverse(s);
  return s;
}

std::string shown(const ExactValue& v) { return v.kind == ValueKind::absent ? "nothing" : decimal(v.value); }

class Sides {
 public:
  explicit Sides(const ParsedRule& r)
      : rule_(r), guard_(r.g, r.variables, std::array{r.guard}), value_(r.g, r.variables, std::array{r.lhs, r.rhs}) {}

  bool differ_at(std::span<const std::int64_t> point) {
    guard_.at(point);
    const bool holds = guard_.is_true(rule_.guard), nothing = guard_[rule_.guard].kind == ValueKind::absent;
    if (!holds) return nothing;
    value_.at(point);
    const ExactValue &a = value_[rule_.lhs], &b = value_[rule_.rhs];
    if (a.kind == ValueKind::wide || b.kind == ValueKind::wide) return false;
    return a.kind == ValueKind::absent || b.kind == ValueKind::absent || a.value != b.value;
  }

  std::string text(std::span<const std::int64_t> point) const {
    std::string where;
    for (std::size_t i = 0; i < point.size(); ++i)
      where += (i == 0 ? "" : ", ") + std::string(rule_.g.name(rule_.variables[i])) + " = " + std::to_string(point[i]);
    if (guard_[rule_.guard].kind == ValueKind::absent) return where + ": the guard has no value";
    return where + ": lhs is " + shown(value_[rule_.lhs]) + ", rhs is " + shown(value_[rule_.rhs]);
  }

 private:
  const ParsedRule& rule_;
  Evaluator guard_, value_;
};

// The greatest b for which the (2*b + 1)^n points around 0 are at most max_near.
std::int64_t near_magnitude(std::size_t n) {
  for (std::int64_t b = max_magnitude; b > 1; --b) {
    std::size_t points = 1;
    for (std::size_t i = 0; i < n && points <= max_near; ++i) points *= static_cast<std::size_t>(2 * b + 1);
    if (points <= max_near) return b;
  }
  return 1;
}

// The next point around 0. Each value goes through 0, 1, -1, 2, -2, ...; the first value changes fastest.
bool next(std::vector<std::int64_t>& point, std::int64_t magnitude) {
  for (std::int64_t& v : point) {
    if (v != -magnitude) {
      v = v > 0 ? -v : 1 - v;
      return true;
    }
    v = 0;
  }
  return false;
}

std::int64_t random_value(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  switch (below(8)) {
    case 0: return below(201) - 100;
    case 1: return (std::int64_t{1} << below(62)) - below(3) + 1;
    case 2: return -((std::int64_t{1} << below(62)) - below(3) + 1);
    case 3: return below(64);
    default: return below(9) - 4;
  }
}

}  // namespace

std::optional<std::string> difference_at(const ParsedRule& rule, std::span<const std::int64_t> point) {
  Sides sides(rule);
  return sides.differ_at(point) ? std::optional(sides.text(point)) : std::nullopt;
}

std::optional<std::string> find_difference(const ParsedRule& rule) {
  Sides sides(rule);
  const std::int64_t magnitude = near_magnitude(rule.variables.size());
  std::vector<std::int64_t> point(rule.variables.size(), 0);
  do
    if (sides.differ_at(point)) return sides.text(point);
  while (next(point, magnitude));
  std::mt19937_64 random(1);
  for (std::size_t i = 0; i < random_points; ++i) {
    for (std::int64_t& v : point) v = random_value(random);
    if (sides.differ_at(point)) return sides.text(point);
  }
  return std::nullopt;
}

}  // namespace kiln::compiler
