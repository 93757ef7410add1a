#include "compiler/proof/smt_terms.h"

#include <algorithm>
#include <bit>

namespace kiln::compiler {
namespace {

std::string call(const std::string& f, const std::string& a, const std::string& b) { return "(" + f + " " + a + " " + b + ")"; }
std::string number(std::int64_t v) {
  if (v >= 0) return std::to_string(v);
  return "(- " + std::to_string(v).substr(1) + ")";  // drops the sign from the text, because -INT64_MIN overflows
}
// Maximums from here on are left out. This is safe, since it only weakens the assumptions, and Z3 is slow with
// products of large bounds.
constexpr std::int64_t far = std::int64_t{1} << 30;

bool is_number(const std::string& t) { return t[0] == '(' || (t[0] >= '0' && t[0] <= '9'); }

std::string choice(const std::string& c, const std::string& a, const std::string& b) {
  return "(ite " + c + " " + a + " " + b + ")";
}

}  // namespace

bool SmtTerms::define(Id root) {
  for (Id id : g_.reachable(root)) {
    if (terms_.contains(id) || (g_.dtype(id) != DType::index && g_.dtype(id) != DType::boolean)) continue;
    const std::string t = g_.dtype(id) == DType::boolean ? condition(id) : term(id);
    if (t.empty()) return false;
    terms_[id] = name(id, t);
  }
  return true;
}

void SmtTerms::relate_multiples() {
  for (const auto& [n, factors] : multiplied_) {
    if (is_number(n)) continue;  // multiples of a number are linear anyway
    for (std::size_t i = 0; i < factors.size(); ++i)
      for (std::size_t j = 0; j < factors.size(); ++j)
        if (factors[i] != factors[j]) relate(n, factors[i], factors[j]);
  }
}

void SmtTerms::relate_everything() {
  std::vector<std::string> all = {"0", "1"};
  for (const auto& [key, qr] : witnesses_)
    for (const std::string& t : {std::get<1>(key), qr.first, qr.second})
      if (std::ranges::find(all, t) == all.end()) all.push_back(t);
  for (const std::string& n : deciding_) multiplied_[n] = all;
  relate_multiples();
}

void SmtTerms::relate_goal(Id lhs, Id rhs) {
  const bool equation = g_.op(lhs) == Op::EQ && g_.is_const(rhs);
  if (!equation && g_.dtype(lhs) == DType::boolean) return;
  const std::string a = equation ? at(lhs, 0) : terms_.at(lhs), b = equation ? at(lhs, 1) : terms_.at(rhs);
  for (const std::string& n : deciding_) multiplied_[n].insert(multiplied_[n].end(), {a, b});
}

void SmtTerms::relate_quotients(const QuotientPair& p) {
  std::string shifted = "(+ " + quotient(p.second);
  for (const QuotientTerm& t : p.shift) {
    shifted += " (* " + number(t.coefficient);
    for (Id s : t.symbols) shifted += " " + terms_.at(s);
    for (Id q : t.quotients) shifted += " " + quotient(q);
    shifted += ")";
  }
  shifted += ")";
  relate(at(p.first, 1), quotient(p.first), shifted);
  relate(at(p.first, 1), shifted, quotient(p.first));
}

std::string SmtTerms::name(Id id, const std::string& t) {
  if (g_.src(id).empty() || g_.op(id) == Op::RANGE) return t;
  const std::string n = "t" + std::to_string(id);
  declarations_ += "(define-fun " + n + " () " + (g_.dtype(id) == DType::boolean ? "Bool" : "Int") + " " + t + ")\n";
  return n;
}

std::string SmtTerms::variable(const std::string& n) {
  declarations_ += "(declare-const " + n + " Int)\n";
  return n;
}

std::string SmtTerms::symbol(Id id) {
  const std::string v = variable("v_" + std::string(g_.name(id)));
  if (facts_ == nullptr) return v;
  const SymFact f = facts_->of(g_.name(id));
  declarations_ += "(assert (<= " + number(f.min) + " " + v + "))\n";
  if (f.max < far) declarations_ += "(assert (<= " + v + " " + number(f.max) + "))\n";
  if (f.multiple_of > 1)
    declarations_ += "(assert (= " + v + " (* " + number(f.multiple_of) + " " + variable("m_" + v) + ")))\n";
  return v;
}

std::string SmtTerms::range(Id id) {
  const std::string v = variable("v_r" + std::to_string(g_.range_number(id)));
  declarations_ += "(assert (and (<= 0 " + v + ") (< " + v + " " + at(id, 0) + ")))\n";
  return v;
}

std::string SmtTerms::term(Id id) {
  switch (g_.op(id)) {
    case Op::CONST: return number(g_.value(id));
    case Op::SYM: return symbol(id);
    case Op::RANGE: return range(id);
    case Op::CAST:
    case Op::LOAD: return variable("v_x" + std::to_string(id));
    case Op::ADD: return call("+", at(id, 0), at(id, 1));
    case Op::SUB: return call("-", at(id, 0), at(id, 1));
    case Op::MUL: return product(id);
    case Op::NEG: return "(- " + at(id, 0) + ")";
    case Op::ABS: return choice("(< " + at(id, 0) + " 0)", "(- " + at(id, 0) + ")", at(id, 0));
    case Op::FLOORDIV: return divided(at(id, 0), at(id, 1), false).first;
    case Op::FLOORMOD: return divided(at(id, 0), at(id, 1), false).second;
    case Op::CDIV: return divided(at(id, 0), at(id, 1), true).first;
    case Op::CMOD: return divided(at(id, 0), at(id, 1), true).second;
    case Op::MIN: return choice(call("<=", at(id, 0), at(id, 1)), at(id, 0), at(id, 1));
    case Op::MAX: return choice(call("<=", at(id, 0), at(id, 1)), at(id, 1), at(id, 0));
    case Op::WHERE: return choice(at(id, 0), at(id, 1), at(id, 2));
    case Op::AND: return masked(id);
    case Op::SHL:
    case Op::SHR: return shifted(id);
    default: return "";
  }
}

std::string SmtTerms::condition(Id id) {
  const Op op = g_.op(id);
  if (op == Op::CONST) return g_.value(id) != 0 ? "true" : "false";
  const bool carried = op == Op::CARRY || op == Op::GET;
  // A condition that depends on data may be true or false.
  if (carried || std::ranges::any_of(g_.src(id), [&](Id s) { return !terms_.contains(s); })) {
    declarations_ += "(declare-const b" + std::to_string(id) + " Bool)\n";
    return "b" + std::to_string(id);
  }
  switch (op) {
    case Op::WHERE: return choice(at(id, 0), at(id, 1), at(id, 2));
    case Op::LT: return call("<", at(id, 0), at(id, 1));
    case Op::LE: return call("<=", at(id, 0), at(id, 1));
    case Op::EQ: return call("=", at(id, 0), at(id, 1));
    case Op::NE: return "(not (= " + at(id, 0) + " " + at(id, 1) + "))";
    case Op::NOT: return "(not " + at(id, 0) + ")";
    case Op::AND: return call("and", at(id, 0), at(id, 1));
    case Op::OR: return call("or", at(id, 0), at(id, 1));
    case Op::XOR: return call("xor", at(id, 0), at(id, 1));
    default: return "";
  }
}

std::string SmtTerms::product(Id id) {
  multiplied_[at(id, 0)].push_back(at(id, 1));
  multiplied_[at(id, 1)].push_back(at(id, 0));
  return times(at(id, 0), at(id, 1));
}

std::string SmtTerms::times(const std::string& a, const std::string& b) {
  if (!opaque_ || is_number(a) || is_number(b)) return call("*", a, b);
  std::string& p = products_[std::minmax(a, b)];
  if (!p.empty()) return p;
  p = variable("p" + std::to_string(products_.size()));
  declarations_ += "(assert (=> (and (<= 0 " + a + ") (<= 0 " + b + ")) (<= 0 " + p + ")))\n";
  return p;
}

// x & (2^k - 1) = x % 2^k, for negative x too.
std::string SmtTerms::masked(Id id) {
  const Id m = g_.src(id, 1);
  const std::int64_t mask = g_.is_const(m) ? g_.value(m) : -1;
  if (mask < 0 || mask == INT64_MAX || !std::has_single_bit(static_cast<std::uint64_t>(mask) + 1)) return "";
  return divided(at(id, 0), number(mask + 1), false).second;
}

std::string SmtTerms::shifted(Id id) {
  const Id k = g_.src(id, 1);
  if (!g_.is_const(k) || g_.value(k) < 0 || g_.value(k) > 62) return "";
  const std::string power = number(std::int64_t{1} << g_.value(k));
  return g_.op(id) == Op::SHL ? call("*", at(id, 0), power) : divided(at(id, 0), power, false).first;
}

// The quotient and remainder of x by n, rounded down or toward zero.
std::pair<std::string, std::string> SmtTerms::divided(const std::string& x, const std::string& n, bool toward_zero) {
  auto& known = witnesses_[{x, n, toward_zero}];
  if (!known.first.empty()) return known;
  const std::string k = std::to_string(witnesses_.size()), q = "q" + k, r = "r" + k;
  known = {q, r};
  for (const std::string& t : {n, x})
    if (!is_number(t) && (t == n || toward_zero) && std::ranges::find(deciding_, t) == deciding_.end()) deciding_.push_back(t);
  if (signs_.contains(n)) {
    divide_in_case(x, n, toward_zero, known);
    return known;
  }
  declarations_ += "(declare-const " + q + " Int)\n(declare-const " + r + " Int)\n";
  const std::string up = "(and (<= 0 " + r + ") (< " + r + " " + n + "))",
                    down = "(and (< " + n + " " + r + ") (<= " + r + " 0))";
  const std::string up_n = "(and (<= 0 " + r + ") (< " + r + " (- " + n + ")))",
                    down_n = "(and (< (- " + n + ") " + r + ") (<= " + r + " 0))";
  const std::string sign = toward_zero ? "(ite (<= 0 " + x + ") (or " + up + " " + up_n + ") (or " + down + " " + down_n + "))"
                                       : "(ite (< 0 " + n + ") " + up + " " + down + ")";
  declarations_ += "(assert (ite (= " + n + " 0) (and (= " + q + " 0) (= " + r + " 0)) (and (= " + x + " (+ " + times(n, q) +
                   " " + r + ")) " + sign + ")))\n";
  multiplied_[n].push_back(q);
  return known;
}

void SmtTerms::divide_in_case(const std::string& x, const std::string& n, bool toward_zero,
                              const std::pair<std::string, std::string>& known) {
  const auto& [q, r] = known;
  const int sign = signs_.at(n);
  if (sign == 0) {
    declarations_ += "(define-fun " + q + " () Int 0)\n(define-fun " + r + " () Int 0)\n";
    return;
  }
  const std::string size = sign > 0 ? n : "(- " + n + ")";
  declarations_ += "(declare-const " + q + " Int)\n(define-fun " + r + " () Int (- " + x + " (* " + n + " " + q + ")))\n";
  if ((toward_zero ? signs_.at(x) : sign) >= 0)
    declarations_ += "(assert (<= 0 " + r + "))\n(assert (< " + r + " " + size + "))\n";
  else
    declarations_ += "(assert (<= " + r + " 0))\n(assert (< (- " + size + ") " + r + "))\n";
  multiplied_[n].push_back(q);
}

void SmtTerms::relate(const std::string& n, const std::string& u, const std::string& v) {
  const std::string nu = times(n, u), nv = times(n, v);
  declarations_ += "(assert (=> (and (< 0 " + n + ") (< " + u + " " + v + ")) (<= (+ " + nu + " " + n + ") " + nv + ")))\n";
  declarations_ += "(assert (=> (and (< " + n + " 0) (< " + u + " " + v + ")) (>= (+ " + nu + " " + n + ") " + nv + ")))\n";
}

}  // namespace kiln::compiler
