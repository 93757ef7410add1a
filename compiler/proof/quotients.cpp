#include "compiler/proof/quotients.h"

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/symbolic/linear.h"

namespace kiln::compiler {
namespace {

using namespace symbolic;

// s / t for a monomial t; nullopt: t does not divide every term.
std::optional<Poly> divided_by(const Poly& s, const Monomial& t) {
  Poly out;
  for (Monomial q : s) {
    if (q.coefficient % t.coefficient != 0) return std::nullopt;
    q.coefficient /= t.coefficient;
    for (Id a : t.atoms) {
      const auto at = std::ranges::find(q.atoms, a);
      if (at == q.atoms.end()) return std::nullopt;
      q.atoms.erase(at);
    }
    out.push_back(std::move(q));
  }
  return out;
}

struct Division {
  Id node;               // node of the rule
  Id dividend, divisor;  // with remainders replaced
};

class Divisions {
 public:
  Divisions(Graph& g, const std::vector<Id>& roots) : g_(g) {
    for (Id id : g.reachable(roots)) expanded_[id] = expand(id);
  }

  std::vector<QuotientPair> pairs() const {
    std::vector<QuotientPair> out;
    for (std::size_t i = 0; i < all_.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (all_[i].divisor == all_[j].divisor && all_[i].dividend != all_[j].dividend)
          if (auto shift = shift_of(all_[i], all_[j])) out.push_back({all_[i].node, all_[j].node, *std::move(shift)});
    return out;
  }

 private:
  Id expand(Id id) {
    std::vector<Id> src = g_.sources(id);
    for (Id& s : src) s = expanded_.at(s);
    const Op op = g_.op(id);
    if (op != Op::FLOORDIV && op != Op::FLOORMOD) return src.empty() ? id : g_.with_src(id, src);
    const Id q = g_.make(Op::FLOORDIV, DType::index, {src[0], src[1]});
    all_.push_back({id, src[0], src[1]});
    quotient_of_.emplace(q, id);
    if (op == Op::FLOORDIV) return q;
    return g_.make(Op::SUB, DType::index, {src[0], g_.make(Op::MUL, DType::index, {src[1], q})});
  }

  std::optional<std::vector<QuotientTerm>> shift_of(const Division& a, const Division& b) const {
    const auto x = sum_of(g_, a.dividend), y = sum_of(g_, b.dividend), n = sum_of(g_, a.divisor);
    const auto difference = x && y ? plus(g_, *x, *y, -1) : std::nullopt;
    const auto k = difference && n && n->size() == 1 ? divided_by(*difference, n->front()) : std::nullopt;
    if (!k) return std::nullopt;
    std::vector<QuotientTerm> out;
    for (const Monomial& t : *k) {
      out.push_back({t.coefficient, {}, {}});
      for (Id atom : t.atoms) {
        const auto q = quotient_of_.find(atom);
        if (q != quotient_of_.end())
          out.back().quotients.push_back(q->second);
        else if (g_.op(atom) == Op::SYM)
          out.back().symbols.push_back(atom);
        else
          return std::nullopt;
      }
    }
    return out;
  }

  Graph& g_;
  std::map<Id, Id> expanded_, quotient_of_;
  std::vector<Division> all_;
};

}  // namespace

std::vector<QuotientPair> related_quotients(Graph& g, const std::vector<Id>& roots) { return Divisions(g, roots).pairs(); }

}  // namespace kiln::compiler
