#include "compiler/lower/serial_atomics.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "compiler/ir/remark.h"
#include "compiler/ir/state.h"
#include "compiler/lower/access.h"
#include "compiler/lower/rewrite.h"

namespace kiln::compiler {
namespace {

AtomicKind kind_of(const Graph& g, Id atomic) { return g.atomic_kind(atomic); }

// The bits of a float, for compare_exchange: -0.0 differs from 0.0, and a NaN equals itself.
Id bits_of(Graph& g, Id x) {
  const DType d = g.dtype(x);
  if (!is_float(d)) return x;
  return g.make(Op::BITCAST, bytes(d) == 2 ? DType::u16 : bytes(d) == 4 ? DType::u32 : DType::u64, {x});
}

Id combined(Graph& g, AtomicKind kind, Id old, Id value, Id expected) {
  const DType d = g.dtype(value);
  switch (kind) {
    case AtomicKind::exchange: return value;
    case AtomicKind::compare_exchange:
      return g.make(Op::WHERE, d, {g.make(Op::EQ, DType::boolean, {bits_of(g, old), bits_of(g, expected)}), value, old});
    default: return g.make(operation_of(kind), d, {old, value});
  }
}

}  // namespace

namespace {

// Why the order of the node's ATOMIC matters; empty: it does not.
std::string_view why_in_order(const Graph& g, Id id) {
  if (g.op(id) == Op::OLD) return "it uses the value before an atomic operation";
  if (g.op(id) != Op::ATOMIC) return {};
  const AtomicKind kind = kind_of(g, id);
  if (kind == AtomicKind::exchange || kind == AtomicKind::compare_exchange) return "its exchanges store the last value";
  if (is_int(g.dtype(value_of(g, id)))) return {};
  const bool rounds = kind != AtomicKind::min && kind != AtomicKind::max;
  return rounds ? "its atomic operations are on floats, and rounding depends on the order"
                : "its atomic minima and maxima are of floats, for which the processor has no instruction";
}

}  // namespace

bool needs_order(const Graph& g, Id sink) {
  for (const Id id : g.reachable(sink)) {
    const std::string_view why = why_in_order(g, id);
    if (why.empty()) continue;
    remark(g, id, remarks::serial,
           [&] { return "the kernel runs one iteration after another, in one thread: " + std::string(why); });
    return true;
  }
  return false;
}

Id serial_atomics(Graph& g, Id sink) {
  if (!needs_order(g, sink)) return sink;
  std::unordered_map<Id, Id> old_of;  // STORE -> the LOAD before it
  return rewrite(g, sink, [&](Id id, std::span<const Id> x) -> Id {
    if (g.op(id) == Op::OLD) return old_of.at(x[0]);
    if (g.op(id) != Op::ATOMIC) return no_id;
    const Id state = x[0], gate = x[1], value = x[2], at = x.back();
    const DType d = g.dtype(value);
    const Id old = g.make(Op::LOAD, d, {state, at, g.constant(d, 0), gate});
    const Id next = combined(g, kind_of(g, id), old, value, x[3]);
    const Id store = g.make(Op::STORE, DType::none, {state, at, next, gate});
    old_of[store] = old;
    return store;
  });
}

}  // namespace kiln::compiler
