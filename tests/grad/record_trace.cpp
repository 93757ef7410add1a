#include "tests/grad/record_trace.h"

#include <cstring>

namespace grad_test {
namespace {

template <class T>
void append(std::string& key, const T& v) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &v, sizeof(T));
  key.append(bytes, sizeof(T));
}

std::string key_of(const Value& v) {
  std::string key;
  append(key, v.kind);
  append(key, v.o);
  append(key, v.is_float);
  for (const auto e : v.shape) append(key, e);
  append(key, v.sources.size());
  for (const int s : v.sources) append(key, s);
  for (const Pick& p : v.picks) append(key, p.from), append(key, p.at);
  for (const auto a : v.attributes) append(key, a);
  for (const double e : v.elements) append(key, e);
  return key;
}

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
std::size_t count(const Shape& s) { return index(dsl_test::count(s)); }

// The number of the element of x that stands at `at` when x broadcasts.
std::int64_t place(const Shape& x, const Shape& at) {
  std::int64_t r = 0;
  for (std::size_t k = 0; k < x.size(); ++k) r = r * x[k] + (x[k] == 1 ? 0 : at[at.size() - x.size() + k]);
  return r;
}

bool is_comparison(op o) { return o == op::lt || o == op::le || o == op::eq || o == op::ne; }

double integer_binary(op o, double x, double y) {
  const auto a = static_cast<std::int64_t>(x), b = static_cast<std::int64_t>(y);
  switch (o) {
    case op::cdiv: return b == 0 ? 0 : static_cast<double>(a / b);
    case op::cmod: return b == 0 ? 0 : static_cast<double>(a % b);
    case op::floordiv: return b == 0 ? 0 : std::floor(x / y);
    case op::floormod: return b == 0 ? 0 : x - std::floor(x / y) * y;
    case op::and_: return static_cast<double>(a & b);
    case op::or_: return static_cast<double>(a | b);
    case op::xor_: return static_cast<double>(a ^ b);
    case op::shl: return static_cast<double>(a << b);
    case op::shr: return static_cast<double>(a >> b);
    case op::lt: return x < y;
    case op::le: return x <= y;
    case op::eq: return x == y;
    case op::ne: return x != y;
    default: throw std::logic_error("a binary operation without a rule");
  }
}

// max(a, b) and min(a, b): a tie gives each operand half of the derivative, except that a literal gives all of it to the other
// operand, which is 0 for the literal: it takes the tie.
Dual extreme(bool is_max, const Dual& a, const Dual& b, bool a_literal, bool b_literal) {
  if (std::isnan(a.value()) || std::isnan(b.value())) return NAN;
  if (a.value() == b.value()) {
    const double v = is_max ? std::fmax(a.value(), b.value()) : std::fmin(a.value(), b.value());
    if (a_literal || b_literal) return a_literal ? Dual(a.value()) : Dual(b.value());
    return (0.5 * a.with_value(0) + 0.5 * b.with_value(0)).with_value(v);
  }
  return (a.value() > b.value()) == is_max ? a : b;
}

Dual unary(op o, const Dual& x) {
  switch (o) {
    case op::neg: return -x;
    case op::not_: return x.value() == 0 ? 1 : 0;
    case op::abs: return x.value() == 0 ? Dual(0) : x.value() < 0 ? -x : x;
    case op::sign: return x.value() > 0 ? 1 : x.value() < 0 ? -1 : x.value();
    case op::sqrt: return sqrt(x);
    case op::rsqrt: return inverse(sqrt(x));
    case op::exp: return exp(x);
    case op::exp2: return exp2(x);
    case op::expm1: return expm1(x);
    case op::log: return log(x);
    case op::log2: return log2(x);
    case op::log1p: return log1p(x);
    case op::sigmoid: return inverse(1.0 + exp(-x));
    case op::sin: return sin(x);
    case op::cos: return cos(x);
    case op::tan: return tan(x);
    case op::tanh: return tanh(x);
    case op::erf: return erf(x);
    case op::floor: return std::floor(x.value());
    case op::ceil: return std::ceil(x.value());
    case op::round: return std::nearbyint(x.value());
    case op::trunc: return std::trunc(x.value());
    default: throw std::logic_error("a unary operation without a rule");
  }
}

}  // namespace

