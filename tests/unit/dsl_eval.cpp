#include "dsl_eval.h"

#include <bit>

namespace dsl_test {
namespace {

double constant_value(const kiln::dsl::record::node& x) {
  switch (x.d) {
    case KILN_F64: return std::bit_cast<double>(x.imm);
    case KILN_F32: return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(x.imm)));
    case KILN_U64: return static_cast<double>(x.imm);
    default: return static_cast<double>(static_cast<std::int64_t>(x.imm));
  }
}

double unary(op o, double x) {
  switch (o) {
    case op::neg: return -x;
    case op::not_: return x == 0 ? 1 : 0;
    case op::abs: return std::abs(x);
    case op::exp: return std::exp(x);
    case op::log: return std::log(x);
    case op::sqrt: return std::sqrt(x);
    case op::rsqrt: return 1 / std::sqrt(x);
    case op::erf: return std::erf(x);
    case op::cast: return x;
    default: throw std::logic_error("unary operation without a rule");
  }
}

double binary(op o, double x, double y) {
  switch (o) {
    case op::add: return x + y;
    case op::sub: return x - y;
    case op::mul: return x * y;
    case op::fdiv: return x / y;
    case op::cdiv: return std::trunc(x / y);
    case op::cmod: return x - std::trunc(x / y) * y;
    case op::min: return std::min(x, y);
    case op::max: return std::max(x, y);
    case op::and_: return static_cast<double>(static_cast<std::int64_t>(x) & static_cast<std::int64_t>(y));
    case op::or_: return static_cast<double>(static_cast<std::int64_t>(x) | static_cast<std::int64_t>(y));
    case op::lt: return x < y;
    case op::le: return x <= y;
    case op::eq: return x == y;
    case op::ne: return x != y;
    default: throw std::logic_error("binary operation without a rule");
  }
}

struct Machine {
  const kiln::dsl::record::program& p;
  const Symbols& symbols;
  std::vector<Tensor> values;
  std::vector<Tensor> params;

  const kiln::dsl::record::node& node(int i) const { return p.nodes[i]; }
  const Tensor& src(int i, int k) const { return values[static_cast<std::size_t>(p.sources[node(i).source_begin + k])]; }
  std::int64_t attr(int i, int k) const { return value_of(p.attrs[node(i).attr_begin + k], symbols); }

  static double broadcast(const Tensor& x, const Shape& i) {
    Shape j;
    const std::size_t skip = i.size() - x.shape.size();
    for (std::size_t k = 0; k < x.shape.size(); ++k) j.push_back(x.shape[k] == 1 ? 0 : i[k + skip]);
    return x.at(j);
  }

  Tensor reduce(int i, Shape shape) {
    const int kind = static_cast<int>(attr(i, 0));
    const Tensor& x = src(i, 0);
    Tensor r = make(shape);
    std::vector<bool> seen(r.v.size(), false);
    Tensor best = r, position = r;
    const double identity[] = {0, 1, -INFINITY, INFINITY, 0, 1};
    if (kind <= 5)
      for (auto& v : r.v) v = identity[kind];
    each(x.shape, [&](const Shape& at) {
      Shape to;
      for (std::size_t k = 0; k < at.size(); ++k) {
        bool reduced = false;
        for (int a = 1; a < node(i).n_attrs; ++a) reduced = reduced || attr(i, a) == static_cast<std::int64_t>(k);
        if (!reduced) to.push_back(at[k]);
      }
      const auto n = static_cast<std::size_t>(r.linear(to));
      const double v = x.at(at);
      switch (kind) {
        case 0: r.v[n] += v; break;
        case 1: r.v[n] *= v; break;
        case 2: r.v[n] = std::max(r.v[n], v); break;
        case 3: r.v[n] = std::min(r.v[n], v); break;
        case 4: r.v[n] = r.v[n] != 0 || v != 0; break;
        case 5: r.v[n] = r.v[n] != 0 && v != 0; break;
        case 8:  // fma
        case 9:  // dot; sums of doubles are compared with a tolerance
          r.v[n] += v * src(i, 1).at(at);
          break;
        default:
          if (!seen[n] || (kind == 6 ? v > best.v[n] : v < best.v[n])) {
            best.v[n] = v;
            r.v[n] = position.v[n];
          }
          seen[n] = true;
          position.v[n] += 1;
      }
    });
    return r;
  }

  Tensor pad(int i, Shape shape) {
    const Tensor& x = src(i, 0);
    const int rank = static_cast<int>(shape.size());
    const auto mode = attr(i, rank);
    Tensor r = make(shape);
    each(shape, [&](const Shape& at) {
      Shape from;
      bool inside = true;
      for (int k = 0; k < rank; ++k) {
        const std::int64_t n = x.shape[static_cast<std::size_t>(k)];
        std::int64_t j = at[static_cast<std::size_t>(k)] - attr(i, k);
        inside = inside && j >= 0 && j < n;
        if (mode == 1) j = std::min(std::max<std::int64_t>(j, 0), n - 1);
        if (mode == 2) j = j < 0 ? -j : j >= n ? 2 * (n - 1) - j : j;
        if (mode == 3) j = ((j % n) + n) % n;
        from.push_back(j);
      }
      r.at(at) = inside || mode != 0 ? x.at(from) : src(i, 1).v[0];
    });
    return r;
  }

