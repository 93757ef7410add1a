// Rules with bit operations on variables, in bit-vectors. Variables are any 64-bit integers, and terms are wide enough to be
// exact. Products and divisions have a form only if one operand is a power of two: 1 << k or a constant.
#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include "compiler/proof/smt.h"

namespace kiln::compiler {
namespace {

constexpr int width = 160, variable_bits = 64, most_shift = 62;

std::string bv_number(std::int64_t v) {
  const std::string w = " " + std::to_string(width) + ")";
  if (v >= 0) return "(_ bv" + std::to_string(v) + w;
  return "(bvneg (_ bv" + std::to_string(v).substr(1) + w + ")";
}

class BitQuery {
 public:
  explicit BitQuery(const Graph& g) : g_(g) {}

  std::string declarations;

  bool define(Id root) {
    for (Id id : g_.reachable(root)) {
      if (terms_.contains(id)) continue;
      std::string t = term(id);
      if (t.empty() || bits_of(id) > width) return false;
      if (!g_.src(id).empty()) {
        const std::string n = "t" + std::to_string(id);
        declarations += "(define-fun " + n + " () " + (g_.dtype(id) == DType::boolean ? "Bool" : sort()) + " " + t + ")\n";
        t = n;
      }
      terms_[id] = t;
    }
    return true;
  }
  const std::string& operator[](Id id) const { return terms_.at(id); }

 private:
  static std::string sort() { return "(_ BitVec " + std::to_string(width) + ")"; }
  static std::string call(const std::string& f, const std::string& a, const std::string& b) {
    return "(" + f + " " + a + " " + b + ")";
  }
  std::string at(Id id, std::size_t i) const { return terms_.at(g_.src(id, i)); }

  // The number of bits that the value may need.
  int bits_of(Id id) {
    int widest = 1;
    for (Id s : g_.src(id)) widest = std::max(widest, bits_[s]);
    switch (g_.op(id)) {
      case Op::CONST:
      case Op::SYM: widest = variable_bits; break;
      case Op::ADD:
      case Op::SUB:
      case Op::NEG: ++widest; break;
      case Op::MUL:
      case Op::SHL: widest = bits_[g_.src(id, factor(id))] + most_shift; break;
      default: break;
    }
    return bits_[id] = widest;
  }

  // The number of the operand that is multiplied, divided or shifted by a power of two.
  std::size_t factor(Id id) const { return g_.op(id) == Op::MUL && g_.is_const(g_.src(id, 0)) ? 1 : 0; }
  // The exponent k of the other operand 2^k; empty: it is not a power of two.
  std::string exponent(Id id) const {
    const Id p = g_.src(id, 1 - factor(id));
    if (g_.op(p) == Op::SHL) {
      const auto [one, k] = g_.operands<2>(p);
      return g_.is_const(one) && g_.value(one) == 1 ? terms_.at(k) : std::string();
    }
    if (!g_.is_const(p) || g_.value(p) <= 0) return {};
    const auto power = static_cast<std::uint64_t>(g_.value(p));
    return std::has_single_bit(power) ? bv_number(std::countr_zero(power)) : std::string();
  }

  // A shift by a count outside 0..62 has no value. It becomes an arbitrary value, so that no proof depends on it.
  std::string shifted(const std::string& operation, const std::string& x, const std::string& k) {
    if (k.empty()) return {};
    const std::string none = "none" + std::to_string(nones_++);
    declarations += "(declare-const " + none + " " + sort() + ")\n";
    const std::string valid = "(and (bvsle " + bv_number(0) + " " + k + ") (bvsle " + k + " " + bv_number(most_shift) + "))";
    return "(ite " + valid + " " + call(operation, x, k) + " " + none + ")";
  }
  std::string remainder(Id id) {
    const std::string high = shifted("bvashr", at(id, 0), exponent(id));
    if (high.empty()) return {};
    return call("bvsub", at(id, 0), shifted("bvshl", high, exponent(id)));
  }

  std::string term(Id id) {
    const bool condition = g_.dtype(id) == DType::boolean;
    switch (g_.op(id)) {
      case Op::CONST: return condition ? (g_.value(id) != 0 ? "true" : "false") : bv_number(g_.value(id));
      case Op::SYM: {
        const std::string v = "v_" + std::string(g_.name(id));
        declarations += "(declare-const " + v + " (_ BitVec " + std::to_string(variable_bits) + "))\n";
        return "((_ sign_extend " + std::to_string(width - variable_bits) + ") " + v + ")";
      }
      case Op::ADD: return call("bvadd", at(id, 0), at(id, 1));
      case Op::SUB: return call("bvsub", at(id, 0), at(id, 1));
      case Op::NEG: return "(bvneg " + at(id, 0) + ")";
      case Op::MUL: return shifted("bvshl", at(id, factor(id)), exponent(id));
      case Op::FLOORDIV: return shifted("bvashr", at(id, 0), exponent(id));
      case Op::FLOORMOD: return remainder(id);
      case Op::SHL: return shifted("bvshl", at(id, 0), at(id, 1));
      case Op::SHR: return shifted("bvashr", at(id, 0), at(id, 1));
      case Op::AND: return call(condition ? "and" : "bvand", at(id, 0), at(id, 1));
      case Op::OR: return call(condition ? "or" : "bvor", at(id, 0), at(id, 1));
      case Op::XOR: return call(condition ? "xor" : "bvxor", at(id, 0), at(id, 1));
      case Op::NOT: return "(not " + at(id, 0) + ")";
      case Op::LT: return call("bvslt", at(id, 0), at(id, 1));
      case Op::LE: return call("bvsle", at(id, 0), at(id, 1));
      case Op::EQ: return call("=", at(id, 0), at(id, 1));
      case Op::NE: return "(not (= " + at(id, 0) + " " + at(id, 1) + "))";
      case Op::WHERE: return "(ite " + at(id, 0) + " " + at(id, 1) + " " + at(id, 2) + ")";
      default: return {};
    }
  }

  const Graph& g_;
  std::map<Id, std::string> terms_;
  std::map<Id, int> bits_;
  int nones_ = 0;
};

}  // namespace

std::optional<std::string> smt_bits_query(const ParsedRule& rule) {
  BitQuery q(rule.g);
  if (!q.define(rule.guard) || !q.define(rule.lhs) || !q.define(rule.rhs)) return std::nullopt;
  return "(set-logic ALL)\n" + q.declarations + "(assert " + q[rule.guard] + ")\n(assert (not (= " + q[rule.lhs] + " " +
         q[rule.rhs] + ")))\n(check-sat)\n";
}

}  // namespace kiln::compiler
