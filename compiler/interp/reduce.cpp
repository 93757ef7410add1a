#include "compiler/interp/reduce.h"

#include <algorithm>

#include "compiler/interp/combine.h"
#include "compiler/interp/scalar.h"
#include "compiler/interp/visit.h"
#include "compiler/ir/nth.h"

namespace kiln::compiler {
namespace {

namespace s = scalar;

template <class C>
C sequential(ReduceKind k, const std::vector<C>& x) {
  C acc = identity<C>(k);
  for (const C& v : x) acc = combine(k, acc, v);
  return acc;
}

template <class C>
C tree(ReduceKind k, C (&acc)[reduce_stripes]) {
  for (int step = reduce_stripes / 2; step > 0; step /= 2)
    for (int j = 0; j < step; ++j) acc[j] = combine(k, acc[j], acc[j + step]);
  return acc[0];
}

template <class C>
C block(ReduceKind k, const C* x, std::size_t n) {
  C acc[reduce_stripes];
  std::fill(std::begin(acc), std::end(acc), identity<C>(k));
  for (std::size_t i = 0; i < n; ++i) acc[i % reduce_stripes] = combine(k, acc[i % reduce_stripes], x[i]);
  return tree(k, acc);
}

template <class T>
s::Compute<T> block_of_products(const T* x, const T* y, std::size_t n) {
  using C = s::Compute<T>;
  C acc[reduce_stripes] = {};
  for (std::size_t i = 0; i < n; ++i) {
    C& stripe = acc[i % reduce_stripes];
    stripe = s::fma<C>(s::load(x[i]), s::load(y[i]), stripe);
  }
  return tree(ReduceKind::sum, acc);
}

template <class C>
C striped(ReduceKind k, std::vector<C> x) {
  constexpr std::size_t size = reduce_block;
  while (x.size() > size) {
    std::vector<C> blocks;
    for (std::size_t i = 0; i < x.size(); i += size) blocks.push_back(block(k, x.data() + i, std::min(size, x.size() - i)));
    x = std::move(blocks);
  }
  return block(k, x.data(), x.size());
}

// The index of the first extreme element. A NaN beats every number.
template <class C>
std::int64_t arg_extreme(bool largest, const std::vector<C>& x) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < std::ssize(x); ++i) {
    const C now = nth(x, i), extreme = nth(x, best);
    if (extreme != extreme) break;
    if (now != now || (largest ? now > extreme : now < extreme)) best = i;
  }
  return best;
}

bool is_arg(ReduceKind k) { return k == ReduceKind::argmax || k == ReduceKind::argmin; }

template <class T>
void reduce_lines(ReduceKind kind, const Array& x, Split d, bool last, Array& out) {
  using C = s::Compute<T>;
  const auto* in = reinterpret_cast<const T*>(x.data.data());
  std::vector<C> line(d.axis);
  for (std::size_t o = 0; o < d.outer; ++o)
    for (std::size_t i = 0; i < d.inner; ++i) {
      for (std::size_t k = 0; k < d.axis; ++k) line[k] = s::load(in[(o * d.axis + k) * d.inner + i]);
      const std::size_t at = o * d.inner + i;
      if (is_arg(kind)) {
        reinterpret_cast<std::int64_t*>(out.data.data())[at] = arg_extreme(kind == ReduceKind::argmax, line);
      } else {
        const C r = last ? striped(kind, line) : sequential(kind, line);
        reinterpret_cast<T*>(out.data.data())[at] = s::round_to<T>(r);
      }
    }
}

}  // namespace

Array reduce_axis(ReduceKind kind, const Array& x, std::size_t axis) {
  auto extents = x.extents;
  extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(axis));
  Array out = Array::zeros(is_arg(kind) ? DType::i64 : x.dtype, std::move(extents));
  const bool last = axis + 1 == x.extents.size();
  const Split d = split_at(x, axis);
  if (x.dtype == DType::boolean && !is_arg(kind)) {
    reduce_lines<std::uint8_t>(kind_of_bools(kind), x, d, last, out);
    return out;
  }
  visit_type(x.dtype, [&]<class T>() {
    if constexpr (std::is_same_v<T, s::Bool>)
      reduce_lines<std::uint8_t>(kind, x, d, last, out);
    else
      reduce_lines<T>(kind, x, d, last, out);
  });
  return out;
}

Array reduce_fma(const Array& a, const Array& b, std::size_t count) {
  const std::size_t kept = a.extents.size() - count;
  Array out = Array::zeros(a.dtype, {a.extents.begin(), a.extents.begin() + static_cast<std::ptrdiff_t>(kept)});
  const std::size_t length = a.elements(kept, a.extents.size());
  visit_type(a.dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, s::Bool>) {
      using C = s::Compute<T>;
      const auto *x = reinterpret_cast<const T*>(a.data.data()), *y = reinterpret_cast<const T*>(b.data.data());
      for (std::size_t o = 0; o < out.elements(); ++o) {
        C acc = 0;
        for (std::size_t k = 0; k < length; ++k) acc = s::fma<C>(s::load(x[o * length + k]), s::load(y[o * length + k]), acc);
        reinterpret_cast<T*>(out.data.data())[o] = s::round_to<T>(acc);
      }
    }
  });
  return out;
}

Array reduce_dot(const Array& a, const Array& b) {
  Array out = Array::zeros(a.dtype, {a.extents.begin(), a.extents.end() - 1});
  const std::size_t n = a.extent(a.extents.size() - 1);
  constexpr std::size_t size = reduce_block;
  visit_type(a.dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, s::Bool>) {
      const auto *x = reinterpret_cast<const T*>(a.data.data()), *y = reinterpret_cast<const T*>(b.data.data());
      for (std::size_t o = 0; o < out.elements(); ++o) {
        std::vector<s::Compute<T>> blocks;
        for (std::size_t i = 0; i < n; i += size)
          blocks.push_back(block_of_products(x + o * n + i, y + o * n + i, std::min(size, n - i)));
        reinterpret_cast<T*>(out.data.data())[o] = s::round_to<T>(striped(ReduceKind::sum, std::move(blocks)));
      }
    }
  });
  return out;
}

}  // namespace kiln::compiler
