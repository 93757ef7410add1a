#include "tests/grad/record_duals.h"

#include <bit>

#include "tests/grad/record_trace.h"

namespace grad_test {
namespace {

namespace record = kiln::dsl::record;
using record::index_mode;

bool is_float(kiln_dtype d) { return d == KILN_F16 || d == KILN_BF16 || d == KILN_F32 || d == KILN_F64; }

double constant_value(const record::node& x) {
  switch (x.d) {
    case KILN_F64: return std::bit_cast<double>(x.imm);
    case KILN_F32: return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(x.imm)));
    case KILN_U64: return static_cast<double>(x.imm);
    case KILN_F16:
    case KILN_BF16: throw std::logic_error("literals of f16 and bf16 are not evaluated");
    default: return static_cast<double>(static_cast<std::int64_t>(x.imm));
  }
}

// Executes the records. A loop runs its iterations, a kernel its work items in row-major order.
class Machine {
 public:
  Machine(const record::program& p, const Tensors& in, const Symbols& symbols) : p_(p), symbols_(symbols) {
    for (int i = 0; i < p.n_params; ++i) {
      const auto& q = p.params[i];
      const Tensor t = q.direction == KILN_OUT ? dsl_test::make(dsl_test::shape_of(*q.s, symbols)) : in.at(q.name);
      params_.push_back(q.direction == KILN_OUT ? trace_.constant(t, is_float(q.d)) : trace_.leaf(t, is_float(q.d)));
    }
    if (p.n_checks > 0) params_.push_back(trace_.constant({{}, {KILN_NO_CHECK}}, false));
    before_ = params_;
    now_.resize(static_cast<std::size_t>(p.n_nodes), -1);
    run(0, p.n_nodes);
  }

  Tensors after() const {
    Tensors out;
    for (int i = 0; i < p_.n_params; ++i) out[p_.params[i].name] = trace_.now(params_[static_cast<std::size_t>(i)]);
    return out;
  }
  Tensors along(const Tensors& directions) {
    Tensors out;
    Value move{Kind::tangent, op::tangent, {}, true, {}, {}, {}, {}};
    for (int i = 0; i < p_.n_params; ++i)
      if (const auto it = directions.find(p_.params[i].name); it != directions.end()) {
        move.sources.push_back(before_[static_cast<std::size_t>(i)]);
        move.sources.push_back(trace_.constant(it->second, true));
      }
    for (int i = 0; i < p_.n_params; ++i) {
      Value v = move;
      v.sources.insert(v.sources.begin(), params_[static_cast<std::size_t>(i)]);
      v.shape = trace_.at(v.sources[0]).shape;
      out[p_.params[i].name] = trace_.now(trace_.add(std::move(v)));
    }
    return out;
  }

 private:
  enum class Way { on, breaks, continues };

  const record::node& node(int i) const { return p_.nodes[i]; }
  int source(int i, int k) const { return now_[static_cast<std::size_t>(p_.sources[node(i).source_begin + k])]; }
  std::vector<int> sources(int i, int from = 0) const {
    std::vector<int> out;
    for (int k = from; k < node(i).n_sources; ++k) out.push_back(source(i, k));
    return out;
  }
  std::int64_t attr(int i, int k) const { return dsl_test::value_of(p_.attrs[node(i).attr_begin + k], symbols_); }
  Shape shape(int i) const { return dsl_test::shape_of(*node(i).s, symbols_); }
  int scalar(double v, bool is_real = false) { return trace_.constant({{}, {v}}, is_real); }

  static bool opens(op o) { return o == op::kernel || o == op::loop || o == op::when || o == op::otherwise; }
  static bool closes(op o) { return o == op::kernel_end || o == op::loop_end || o == op::when_end; }
  int end_of(int scope) const {
    int depth = 1, i = scope;
    while (depth > 0) {
      ++i;
      depth += opens(node(i).o) ? 1 : closes(node(i).o) ? -1 : 0;
    }
    return i;
  }
  std::int64_t bound(int i, int which) const {
    int used = 0;
    for (int k = 0; k < which; ++k) used += is_source(i, k);
    return is_source(i, which) ? static_cast<std::int64_t>(trace_.scalar(source(i, used))) : attr(i, which);
  }
  bool is_source(int i, int which) const {
    const record::extent& e = p_.attrs[node(i).attr_begin + which];
    return e.text == nullptr && e.value == -1;
  }

