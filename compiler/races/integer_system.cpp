#include "compiler/races/integer_system.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdlib>
#include <map>
#include <numeric>

#include "compiler/index/floor_div.h"

namespace kiln::compiler {

using Row = IntegerSystem::Row;

namespace {

constexpr std::int64_t most_number = std::int64_t{1} << 62;
constexpr std::size_t most_rows = 400;      // inequalities at the beginning
constexpr std::size_t most_derived = 2000;  // inequalities at any time
constexpr int most_splits = 5;              // nested splits of disequalities

bool is_small(std::int64_t v) { return v < most_number && v > -most_number; }

std::int64_t coefficient(const Row& r, int variable) {
  const auto t = std::ranges::lower_bound(r.terms, variable, {}, &std::pair<int, std::int64_t>::first);
  return t != r.terms.end() && t->first == variable ? t->second : 0;
}

std::int64_t common_factor(const Row& r) {
  std::int64_t c = 0;
  for (const auto& [variable, k] : r.terms) c = std::gcd(c, k);
  return c;
}

void divide(Row& r, std::int64_t by) {
  for (auto& [variable, k] : r.terms) k /= by;
}

Row negated(Row r) {
  for (auto& [variable, k] : r.terms) k = -k;
  r.constant = -r.constant;
  return r;
}

}  // namespace

bool add_row(Row& a, const Row& b, std::int64_t times) {
  Row sum;
  const auto add = [&](std::int64_t x, std::int64_t y, std::int64_t& out) {
    std::int64_t p = 0;
    return !__builtin_mul_overflow(y, times, &p) && !__builtin_add_overflow(x, p, &out) && is_small(out);
  };
  if (!add(a.constant, b.constant, sum.constant)) return false;
  auto i = a.terms.begin();
  for (auto j = b.terms.begin(); i != a.terms.end() || j != b.terms.end();) {
    std::pair<int, std::int64_t> t{0, 0};
    if (j == b.terms.end() || (i != a.terms.end() && i->first < j->first)) {
      t = *i++;
    } else {
      const bool both = i != a.terms.end() && i->first == j->first;
      t.first = j->first;
      if (!add(both ? i->second : 0, j->second, t.second)) return false;
      ++j;
      if (both) ++i;
    }
    if (t.second != 0) sum.terms.push_back(t);
  }
  a = std::move(sum);
  return true;
}

// A working copy of the rows, from which variables are eliminated one by one.
class Elimination {
 public:
  explicit Elimination(const IntegerSystem& s) : variables_(s.variables_), zero_(s.zero_), nonzero_(s.nonzero_) {
    for (const Row& r : s.nonnegative_) nonnegative_.push_back({r, {}});
  }

  bool is_impossible(int splits = most_splits) {
    if (!without_equations()) return true;
    if (Elimination(*this).by_pairs()) return true;
    if (nonzero_.empty() || splits == 0) return false;
    const Row differs = std::move(nonzero_.back());
    nonzero_.pop_back();
    return std::ranges::all_of(std::array{differs, negated(differs)}, [&](Row side) {
      Elimination one = *this;
      side.constant -= 1;
      one.nonnegative_.push_back({std::move(side), {}});
      return one.is_impossible(splits - 1);
    });
  }

 private:
  struct Inequality {
    Row row;
    std::bitset<most_rows> from;  // the original rows that it is a sum of
  };

  // Solves equations and substitutes them in the other rows until none is left. False: the rows contradict each other.
  bool without_equations() {
    for (;;) {
      if (!tighten()) return false;
      if (zero_.empty()) return true;
      eliminate_equation();
    }
  }

  // Takes the equation with the smallest coefficient a, written as a*x + a*rest + remainder == 0. If |a| is 1, the equation
  // gives x and goes. Otherwise a new variable y = x + rest replaces x, which makes the coefficients of the equation smaller.
  void eliminate_equation() {
    std::size_t best = 0, at = 0;
    for (std::size_t i = 0; i < zero_.size(); ++i)
      for (std::size_t k = 0; k < zero_[i].terms.size(); ++k)
        if (std::abs(zero_[i].terms[k].second) < std::abs(zero_[best].terms[at].second)) best = i, at = k;
    const Row r = zero_[best];
    const auto [x, a] = r.terms[at];
    Row value;  // the value of x
    const bool is_last = std::abs(a) == 1;
    for (const auto& [variable, k] : r.terms)
      if (variable != x) value.terms.emplace_back(variable, -floor_div(k, a));
    std::erase_if(value.terms, [](const auto& t) { return t.second == 0; });
    value.constant = -floor_div(r.constant, a);
    if (is_last)
      zero_.erase(zero_.begin() + static_cast<std::ptrdiff_t>(best));
    else
      value.terms.emplace_back(variables_++, 1);
    const auto overflows = [&](Row& row) {
      const std::int64_t k = coefficient(row, x);
      if (k == 0) return false;
      std::erase_if(row.terms, [&](const auto& t) { return t.first == x; });
      return !add_row(row, value, k);
    };
    std::erase_if(zero_, overflows);
    std::erase_if(nonzero_, overflows);
    std::erase_if(nonnegative_, [&](Inequality& i) { return overflows(i.row); });
  }

