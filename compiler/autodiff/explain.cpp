#include "compiler/autodiff/explain.h"

#include <algorithm>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/remark.h"
#include "compiler/ir/scopes.h"

namespace kiln::compiler::autodiff {
namespace {

std::string counted(std::size_t n, const std::string& what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }
std::string listed(const std::vector<std::string>& all) {
  constexpr std::size_t most = 8;
  std::string out;
  for (std::size_t i = 0; i < std::min(all.size(), most); ++i)
    out += (i == 0 ? "" : i + 1 == all.size() ? " and " : ", ") + all[i];
  return all.size() > most ? out + " and " + std::to_string(all.size() - most) + " more" : out;
}
void add(std::vector<std::string>& list, std::string text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(std::move(text));
}

class Explanation {
 public:
  Explanation(const Rules& rules, std::size_t before) : rules_(rules), g_(rules.e.g), before_(before) {}

  void pass(Id derivative, std::span<const Id> results) {
    for (const Id id : g_.reachable(results)) {
      if (id < before_) continue;
      visit(id);
      for (const Id s : g_.src(id))
        if (s < before_) read(s);
    }
    remark(g_, derivative, remarks::derivative, [&] { return text(derivative); });
  }

 private:
  void visit(Id id) {
    const Op op = g_.op(id);
    operations_ += is_elementwise(op) && g_.dtype(id) != DType::index;
    if (op == Op::REDUCE && operands_of(g_.reduce_kind(id)) == 2) {
      ++contractions_;
      remark(g_, id, remarks::contraction,
             [] { return std::string("the derivative by an operand is a sum of products; the products are not stored"); });
    }
    if (is_scope(op)) add(scopes_, rules_.at(id));
    const auto scatter = rules_.scatters.find(id);
    if (scatter == rules_.scatters.end()) return;
    ++scatters_;
    const bool in_order = g_.op(kernel_parts(g_, g_.scope(id)).final[0]) == Op::ATOMIC;
    remark(g_, id, remarks::scatter, [&] {
      return std::string("the derivative adds up the elements at places that data decide, ") +
             (in_order ? "one after another" : "in parallel over the axes that are not indexed");
    });
  }

  // A value of the program that the pass needs. Movement is no work, and a parameter is in memory.
  void read(Id id) {
    while (is_movement(g_.op(id)) || g_.op(id) == Op::MARK) id = g_.src(id, 0);
    const Op op = g_.op(id);
    const bool computed = is_elementwise(op) || op == Op::REDUCE || op == Op::SCAN || op == Op::GATHER || op == Op::GET;
    if (computed && is_float(g_.dtype(id)) && !rules_.e.constant_of(id)) add(reads_, rules_.at(id));
  }

  std::string text(Id derivative) const {
    std::string out = counted(operations_, "operation");
    if (contractions_ > 0) out += ", " + counted(contractions_, "contraction");
    if (scatters_ > 0) out += ", " + counted(scatters_, "scatter");
    if (g_.op(derivative) != Op::GRADIENT && !scopes_.empty()) out += "; tangents in " + listed(scopes_);
    if (!reads_.empty()) out += "; reads " + listed(reads_);
    return out;
  }

  const Rules& rules_;
  const Graph& g_;
  std::size_t before_, operations_ = 0, contractions_ = 0, scatters_ = 0;
  std::vector<std::string> reads_, scopes_;
};

}  // namespace

void explain(const Rules& rules, Id derivative, std::span<const Id> results, std::size_t before) {
  if (rules.e.g.remarks() != nullptr) Explanation(rules, before).pass(derivative, results);
}

}  // namespace kiln::compiler::autodiff
