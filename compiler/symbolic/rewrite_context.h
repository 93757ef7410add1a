// The data that rules work with: the graph, bounds, sums and proofs. It keeps results from node to node.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <tuple>

#include "compiler/ir/graph.h"
#include "compiler/symbolic/bounds.h"
#include "compiler/symbolic/id_map.h"
#include "compiler/symbolic/linear.h"
#include "compiler/symbolic/prover.h"

namespace kiln::compiler {

class RewriteContext {
 public:
  RewriteContext(Graph& graph, Bounds& b) : g(graph), bounds(b), samples_(graph, b) {}

  // The sum of a node; nullptr: overflow. The pointer is valid as long as the context.
  const Poly* sum(Id id) {
    if (const auto* s = sums_.find(id)) return s->has_value() ? &**s : nullptr;
    const auto& s = sums_.set(id, symbolic::sum_of(g, id));
    return s.has_value() ? &*s : nullptr;
  }
  // The node of a sum in normal form. Remembers the sum for the next sum() of that node.
  Id keep(Poly s) {
    const Id id = index_from(g, s);
    if (!sums_.contains(id)) sums_.set(id, std::move(s));
    return id;
  }
  Id node(const Poly& s) { return index_from(g, s); }
  // A prover for which the RANGEs under n are inside their loops. The reference is valid until the next call.
  symbolic::Prover& prover(Id n) {
    if (!prover_ || prover_for_ != n) {
      prover_.emplace(g, bounds, std::span(&n, 1));
      prover_->use(samples_);
    }
    prover_for_ = n;
    return *prover_;
  }

  symbolic::Samples& samples() { return samples_; }
  // A branch of a choice, simplified under the assumption that the condition holds, or does not hold.
  Id branch_under(Id condition, bool holds, Id branch);

  Graph& g;
  Bounds& bounds;
  std::function<Id(const Facts&, Id)> simplified;  // simplifies a node by the same rules under other facts

 private:
  IdMap<std::optional<Poly>> sums_;
  symbolic::Samples samples_;
  std::optional<symbolic::Prover> prover_;
  Id prover_for_ = no_id;
  std::map<std::tuple<Id, bool, Id>, Id> branches_;
};

}  // namespace kiln::compiler
