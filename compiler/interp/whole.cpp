#include "compiler/interp/whole.h"

#include <algorithm>
#include <numeric>

#include "compiler/interp/elementwise.h"
#include "compiler/interp/movement.h"
#include "compiler/interp/reduce.h"
#include "compiler/interp/scan.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/reduce_identity.h"

namespace kiln::compiler {

std::vector<std::int64_t> WholeEvaluator::extents_of(Id id) {
  std::vector<std::int64_t> out;
  for (Id e : shapes_.of(id)) out.push_back(extent(e));
  return out;
}

Array WholeEvaluator::zeros(DType d, std::vector<std::int64_t> extents) const { return Array::zeros(d, std::move(extents)); }

// The index values of n sources, from source `first` on.
std::vector<std::int64_t> WholeEvaluator::operands(Id id, std::size_t first, std::size_t n) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < n; ++i) out.push_back(extent(g_.src(id, first + i)));
  return out;
}

Array WholeEvaluator::operator()(Id id, std::span<const Array* const> sources) {
  const Op op = g_.op(id);
  if (is_elementwise(op)) return elementwise(id, sources);
  switch (op) {
    case Op::PARAM: return parameter(id);
    case Op::IOTA: return iota(id);
    case Op::REDUCE: return reduce(id, sources);
    case Op::SCAN: return scan_axis(g_.scan_kind(id), *sources[0], g_.slot(id, 1), g_.arg(id, 2) != 0, g_.arg(id, 3) != 0);
    case Op::GATHER: return gather_array(*sources[0], sources.subspan(1), extents_of(id));
    case Op::STAGE: return *sources[0];
    default: return movement(id, sources);
  }
}

Array WholeEvaluator::parameter(Id id) {
  const Array& given = nth(arguments_, g_.slot(id));
  // An output has no defined contents at entry, but writes need an array.
  return given.data.empty() ? zeros(given.dtype, given.extents) : given;
}

Array WholeEvaluator::iota(Id id) {
  const std::int64_t n = extent(g_.operand(id));
  std::vector<std::int64_t> count(static_cast<std::size_t>(n));
  std::iota(count.begin(), count.end(), std::int64_t{0});
  Array a = zeros(g_.dtype(id), {n});
  const Operand from{reinterpret_cast<const std::byte*>(count.data()), false};
  apply_elementwise(Op::CAST, a.dtype, DType::i64, {&from, 1}, a.data.data(), count.size());
  return a;
}

Array WholeEvaluator::elementwise(Id id, std::span<const Array* const> sources) {
  const Op op = g_.op(id);
  Array out = zeros(g_.dtype(id), extents_of(id));
  const std::size_t n = out.elements();
  std::vector<Operand> in;
  for (const Array* s : sources) in.push_back({s->data.data(), s->extents.empty()});
  const DType type = operand_type(g_, id);
  if (is_math(op))
    math_.apply(op, type, in, out.data.data(), n);
  else
    apply_elementwise(op, out.dtype, type, in, out.data.data(), n);
  return out;
}

Array WholeEvaluator::reduce(Id id, std::span<const Array* const> sources) {
  const ReduceKind kind = g_.reduce_kind(id);
  const std::vector<std::int64_t> axes(g_.args(id).begin() + 1, g_.args(id).end());
  Array x = *sources[0];
  if (kind == ReduceKind::dot) return reduce_dot(x, *sources[1]);
  if (kind == ReduceKind::fma) {
    std::vector<std::int64_t> order;  // kept axes, then reduced axes
    for (std::int64_t a = 0; a < std::ssize(x.extents); ++a)
      if (std::ranges::find(axes, a) == axes.end()) order.push_back(a);
    order.insert(order.end(), axes.begin(), axes.end());
    return reduce_fma(permute_array(x, order), permute_array(*sources[1], order), axes.size());
  }
  const DType result = g_.dtype(id);
  if (axes.size() > 1) x = converted(x, accumulation_dtype(x.dtype));
  for (std::size_t i = axes.size(); i-- > 0;) x = reduce_axis(kind, x, g_.slot(id, i + 1));
  return converted(std::move(x), result);
}

Array WholeEvaluator::converted(Array x, DType to) const {
  if (x.dtype == to) return x;
  Array out = zeros(to, x.extents);
  const Operand from{x.data.data(), false};
  apply_elementwise(Op::CAST, to, x.dtype, {&from, 1}, out.data.data(), out.elements());
  return out;
}

Array WholeEvaluator::movement(Id id, std::span<const Array* const> sources) {
  const Array& x = *sources[0];
  const std::size_t rank = x.extents.size();
  switch (g_.op(id)) {
    case Op::RESHAPE: {
      Array out = x;
      out.extents = extents_of(id);
      return out;
    }
    case Op::EXPAND: return expand_array(x, extents_of(id));
    case Op::PERMUTE: return permute_array(x, g_.args(id));
    case Op::SLICE: {
      const auto begin = operands(id, 1, rank);
      return slice_array(x, begin, g_.args(id), extents_of(id));
    }
    case Op::PAD: return pad(id, sources);
    case Op::SHEAR: return shear_array(x, g_.args(id).first(2), g_.args(id).subspan(2), extents_of(id));
    case Op::UNSHEAR: return unshear_array(x, g_.args(id).first(2), g_.args(id).subspan(2), extents_of(id));
    case Op::CONCAT: return concat_arrays(sources, g_.slot(id));
    default: throw Diagnostic("E-verify", p_.name, std::string(name(g_.op(id))) + " is not a tensor-level operation");
  }
}

Array WholeEvaluator::pad(Id id, std::span<const Array* const> sources) {
  const Array& x = *sources[0];
  const PadMode mode = g_.pad_mode(id);
  auto extents = extents_of(id);
  for (std::size_t a = 0; a < extents.size(); ++a)
    if (mode != PadMode::constant && x.extents[a] == 0 && extents[a] > 0)
      throw Diagnostic("E-pad", p_.name, std::string(name(mode)) + " padding of an empty axis " + std::to_string(a));
  return pad_array(x, *sources[1], mode, operands(id, 2, x.extents.size()), std::move(extents));
}

}  // namespace kiln::compiler
