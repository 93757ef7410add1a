#include "compiler/races/index_forms.h"

#include <algorithm>
#include <string>

#include "compiler/index/floor_div.h"
#include "compiler/ir/scopes.h"
#include "compiler/races/carried.h"
#include "compiler/symbolic/integer_forms.h"
#include "compiler/symbolic/known.h"
#include "compiler/symbolic/linear.h"
#include "compiler/symbolic/prove.h"

namespace kiln::compiler {
namespace {

using symbolic::known_dtype;

constexpr std::int64_t most_shift = 60;      // the largest power of two below exact_limit
constexpr std::int64_t loose_modulus = 256;  // wrapped and exact results are congruent modulo 2^8 in every type

bool is_number(DType d) { return d == DType::index || is_int(d); }

bool has_form(Op op) { return is_index_arithmetic(op) || op == Op::XOR || op == Op::WHERE || op == Op::CAST; }

// Operations whose result has no more bits than the operands. A quotient has a form only if its divisor is not negative.
bool never_wraps(Op op) {
  return op == Op::AND || op == Op::XOR || op == Op::MIN || op == Op::MAX || op == Op::WHERE || op == Op::SHR ||
         op == Op::CDIV || op == Op::CMOD || op == Op::FLOORMOD;
}

bool wraps_alike(Op op) { return op == Op::ADD || op == Op::SUB || op == Op::MUL || op == Op::NEG || op == Op::CAST; }

}  // namespace

bool IndexForms::fits(Id index, DType d) {
  if (d == DType::index) return true;
  const Interval i = simplify_.bounds()(index), all = exact_values(d);
  return (i.min >= all.min || prove_le(g_, g_.index(all.min), index, facts_)) &&
         (i.max <= all.max || prove_le(g_, index, g_.index(all.max), facts_));
}

Id IndexForms::named(Id value) {
  if (g_.dtype(value) == DType::index) return named(value, anything);
  return named(value, is_int(g_.dtype(value)) ? known_dtype(g_.dtype(value)).interval : Interval{0, 1});
}

Id IndexForms::named(Id value, Interval i) {
  const std::string name = "$" + std::to_string(value);
  facts_.syms[name] = {i.min, i.max, 1};
  names_.push_back({g_.sym(name), value});
  return names_.back().name;
}

Id IndexForms::loop_end(Id range) const {
  const Id loop = loop_(range);
  return loop == no_id ? no_id : loop_parts(g_, loop).end;
}

// The FOR of a CARRY of at most 32 bits, else no_id.
Id IndexForms::loop_of(Id carry) const {
  const DType d = g_.dtype(carry);
  return is_int(d) && bits(d) <= 32 && g_.src(carry).size() == 2 ? loop_(g_.range_of(carry)) : no_id;
}
Id IndexForms::carried(Id carry) {
  const Id loop = loop_of(carry);
  if (loop == no_id) return named(carry);
  const Interval all = known_dtype(g_.dtype(carry)).interval, init = simplify_.bounds()(done_.at(g_.src(carry, 1)));
  const auto k = g_.slot(carry);
  return named(carry, carried_interval(g_, carry, {std::max(init.min, all.min), std::min(init.max, all.max)},
                                       loop_parts(g_, loop).yield[k]));
}

// The RANGE with the loop's own end, which may be tighter than the bound in the range. The end also stays inside its type.
Id IndexForms::range(Id id) {
  const auto below = [&](Id end) {
    const std::int64_t most = simplify_.bounds()(end).max;
    Id form = done_.at(end);
    // Where a work item runs, the extent is positive, so max(n, 0) is n.
    for (const std::size_t at : {0u, 1u})
      if (g_.op(form) == Op::MAX && g_.is_index_const(g_.src(form, at), 0)) form = g_.src(form, 1 - at);
    return simplify_.bounds()(form).max <= most ? form : g_.make(Op::MIN, DType::index, {form, g_.index(most)});
  };
  const Id end = loop_end(id);
  Id last = below(g_.end(id));
  if (end != no_id) last = g_.make(Op::MIN, DType::index, {below(end), last});
  const Id form = g_.range(simplify_(last), g_.range_number(id), g_.range_kind(id));
  ranges_.push_back({form, id});
  return form;
}

// A name for 2^count, the factor of a shift; no_id if the count may be outside of 0 .. width - 2.
Id IndexForms::power(Id shift, Id count, int width) {
  const Id most = g_.index(width - 2);
  if (!prove_ge0(g_, count, facts_) || !prove_le(g_, count, most, facts_)) return no_id;
  const std::string name = "$2^" + std::to_string(count);
  facts_.syms[name] = {1, std::int64_t{1} << std::min<std::int64_t>(width - 2, simplify_.bounds()(count).max), 1};
  names_.push_back({g_.sym(name), shift});
  powers_.insert(names_.back().name);
  return names_.back().name;
}

// x & (p - 1) for a power of two p, which is x % p; no_id for other masks.
Id IndexForms::masked(Id x, Id mask) {
  const auto m = symbolic::sum_of(g_, simplify_(mask));
  const auto p = m ? symbolic::plus(g_, *m, constant_sum(1)) : std::nullopt;
  if (!p || p->size() != 1) return no_id;
  const Monomial& t = p->front();
  if (t.coefficient < 1 || (t.coefficient & (t.coefficient - 1)) != 0 || t.atoms.size() > 1) return no_id;
  if (t.atoms.size() == 1 && !powers_.contains(t.atoms[0])) return no_id;
  return g_.make(Op::FLOORMOD, DType::index, {x, index_from(g_, *p)});
}

// CDIV or CMOD, which round towards zero, by floor divisions. no_id if the divisor may be negative.
Id IndexForms::quotient(Op op, Id x, Id d) {
  const auto make = [&](Op o, Id a, Id b) { return g_.make(o, DType::index, {a, b}); };
  const Op floor = op == Op::CDIV ? Op::FLOORDIV : Op::FLOORMOD;
  const Id zero = g_.index(0);
  if (const Id both = quotient_form(g_, simplify_.bounds(), op, x, d); both != no_id) return both;
  if (simplify_.bounds()(d).min < 1) return no_id;
  const Id of_negative = make(Op::SUB, zero, make(floor, make(Op::SUB, zero, x), d)), of_other = make(floor, x, d);
  return g_.make(Op::WHERE, DType::index, {g_.make(Op::LE, DType::boolean, {zero, x}), of_other, of_negative});
}

// The form of an operation of type d over the forms x. `id`: its node; no_id if wrapping does not matter.
Id IndexForms::form(Op op, std::span<const Id> x, DType d, Id id) {
  const auto make = [&](Op o, Id a, Id b) { return g_.make(o, DType::index, {a, b}); };
  const auto nonnegative = [&](Id a) { return simplify_.bounds()(a).min >= 0; };
  switch (op) {
    case Op::NEG: return make(Op::SUB, g_.index(0), x[0]);
    case Op::CAST: return x[0];
    case Op::WHERE: return g_.make(Op::WHERE, DType::index, {x[0], x[1], x[2]});
    case Op::CDIV:
    case Op::CMOD: return quotient(op, x[0], x[1]);
    case Op::SHL:
    case Op::SHR: {
      if (d == DType::index) return make(op, x[0], x[1]);
      if (const Id shift = shift_form(g_, op, x[0], x[1], bits(d), most_shift); shift != no_id) return shift;
      if (id != no_id)
        if (const Id two = power(id, x[1], std::min(bits(d), 32)); two != no_id)
          return make(op == Op::SHL ? Op::MUL : Op::FLOORDIV, x[0], two);
      return op == Op::SHR && id != no_id && nonnegative(x[0]) ? named(id, {0, simplify_.bounds()(x[0]).max}) : no_id;
    }
    case Op::AND: {
      for (const std::size_t at : {1u, 0u})
        if (const Id rest = masked(x[1 - at], x[at]); rest != no_id) return rest;
      return make(op, x[0], x[1]);
    }
    default: return make(op, x[0], x[1]);
  }
}

// The form of a result that may wrap: exact - 2^width * wraps, with a name for the number of wraps. Else a name for the result.
Id IndexForms::wrapped(Id id, Id exact) {
  const Op op = g_.op(id);
  const DType d = g_.dtype(id);
  if ((op != Op::ADD && op != Op::SUB && op != Op::MUL && op != Op::NEG && op != Op::SHL) || bits(d) > 32 ||
      !fits(exact, DType::i64))
    return named(id);
  const Interval i = simplify_.bounds()(exact);
  const std::int64_t modulus = std::int64_t{1} << bits(d), least = known_dtype(d).interval.min;
  const std::string name = std::string(wraps_prefix) + std::to_string(id);
  facts_.syms[name] = {floor_div(i.min - least, modulus), floor_div(i.max - least, modulus), 1};
  names_.push_back({g_.sym(name), id});
  const Id wraps = g_.make(Op::MUL, DType::index, {names_.back().name, g_.index(modulus)});
  return simplify_(g_.make(Op::SUB, DType::index, {exact, wraps}));
}

Id IndexForms::condition(Id id) {
  if (g_.op(id) == Op::CONST) return id;
  std::vector<Id> src;
  needs(id, src);
  if (src.empty()) return g_.make(Op::NE, DType::boolean, {named(id), g_.index(0)});
  for (Id& s : src) s = done_.at(s);
  return simplify_(g_.make(g_.op(id), DType::boolean, src));
}

// Appends the nodes whose forms the form of `id` needs.
void IndexForms::needs(Id id, std::vector<Id>& out) {
  const Op op = g_.op(id);
  const auto src = g_.src(id);
  const auto all = [&] { out.insert(out.end(), src.begin(), src.end()); };
  if (op == Op::RANGE) {
    out.push_back(src[0]);
    if (const Id end = loop_end(id); end != no_id) out.push_back(end);
  } else if (op == Op::CARRY) {
    if (loop_of(id) != no_id) out.push_back(src[1]);
  } else if (g_.dtype(id) == DType::boolean) {
    if ((is_comparison(op) && is_number(g_.dtype(src[0]))) || op == Op::AND || op == Op::OR || op == Op::NOT) all();
  } else if (is_number(g_.dtype(id)) && has_form(op) && (op != Op::CAST || is_number(g_.dtype(src[0])))) {
    all();
  }
}

// The form of a node, once the forms that it needs are known.
Id IndexForms::made(Id id) {
  const Op op = g_.op(id);
  const DType d = g_.dtype(id);
  if (d == DType::boolean) return condition(id);
  if (op == Op::RANGE) return range(id);
  if (op == Op::CARRY) return carried(id);
  if (op == Op::SYM) return id;
  if (op == Op::CONST) {
    const std::int64_t v = g_.value(id);
    return v >= (d == DType::u64 ? 0 : -exact_limit) && v <= exact_limit ? g_.index(v) : named(id);
  }
  if (!has_form(op) || (op == Op::CAST && !is_number(g_.dtype(g_.operand(id))))) return named(id);
  std::vector<Id> src;
  for (const Id s : g_.src(id)) src.push_back(done_.at(s));
  Id exact = form(op, src, d, id);
  if (exact != no_id) exact = simplify_(exact);
  const bool is_cut = op == Op::CAST && d == DType::index && g_.dtype(g_.operand(id)) == DType::u64;
  if (exact == no_id || (is_cut && !fits(exact, DType::i64))) return named(id);
  if (never_wraps(op) || fits(exact, d)) return exact;
  wrapping_.insert(id);
  const Id value = wrapped(id, exact);
  if (value == names_.back().name) exact_.push_back({value, exact});
  return value;
}

Id IndexForms::operator()(Id value) {
  std::vector<Id> stack{value}, wanted;
  while (!stack.empty()) {
    const Id id = stack.back();
    if (done_.contains(id)) {
      stack.pop_back();
      continue;
    }
    wanted.clear();
    needs(id, wanted);
    const std::size_t before = stack.size();
    for (const Id n : wanted)
      if (!done_.contains(n)) stack.push_back(n);
    if (stack.size() == before) done_[id] = made(id);
  }
  return done_.at(value);
}

// An index that is congruent to the integer modulo loose_modulus. So it may ignore all wraps.
Id IndexForms::loose(Id value) {
  std::vector<Id> stack{value};
  std::unordered_map<Id, Id> done;
  while (!stack.empty()) {
    const Id id = stack.back();
    const bool inner = wraps_alike(g_.op(id)) && is_int(g_.dtype(id)) && is_int(g_.dtype(g_.src(id, 0)));
    const std::size_t before = stack.size();
    if (inner && !done.contains(id))
      for (const Id s : g_.src(id))
        if (!done.contains(s)) stack.push_back(s);
    if (stack.size() != before) continue;
    stack.pop_back();
    if (done.contains(id)) continue;
    if (!inner) {
      done[id] = (*this)(id);
      continue;
    }
    std::vector<Id> src;
    for (const Id s : g_.src(id)) src.push_back(done.at(s));
    done[id] = form(g_.op(id), src, DType::index, no_id);
  }
  return done.at(value);
}

// Adds x % m == c, or x & (m - 1) == c, for a power of two m up to loose_modulus. False: x has another form.
bool IndexForms::remainder(Conditions& to, Id x, Id c, bool equal) {
  const Op op = g_.op(x);
  if (!is_int(g_.dtype(x)) || (op != Op::CMOD && op != Op::FLOORMOD && op != Op::AND)) return false;
  const auto [dividend, divisor] = g_.operands<2>(x);
  if (!g_.is_const(divisor)) return false;
  const std::int64_t m = g_.value(divisor) + (op == Op::AND ? 1 : 0);
  if (m < 2 || m > loose_modulus || (m & (m - 1)) != 0) return false;
  Id value = g_.make(Op::SUB, DType::index, {loose(dividend), (*this)(c)});
  if (!equal) {  // remainders by 2: != 0 means == 1, and != 1 means == 0 (CMOD may also give -1)
    const bool other = m == 2 && g_.is_const(c) && (g_.value(c) == 0 || (g_.value(c) == 1 && op != Op::CMOD));
    if (!other) return false;
    value = g_.make(Op::ADD, DType::index, {value, g_.index(1)});
  }
  to.multiples.push_back({value, m});
  return true;
}

void IndexForms::compare(Conditions& to, Op op, Id a, Id b, bool holds) {
  if (op == Op::EQ || op == Op::NE) {
    const bool equal = (op == Op::EQ) == holds;
    if (remainder(to, a, b, equal) || remainder(to, b, a, equal)) return;
    (equal ? to.zero : to.nonzero).push_back(g_.make(Op::SUB, DType::index, {(*this)(a), (*this)(b)}));
    return;
  }
  const Id less = (*this)(holds ? a : b), more = (*this)(holds ? b : a);
  const bool strict = (op == Op::LT) == holds;
  const Id difference = g_.make(Op::SUB, DType::index, {more, less});
  to.nonnegative.push_back(strict ? g_.make(Op::SUB, DType::index, {difference, g_.index(1)}) : difference);
}

void IndexForms::add(Conditions& to, Id condition, bool holds) {
  std::vector<std::pair<Id, bool>> open{{condition, holds}};
  while (!open.empty()) {
    const auto [id, now] = open.back();
    open.pop_back();
    const Op op = g_.op(id);
    const std::vector<Id> src = g_.sources(id);
    if (op == Op::NOT) {
      open.emplace_back(src[0], !now);
    } else if (op == (now ? Op::AND : Op::OR)) {
      open.emplace_back(src[0], now);
      open.emplace_back(src[1], now);
    } else if (op == Op::AND || op == Op::OR) {
      const Id form = (*this)(id);
      to.either.push_back(now ? form : g_.make(Op::NOT, DType::boolean, {form}));
    } else if (op == Op::CONST) {
      if ((g_.value(id) != 0) != now) to.nonnegative.push_back(g_.index(-1));
    } else if (is_comparison(op) && is_number(g_.dtype(src[0]))) {
      compare(to, op, src[0], src[1], now);
    }
  }
}

}  // namespace kiln::compiler
