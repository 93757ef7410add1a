#include <stdexcept>

#include "tests/unit/schedule_harness.h"

namespace kiln::compiler::testing {
namespace {

struct Tensor {
  std::vector<std::int64_t> extents;
  Data data;
};

std::size_t count(const std::vector<std::int64_t>& e) {
  std::size_t n = 1;
  for (auto x : e) n *= static_cast<std::size_t>(x);
  return n;
}
std::size_t position(const std::vector<std::int64_t>& i, const std::vector<std::int64_t>& e) {
  std::size_t p = 0;
  for (std::size_t k = 0; k < e.size(); ++k) {
    if (i[k] < 0 || i[k] >= e[k]) throw std::logic_error("reference: index out of bounds");
    p = p * static_cast<std::size_t>(e[k]) + static_cast<std::size_t>(i[k]);
  }
  return p;
}
std::vector<std::int64_t> unflatten(std::size_t p, const std::vector<std::int64_t>& e) {
  std::vector<std::int64_t> i(e.size());
  for (std::size_t k = e.size(); k-- > 0;) {
    i[k] = static_cast<std::int64_t>(p % static_cast<std::size_t>(e[k]));
    p /= static_cast<std::size_t>(e[k]);
  }
  return i;
}

class TensorRun {
 public:
  TensorRun(Graph& g, const Symbols& symbols, const std::vector<Data>& params)
      : g_(g), shapes_(g), symbols_(symbols), params_(params) {}

  const Tensor& at(Id id) const { return done_.at(id); }

  void node(Id id) {
    Tensor t;
    for (Id e : shapes_.of(id)) t.extents.push_back(index_at(g_, e, symbols_));
    t.data.resize(count(t.extents));
    if (g_.op(id) == Op::PARAM)
      t.data = params_[static_cast<std::size_t>(g_.arg(id, 0))];
    else if (g_.op(id) == Op::REDUCE)
      reduce(id, t);
    else if (g_.op(id) == Op::SCAN)
      scan(id, t);
    else
      for (std::size_t p = 0; p < t.data.size(); ++p) t.data[p] = element(id, unflatten(p, t.extents), p);
    done_[id] = std::move(t);
  }

 private:
  Scalar constant(Id id) const { return scalar_of(g_.dtype(id), static_cast<std::uint64_t>(g_.arg(id, 0))); }

  Scalar read(Id id, const std::vector<std::int64_t>& index) const {
    const Tensor& t = at(id);
    return t.extents.empty() ? t.data[0] : t.data[position(index, t.extents)];
  }
  std::int64_t extent_at(Id id, std::size_t i) const { return index_at(g_, g_.src(id, i), symbols_); }

  Scalar element(Id id, std::vector<std::int64_t> i, std::size_t flat) {
    const Op op = g_.op(id);
    if (op == Op::CONST) return constant(id);
    if (op == Op::IOTA) return apply(Op::CAST, g_.dtype(id), DType::index, {{0, i[0]}});
    if (op == Op::CAST && g_.dtype(g_.src(id, 0)) == DType::index)
      return apply(op, g_.dtype(id), DType::index, {{0, index_at(g_, g_.src(id, 0), symbols_)}});
    if (is_elementwise(op)) {
      std::vector<Scalar> x;
      for (Id s : g_.src(id)) x.push_back(read(s, i));
      return apply(op, g_.dtype(id), g_.dtype(g_.src(id, op == Op::WHERE ? 1 : 0)), x);
    }
    const Tensor& x = at(g_.src(id, 0));
    switch (op) {
      case Op::RESHAPE: return x.data[flat];
      case Op::EXPAND:
        for (std::size_t k = 0; k < i.size(); ++k)
          if (x.extents[k] == 1) i[k] = 0;
        return read(g_.src(id, 0), i);
      case Op::PERMUTE: {
        std::vector<std::int64_t> in(i.size());
        for (std::size_t k = 0; k < i.size(); ++k) in[static_cast<std::size_t>(g_.arg(id, k))] = i[k];
        return read(g_.src(id, 0), in);
      }
      case Op::SLICE:
        for (std::size_t k = 0; k < i.size(); ++k) i[k] = extent_at(id, 1 + k) + i[k] * g_.arg(id, k);
        return read(g_.src(id, 0), i);
      case Op::PAD: return padded(id, x, i);
      default: return joined(id, i);
    }
  }

  Scalar padded(Id id, const Tensor& x, std::vector<std::int64_t> i) {
    const auto mode = static_cast<PadMode>(g_.arg(id, 0));
    for (std::size_t k = 0; k < i.size(); ++k) {
      const std::int64_t n = x.extents[k];
      std::int64_t& v = i[k];
      v -= extent_at(id, 2 + k);
      if (v >= 0 && v < n) continue;
      if (mode == PadMode::constant) return at(g_.src(id, 1)).data[0];
      if (mode == PadMode::edge) v = v < 0 ? 0 : n - 1;
      while (mode == PadMode::wrap && (v < 0 || v >= n)) v += v < 0 ? n : -n;
      while (mode == PadMode::reflect && (v < 0 || v >= n)) v = n == 1 ? 0 : v < 0 ? -v : 2 * (n - 1) - v;
    }
    return read(g_.src(id, 0), i);
  }

