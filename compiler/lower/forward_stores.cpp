#include "compiler/lower/forward_stores.h"

#include "compiler/lower/access.h"
#include "compiler/lower/linear_index.h"
#include "compiler/lower/rewrite.h"

namespace kiln::compiler {
namespace {

constexpr int most_stores = 64;  // for one LOAD, so that compile time stays linear

bool is_always(const Graph& g, Id gate) { return g.is_const(gate) && g.value(gate) != 0; }

// Whether the two indices are different in every iteration. The comparison is exact: if a coefficient or the constant would
// overflow, linear_index returns the whole index as one term.
bool differ(const Graph& g, Id a, Id b) {
  const LinearIndex x = linear_index(g, a), y = linear_index(g, b);
  return x.terms == y.terms && x.constant != y.constant;
}

}  // namespace

Id forward_stores(Graph& g, Id sink) {
  return rewrite(g, sink, [&](Id id, std::span<const Id> x) -> Id {
    if (g.op(id) != Op::LOAD) return no_id;
    const Id index = x[1];
    const bool always = x.size() <= 3 || is_always(g, x[3]);
    Id state = x[0];
    for (int i = 0; i < most_stores && g.op(state) == Op::STORE; ++i, state = g.state(state)) {
      const auto store = g.src(state);
      if (store[1] == index && always && (store.size() <= 3 || is_always(g, store[3])) && g.dtype(store[2]) == g.dtype(id))
        return store[2];
      if (!differ(g, index, store[1])) break;
    }
    if (state == x[0]) return no_id;
    std::vector<Id> s(x.begin(), x.end());
    s[0] = state;
    return g.with_src(id, s);
  });
}

}  // namespace kiln::compiler
