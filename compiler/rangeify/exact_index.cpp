#include "compiler/rangeify/exact_index.h"

#include <algorithm>

#include "compiler/symbolic/integer_forms.h"
#include "compiler/symbolic/prove.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t most_shift = 32;  // results of longer shifts seldom fit

}  // namespace

// An interval knows only how large each part may be. k + 1 + i with i < n - k - 1 is at most n - 1: that takes the sum.
bool ExactIndex::fits(Id index, DType d) {
  const Interval i = simplify_.bounds()(index), all = exact_values(d);
  const Facts& facts = simplify_.bounds().facts();
  return (i.min >= all.min || prove_le(g_, g_.index(all.min), index, facts)) &&
         (i.max <= all.max || prove_le(g_, index, g_.index(all.max), facts));
}

Id ExactIndex::of_memory(Id id) {
  const DType d = g_.dtype(id);
  if (d == DType::u64) return no_id;
  const Id index = g_.make(Op::CAST, DType::index, {id});
  if (d != DType::i64) return index;
  const Id low = g_.make(Op::MAX, DType::index, {index, g_.index(-exact_limit)});
  return g_.make(Op::MIN, DType::index, {low, g_.index(exact_limit)});
}

Id ExactIndex::uncut(Id index) const {
  if (g_.op(index) != Op::MIN) return index;
  const auto [low, most] = g_.operands<2>(index);
  if (g_.op(low) != Op::MAX || !g_.is_index_const(most, exact_limit)) return index;
  const auto [x, least] = g_.operands<2>(low);
  return g_.is_index_const(least, -exact_limit) ? x : index;
}

Id ExactIndex::lifted(Id id) {
  const DType d = g_.dtype(id);
  const Op op = g_.op(id);
  if (op == Op::CONST) {
    const std::int64_t v = g_.value(id);
    return v >= -exact_limit && v <= exact_limit ? g_.index(v) : no_id;
  }
  if (op == Op::CAST) {
    const Id x = g_.operand(id), from = g_.dtype(x) == DType::index ? x : is_int(g_.dtype(x)) ? done_.at(x) : no_id;
    return from != no_id && fits(from, d) ? from : no_id;
  }
  if (!is_index_arithmetic(op)) return no_id;
  std::vector<Id> src = g_.sources(id);
  for (Id& s : src) {
    s = done_.at(s);
    if (s == no_id) return no_id;
  }
  const Id made = form(op, src, bits(d));
  return made != no_id && fits(made, d) ? made : no_id;
}

// The same operation on index values; no_id if index arithmetic does not have it.
Id ExactIndex::form(Op op, std::span<const Id> x, int width) {
  const auto make = [&](Op o, Id a, Id b) { return g_.make(o, DType::index, {a, b}); };
  switch (op) {
    case Op::NEG: return make(Op::SUB, g_.index(0), x[0]);
    case Op::CDIV:
    case Op::CMOD: return quotient_form(g_, simplify_.bounds(), op, x[0], x[1]);
    case Op::SHL:
    case Op::SHR: return shift_form(g_, op, x[0], x[1], width, most_shift);
    case Op::AND: {  // x & (2^k - 1) is x % 2^k
      const Id mask = g_.is_const(x[1]) ? x[1] : x[0], value = mask == x[1] ? x[0] : x[1];
      if (!g_.is_const(mask) || g_.value(mask) < 0 || g_.value(mask) >= exact_limit) return no_id;
      const std::int64_t size = g_.value(mask) + 1;
      return (size & (size - 1)) == 0 ? make(Op::FLOORMOD, value, g_.index(size)) : no_id;
    }
    default: return make(op, x[0], x[1]);
  }
}

std::vector<Id> ExactIndex::inside(Id value) const {
  std::vector<Id> todo{value}, found{value};
  std::unordered_set<Id> seen{value};
  while (!todo.empty() && found.size() <= most_nodes) {
    const Id id = todo.back();
    todo.pop_back();
    if (g_.op(id) != Op::CAST && !is_index_arithmetic(g_.op(id))) continue;
    for (const Id s : g_.src(id))
      if (is_int(g_.dtype(s)) && seen.insert(s).second) {
        todo.push_back(s);
        found.push_back(s);
      }
  }
  std::ranges::sort(found);
  return found;
}

Id ExactIndex::operator()(Id value) {
  if (g_.dtype(value) == DType::index) return value;
  const std::vector<Id> nodes = is_int(g_.dtype(value)) ? inside(value) : std::vector<Id>{};
  if (nodes.empty() || nodes.size() > most_nodes) return no_id;
  for (const Id id : nodes)
    if (!done_.contains(id)) {
      const Id exact = lifted(id);
      done_[id] = exact != no_id ? exact : of_memory(id);
      if (exact == no_id || std::ranges::any_of(g_.src(id), [&](Id s) { return of_data_.contains(s); })) of_data_.insert(id);
    }
  return done_.at(value);
}

Id ExactIndex::without_data(Id value) {
  const Id index = (*this)(value);
  return of_data_.contains(value) ? no_id : index;
}

}  // namespace kiln::compiler
