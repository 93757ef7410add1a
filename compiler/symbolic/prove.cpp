#include "compiler/symbolic/prove.h"

#include <algorithm>
#include <array>

#include "compiler/symbolic/prover.h"

namespace kiln::compiler {
namespace symbolic {
namespace {

// A set of limited size, for the search for RANGEs.
class NodeSet {
 public:
  NodeSet() { slots_.fill(no_id); }
  bool full() const { return size_ == most; }
  bool insert(Id id) {  // false: the set has it already
    std::size_t at = id % slots_.size();
    for (; slots_[at] != no_id; at = (at + 1) % slots_.size())
      if (slots_[at] == id) return false;
    slots_[at] = id;
    ++size_;
    return true;
  }

 private:
  static constexpr std::size_t most = 512;
  std::array<Id, 2 * most> slots_;
  std::size_t size_ = 0;
};

constexpr std::size_t max_terms = 128;

std::uint64_t hash_of(const Poly& p) {
  std::uint64_t h = 0;
  const auto mix = [&](std::uint64_t v) {
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
  };
  for (const Monomial& t : p) {
    mix(static_cast<std::uint64_t>(t.coefficient));
    for (Id a : t.atoms) mix(a);
    mix(t.atoms.size());
  }
  return h;
}

}  // namespace

void Prover::learn() {
  learned_ = true;
  for (Id id : context_) bounds_(id);
  if (!bounds_.symbolic_loops()) return;
  NodeSet seen;
  std::vector<Id> stack(context_);
  while (!stack.empty() && !seen.full()) {
    const Id id = stack.back();
    stack.pop_back();
    if ((g_.dtype(id) != DType::index && g_.dtype(id) != DType::boolean) || g_.src(id).empty() || !seen.insert(id)) continue;
    if (g_.op(id) == Op::RANGE) {
      learn(id);
    } else if (g_.op(id) != Op::WHERE && g_.op(id) != Op::LOAD) {
      for (Id s : g_.src(id)) stack.push_back(s);
    }
  }
}

void Prover::learn(Id a, std::int64_t least) {
  const auto it = std::ranges::find(at_least_, a, &std::pair<Id, std::int64_t>::first);
  if (it == at_least_.end())
    at_least_.emplace_back(a, least);
  else
    it->second = std::max(it->second, least);
}

// The end of a RANGE in its iterations. There max(e, c) with c <= 0 is e, because the end is above 0.
Id Prover::end_of(Id range) const {
  Id end = g_.end(range);
  while (g_.op(end) == Op::MAX) {
    const auto [x, y] = g_.operands<2>(end);
    const auto never = [&](Id c) { return g_.op(c) == Op::CONST && g_.value(c) <= 0; };
    if (!never(x) && !never(y)) break;
    end = never(x) ? y : x;
  }
  return end;
}

// Learns from a RANGE that has an iteration, so end >= 1. In a product of non-negative atoms each atom is >= 1. n + rest >= 1
// gives n >= 1 - rest for the greatest rest.
void Prover::learn(Id range) {
  const auto end = sum_of(g_, end_of(range));
  if (!end || end->empty() || end->size() > max_learned) return;
  if (end->size() == 1) {
    const Monomial& t = end->front();
    if (t.coefficient < 1) return;
    for (Id a : t.atoms)
      if (bounds_(a).min < 0 && t.atoms.size() > 1) return;
    for (Id a : t.atoms) learn(a, 1);
    return;
  }
  for (const Monomial& t : *end) {
    if (t.atoms.size() != 1 || t.coefficient != 1) continue;
    const auto rest = plus(g_, *end, Poly{t}, -1);
    const std::int64_t most = rest ? interval_of(bounds_, *rest).max : unbounded;
    if (most < unbounded / 2 && most > -unbounded / 2) learn(t.atoms[0], 1 - most);
  }
}

Interval Prover::atom(Id a) {
  Interval i = bounds_(a);
  for (const auto& [id, least] : at_least_)
    if (id == a) i.min = std::max(i.min, least);
  i.max = std::max(i.min, i.max);
  return i;
}

// The better of two lower bounds: term by term, and after replacing every atom by itself plus its least value. The second one
// proves n*m - n >= 0 for m >= 1.
std::int64_t Prover::low(const Poly& p) {
  Interval direct{0, 0};
  bool shifts = false;  // false: no products, or all their atoms start at 0, so the second bound is the same
  for (const Monomial& t : p) {
    Interval i{t.coefficient, t.coefficient};
    for (Id a : t.atoms) {
      const Interval values = atom(a);
      i = mul(i, values);
      shifts = shifts || (t.atoms.size() > 1 && values.min != 0);
    }
    direct = add(direct, i);
  }
  return direct.min >= 0 || !shifts ? direct.min : std::max(direct.min, low_shifted(p));
}

std::int64_t Prover::low_shifted(const Poly& p) {
  Poly shifted;
  for (const Monomial& t : p) {
    if (std::ranges::all_of(t.atoms, [&](Id a) { return atom(a).min == 0; })) {
      shifted.push_back(t);
      continue;
    }
    Poly product{{t.coefficient, {}}};
    for (Id a : t.atoms) {
      const std::int64_t m = atom(a).min;
      if (m == -unbounded) return m;
      auto next = times(g_, product, m == 0 ? Poly{{1, {a}}} : Poly{{1, {a}}, {m, {}}});
      if (!next || next->size() > max_terms) return -unbounded;
      product = *std::move(next);
    }
    shifted.insert(shifted.end(), product.begin(), product.end());
  }
  if (!normalise(g_, shifted)) return -unbounded;
  Interval sum{0, 0};
  for (const Monomial& t : shifted) {
    Interval i{t.coefficient, t.coefficient};
    for (Id a : t.atoms) {
      const Interval of = atom(a);
      i = mul(i, Interval{0, of.max == unbounded ? unbounded : of.max - of.min});
    }
    sum = add(sum, i);
  }
  return sum.min;
}

// Removes q = floordiv(x, d) with d >= 1, because d*q is in [x - d + 1, x]. A constant d scales the whole sum, and d*p > -d is
// sufficient for the integer p; otherwise the factor of q must be a multiple of d.
std::optional<Poly> Prover::without_division(const Poly& p, Id q, const Poly& factor, const Poly& rest, int sign) {
  const auto [numerator, divisor] = g_.operands<2>(q);
  const auto x = sum_of(g_, numerator), d = sum_of(g_, divisor);
  if (!x || !d || d->empty()) return std::nullopt;
  const auto less_one = plus(g_, *d, constant_sum(1), -1);
  if (!less_one || low(*less_one) < 0) return std::nullopt;
  const auto least = plus(g_, *x, *less_one, -1);  // the least value of d*q
  if (!least) return std::nullopt;
  const Poly& end = sign > 0 ? *least : *x;
  if (const auto c = constant_of(*d)) {
    const auto scaled_rest = scaled(rest, *c);
    const auto part = times(g_, factor, end);
    if (!scaled_rest || !part || p.size() > max_terms) return std::nullopt;
    const auto sum = plus(g_, *scaled_rest, *part);
    return sum ? plus(g_, *sum, constant_sum(*c - 1)) : std::nullopt;
  }
  const std::int64_t k = factor.front().coefficient / d->front().coefficient;
  const auto again = scaled(*d, k);
  if (k == 0 || !again || *again != factor) return std::nullopt;
  return plus(g_, rest, end, k);
}

// Replaces one atom by the end of its range for which p is smallest. True: this was possible, and `proven` is the result.
bool Prover::eliminate(const Poly& p, Id a, int depth, bool& proven) {
  const Op op = g_.op(a);
  if (op != Op::RANGE && op != Op::FLOORMOD && op != Op::FLOORDIV && op != Op::MIN && op != Op::MAX) return false;
  const SplitAt split = split_at(p, a);
  if (split.square) return false;
  const Poly &factor = split.factor, &rest = split.rest;
  const auto negated = scaled(factor, -1);
  const int sign = low(factor) >= 0 ? 1 : negated && low(*negated) >= 0 ? -1 : 0;
  const auto with = [&](const Poly& value) {
    const auto part = times(g_, factor, value);
    const auto all = part ? plus(g_, rest, *part) : std::nullopt;
    return all && ge0(*all, depth - 1);
  };
  if (op == Op::MIN || op == Op::MAX) {
    const auto [left, right] = g_.operands<2>(a);
    const auto x = sum_of(g_, left), y = sum_of(g_, right);
    if (!x || !y) return false;
    const bool either_will_do = sign != 0 && (sign < 0) == (op == Op::MIN);
    proven = either_will_do ? with(*x) || with(*y) : with(*x) && with(*y);
    return true;
  }
  if (sign == 0) return false;
  if (op == Op::FLOORDIV) {
    const auto next = without_division(p, a, factor, rest, sign);
    if (!next) return false;
    proven = ge0(*next, depth - 1);
    return true;
  }
  const auto end = sum_of(g_, op == Op::RANGE ? end_of(a) : g_.src(a, 1));
  const auto last = end ? plus(g_, *end, constant_sum(1), -1) : std::nullopt;
  if (!last) return false;
  if (op == Op::FLOORMOD && low(*last) < 0) return false;  // the divisor must be positive
  proven = with(sign > 0 ? Poly{} : *last);
  return true;
}

// Whether no proof is possible: the sum is negative, or its values are independent, have constant ends, and the lower bound is
// negative.
bool Prover::hopeless(const Poly& p) {
  if (!bounds_.facts().nonnegative.empty()) return false;
  Interval all{0, 0};
  bool independent = true;
  for (const Monomial& t : p) {
    all = add(all, interval_of(bounds_, t));
    if (t.atoms.empty()) continue;
    const Op op = g_.op(t.atoms[0]);
    independent = independent && t.atoms.size() == 1 &&
                  ((op == Op::RANGE && g_.op(g_.end(t.atoms[0])) == Op::CONST) || (op == Op::SYM && !bounds_.symbolic_loops()));
  }
  return all.max < 0 || (independent && all.min < 0);
}

bool Prover::ge0(const Poly& p) {
  budget_ = max_sums;
  failed_.clear();
  if (interval_of(bounds_, p).min >= 0) return true;
  if (samples_ != nullptr && samples_->some_negative(p, context_)) return false;
  if (!learned_) learn();
  if (hopeless(p)) return false;
  return ge0(p, max_depth);
}

bool Prover::gt0(const Poly& p) {
  const auto less_one = plus(g_, p, constant_sum(1), -1);
  return less_one && ge0(*less_one);
}

// Sorts an atom that depends on a RANGE (another RANGE with such an end, a minimum, maximum or quotient) before that RANGE.
void Prover::inner_first(Atoms& atoms) const {
  if (!bounds_.symbolic_loops()) return;
  const auto has = [&](Id atom, Id range) {
    const Op op = g_.op(atom);
    if (g_.op(range) != Op::RANGE || atom == range || (op != Op::RANGE && op != Op::MIN && op != Op::MAX && op != Op::FLOORDIV))
      return false;
    const Id root[] = {atom};
    return std::ranges::binary_search(g_.reachable(root), range);
  };
  for (std::size_t i = 1; i < atoms.size(); ++i) {
    Id* const here = atoms.begin() + i;
    Id* const to = std::find_if(atoms.begin(), here, [&](Id before) { return has(*here, before); });
    std::rotate(to, here, here + 1);
  }
}

bool Prover::ge0(const Poly& p, int depth) {
  if (depth < max_depth && samples_ != nullptr && samples_->some_negative(p, context_)) return false;
  if (low(p) >= 0) return true;
  if (depth == 0 || p.size() > max_terms || --budget_ < 0) return false;
  const std::uint64_t h = hash_of(p);
  if (std::ranges::find(failed_, h) != failed_.end()) return false;
  failed_.push_back(h);
  Atoms atoms;
  for (const bool ranges : {true, false})  // RANGEs first: their ends are exact, while ends of other atoms weaken the proof
    for (const Monomial& t : p)
      for (Id a : t.atoms)
        if ((g_.op(a) == Op::RANGE) == ranges && std::ranges::find(atoms, a) == atoms.end()) atoms.push_back(a);
  inner_first(atoms);
  for (Id a : atoms) {
    bool proven = false;
    if (!eliminate(p, a, depth, proven)) continue;
    if (proven || (g_.op(a) == Op::RANGE && bounds_.facts().nonnegative.empty())) return proven;
  }
  return by_facts(p, depth);
}

// Tries p = k*f + rest for a fact f >= 0 and k > 0 that cancels a term of p. Then rest >= 0 is sufficient.
bool Prover::by_facts(const Poly& p, int depth) {
  for (const Poly& f : bounds_.relations()) {
    for (const Monomial& t : f) {
      const auto same = std::ranges::find(p, t.atoms, &Monomial::atoms);
      if (t.atoms.empty() || same == p.end() || same->coefficient % t.coefficient != 0) continue;
      const std::int64_t k = same->coefficient / t.coefficient;
      const auto rest = k > 0 ? plus(g_, p, f, -k) : std::nullopt;
      if (rest && ge0(*rest, depth - 1)) return true;
    }
  }
  return false;
}

bool Prover::lt(const Poly& a, const Poly& b) {
  const auto d = plus(g_, b, a, -1);
  return d && gt0(*d);
}

bool Prover::in_range(const Poly& x, const Poly& end) { return ge0(x) && lt(x, end); }

}  // namespace symbolic

namespace {
// Proves big - small >= margin.
bool proves(const Graph& g, Id big, Id small, std::int64_t margin, const Facts& facts) {
  Bounds bounds(g, facts);
  const auto a = symbolic::sum_of(g, big), b = symbolic::sum_of(g, small);
  const auto d = a && b ? symbolic::plus(g, *a, *b, -1) : std::nullopt;
  const auto p = d ? symbolic::plus(g, *d, constant_sum(margin), -1) : std::nullopt;
  const Id context[] = {big, small};
  return p && symbolic::Prover(g, bounds, context).ge0(*p);
}
}  // namespace

bool prove_ge0(const Graph& g, Id a, const Facts& facts) {
  Bounds bounds(g, facts);
  const auto p = symbolic::sum_of(g, a);
  const Id context[] = {a};
  return p && symbolic::Prover(g, bounds, context).ge0(*p);
}
bool prove_lt(const Graph& g, Id a, Id b, const Facts& facts) { return proves(g, b, a, 1, facts); }
bool prove_le(const Graph& g, Id a, Id b, const Facts& facts) { return proves(g, b, a, 0, facts); }

}  // namespace kiln::compiler
