// gather(x, i, j): elements of a value at computed positions, as t(i, j) of a parameter; gather<mode::wrap>(x, i).
#pragma once

#include "kiln/dsl/subscript.h"

namespace kiln {

template <mode M, class X, class... I>
constexpr auto kiln_gathered(const sloc& l, const X& x, const I&... i) {
  using D = dtype_of<X>;
  using P = kiln_part_shape<shape_of<X>, I...>;
  builder* b = x.b;
  const int value = x.kiln_read(l), index[] = {kiln_subscript(kiln_tensor_index{}, i, l).node(b)...};
  kiln_check_small<P>(b, l);
  kiln_begin<D, P>(b, op::gather, l, static_cast<std::uint64_t>(M) << 32);
  b->src(value);
  for (const int k : index) b->src(k);
  return kiln_result<D, P>(b);
}
template <mode M, class X, class... I>
constexpr why kiln_gather_why() {
  if constexpr (M == mode::constant || M == mode::skip)
    return why::gather_takes_the_modes_clamp_wrap_mirror_unchecked;
  else
    return kiln_element_why<shape_of<X>, I...>();
}

#define KILN_GATHER(T, N, P, A)                                                \
  template <mode M = mode::clamp, Operand X, KILN_UNWRAP T>                    \
    requires(kiln_gather_why<M, X, KILN_UNWRAP N>() == why::ok)                \
  constexpr auto gather(const X& x, KILN_UNWRAP P, sloc l = sloc::current()) { \
    return kiln_gathered<M>(l, x, KILN_UNWRAP A);                              \
  }
#define KILN_UNWRAP(...) __VA_ARGS__
KILN_GATHER((class I), (I), (const I& i), (i))
KILN_GATHER((class I, class J), (I, J), (const I& i, const J& j), (i, j))
KILN_GATHER((class I, class J, class K), (I, J, K), (const I& i, const J& j, const K& k), (i, j, k))
KILN_GATHER((class I, class J, class K, class L), (I, J, K, L), (const I& i, const J& j, const K& k, const L& h), (i, j, k, h))
#undef KILN_GATHER
#undef KILN_UNWRAP
template <mode M = mode::clamp, Operand X, class... I, why Reason = kiln_gather_why<M, X, I...>()>
  requires(kiln_wrong(Reason))
mistake<Reason> gather(const X&, const I&...) KILN_MISTAKE(KILN_REASONS_ELEMENT);

}  // namespace kiln
