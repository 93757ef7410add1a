#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/interp/elementwise.h"
#include "compiler/interp/math.h"
#include "compiler/interp/scalar.h"
#include "compiler/interp/visit.h"
#include "tests/unit/schedule_harness.h"

namespace kiln::compiler::testing {

std::uint64_t bits_of(DType d, const Scalar& s) {
  std::uint64_t out = 0;
  visit_type(d, [&]<class T>() {
    T v{};
    if constexpr (scalar::is_real<T>)
      v = scalar::convert<T>(s.f);
    else if constexpr (std::is_same_v<T, scalar::Bool>)
      v.value = s.i != 0;
    else
      v = static_cast<T>(s.i);
    std::memcpy(&out, &v, sizeof v);
  });
  return out;
}

Scalar scalar_of(DType d, std::uint64_t bits) {
  Scalar out;
  visit_type(d, [&]<class T>() {
    T v{};
    std::memcpy(&v, &bits, sizeof v);
    if constexpr (scalar::is_real<T>)
      out.f = static_cast<double>(scalar::load(v));
    else if constexpr (std::is_same_v<T, scalar::Bool>)
      out.i = v.value;
    else
      out.i = static_cast<std::int64_t>(v);
  });
  return out;
}

Scalar apply(Op op, DType result, DType operand, std::span<const Scalar> x) {
  if (op == Op::WHERE) return x[0].i != 0 ? x[1] : x[2];
  std::uint64_t in[3] = {}, out = 0;
  Operand each[3] = {};
  for (std::size_t i = 0; i < x.size(); ++i) {
    in[i] = bits_of(operand, x[i]);
    each[i] = {reinterpret_cast<const std::byte*>(&in[i]), true};
  }
  const std::span<const Operand> operands(each, x.size());
  auto* to = reinterpret_cast<std::byte*>(&out);
  if (is_math(op)) {
    static MathEvaluator math;
    math.apply(op, operand, operands, to, 1);
  } else {
    apply_elementwise(op, result, operand, operands, to, 1);
  }
  return scalar_of(result, out);
}

Scalar apply(Op op, DType result, DType operand, std::initializer_list<Scalar> x) {
  return apply(op, result, operand, std::span(x.begin(), x.size()));
}

bool same(DType d, const Scalar& a, const Scalar& b) {
  if (!is_float(d)) return a.i == b.i;
  return (std::isnan(a.f) && std::isnan(b.f)) || std::memcmp(&a.f, &b.f, sizeof a.f) == 0;
}

namespace {

Scalar identity(ReduceKind k, DType d) {
  const double inf = std::numeric_limits<double>::infinity();
  std::int64_t low = 0, high = 1;
  visit_type(d, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      low = static_cast<std::int64_t>(std::numeric_limits<T>::min());
      high = static_cast<std::int64_t>(std::numeric_limits<T>::max());
    }
  });
  switch (k) {
    case ReduceKind::prod: return {1, 1};
    case ReduceKind::max: return {-inf, low};
    case ReduceKind::min: return {inf, high};
    case ReduceKind::all: return {0, 1};
    default: return {};
  }
}

Scalar combine(ReduceKind k, DType d, const Scalar& a, const Scalar& b) {
  switch (k) {
    case ReduceKind::prod: return apply(Op::MUL, d, d, {a, b});
    case ReduceKind::max: return apply(Op::MAX, d, d, {a, b});
    case ReduceKind::min: return apply(Op::MIN, d, d, {a, b});
    case ReduceKind::any: return {0, a.i != 0 || b.i != 0};
    case ReduceKind::all: return {0, a.i != 0 && b.i != 0};
    default: return apply(Op::ADD, d, d, {a, b});
  }
}

Scalar arg_extreme(ReduceKind k, DType d, const std::vector<Scalar>& x) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < x.size(); ++i) {
    const bool nan_before = is_float(d) && std::isnan(x[best].f), nan_here = is_float(d) && std::isnan(x[i].f);
    const Scalar &low = k == ReduceKind::argmax ? x[best] : x[i], &high = k == ReduceKind::argmax ? x[i] : x[best];
    if (!nan_before && (nan_here || apply(Op::LT, DType::boolean, d, {low, high}).i != 0)) best = i;
  }
  return {0, static_cast<std::int64_t>(best)};
}