  Way run(int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const op o = node(i).o;
      if (o == op::break_ || o == op::continue_) {
        if (node(i).n_sources == 0 || trace_.scalar(source(i, 0)) != 0) return o == op::break_ ? Way::breaks : Way::continues;
      } else if (opens(o)) {
        const int close = end_of(i);
        const Way way = scope(i, close);
        if (way != Way::on) return way;
        i = close;
      } else {
        now_[static_cast<std::size_t>(i)] = step(i);
      }
    }
    return Way::on;
  }
  Way scope(int i, int close) {
    switch (node(i).o) {
      case op::loop: return loop(i, close), Way::on;
      case op::kernel: return kernel(i, close), Way::on;
      case op::when: went_ = false; break;
      default: break;
    }
    const bool holds = node(i).n_sources == 0 || trace_.scalar(source(i, 0)) != 0;
    const bool done = went_ || holds;
    const Way way = !went_ && holds ? run(i + 1, close) : Way::on;
    went_ = done;
    return way;
  }
  void loop(int i, int close) {
    const std::int64_t begin = bound(i, 0), end = bound(i, 1), by = bound(i, 2);
    const bool is_endless = node(i).imm == 1;
    for (std::int64_t k = begin; is_endless || (by > 0 ? k < end : by < 0 && k > end); k += by) {
      counters_.push_back(k);
      const Way way = run(i + 1, close);
      counters_.pop_back();
      if (way == Way::breaks) return;
    }
  }
  void kernel(int i, int close) {
    if (node(i).imm >> 8 != 0) throw std::logic_error("kernels with workgroups are not evaluated");
    Shape extents;
    for (int k = 0; k < node(i).n_attrs; ++k) extents.push_back(std::max<std::int64_t>(bound(i, k), 0));
    const std::vector<std::int64_t> around = std::move(counters_);
    counters_.clear();
    dsl_test::each(extents, [&](const Shape& at) {
      item_ = at;
      run(i + 1, close);
    });
    counters_ = around;
  }

  int& tensor(std::uint64_t number) {
    if (number >= record::variable_tensors) return variables_.at(number - record::variable_tensors);
    if (number >= record::local_tensors) return locals_.at(number - record::local_tensors);
    return params_.at(static_cast<std::size_t>(number));
  }

  int step(int i);
  int derivative(int i);
  int reduce(int i);
  int movement(int i);
  int elementwise(int i);
  int element(int i);
  void write(int i);
  std::vector<std::int64_t> places(int i, const Shape& tensor, int first, int count);

  const record::program& p_;
  const Symbols& symbols_;
  Trace trace_;
  std::vector<int> params_, before_, now_;
  std::map<std::uint64_t, int> variables_, locals_;
  std::vector<std::int64_t> counters_;
  Shape item_;
  bool went_ = false;  // whether a branch of the last sequence ran
};

int Machine::step(int i) {
  const record::node& n = node(i);
  switch (n.o) {
    case op::param: return params_.at(n.imm);
    case op::store: return params_.at(n.imm) = source(i, 0);
    case op::constant: return scalar(constant_value(n), is_float(n.d));
    case op::dim: return scalar(static_cast<double>(attr(i, 0)));
    case op::iota: {
      Tensor t = dsl_test::make(shape(i));
      for (std::size_t k = 0; k < t.v.size(); ++k) t.v[k] = static_cast<double>(k);
      return trace_.constant(t, is_float(n.d));
    }
    case op::stage: return source(i, 0);
    case op::reduce: return reduce(i);
    case op::gradient:
    case op::tangent:
    case op::mark:
    case op::custom:
    case op::laplacian:
    case op::cotangent: return derivative(i);
    case op::index: return scalar(static_cast<double>(item_.at(n.imm & 0xff)));
    case op::counter: return scalar(static_cast<double>(counters_.back()));
    case op::var:
    case op::set: return variables_[n.imm] = source(i, 0);
    case op::get: return variables_.at(n.imm);
    case op::local: locals_[n.imm & 0xffffffffu] = trace_.constant(dsl_test::make(shape(i)), is_float(n.d)); return -1;
    case op::element: return element(i);
    case op::put:
    case op::accumulate: return write(i), -1;
    case op::atomic: {
      const int old = n.s->rank == 0 ? element(i) : -1;
      return write(i), old;
    }
    case op::check: return -1;
    case op::reshape:
    case op::expand:
    case op::permute:
    case op::slice:
    case op::pad:
    case op::roll:
    case op::shear:
    case op::concat: return movement(i);
    case op::barrier: throw std::logic_error("barriers are not evaluated");
    default: return elementwise(i);
  }
}