int Trace::add(Value v) {
  const std::string key = key_of(v);
  if (const auto it = ids_.find(key); it != ids_.end()) return it->second;
  values_.push_back(std::move(v));
  const int id = size() - 1;
  Sweep plain(*this, nullptr, 0);
  known_.push_back(plain.value(id));
  ids_.emplace(key, id);
  return id;
}
int Trace::constant(Tensor t, bool is_float) {
  return add({Kind::constant, op::constant, t.shape, is_float, {}, {}, {}, std::move(t.v)});
}
int Trace::leaf(const Tensor& t, bool is_float) {
  return add({Kind::leaf, op::param, t.shape, is_float, {}, {}, {size()}, t.v});
}
int Trace::pick(Shape shape, std::vector<int> sources, std::vector<Pick> picks) {
  bool is_same = sources.size() == 1 && at(sources[0]).shape == shape;
  for (std::size_t i = 0; i < picks.size() && is_same; ++i) is_same = picks[i].at == static_cast<std::int64_t>(i);
  if (is_same) return sources[0];
  const bool is_float = at(sources[0]).is_float;
  return add({Kind::pick, op::element, std::move(shape), is_float, std::move(sources), std::move(picks), {}, {}});
}
int Trace::broadcast(int x, const Shape& shape) {
  std::vector<Pick> picks;
  dsl_test::each(shape, [&](const Shape& i) { picks.push_back({0, place(at(x).shape, i)}); });
  return pick(shape, {x}, std::move(picks));
}
int Trace::elementwise(op o, std::vector<int> sources, bool is_float) {
  Shape shape;
  for (const int s : sources) {
    const Shape& x = at(s).shape;
    if (x.size() > shape.size()) shape.insert(shape.begin(), x.size() - shape.size(), 1);
    for (std::size_t k = 0; k < x.size(); ++k)
      if (std::int64_t& e = shape[shape.size() - x.size() + k]; e == 1) e = x[k];
  }
  for (int& s : sources) s = broadcast(s, shape);
  return add({Kind::elementwise, o, shape, is_float, std::move(sources), {}, {}, {}});
}
Tensor Trace::now(int id) const {
  Tensor t{at(id).shape, {}};
  for (const Dual& d : known_[index(id)].v) t.v.push_back(d.value());
  return t;
}

const DualTensor& Sweep::known(int id) const {
  if (outer_ != nullptr) return const_cast<Sweep*>(outer_)->value(id);
  return t_.known_[index(id)];
}

// Whether the changes reach the value.
bool Sweep::touches(int id) {
  while (touched_.size() <= index(id)) {
    const int i = static_cast<int>(touched_.size());
    bool touched = false;
    for (const int s : t_.at(i).sources) touched = touched || touched_[index(s)] != 0;
    for (const auto& [changed, by] : changes_) touched = touched || changed == i;
    for (const auto& [changed, to] : fixed_) touched = touched || changed == i;
    touched_.push_back(touched);
  }
  return touched_[index(id)] != 0;
}

const DualTensor& Sweep::value(int id) {
  if (const auto it = values_.find(id); it != values_.end()) return it->second;
  const bool is_plain = outer_ == nullptr && changes_.empty() && fixed_.empty();
  if (is_plain ? index(id) < t_.known_.size() : !touches(id)) return known(id);
  DualTensor r = compute(id);
  for (const Sweep* s = this; s != nullptr; s = s->outer_) {
    for (const auto& [changed, by] : s->changes_)
      if (changed == id)
        for (std::size_t i = 0; i < r.v.size(); ++i)
          if (by.v[i].size() > 1) r.v[i] = r.v[i] + by.v[i];
    for (const auto& [changed, to] : s->fixed_)
      if (changed == id) r = to;
  }
  return values_.emplace(id, std::move(r)).first->second;
}

DualTensor Sweep::compute(int id) {
  const Value& x = t_.at(id);
  DualTensor r{x.shape, std::vector<Dual>(count(x.shape))};
  switch (x.kind) {
    case Kind::leaf:
    case Kind::constant:
      for (std::size_t i = 0; i < r.v.size(); ++i) r.v[i] = x.elements[i];
      return r;
    case Kind::cotangent: return r;  // its value is fixed where it is used
    case Kind::pick:
      for (std::size_t i = 0; i < r.v.size(); ++i) r.v[i] = value(x.sources[index(x.picks[i].from)]).v[index(x.picks[i].at)];
      return r;
    case Kind::elementwise: return elementwise(x);
    case Kind::reduce: return reduce(x);
    case Kind::straight:
      for (std::size_t i = 0; i < r.v.size(); ++i) {
        const double plain = value(x.sources[0]).v[i].value();
        r.v[i] = value(x.sources[1]).v[i].with_value(plain);
      }
      return r;
    case Kind::mark:
      r = value(x.sources[0]);
      if (x.attributes[0] == static_cast<int>(kiln::dsl::record::mark_kind::stop))
        for (Dual& d : r.v) d = d.value();
      return r;
    case Kind::gradient: return gradient(x);
    case Kind::tangent: return tangent(x);
    case Kind::laplacian: return laplacian(x);
    case Kind::custom: return custom(id, x);
  }
  return r;
}

