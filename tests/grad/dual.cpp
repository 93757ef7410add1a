#include "tests/grad/dual.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "compiler/interp/index_value.h"
#include "compiler/interp/interpret.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/index_poly.h"
#include "compiler/ir/kernel_body.h"
#include "compiler/ir/nth.h"
#include "tests/grad/dual_elements.h"

namespace kiln::compiler::testing {
namespace {

// The partial derivatives of y = op(a, b, c).
std::vector<double> partials(Op op, const std::vector<double>& x, double y, const std::vector<bool>& constant) {
  const double a = x[0], b = x.size() > 1 ? x[1] : 0;
  const auto chosen = [&](bool first, bool second) {
    const double tie_a = constant[1] ? 0 : 0.5, tie_b = constant[0] ? 0 : 0.5;
    return std::vector<double>{first    ? 1.0
                               : second ? 0.0
                               : a == b ? tie_a
                                        : 0.0,
                               second   ? 1.0
                               : first  ? 0.0
                               : a == b ? tie_b
                                        : 0.0};
  };
  switch (op) {
    case Op::NEG: return {-1};
    case Op::ABS: return {a > 0 ? 1.0 : a < 0 ? -1.0 : std::isnan(a) ? a : 0.0};
    case Op::SQRT: return {1 / (2 * std::sqrt(a))};
    case Op::RSQRT: return {-1 / (2 * a * std::sqrt(a))};
    case Op::EXP: return {std::exp(a)};
    case Op::EXP2: return {std::exp2(a) * std::numbers::ln2};
    case Op::EXPM1: return {std::exp(a)};
    case Op::LOG: return {1 / a};
    case Op::LOG2: return {1 / (a * std::numbers::ln2)};
    case Op::LOG1P: return {1 / (1 + a)};
    case Op::LOG10: return {1 / (a * std::numbers::ln10)};
    case Op::CBRT: return {1 / (3 * std::cbrt(a) * std::cbrt(a))};
    case Op::SIGMOID: return {1 / ((1 + std::exp(-a)) * (1 + std::exp(a)))};
    case Op::ASIN: return {1 / std::sqrt(1 - a * a)};
    case Op::ACOS: return {-1 / std::sqrt(1 - a * a)};
    case Op::ATAN: return {1 / (1 + a * a)};
    case Op::SINH: return {std::cosh(a)};
    case Op::COSH: return {std::sinh(a)};
    case Op::ASINH: return {1 / std::sqrt(1 + a * a)};
    case Op::ACOSH: return {1 / std::sqrt(a * a - 1)};
    case Op::ATANH: return {1 / (1 - a * a)};
    case Op::ATAN2: return {b / (a * a + b * b), -a / (a * a + b * b)};
    case Op::FMOD: return {1, -std::trunc(a / b)};
    case Op::SIN: return {std::cos(a)};
    case Op::COS: return {-std::sin(a)};
    case Op::TAN: return {1 / (std::cos(a) * std::cos(a))};
    case Op::TANH: return {1 / (std::cosh(a) * std::cosh(a))};
    case Op::ERF: return {2 / std::sqrt(std::numbers::pi) * std::exp(-a * a)};
    case Op::ADD: return {1, 1};
    case Op::SUB: return {1, -1};
    case Op::MUL: return {b, a};
    case Op::FDIV: return {1 / b, -a / (b * b)};
    case Op::POW: return {b == 0 && a == 0 ? 0.0 : b * std::pow(a, b - 1), a == 0 && b >= 0 ? 0.0 : y * std::log(a)};
    case Op::MAX: return chosen(a > b, b > a);
    case Op::MIN: return chosen(a < b, b < a);
    case Op::FMA: return {b, a, 1};
    default:
      if (op == Op::SIGN || op == Op::FLOOR || op == Op::CEIL || op == Op::ROUND || op == Op::TRUNC) return {0};
      throw NoDual(std::string(name(op)));
  }
}

// The size of the terms of a partial derivative d: 1 - y * y, y - y * y and y + 1 may cancel.
double scale_of(Op op, double d, const Array& y, std::size_t k) {
  if (op == Op::SIGMOID) return std::abs(real(y, k)) + real(y, k) * real(y, k);
  if (op == Op::TANH) return 1 + real(y, k) * real(y, k);
  if (op == Op::EXPM1) return 1 + std::abs(real(y, k));
  return std::abs(d);
}

bool is_literal(const Graph& g, Id id) {
  while (g.op(id) == Op::RESHAPE || g.op(id) == Op::EXPAND || g.op(id) == Op::PERMUTE) id = g.src(id, 0);
  return g.is_const(id);
}

}  // namespace

Duals::Duals(Graph& g, const Program& given, const std::vector<Array>& arguments)
    : g_(g), given_(given), arguments_(arguments) {
  Builder b(g);
  b.trust_bounds();
  Program p = given;
  p.params.clear();
  std::vector<Array> in;
  for (std::size_t i = 0; i < given.params.size(); ++i) {  // the same slots
    Parameter q = given.params[i];
    q.direction = Direction::in;
    p.params.push_back(q);
    in.push_back(arguments[i]);
  }
  std::vector<Id> stores, nodes, indices;
  const auto keep = [&](Id value) {
    Parameter q{"v" + std::to_string(p.params.size()), Direction::out, g.dtype(value), b.shape_of(value), {}};
    stores.push_back(b.store(b.param(static_cast<int>(p.params.size()), q), q, value));
    p.params.push_back(q);
    in.push_back(Array{q.dtype, {}, {}});
  };
  const std::vector<Id> order = g.reachable(given.sink);
  const std::vector<bool> inside = inside_regions(g, order);
  for (const Id id : order) {
    const DType d = g.dtype(id);
    if (d == DType::none || inside[id] || g.op(id) == Op::RANGE) continue;
    if (d == DType::index) {
      if (index_value(g, id)) continue;
      indices.push_back(id);
      keep(b.cast(id, DType::i64));
    } else {
      nodes.push_back(id);
      keep(id);
    }
  }
  p.sink = g.make(Op::SINK, DType::none, stores);
  const auto symbols = bind_symbols(g, given, arguments);
  IndexValues value(g, symbols);
  for (std::size_t i = given.params.size(); i < p.params.size(); ++i)
    for (const Id e : p.params[i].extents) in[i].extents.push_back(value(e).value());
  const std::vector<Array> out = interpret(g, p, in);
  std::size_t at = given.params.size(), next_node = 0, next_index = 0;
  for (; at < out.size(); ++at) {
    const bool is_index = next_index < indices.size() && (next_node == nodes.size() || indices[next_index] < nodes[next_node]);
    if (is_index)
      numbers_[indices[next_index++]] = integer(out[at], 0);
    else
      values_.emplace(nodes[next_node++], out[at]);
  }
}

std::int64_t Duals::number(Id index) const {
  const auto v = index_value(g_, index);
  return v ? *v : numbers_.at(index);
}

std::unordered_map<Id, Tangent> Duals::tangents(Id y, const std::unordered_map<Id, std::vector<double>>& along) const {
  std::unordered_map<Id, Tangent> known;
  for (const Id id : g_.reachable(y)) {
    if (!is_float64(g_, id)) continue;
    std::optional<Tangent> t;
    if (values_.contains(id)) t = of(id, known);
    if (const auto v = along.find(id); v != along.end()) {
      if (!t) t = {std::vector<double>(v->second.size(), 0), std::vector<double>(v->second.size(), 0)};
      for (std::size_t k = 0; k < v->second.size(); ++k) {
        t->value[k] += v->second[k];
        t->scale[k] += std::abs(v->second[k]);
      }
    }
    if (t) known[id] = std::move(*t);
  }
  return known;
}

bool Duals::is_contained(Id y, const std::unordered_map<Id, std::vector<double>>& along) {
  const std::unordered_map<Id, Tangent> known = tangents(y, along);
  const auto finite = [&](Id id) {
    const Tangent& t = known.at(id);
    const Array& v = values_.at(id);
    bool all = true;
    for (std::size_t k = 0; k < t.value.size(); ++k)
      all = all && std::isfinite(t.value[k]) && t.scale[k] < 1e12 && std::isfinite(real(v, k));
    return all;
  };
  if (!known.contains(y)) return true;
  if (!finite(y)) return false;
  for (const Id user : g_.reachable(y))
    for (std::size_t i = 0; i < g_.src(user).size(); ++i) {
      const Id id = g_.src(user, i);
      if (!known.contains(id) || finite(id)) continue;
      if (!known.contains(user)) continue;  // not on the way to y, or without derivative
      const bool same = values_.at(id).extents == values_.at(user).extents && is_elementwise(g_.op(user));
      if (!is_elementwise(g_.op(id))) return false;  // its operands have no branch
      if (!same || (g_.op(user) == Op::WHERE ? i == 0 : finite(user))) return false;
    }
  return true;
}

bool Duals::overflows(Id y) const {
  const auto finite = [&](Id id) {
    const auto found = values_.find(id);
    if (found == values_.end() || found->second.dtype != DType::f64) return true;
    for (std::size_t k = 0; k < count(found->second.extents); ++k)
      if (!std::isfinite(real(found->second, k))) return false;
    return true;
  };
  const auto can_overflow = [&](Id id) {
    const Op op = g_.op(id);
    return op == Op::ADD || op == Op::SUB || op == Op::MUL || op == Op::FMA || op == Op::REDUCE;
  };
  return std::ranges::any_of(g_.reachable(y),
                             [&](Id id) { return can_overflow(id) && !finite(id) && std::ranges::all_of(g_.src(id), finite); });
}

Tangent Duals::tangent(Id y, const std::unordered_map<Id, std::vector<double>>& along) {
  const auto known = tangents(y, along);
  if (known.contains(y)) return known.at(y);
  const std::vector<double> none(count(values_.at(y).extents), 0);
  return {none, none};
}

// nullopt: no operand has a tangent.
std::optional<Tangent> Duals::of(Id node, const std::unordered_map<Id, Tangent>& known) const {
  const auto moves = [&](Id s) { return known.contains(s); };
  const Op op = g_.op(node);
  if (op == Op::GET) return added(node, known);
  if (std::ranges::none_of(g_.src(node), moves)) return std::nullopt;
  if (is_elementwise(op)) return elementwise(node, known);
  if (op == Op::REDUCE) return reduced(node, known);
  if (op == Op::STAGE) return known.at(g_.src(node, 0));
  if (op == Op::SCAN) return scanned(node, known);
  return moved(node, known);
}

Tangent Duals::elementwise(Id node, const std::unordered_map<Id, Tangent>& known) const {
  const Array& y = values_.at(node);
  const Op op = g_.op(node);
  const auto src = g_.src(node);
  const std::size_t n = count(y.extents);
  Tangent out{std::vector<double>(n, 0), std::vector<double>(n, 0)};
  std::vector<bool> constant;
  const bool chooses = op == Op::WHERE || op == Op::MIN || op == Op::MAX;
  for (const Id s : src) constant.push_back(is_literal(g_, s));
  for (std::size_t k = 0; k < n; ++k) {
    std::vector<double> d;
    const auto at = [&](std::size_t i) { return values_.at(src[i]).extents.empty() ? 0 : k; };
    if (op == Op::WHERE) {
      const bool c = std::to_integer<int>(values_.at(src[0]).data[at(0)]) != 0;
      d = {0, c ? 1.0 : 0.0, c ? 0.0 : 1.0};
    } else if (op == Op::CAST) {
      d = {is_float64(g_, src[0]) ? 1.0 : 0.0};
    } else {
      std::vector<double> x;
      for (std::size_t i = 0; i < src.size(); ++i) x.push_back(real(values_.at(src[i]), at(i)));
      d = partials(op, x, real(y, k), constant);
    }
    for (std::size_t i = 0; i < src.size(); ++i) {
      const auto t = known.find(src[i]);
      if (t == known.end()) continue;
      if (chooses && d[i] == 0) continue;  // what is not taken does not matter
      out.value[k] += d[i] * t->second.value[at(i)];
      out.scale[k] += scale_of(op, d[i], y, k) * t->second.scale[at(i)];
    }
  }
  return out;
}

Tangent Duals::moved(Id node, const std::unordered_map<Id, Tangent>& known) const {
  const Op op = g_.op(node);
  const auto src = g_.src(node);
  const Places to = values_.at(node).extents, from = values_.at(src[0]).extents;
  const std::size_t n = count(to);
  Tangent out{std::vector<double>(n, 0), std::vector<double>(n, 0)};
  const auto take = [&](std::size_t k, Id source, std::size_t element) {
    const auto t = known.find(source);
    if (t == known.end()) return;
    out.value[k] = t->second.value[element];
    out.scale[k] = t->second.scale[element];
  };
  for (std::size_t k = 0; k < n; ++k) {
    Places at = place(k, to);
    switch (op) {
      case Op::RESHAPE: take(k, src[0], k); continue;
      case Op::EXPAND:
        for (std::size_t a = 0; a < at.size(); ++a)
          if (from[a] == 1) at[a] = 0;
        break;
      case Op::PERMUTE: {
        const Places old = at;
        for (std::size_t a = 0; a < at.size(); ++a) nth(at, g_.arg(node, a)) = old[a];
        break;
      }
      case Op::SLICE:
        for (std::size_t a = 0; a < at.size(); ++a) at[a] = number(src[1 + a]) + at[a] * g_.arg(node, a);
        break;
      case Op::PAD: {
        bool inside = true;
        for (std::size_t a = 0; a < at.size(); ++a) {
          const std::int64_t m = from[a];
          std::int64_t i = at[a] - number(src[2 + a]);
          const bool there = i >= 0 && i < m;
          inside = inside && there;
          if (!there && g_.pad_mode(node) == PadMode::edge) i = i < 0 ? 0 : m - 1;
          if (!there && g_.pad_mode(node) == PadMode::wrap) i = i < 0 ? i + m : i - m;
          if (!there && g_.pad_mode(node) == PadMode::reflect) i = i < 0 ? -i : 2 * (m - 1) - i;
          at[a] = i;
        }
        if (!inside && g_.pad_mode(node) == PadMode::constant) {
          take(k, src[1], 0);
          continue;
        }
        break;
      }
      case Op::CONCAT: {
        const std::size_t axis = g_.slot(node);
        std::size_t i = 0;
        for (; at[axis] >= values_.at(src[i]).extents[axis]; ++i) at[axis] -= values_.at(src[i]).extents[axis];
        take(k, src[i], flat(at, values_.at(src[i]).extents));
        continue;
      }
      case Op::SHEAR:
      case Op::UNSHEAR: {
        std::int64_t& o = at[g_.slot(node, 1)];
        const std::int64_t by_tap = at[g_.slot(node, 0)] * g_.arg(node, 3), stride = g_.arg(node, 2);
        if (op == Op::SHEAR) {
          o = o * stride + by_tap;
          break;
        }
        const std::int64_t d = o - by_tap;
        if (d < 0 || d % stride != 0 || d / stride >= from[g_.slot(node, 1)]) continue;
        o = d / stride;
        break;
      }
      case Op::GATHER: {
        if (count(from) == 0) continue;
        const std::size_t m = src.size() - 1, outer = to.size() - (from.size() - m);
        Places in;
        const Places head(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(outer)),
            head_of(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(outer));
        for (std::size_t i = 0; i < m; ++i) {
          const Array& index = values_.at(src[1 + i]);
          const std::int64_t v = integer(index, index.extents.empty() ? 0 : flat(head, head_of));
          in.push_back(index.dtype == DType::u64 && v < 0 ? from[i] - 1 : std::clamp<std::int64_t>(v, 0, from[i] - 1));
        }
        in.insert(in.end(), at.begin() + static_cast<std::ptrdiff_t>(outer), at.end());
        at = in;
        break;
      }
      default: throw NoDual(std::string(name(op)));
    }
    take(k, src[0], flat(at, from));
  }
  return out;
}

}  // namespace kiln::compiler::testing