int Machine::derivative(int i) {
  const record::node& n = node(i);
  const auto number = static_cast<std::int64_t>(n.imm & 0xffffffffu);
  Value v{Kind::gradient, n.o, shape(i), is_float(n.d), sources(i), {}, {}, {}};
  switch (n.o) {
    case op::gradient: break;
    case op::tangent: v.kind = Kind::tangent; break;
    case op::laplacian: v.kind = Kind::laplacian; break;
    case op::mark: {
      const auto kind = static_cast<record::mark_kind>(n.imm >> 32);
      v.kind = kind == record::mark_kind::straight ? Kind::straight : Kind::mark;
      v.attributes = {static_cast<std::int64_t>(kind), number};
      break;
    }
    default: v.kind = n.o == op::custom ? Kind::custom : Kind::cotangent; v.attributes = {number};
  }
  return trace_.add(std::move(v));
}

int Machine::reduce(int i) {
  Value v{Kind::reduce, op::reduce, shape(i), is_float(node(i).d), sources(i), {}, {}, {}};
  for (int k = 0; k < node(i).n_attrs; ++k) v.attributes.push_back(attr(i, k));
  return trace_.add(std::move(v));
}

int Machine::movement(int i) {
  const Shape to = shape(i), from = trace_.at(source(i, 0)).shape;
  const int rank = static_cast<int>(to.size());
  const Tensor strides{from, {}};
  std::vector<Pick> picks;
  const auto axis = [](int k) { return static_cast<std::size_t>(k); };
  dsl_test::each(to, [&](const Shape& at) {
    Shape x(from.size());
    int which = 0;
    switch (node(i).o) {
      case op::reshape: picks.push_back({0, static_cast<std::int64_t>(picks.size())}); return;
      case op::expand:
        for (int k = 0; k < rank; ++k) x[axis(k)] = from[axis(k)] == 1 ? 0 : at[axis(k)];
        break;
      case op::permute:
        for (int k = 0; k < rank; ++k) x[axis(static_cast<int>(attr(i, k)))] = at[axis(k)];
        break;
      case op::slice:
        for (int k = 0; k < rank; ++k) x[axis(k)] = attr(i, k) + at[axis(k)] * attr(i, rank + k);
        break;
      case op::roll:
        x = at;
        x[axis(static_cast<int>(attr(i, 0)))] -= attr(i, 1);
        for (int k = 0; k < rank; ++k) x[axis(k)] = ((x[axis(k)] % to[axis(k)]) + to[axis(k)]) % to[axis(k)];
        break;
      case op::shear:
        x = at;
        x[axis(static_cast<int>(attr(i, 1)))] =
            at[axis(static_cast<int>(attr(i, 1)))] * attr(i, 2) + at[axis(static_cast<int>(attr(i, 0)))] * attr(i, 3);
        break;
      case op::concat:
        x = at;
        for (const auto a = axis(static_cast<int>(attr(i, 0))); x[a] >= trace_.at(source(i, which)).shape[a]; ++which)
          x[a] -= trace_.at(source(i, which)).shape[a];
        picks.push_back({which, Tensor{trace_.at(source(i, which)).shape, {}}.linear(x)});
        return;
      default:  // pad
        for (int k = 0; k < rank; ++k) {
          const std::int64_t extent = from[axis(k)], mode = attr(i, rank);
          std::int64_t j = at[axis(k)] - attr(i, k);
          if (mode == 0 && (j < 0 || j >= extent)) which = 1;
          if (mode == 1) j = std::min(std::max<std::int64_t>(j, 0), extent - 1);
          if (mode == 2) j = j < 0 ? -j : j >= extent ? 2 * (extent - 1) - j : j;
          if (mode == 3) j = ((j % extent) + extent) % extent;
          x[axis(k)] = j;
        }
    }
    picks.push_back({which, which == 1 ? 0 : strides.linear(x)});
  });
  return trace_.pick(to, node(i).o == op::concat || node(i).o == op::pad ? sources(i) : std::vector{source(i, 0)}, picks);
}

int Machine::elementwise(int i) {
  const record::node& n = node(i);
  std::vector<int> s = sources(i);
  if (n.o == op::cast && n.d == KILN_BOOL) return trace_.elementwise(op::ne, {s[0], scalar(0)}, false);
  if (n.o == op::not_ && n.d != KILN_BOOL) return trace_.elementwise(op::sub, {scalar(-1), s[0]}, false);
  if (n.o == op::bitcast) throw std::logic_error("bitcasts are not evaluated");
  return trace_.elementwise(n.o, std::move(s), is_float(n.d));
}

