#include "compiler/interp/interpret.h"

#include <algorithm>
#include <cstring>

#include "compiler/interp/elementwise.h"
#include "compiler/interp/index_value.h"
#include "compiler/interp/math.h"
#include "compiler/interp/movement.h"
#include "compiler/interp/reduce.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/shapes.h"

namespace kiln::compiler {
namespace {

class Interpreter {
 public:
  Interpreter(Graph& g, const Program& p, std::span<const Array> arguments)
      : g_(g), p_(p), arguments_(arguments), symbols_(bind_symbols(g, p, arguments)), index_(g, symbols_), shapes_(g) {}

  std::vector<Array> run() {
    const Id roots[] = {p_.sink};
    const auto order = g_.reachable(roots);
    std::vector<std::uint32_t> uses(g_.size(), 0);
    for (Id id : order)
      for (Id s : g_.src(id)) ++uses[s];
    values_.resize(g_.size());
    for (Id id : order) {
      if (g_.dtype(id) != DType::index && g_.op(id) != Op::STORE && g_.op(id) != Op::SINK) values_[id] = evaluate(id);
      if (g_.op(id) == Op::STORE) store(id);
      for (Id s : g_.src(id))
        if (--uses[s] == 0) values_[s] = Array{};
    }
    return finish();
  }

 private:
  std::int64_t extent(Id id) { return *index_(id); }

  std::vector<std::int64_t> extents_of(Id id) {
    std::vector<std::int64_t> out;
    for (Id e : shapes_.of(id)) out.push_back(extent(e));
    return out;
  }

  Array array(DType d, std::vector<std::int64_t> extents) {
    Array a{d, std::move(extents), {}};
    a.data.resize(a.elements() * static_cast<std::size_t>(bytes(d)));
    return a;
  }

  // Index values of sources first .. first + n.
  std::vector<std::int64_t> operands(Id id, std::size_t first, std::size_t n) {
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < n; ++i) out.push_back(extent(g_.src(id, first + i)));
    return out;
  }

  Array evaluate(Id id) {
    const Op op = g_.op(id);
    if (is_elementwise(op)) return elementwise(id);
    switch (op) {
      case Op::CONST: return constant(id);
      case Op::PARAM: return arguments_[static_cast<std::size_t>(g_.arg(id, 0))];
      case Op::IOTA: return iota(id);
      case Op::REDUCE: return reduce(id);
      default: return movement(id);
    }
  }

  Array constant(Id id) {
    Array a = array(g_.dtype(id), {});
    const std::int64_t bits = g_.arg(id, 0);
    std::memcpy(a.data.data(), &bits, a.data.size());  // little-endian hosts only, as the objects we make
    return a;
  }

  Array iota(Id id) {
    const std::int64_t n = extent(g_.src(id, 0));
    std::vector<std::int64_t> count(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < count.size(); ++i) count[i] = static_cast<std::int64_t>(i);
    Array a = array(g_.dtype(id), {n});
    const Operand from{reinterpret_cast<const std::byte*>(count.data()), false};
    apply_elementwise(Op::CAST, a.dtype, DType::i64, {&from, 1}, a.data.data(), count.size());
    return a;
  }

  Array elementwise(Id id) {
    const Op op = g_.op(id);
    Array out = array(g_.dtype(id), extents_of(id));
    const std::size_t n = out.elements();
    std::vector<Operand> in;
    std::vector<std::int64_t> scalars;
    scalars.reserve(g_.src(id).size());
    for (Id s : g_.src(id)) {
      if (g_.dtype(s) == DType::index)
        in.push_back({reinterpret_cast<const std::byte*>(&scalars.emplace_back(extent(s))), true});
      else
        in.push_back({values_[s].data.data(), values_[s].extents.empty()});
    }
    const DType type = g_.dtype(g_.src(id, op == Op::WHERE ? 1 : 0));
    if (is_math(op))
      math_.apply(op, type, in, out.data.data(), n);
    else
      apply_elementwise(op, out.dtype, type, in, out.data.data(), n);
    return out;
  }

