#include "compiler/interp/math.h"

#include <algorithm>
#include <vector>

#include "compiler/math/expand_math.h"

namespace kiln::compiler {
namespace {

constexpr std::size_t block = 1024;
constexpr std::size_t widest = 8;

std::vector<std::byte> widened(const Operand& o, DType from, std::size_t n) {
  std::vector<std::byte> out(n * sizeof(float));
  apply_elementwise(Op::CAST, DType::f32, from, {&o, 1}, out.data(), n);
  return out;
}

}  // namespace

const MathEvaluator::Expansion& MathEvaluator::expansion(Op op, DType type) {
  auto& e = expansions_[{op, type}];
  if (e) return *e;
  e = std::make_unique<Expansion>();
  for (int i = 0; i < arity(op); ++i) e->inputs.push_back(e->graph.make(Op::PARAM, type, {}, {i}));
  e->order = e->graph.reachable(expand_math(e->graph, op, type, e->inputs));
  return *e;
}

void MathEvaluator::apply(Op op, DType type, std::span<const Operand> operands, std::byte* out, std::size_t n) {
  if (bits(type) != 16) return apply_wide(op, type, operands, out, n);
  std::vector<std::vector<std::byte>> wide;
  std::vector<Operand> in;
  for (const Operand& o : operands) {
    wide.push_back(widened(o, type, o.scalar ? 1 : n));
    in.push_back({wide.back().data(), o.scalar});
  }
  std::vector<std::byte> result(n * sizeof(float));
  apply_wide(op, DType::f32, in, result.data(), n);
  const Operand r{result.data(), false};
  apply_elementwise(Op::CAST, type, DType::f32, {&r, 1}, out, n);
}

void MathEvaluator::apply_wide(Op op, DType type, std::span<const Operand> operands, std::byte* out, std::size_t n) {
  const Expansion& e = expansion(op, type);
  const Graph& g = e.graph;
  const std::size_t size = size_of(type);
  std::vector<std::vector<std::int64_t>> storage(g.size());
  std::vector<Operand> values(g.size());
  for (Id id : e.order) {
    storage[id].resize(g.is_const(id) ? 1 : std::min(block, n) * widest / sizeof(std::int64_t));
    if (g.is_const(id)) storage[id][0] = g.value(id);
    values[id] = {reinterpret_cast<const std::byte*>(storage[id].data()), g.is_const(id)};
  }
  std::vector<Operand> in;
  for (std::size_t begin = 0; begin < n; begin += block) {
    const std::size_t m = std::min(block, n - begin);
    for (std::size_t i = 0; i < e.inputs.size(); ++i)
      values[e.inputs[i]] = {operands[i].data + (operands[i].scalar ? 0 : begin * size), operands[i].scalar};
    for (Id id : e.order) {
      if (!is_elementwise(g.op(id))) continue;
      in.clear();
      for (Id s : g.src(id)) in.push_back(values[s]);
      std::byte* to = id == e.order.back() ? out + begin * size : reinterpret_cast<std::byte*>(storage[id].data());
      apply_elementwise(g.op(id), g.dtype(id), operand_type(g, id), in, to, m);
    }
  }
}

}  // namespace kiln::compiler