// The results of all blocks. y: the right operands of a dot, else empty.
std::vector<Scalar> striped_blocks(ReduceKind k, DType d, const std::vector<Scalar>& x, const std::vector<Scalar>& y) {
  constexpr auto block = static_cast<std::size_t>(reduce_block);
  std::vector<Scalar> blocks;
  for (std::size_t at = 0; at < std::max<std::size_t>(x.size(), 1); at += block) {
    std::vector<Scalar> acc(reduce_stripes, identity(k, d));
    for (std::size_t i = at; i < std::min(x.size(), at + block); ++i) {
      Scalar& stripe = acc[(i - at) % reduce_stripes];
      stripe = k == ReduceKind::dot ? apply(Op::FMA, d, d, {x[i], y[i], stripe}) : combine(k, d, stripe, x[i]);
    }
    for (std::size_t half = reduce_stripes / 2; half > 0; half /= 2)
      for (std::size_t j = 0; j < half; ++j) acc[j] = combine(k, d, acc[j], acc[j + half]);
    blocks.push_back(acc[0]);
  }
  return blocks;
}

Scalar striped(ReduceKind k, DType d, std::vector<Scalar> x, const std::vector<Scalar>& y) {
  if (k == ReduceKind::dot) {  // a sum of blocks, also of one block
    x = striped_blocks(k, d, x, y);
    k = ReduceKind::sum;
  }
  for (;;) {
    x = striped_blocks(k, d, x, {});
    if (x.size() == 1) return x[0];
  }
}

Scalar sequential(ReduceKind k, DType d, const std::vector<Scalar>& x, const std::vector<Scalar>& y) {
  Scalar acc = identity(k, d);
  for (std::size_t i = 0; i < x.size(); ++i)
    acc = k == ReduceKind::fma ? apply(Op::FMA, d, d, {x[i], y[i], acc}) : combine(k, d, acc, x[i]);
  return acc;
}

}  // namespace

RunningScan::RunningScan(ReduceKind k, DType d, bool exclusive)
    : kind_(k), dtype_(d), exclusive_(exclusive), groups_(identity(k, d)), blocks_(groups_), last_(groups_) {}

Scalar RunningScan::next(const Scalar& x) {
  const auto both = [&](const Scalar& a, const Scalar& b) { return combine(kind_, dtype_, a, b); };
  if (count_ > 0 && count_ % scan_block == 0) {
    blocks_ = both(blocks_, groups_);
    groups_ = identity(kind_, dtype_);
  }
  ++count_;
  Scalar here = x;
  for (std::size_t i = parts_.size(); i-- > 0;) here = both(parts_[i], here);
  const Scalar result = both(blocks_, both(groups_, here)), before = last_;
  last_ = result;
  Scalar part = x;  // joined with the parts of its size
  std::int64_t size = 1;
  for (; !parts_.empty() && sizes_.back() == size; size *= 2) {
    part = both(parts_.back(), part);
    parts_.pop_back();
    sizes_.pop_back();
  }
  parts_.push_back(part);
  sizes_.push_back(size);
  if (size == scan_group) {
    groups_ = both(groups_, part);
    parts_.clear();
    sizes_.clear();
  }
  return exclusive_ ? before : result;
}

Scalar reduce_values(ReduceKind k, ReduceOrder order, DType d, const std::vector<Scalar>& x, const std::vector<Scalar>& y) {
  if (k == ReduceKind::argmax || k == ReduceKind::argmin) return arg_extreme(k, d, x);
  const DType wide = d == DType::f16 || d == DType::bf16 ? DType::f32 : d;  // rounded once, at the end
  const Scalar acc = order == ReduceOrder::striped ? striped(k, wide, x, y) : sequential(k, wide, x, y);
  return wide == d ? acc : apply(Op::CAST, d, wide, {acc});
}

}  // namespace kiln::compiler::testing