bool Sweep::is_literal(int id) const {
  const Value& x = t_.at(id);
  return x.kind == Kind::constant || (x.kind == Kind::pick && x.sources.size() == 1 && is_literal(x.sources[0]));
}

DualTensor Sweep::elementwise(const Value& x) {
  DualTensor r{x.shape, {}};
  for (std::size_t i = 0; i < count(x.shape); ++i) {
    Dual a[3];
    for (std::size_t k = 0; k < x.sources.size(); ++k) a[k] = value(x.sources[k]).v[i];
    Dual out;
    switch (x.o) {
      case op::add: out = a[0] + a[1]; break;
      case op::sub: out = a[0] - a[1]; break;
      case op::mul: out = a[0] * a[1]; break;
      case op::fdiv: out = divide(a[0], a[1]); break;
      case op::pow: out = pow(a[0], a[1]); break;
      case op::fma: out = a[0] * a[1] + a[2]; break;
      case op::where: out = a[0].value() != 0 ? a[1] : a[2]; break;
      case op::min:
      case op::max: out = extreme(x.o == op::max, a[0], a[1], is_literal(x.sources[0]), is_literal(x.sources[1])); break;
      case op::cast:
        out = x.is_float ? (t_.at(x.sources[0]).is_float ? a[0] : Dual(a[0].value())) : Dual(std::trunc(a[0].value()));
        break;
      default: out = x.sources.size() == 1 ? unary(x.o, a[0]) : Dual(integer_binary(x.o, a[0].value(), a[1].value()));
    }
    r.v.push_back(x.is_float || is_comparison(x.o) ? out : Dual(out.value()));
  }
  return r;
}

DualTensor Sweep::reduce(const Value& x) {
  const DualTensor& a = value(x.sources[0]);
  const std::int64_t kind = x.attributes[0];
  const double begin[] = {0, 1, -INFINITY, INFINITY, 0, 1, 0, 0, 0, 0};
  DualTensor r{x.shape, std::vector<Dual>(count(x.shape), begin[kind])};
  std::vector<Dual> best(r.v.size());
  std::vector<std::int64_t> seen(r.v.size());
  std::size_t from = 0;
  dsl_test::each(a.shape, [&](const Shape& at) {
    std::int64_t to = 0;
    for (std::size_t k = 0; k < at.size(); ++k) {
      bool is_reduced = false;
      for (std::size_t n = 1; n < x.attributes.size(); ++n) is_reduced = is_reduced || x.attributes[n] == static_cast<int>(k);
      if (!is_reduced) to = to * a.shape[k] + at[k];
    }
    const std::size_t n = index(to);
    const Dual& v = a.v[from];
    switch (kind) {
      case 0: r.v[n] = r.v[n] + v; break;
      case 1: r.v[n] = r.v[n] * v; break;
      case 2:
      case 3:
        if (seen[n] == 0 || (!std::isnan(r.v[n].value()) &&
                             (std::isnan(v.value()) || (kind == 2 ? v.value() > r.v[n].value() : v.value() < r.v[n].value()))))
          r.v[n] = v;
        break;
      case 4: r.v[n] = r.v[n].value() != 0 || v.value() != 0; break;
      case 5: r.v[n] = r.v[n].value() != 0 && v.value() != 0; break;
      case 6:
      case 7:
        if (seen[n] == 0 || (kind == 6 ? v.value() > best[n].value() : v.value() < best[n].value()))
          best[n] = v, r.v[n] = static_cast<double>(seen[n]);
        break;
      default: r.v[n] = r.v[n] + v * value(x.sources[1]).v[from];
    }
    ++seen[n], ++from;
  });
  return r;
}