  Array reduce(Id id) {
    const auto kind = static_cast<ReduceKind>(g_.arg(id, 0));
    const std::vector<std::int64_t> axes(g_.args(id).begin() + 1, g_.args(id).end());
    Array x = values_[g_.src(id, 0)];
    if (kind == ReduceKind::fma) {
      std::vector<std::int64_t> order;  // kept axes, then the reduced ones
      for (std::int64_t a = 0; a < static_cast<std::int64_t>(x.extents.size()); ++a)
        if (std::ranges::find(axes, a) == axes.end()) order.push_back(a);
      order.insert(order.end(), axes.begin(), axes.end());
      return reduce_fma(permute_array(x, order), permute_array(values_[g_.src(id, 1)], order), axes.size());
    }
    for (std::size_t i = axes.size(); i-- > 0;) x = reduce_axis(kind, x, static_cast<std::size_t>(axes[i]));
    return x;
  }

  Array movement(Id id) {
    const Array& x = values_[g_.src(id, 0)];
    const std::size_t rank = x.extents.size();
    switch (g_.op(id)) {
      case Op::RESHAPE: {
        Array out = x;
        out.extents = extents_of(id);
        return out;
      }
      case Op::EXPAND: return expand_array(x, extents_of(id));
      case Op::PERMUTE: return permute_array(x, g_.args(id));
      case Op::SLICE: return slice_array(x, operands(id, 1, rank), g_.args(id), extents_of(id));
      case Op::PAD: return pad(id, x);
      case Op::CONCAT: {
        std::vector<const Array*> parts;
        for (Id s : g_.src(id)) parts.push_back(&values_[s]);
        return concat_arrays(parts, static_cast<std::size_t>(g_.arg(id, 0)));
      }
      default: throw Diagnostic("E-verify", p_.name, std::string(name(g_.op(id))) + " is not a tensor-level operation");
    }
  }

  Array pad(Id id, const Array& x) {
    const auto mode = static_cast<PadMode>(g_.arg(id, 0));
    auto extents = extents_of(id);
    for (std::size_t a = 0; a < extents.size(); ++a)
      if (mode != PadMode::constant && x.extents[a] == 0 && extents[a] > 0)
        throw Diagnostic("E-pad", p_.name, std::string(name(mode)) + " padding of an empty axis " + std::to_string(a));
    return pad_array(x, values_[g_.src(id, 1)], mode, operands(id, 2, x.extents.size()), std::move(extents));
  }

  void store(Id id) {
    const auto slot = static_cast<std::size_t>(g_.arg(g_.src(id, 0), 0));
    Array value = values_[g_.src(id, 1)];
    if (value.extents.empty() && !p_.params[slot].extents.empty()) {
      const std::vector<std::int64_t> ones(p_.params[slot].extents.size(), 1);
      value.extents = ones;
      value = expand_array(value, arguments_[slot].extents);
    }
    stored_[slot] = std::move(value);
  }

  std::vector<Array> finish() {
    std::vector<Array> out(p_.params.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (p_.params[i].direction == Direction::in) continue;
      if (auto it = stored_.find(i); it != stored_.end())
        out[i] = std::move(it->second);
      else
        out[i] = arguments_[i];
    }
    return out;
  }

  Graph& g_;
  const Program& p_;
  std::span<const Array> arguments_;
  std::map<std::string, std::int64_t> symbols_;
  IndexValues index_;
  Shapes shapes_;
  MathEvaluator math_;
  std::vector<Array> values_;
  std::map<std::size_t, Array> stored_;
};

}  // namespace

std::vector<Array> interpret(Graph& g, const Program& p, std::span<const Array> arguments) {
  return Interpreter(g, p, arguments).run();
}

}  // namespace kiln::compiler
