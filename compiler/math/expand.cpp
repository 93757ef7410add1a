#include "compiler/math/expand.h"

#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/math/emit.h"

namespace kiln::compiler {
namespace {

Id expanded(Graph& g, Op op, std::span<const Id> operands) {
  const Value x{&g, operands[0]};
  switch (op) {
    case Op::EXP: return expand_exp(x).id;
    case Op::EXP2: return expand_exp2(x).id;
    case Op::LOG: return expand_log(x).id;
    case Op::LOG2: return expand_log2(x).id;
    case Op::SIN: return expand_sin(x).id;
    case Op::COS: return expand_cos(x).id;
    case Op::TAN: return expand_tan(x).id;
    case Op::TANH: return expand_tanh(x).id;
    case Op::ERF: return expand_erf(x).id;
    case Op::POW: return expand_pow(x, {&g, operands[1]}).id;
    case Op::RSQRT: return (real(x, 1) / sqrt(x)).id;
    default: throw std::logic_error("expand_math: not a transcendental");
  }
}

// Sources first, in their order.
std::vector<Id> in_order(const Graph& g, Id root) {
  std::vector<Id> out;
  std::vector<bool> done(g.size(), false);
  std::vector<std::pair<Id, std::size_t>> open{{root, 0}};
  while (!open.empty()) {
    auto& [id, next] = open.back();
    if (next < g.src(id).size()) {
      const Id s = g.src(id, next++);
      if (!done[s]) open.emplace_back(s, 0);
      continue;
    }
    if (!done[id]) out.push_back(id);
    done[id] = true;
    open.pop_back();
  }
  return out;
}

}  // namespace

// Made apart and then copied: in which order the terms of a C++ expression are evaluated is up to the compiler, so the order of
// new nodes would be, too.
Id expand_math(Graph& g, Op op, DType d, std::span<const Id> operands) {
  Graph apart;
  std::vector<Id> places;
  for (std::size_t i = 0; i < operands.size(); ++i)
    places.push_back(apart.make(Op::BUFFER, d, {}, {static_cast<std::int64_t>(i)}));
  const Id root = expanded(apart, op, places);
  std::unordered_map<Id, Id> now;
  std::vector<Id> src;
  for (const Id id : in_order(apart, root)) {
    if (apart.op(id) == Op::BUFFER) {
      now[id] = operands[static_cast<std::size_t>(apart.arg(id, 0))];
      continue;
    }
    src.clear();
    for (const Id s : apart.src(id)) src.push_back(now.at(s));
    now[id] = g.make(apart.op(id), apart.dtype(id), src, apart.args(id));
  }
  return now.at(root);
}

}  // namespace kiln::compiler