  // Divides each row by the gcd of its coefficients and drops repeated inequalities. False: some row never holds.
  bool tighten() {
    std::vector<Row> zero;
    for (Row& r : zero_) {
      const std::int64_t c = common_factor(r);
      if (c == 0 ? r.constant != 0 : r.constant % c != 0) return false;
      if (c == 0) continue;
      divide(r, c);
      r.constant /= c;
      zero.push_back(std::move(r));
    }
    std::vector<Row> nonzero;
    for (Row& r : nonzero_) {
      const std::int64_t c = common_factor(r);
      if (c == 0 && r.constant == 0) return false;
      if (c != 0 && r.constant % c == 0) nonzero.push_back(std::move(r));
    }
    zero_ = std::move(zero), nonzero_ = std::move(nonzero);
    return tighten_inequalities();
  }

  bool tighten_inequalities() {
    std::map<std::vector<std::pair<int, std::int64_t>>, Inequality> least;  // by terms: the row with the least constant
    for (Inequality& i : nonnegative_) {
      const std::int64_t c = common_factor(i.row);
      if (c == 0 && i.row.constant < 0) return false;
      if (c == 0) continue;
      divide(i.row, c);
      i.row.constant = floor_div(i.row.constant, c);
      const auto [known, is_new] = least.try_emplace(i.row.terms, i);
      if (i.row.constant < known->second.row.constant) known->second = std::move(i);
    }
    nonnegative_.clear();
    for (const auto& [terms, i] : least) {
      const auto opposite = least.find(negated(i.row).terms);
      const std::int64_t least_of_opposite = opposite == least.end() ? most_number : -opposite->second.row.constant;
      if (opposite == least.end() || least_of_opposite < i.row.constant)
        nonnegative_.push_back(i);
      else if (least_of_opposite > i.row.constant)
        return false;
      else if (terms.front().second > 0)  // terms + constant is >= 0 and <= 0
        zero_.push_back(i.row);
    }
    return true;
  }

  // Fourier-Motzkin elimination, the variable with the fewest new rows first. True: the rows contradict each other.
  bool by_pairs() {
    nonzero_.clear();
    if (nonnegative_.size() > most_rows) return false;
    for (std::size_t i = 0; i < nonnegative_.size(); ++i) nonnegative_[i].from.set(i);
    for (std::size_t eliminated = 1; !nonnegative_.empty(); ++eliminated) {
      struct Sides {
        std::size_t below = 0, above = 0;
      };
      std::map<int, Sides> sides;
      for (const Inequality& i : nonnegative_)
        for (const auto& [variable, k] : i.row.terms) ++(k > 0 ? sides[variable].below : sides[variable].above);
      const auto cost = [](const auto& s) {
        return static_cast<std::ptrdiff_t>(s.second.below * s.second.above) -
               static_cast<std::ptrdiff_t>(s.second.below + s.second.above);
      };
      eliminate(std::ranges::min_element(sides, {}, cost)->first, eliminated);
      if (nonnegative_.size() > most_derived) return false;
      if (!without_equations()) return true;
    }
    return false;
  }

  // a*x + low >= 0 and -b*x + high >= 0 give b*low + a*high >= 0. A sum of more than eliminated + 1 original rows is redundant
  // (Kohler's rule).
  void eliminate(int x, std::size_t eliminated) {
    std::vector<Inequality> lower, upper, rest;
    for (Inequality& i : nonnegative_) {
      const std::int64_t k = coefficient(i.row, x);
      (k > 0 ? lower : k < 0 ? upper : rest).push_back(std::move(i));
    }
    for (const Inequality& low : lower)
      for (const Inequality& high : upper) {
        Inequality both{{}, low.from | high.from};
        if (both.from.count() > eliminated + 1) continue;
        const std::int64_t a = coefficient(low.row, x), b = -coefficient(high.row, x), c = std::gcd(a, b);
        if (add_row(both.row, low.row, b / c) && add_row(both.row, high.row, a / c)) rest.push_back(std::move(both));
      }
    nonnegative_ = std::move(rest);
  }

  int variables_;
  std::vector<Row> zero_, nonzero_;
  std::vector<Inequality> nonnegative_;
};

bool IntegerSystem::is_impossible() const { return Elimination(*this).is_impossible(); }

}  // namespace kiln::compiler