// By a sweep for each element of x, of which that element is changed.
DualTensor Sweep::gradient(const Value& x) {
  const int y = x.sources[0], ct = x.sources[1], to = x.sources[2];
  DualTensor r{x.shape, {}};
  for (std::size_t i = 0; i < count(x.shape); ++i) {
    Sweep inner(t_, this, generator_ + 1);
    DualTensor by{x.shape, std::vector<Dual>(count(x.shape))};
    by.v[i] = Dual::infinitesimal(1, generator_);
    inner.change(to, std::move(by));
    const DualTensor& moved = inner.value(y);
    Dual sum;
    for (std::size_t k = 0; k < moved.v.size(); ++k)
      if (moved.v[k].has(generator_)) sum = sum + moved.v[k].part(generator_) * value(ct).v[k];
    r.v.push_back(sum);
  }
  return r;
}

DualTensor Sweep::tangent(const Value& x) {
  const int y = x.sources[0];
  DualTensor r{x.shape, {}};
  const std::size_t size = count(t_.at(y).shape), directions = size == 0 ? 0 : count(x.shape) / size;
  for (std::size_t d = 0; d < directions; ++d) {
    Sweep inner(t_, this, generator_ + 1);
    for (std::size_t s = 1; s < x.sources.size(); s += 2) {
      const Shape& shape = t_.at(x.sources[s]).shape;
      DualTensor by{shape, std::vector<Dual>(count(shape))};
      for (std::size_t i = 0; i < by.v.size(); ++i)
        by.v[i] = Dual::infinitesimal(value(x.sources[s + 1]).v[d * by.v.size() + i], generator_);
      inner.change(x.sources[s], std::move(by));
    }
    const DualTensor& moved = inner.value(y);
    for (const Dual& v : moved.v) r.v.push_back(v.part(generator_));
  }
  return r;
}

// By two changes of one coordinate, for all points at once.
DualTensor Sweep::laplacian(const Value& x) {
  const int y = x.sources[0], to = x.sources[1];
  DualTensor r{x.shape, std::vector<Dual>(count(x.shape))};
  const std::size_t all = count(t_.at(to).shape), coordinates = r.v.empty() ? 0 : all / r.v.size();
  for (std::size_t k = 0; k < coordinates; ++k) {
    const auto change = [&](std::size_t generator) {
      DualTensor by{t_.at(to).shape, std::vector<Dual>(all)};
      for (std::size_t i = k; i < all; i += coordinates) by.v[i] = Dual::infinitesimal(1, generator);
      return by;
    };
    Sweep first(t_, this, generator_ + 1);
    first.change(to, change(generator_));
    Sweep second(t_, &first, generator_ + 2);
    second.change(to, change(generator_ + 1));
    for (std::size_t i = 0; i < r.v.size(); ++i) {
      const Dual& moved = second.value(y).v[i];
      if (moved.has(generator_ + 1)) r.v[i] = r.v[i] + moved.part(generator_ + 1).part(generator_);
    }
  }
  return r;
}

// The derivative of a custom value is the transpose of its cotangent function, which is linear: its columns are its values for
// unit cotangents.
DualTensor Sweep::custom(int id, const Value& x) {
  const std::size_t n = (x.sources.size() - 1) / 2;
  const DualTensor y = value(x.sources[0]);
  DualTensor r{x.shape, {}};
  for (std::size_t i = 0; i < count(x.shape); ++i) {
    Sweep inner(t_, this, generator_);
    for (int c = 0; c < id; ++c)
      if (t_.at(c).kind == Kind::cotangent && t_.at(c).attributes == x.attributes) {
        DualTensor unit{x.shape, std::vector<Dual>(count(x.shape))};
        unit.v[i] = 1;
        inner.fix(c, std::move(unit));
      }
    std::size_t size = 1;
    for (std::size_t s = 0; s < n; ++s)
      for (const Dual& d : value(x.sources[1 + s]).v) size = std::max(size, d.size());
    Dual out = y.v[i].value();
    for (std::size_t part = 2, generator = 0; part <= size; part *= 2, ++generator) {
      Dual sum;
      for (std::size_t s = 0; s < n; ++s) {
        const DualTensor &from = value(x.sources[1 + s]), &column = inner.value(x.sources[1 + n + s]);
        for (std::size_t k = 0; k < from.v.size(); ++k) {
          Dual moved = from.v[k], slope = column.v[k];
          for (std::size_t above = Dual::most; above > part; above /= 2) moved = moved.lower(above), slope = slope.lower(above);
          if (moved.size() == part) sum = sum + moved.upper(part) * slope.lower(part);
        }
      }
      out = out + Dual::infinitesimal(sum, generator);
    }
    r.v.push_back(out);
  }
  return r;
}

}  // namespace grad_test
