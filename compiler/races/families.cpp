#include "compiler/races/families.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "compiler/symbolic/linear.h"

namespace kiln::compiler {
namespace {

void keep_common(Conditions& a, const Conditions& b) {
  const auto keep = [](auto& x, const auto& y) {
    std::erase_if(x, [&](const auto& c) { return std::ranges::find(y, c) == y.end(); });
  };
  keep(a.zero, b.zero), keep(a.nonnegative, b.nonnegative), keep(a.nonzero, b.nonzero);
  keep(a.multiples, b.multiples), keep(a.either, b.either);
}

}  // namespace

std::vector<Family> families_of(Graph& g, const std::vector<AccessForm>& forms) {
  std::vector<Family> out;
  std::map<std::pair<Id, std::vector<Id>>, std::size_t> numbers;  // by memory and base: index of the family
  for (const AccessForm& t : forms) {
    std::vector<Id> base;
    std::vector<std::int64_t> constants;
    for (const Id i : t.index) {
      const auto sum = symbolic::sum_of(g, i);
      const std::int64_t c = sum ? constant_term(*sum) : 0;
      const auto rest = sum ? symbolic::plus(g, *sum, constant_sum(c), -1) : std::nullopt;
      base.push_back(rest ? index_from(g, *rest) : i);
      constants.push_back(rest ? c : 0);
    }
    const auto [at, is_new] = numbers.try_emplace({t.access->memory, base}, out.size());
    if (is_new) {
      out.push_back({{}, base, {}, t.holds});
      for (const std::int64_t c : constants) out.back().offsets.push_back({c, c, 0});
    }
    Family& f = out[at->second];
    f.members.push_back(&t);
    for (std::size_t k = 0; k < constants.size(); ++k) {
      Family::Offsets& o = f.offsets[k];
      o.step = std::gcd(o.step, constants[k] - o.least);
      o.least = std::min(o.least, constants[k]), o.most = std::max(o.most, constants[k]);
    }
    keep_common(f.holds, t.holds);
  }
  return out;
}

}  // namespace kiln::compiler
