#include "compiler/proof/smt.h"

#include <bit>
#include <map>
#include <vector>

#include "compiler/proof/quotients.h"

namespace kiln::compiler {
namespace {

class Query {
 public:
  explicit Query(const Graph& g) : g_(g) {}

  // The node's value as a term; false: it has none.
  bool define(Id root) {
    const Id roots[] = {root};
    for (Id id : g_.reachable(roots)) {
      if (terms_.contains(id)) continue;
      std::string t = term(id);
      if (t.empty()) return false;
      terms_[id] = name(id, t);
    }
    return true;
  }
  const std::string& operator[](Id id) const { return terms_.at(id); }

  std::string declarations;

  // n*u + n <= n*v for u < v, for all pairs of what each divisor multiplies.
  void relate_multiples() {
    for (const auto& [n, factors] : multiplied_)
      for (std::size_t i = 0; i < factors.size(); ++i)
        for (std::size_t j = 0; j < factors.size(); ++j)
          if (i != j) relate(n, factors[i], factors[j]);
  }

  void relate_quotients(const QuotientPair& p) {
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

 private:
  std::string at(Id id, std::size_t i) const { return terms_.at(g_.src(id, i)); }
  static std::string call(const std::string& f, const std::string& a, const std::string& b) {
    return "(" + f + " " + a + " " + b + ")";
  }
  static std::string number(std::int64_t v) {
    if (v >= 0) return std::to_string(v);
    return "(- " + std::to_string(v).substr(1) + ")";  // the digits: -INT64_MIN has no int64
  }

  std::string quotient(Id division) { return divided(at(division, 0), at(division, 1), false).first; }

  std::string name(Id id, const std::string& t) {
    if (g_.src(id).empty()) return t;
    const std::string n = "t" + std::to_string(id);
    declarations += "(define-fun " + n + " () " + (g_.dtype(id) == DType::boolean ? "Bool" : "Int") + " " + t + ")\n";
    return n;
  }

  std::string term(Id id) {
    const bool condition = g_.dtype(id) == DType::boolean;
    switch (g_.op(id)) {
      case Op::CONST: return condition ? (g_.arg(id, 0) != 0 ? "true" : "false") : number(g_.arg(id, 0));
      case Op::SYM: {
        const std::string v = "v_" + std::string(g_.name(id));
        declarations += "(declare-const " + v + " Int)\n";
        return v;
      }
      case Op::ADD: return call("+", at(id, 0), at(id, 1));
      case Op::SUB: return call("-", at(id, 0), at(id, 1));
      case Op::MUL: return product(id);
      case Op::NEG: return "(- " + at(id, 0) + ")";
      case Op::ABS: return "(ite (< " + at(id, 0) + " 0) (- " + at(id, 0) + ") " + at(id, 0) + ")";
      case Op::FLOORDIV: return divided(at(id, 0), at(id, 1), false).first;
      case Op::FLOORMOD: return divided(at(id, 0), at(id, 1), false).second;
      case Op::CDIV: return divided(at(id, 0), at(id, 1), true).first;
      case Op::CMOD: return divided(at(id, 0), at(id, 1), true).second;
      case Op::MIN: return "(ite (<= " + at(id, 0) + " " + at(id, 1) + ") " + at(id, 0) + " " + at(id, 1) + ")";
      case Op::MAX: return "(ite (<= " + at(id, 0) + " " + at(id, 1) + ") " + at(id, 1) + " " + at(id, 0) + ")";
      case Op::WHERE: return "(ite " + at(id, 0) + " " + at(id, 1) + " " + at(id, 2) + ")";
      case Op::LT: return call("<", at(id, 0), at(id, 1));
      case Op::LE: return call("<=", at(id, 0), at(id, 1));
      case Op::EQ: return call("=", at(id, 0), at(id, 1));
      case Op::NE: return "(not (= " + at(id, 0) + " " + at(id, 1) + "))";
      case Op::NOT: return "(not " + at(id, 0) + ")";
      case Op::AND: return condition ? call("and", at(id, 0), at(id, 1)) : masked(id);
      case Op::OR: return condition ? call("or", at(id, 0), at(id, 1)) : "";
      case Op::XOR: return condition ? call("xor", at(id, 0), at(id, 1)) : "";
      case Op::SHL:
      case Op::SHR: return shifted(id);
      default: return "";
    }
  }

  std::string product(Id id) {
    multiplied_[at(id, 0)].push_back(at(id, 1));
    multiplied_[at(id, 1)].push_back(at(id, 0));
    return call("*", at(id, 0), at(id, 1));
  }

  // x & (2^k - 1) = x % 2^k, on negative x too.
  std::string masked(Id id) {
    const Id m = g_.src(id, 1);
    const std::int64_t mask = g_.is_const(m) ? g_.arg(m, 0) : -1;
    if (mask < 0 || mask == INT64_MAX || !std::has_single_bit(static_cast<std::uint64_t>(mask) + 1)) return "";
    return divided(at(id, 0), number(mask + 1), false).second;
  }
  std::string shifted(Id id) {
    const Id k = g_.src(id, 1);
    if (!g_.is_const(k) || g_.arg(k, 0) < 0 || g_.arg(k, 0) > 62) return "";
    const std::string power = number(std::int64_t{1} << g_.arg(k, 0));
    return g_.op(id) == Op::SHL ? call("*", at(id, 0), power) : divided(at(id, 0), power, false).first;
  }

  // Quotient and remainder of x by n, floored or toward zero.
  std::pair<std::string, std::string> divided(const std::string& x, const std::string& n, bool toward_zero) {
    auto& known = witnesses_[{x, n, toward_zero}];
    if (!known.first.empty()) return known;
    const std::string k = std::to_string(witnesses_.size()), q = "q" + k, r = "r" + k;
    known = {q, r};
    declarations += "(declare-const " + q + " Int)\n(declare-const " + r + " Int)\n";
    const std::string up = "(and (<= 0 " + r + ") (< " + r + " " + n + "))",
                      down = "(and (< " + n + " " + r + ") (<= " + r + " 0))";
    const std::string up_n = "(and (<= 0 " + r + ") (< " + r + " (- " + n + ")))",
                      down_n = "(and (< (- " + n + ") " + r + ") (<= " + r + " 0))";
    const std::string sign = toward_zero
                                 ? "(ite (<= 0 " + x + ") (or " + up + " " + up_n + ") (or " + down + " " + down_n + "))"
                                 : "(ite (< 0 " + n + ") " + up + " " + down + ")";
    declarations += "(assert (ite (= " + n + " 0) (and (= " + q + " 0) (= " + r + " 0)) (and (= " + x + " (+ (* " + n + " " +
                    q + ") " + r + ")) " + sign + ")))\n";
    multiplied_[n].push_back(q);
    return known;
  }

  void relate(const std::string& n, const std::string& u, const std::string& v) {
    const std::string nu = call("*", n, u), nv = call("*", n, v);
    declarations += "(assert (=> (and (< 0 " + n + ") (< " + u + " " + v + ")) (<= (+ " + nu + " " + n + ") " + nv + ")))\n";
    declarations += "(assert (=> (and (< " + n + " 0) (< " + u + " " + v + ")) (>= (+ " + nu + " " + n + ") " + nv + ")))\n";
  }

  const Graph& g_;
  std::map<Id, std::string> terms_;
  std::map<std::tuple<std::string, std::string, bool>, std::pair<std::string, std::string>> witnesses_;
  std::map<std::string, std::vector<std::string>> multiplied_;
};

}  // namespace

std::optional<std::string> smt_query(ParsedRule& rule, int limit) {
  Query q(rule.g);
  if (!q.define(rule.guard) || !q.define(rule.lhs) || !q.define(rule.rhs)) return std::nullopt;
  for (Id v : rule.variables)
    if (!q.define(v)) return std::nullopt;
  if (limit == 0) {
    q.relate_multiples();
    for (const QuotientPair& p : related_quotients(rule.g, {rule.guard, rule.lhs, rule.rhs})) q.relate_quotients(p);
  }
  std::string out = "(set-logic ALL)\n" + q.declarations;
  if (limit > 0)
    for (Id v : rule.variables)
      out += "(assert (<= (- " + std::to_string(limit) + ") " + q[v] + " " + std::to_string(limit) + "))\n";
  out += "(assert " + q[rule.guard] + ")\n(assert (not (= " + q[rule.lhs] + " " + q[rule.rhs] + ")))\n(check-sat)\n";
  if (!rule.variables.empty()) {
    out += "(get-value (";
    for (std::size_t i = 0; i < rule.variables.size(); ++i) out += (i == 0 ? "" : " ") + q[rule.variables[i]];
    out += "))\n";
  }
  return out;
}

}  // namespace kiln::compiler