  Scalar joined(Id id, std::vector<std::int64_t> i) {
    const auto axis = static_cast<std::size_t>(g_.arg(id, 0));
    for (Id s : g_.src(id)) {
      if (i[axis] < at(s).extents[axis]) return read(s, i);
      i[axis] -= at(s).extents[axis];
    }
    throw std::logic_error("reference: concat");
  }

  void scan(Id id, Tensor& t) {
    const auto axis = static_cast<std::size_t>(g_.arg(id, 1));
    const DType d = g_.dtype(id), wide = d == DType::f16 || d == DType::bf16 ? DType::f32 : d;
    const std::int64_t n = t.extents[axis];
    for (std::size_t p = 0; p < t.data.size(); ++p) {
      std::vector<std::int64_t> i = unflatten(p, t.extents);
      if (i[axis] != 0) continue;
      RunningScan line(g_.scan_kind(id), wide, g_.arg(id, 2) != 0);
      for (std::int64_t k = 0; k < n; ++k) {
        i[axis] = g_.arg(id, 3) != 0 ? n - 1 - k : k;
        const Scalar r = line.next(read(g_.src(id, 0), i));
        t.data[position(i, t.extents)] = wide == d ? r : apply(Op::CAST, d, wide, {r});
      }
    }
  }

  void reduce(Id id, Tensor& t) {
    const auto kind = static_cast<ReduceKind>(g_.arg(id, 0));
    const Tensor x = at(g_.src(id, 0));
    std::vector<std::size_t> axes;
    for (std::int64_t a : g_.args(id).subspan(1)) axes.push_back(static_cast<std::size_t>(a));
    if (operands_of(kind) == 2) {
      t.data = reduced(x, at(g_.src(id, 1)), axes, kind, g_.dtype(g_.src(id, 0)));
      return;
    }
    Tensor now = x;
    for (std::size_t k = axes.size(); k-- > 0;) {
      Tensor next;
      next.data = reduced(now, now, {axes[k]}, kind, g_.dtype(g_.src(id, 0)));
      next.extents = now.extents;
      next.extents.erase(next.extents.begin() + static_cast<std::ptrdiff_t>(axes[k]));
      now = next;
    }
    t.data = now.data;
  }

  static Data reduced(const Tensor& x, const Tensor& y, const std::vector<std::size_t>& axes, ReduceKind kind, DType d) {
    std::vector<std::int64_t> outer, inner;
    std::vector<bool> is_axis(x.extents.size(), false);
    for (std::size_t a : axes) is_axis[a] = true;
    for (std::size_t k = 0; k < x.extents.size(); ++k) (is_axis[k] ? inner : outer).push_back(x.extents[k]);
    const bool last = axes.size() == 1 && axes[0] + 1 == x.extents.size();
    const bool striped = kind == ReduceKind::dot || (last && kind <= ReduceKind::min);
    Data out(count(outer));
    for (std::size_t o = 0; o < out.size(); ++o) {
      std::vector<Scalar> a, b;
      for (std::size_t p = 0; p < count(inner); ++p) {
        const auto io = unflatten(o, outer), ii = unflatten(p, inner);
        std::vector<std::int64_t> full;
        for (std::size_t k = 0, ko = 0, ki = 0; k < is_axis.size(); ++k) full.push_back(is_axis[k] ? ii[ki++] : io[ko++]);
        a.push_back(x.data[position(full, x.extents)]);
        b.push_back(y.data[position(full, x.extents)]);
      }
      out[o] = reduce_values(kind, striped ? ReduceOrder::striped : ReduceOrder::sequential, d, a, b);
    }
    return out;
  }

  Graph& g_;
  Shapes shapes_;
  const Symbols& symbols_;
  const std::vector<Data>& params_;
  std::map<Id, Tensor> done_;
};

}  // namespace

std::int64_t index_at(const Graph& g, Id id, const Symbols& symbols) {
  std::map<Id, Scalar> done;
  const Id roots[] = {id};
  for (Id n : g.reachable(roots)) {
    if (g.op(n) == Op::CONST)
      done[n] = {0, g.arg(n, 0)};
    else if (g.op(n) == Op::SYM)
      done[n] = {0, symbols.at(std::string(g.name(n)))};
    else {
      std::vector<Scalar> x;
      for (Id s : g.src(n)) x.push_back(done.at(s));
      done[n] = apply(g.op(n), DType::index, DType::index, x);
    }
  }
  return done.at(id).i;
}

std::vector<Data> run_program(Graph& g, const Program& p, const Symbols& symbols, const std::vector<Data>& params) {
  TensorRun run(g, symbols, params);
  const Id roots[] = {p.sink};
  for (Id id : g.reachable(roots))
    if (g.dtype(id) != DType::none && g.dtype(id) != DType::index) run.node(id);
  std::vector<Data> out = params;
  for (Id store : g.src(p.sink)) {
    Data& target = out[static_cast<std::size_t>(g.arg(g.src(store, 0), 0))];
    const Data& value = run.at(g.src(store, 1)).data;
    for (std::size_t i = 0; i < target.size(); ++i) target[i] = value.size() == 1 ? value[0] : value[i];
  }
  return out;
}

}  // namespace kiln::compiler::testing