  Tensor movement(int i, Shape shape) {
    Tensor r = make(shape);
    const Tensor& x = src(i, 0);
    const int rank = static_cast<int>(shape.size());
    switch (node(i).o) {
      case op::reshape: r.v = x.v; break;
      case op::expand: each(shape, [&](const Shape& at) { r.at(at) = broadcast(x, at); }); break;
      case op::permute:
        each(shape, [&](const Shape& at) {
          Shape from(at.size());
          for (int k = 0; k < rank; ++k) from[static_cast<std::size_t>(attr(i, k))] = at[static_cast<std::size_t>(k)];
          r.at(at) = x.at(from);
        });
        break;
      case op::slice:
        each(shape, [&](const Shape& at) {
          Shape from;
          for (int k = 0; k < rank; ++k) from.push_back(attr(i, k) + at[static_cast<std::size_t>(k)] * attr(i, rank + k));
          r.at(at) = x.at(from);
        });
        break;
      case op::roll: {
        const auto axis = static_cast<std::size_t>(attr(i, 0));
        each(shape, [&](const Shape& at) {
          Shape from = at;
          from[axis] = ((at[axis] - attr(i, 1)) % shape[axis] + shape[axis]) % shape[axis];
          r.at(at) = x.at(from);
        });
        break;
      }
      case op::shear: {
        const auto k = static_cast<std::size_t>(attr(i, 0)), o = static_cast<std::size_t>(attr(i, 1));
        each(shape, [&](const Shape& at) {
          Shape from = at;
          from[o] = at[o] * attr(i, 2) + at[k] * attr(i, 3);
          r.at(at) = x.at(from);
        });
        break;
      }
      case op::concat: {
        const auto axis = static_cast<std::size_t>(attr(i, 0));
        std::int64_t offset = 0;
        for (int s = 0; s < node(i).n_sources; ++s) {
          each(src(i, s).shape, [&](const Shape& at) {
            Shape to = at;
            to[axis] += offset;
            r.at(to) = src(i, s).at(at);
          });
          offset += src(i, s).shape[axis];
        }
        break;
      }
      default: throw std::logic_error("movement without a rule");
    }
    return r;
  }

  Tensor elementwise(int i, Shape shape) {
    Tensor r = make(shape);
    each(shape, [&](const Shape& at) {
      const double x = broadcast(src(i, 0), at);
      double& to = r.at(at);
      switch (node(i).n_sources) {
        case 1: to = unary(node(i).o, x); break;
        case 2: to = binary(node(i).o, x, broadcast(src(i, 1), at)); break;
        default: {
          const double y = src(i, 1).at(at), z = src(i, 2).at(at);
          to = node(i).o == op::where ? (x != 0 ? y : z) : std::fma(x, y, z);
        }
      }
    });
    return r;
  }

  void step(int i) {
    const kiln::dsl::record::node& x = node(i);
    const Shape shape = shape_of(*x.s, symbols);
    Tensor r = make(shape);
    switch (x.o) {
      case op::param: r = params[x.imm]; break;
      case op::store: params[x.imm] = src(i, 0); break;
      case op::constant: r.v[0] = constant_value(x); break;
      case op::dim: r.v[0] = static_cast<double>(attr(i, 0)); break;
      case op::iota:
        for (std::size_t k = 0; k < r.v.size(); ++k) r.v[k] = static_cast<double>(k);
        break;
      case op::mark: r = src(i, 0); break;
      case op::reduce: r = reduce(i, shape); break;
      case op::pad: r = pad(i, shape); break;
      case op::reshape:
      case op::expand:
      case op::permute:
      case op::slice:
      case op::roll:
      case op::shear:
      case op::concat: r = movement(i, shape); break;
      default: r = elementwise(i, shape);
    }
    if (r.shape != shape) throw std::logic_error("a value does not have the shape of its node");
    values.push_back(std::move(r));
  }
};

}  // namespace

std::map<std::string, Tensor> evaluate(const kiln::dsl::record::program& p, std::map<std::string, Tensor> in,
                                       const Symbols& symbols) {
  Machine m{p, symbols, {}, {}};
  for (int i = 0; i < p.n_params; ++i) {
    const auto& q = p.params[i];
    m.params.push_back(q.direction == 1 ? make(shape_of(*q.s, symbols)) : in.at(q.name));
  }
  for (int i = 0; i < p.n_nodes; ++i) m.step(i);
  std::map<std::string, Tensor> out;
  for (int i = 0; i < p.n_params; ++i) out[p.params[i].name] = m.params[static_cast<std::size_t>(i)];
  return out;
}

}  // namespace dsl_test