// The elements of the tensor that the indices name, in row-major order of the record's shape; -1: none.
std::vector<std::int64_t> Machine::places(int i, const Shape& extents, int first, int count) {
  const auto mode = static_cast<index_mode>(node(i).imm >> 32 & 0xff);
  const Shape to = shape(i);
  const std::size_t own = to.size() - (extents.size() - static_cast<std::size_t>(count));
  std::vector<std::int64_t> out;
  dsl_test::each(to, [&](const Shape& at) {
    Shape x;
    bool is_inside = true;
    for (int k = 0; k < count; ++k) {
      const int id = source(i, first + k);
      const Shape& s = trace_.at(id).shape;
      Shape of(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(own));
      Shape j;
      for (std::size_t a = 0; a < s.size(); ++a) j.push_back(s[a] == 1 ? 0 : of[own - s.size() + a]);
      const std::int64_t n = extents[static_cast<std::size_t>(k)];
      auto v = static_cast<std::int64_t>(trace_.now(id).at(j));
      if (mode == index_mode::wrap) v = ((v % n) + n) % n;
      if (mode == index_mode::mirror) {
        v = ((v % (2 * n)) + 2 * n) % (2 * n);
        v = std::min(v, 2 * n - 1 - v);
      }
      if (mode == index_mode::constant || mode == index_mode::skip) is_inside = is_inside && v >= 0 && v < n;
      x.push_back(std::min(std::max<std::int64_t>(v, 0), n - 1));
    }
    for (std::size_t k = own; k < at.size(); ++k) x.push_back(at[k]);
    out.push_back(is_inside ? Tensor{extents, {}}.linear(x) : -1);
  });
  return out;
}

int Machine::element(int i) {
  const record::node& n = node(i);
  const std::uint64_t number = n.imm & 0xffffffffu;
  const bool is_computed = number == record::computed_tensor;
  const bool is_constant = n.o == op::element && static_cast<index_mode>(n.imm >> 32 & 0xff) == index_mode::constant;
  const bool compares = n.o == op::atomic && (n.imm >> 40 & 0xff) == static_cast<int>(record::atomic_kind::compare_exchange);
  const int t = is_computed ? source(i, 0) : tensor(number);
  const int first = n.o == op::atomic ? (compares ? 2 : 1) : is_computed ? 1 : 0;
  std::vector<int> from{t};
  if (is_constant) from.push_back(source(i, n.n_sources - 1));
  std::vector<Pick> picks;
  for (const auto p : places(i, trace_.at(t).shape, first, n.n_sources - first - (is_constant ? 1 : 0)))
    picks.push_back(p < 0 ? Pick{is_constant ? 1 : 0, 0} : Pick{0, p});
  return trace_.pick(shape(i), std::move(from), std::move(picks));
}

// One element after another.
void Machine::write(int i) {
  const record::node& n = node(i);
  int& state = tensor(n.imm & 0xffffffffu);
  const auto kind = static_cast<record::atomic_kind>(n.imm >> 40 & 0xff);
  if (n.o == op::atomic && kind == record::atomic_kind::compare_exchange)
    throw std::logic_error("compare_exchange is not evaluated");
  const Shape extents = trace_.at(state).shape;
  const int values = trace_.broadcast(source(i, 0), shape(i));
  const auto at = places(i, extents, 1, n.n_sources - 1);
  op change = op::put;
  if (n.o == op::accumulate) change = static_cast<op>(n.imm >> 40 & 0xff);
  if (n.o == op::atomic) {
    constexpr op ops[] = {op::add, op::min, op::max, op::and_, op::or_, op::xor_, op::put};
    change = ops[static_cast<int>(kind)];
  }
  for (std::size_t k = 0; k < at.size(); ++k) {
    if (at[k] < 0) continue;
    int v = trace_.pick({}, {values}, {{0, static_cast<std::int64_t>(k)}});
    const int old = trace_.pick({}, {state}, {{0, at[k]}});
    if (n.o == op::atomic && (change == op::min || change == op::max)) {  // the first of equal elements stays
      const double a = trace_.scalar(old), b = trace_.scalar(v);
      v = (change == op::max ? b > a : b < a) ? v : old;
    } else if (change != op::put) {
      v = trace_.elementwise(change, {old, v}, is_float(n.d));
    }
    std::vector<Pick> picks;
    for (std::int64_t e = 0; e < dsl_test::count(extents); ++e) picks.push_back({0, e});
    picks[static_cast<std::size_t>(at[k])] = {1, 0};
    state = trace_.pick(extents, {state, v}, std::move(picks));
  }
}

}  // namespace

Tensors evaluate(const record::program& p, const Tensors& in, const Symbols& symbols) {
  return Machine(p, in, symbols).after();
}
Tensors directional(const record::program& p, const Tensors& in, const Tensors& directions, const Symbols& symbols) {
  return Machine(p, in, symbols).along(directions);
}

}  // namespace grad_test
