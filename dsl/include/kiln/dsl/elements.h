// What tensors of all sorts have in common: t(i, j) and t.at<mode>(i, j).
#pragma once

#include "kiln/dsl/element.h"

namespace kiln::dsl {

struct kiln_by_element {
  template <class I, why Reason = why::elements_are_in_parentheses__write_t_of_i>
  mistake<Reason> operator[](const I&) const KILN_MISTAKE(KILN_REASONS_ELEMENT);
#define KILN_X(name)                                                                \
  template <class... X, why Reason = why::an_atomic_is_of_an_element__write_t_of_i> \
  mistake<Reason> name(const X&...) const KILN_MISTAKE(KILN_REASONS_ELEMENT);
  KILN_X(atomic_add)
  KILN_X(atomic_min)
  KILN_X(atomic_max)
  KILN_X(atomic_and)
  KILN_X(atomic_or)
  KILN_X(atomic_xor)
  KILN_X(atomic_exchange)
  KILN_X(atomic_compare_exchange)
#undef KILN_X
#define KILN_X(name)                                                                \
  template <class... X, why Reason = why::functions_are_no_members__write_sum_of_x> \
  mistake<Reason> name(const X&...) const KILN_MISTAKE(KILN_REASONS_MISUSE);
  KILN_X(sum)
  KILN_X(mean)
  KILN_X(max)
  KILN_X(min)
  KILN_X(argmax)
  KILN_X(abs)
  KILN_X(sqrt)
  KILN_X(exp)
  KILN_X(reshape)
  KILN_X(transpose)
  KILN_X(slice)
  KILN_X(fill)
  KILN_X(dot)
  KILN_X(matmul)
  KILN_X(softmax)
#undef KILN_X
#define KILN_X(name)                                                                                   \
  template <class... X, why Reason = why::cpp_sees_no_extents_and_elements__write_kernel_loop_or_size> \
  mistake<Reason> name(const X&...) const KILN_MISTAKE(KILN_REASONS_MISUSE);
  KILN_X(begin)
  KILN_X(end)
#undef KILN_X
};

// The node that a copy of an `in` was given, else -1.
template <class T>
constexpr int kiln_given(const T& t) {
  if constexpr (requires { t.value; })
    return t.value;
  else
    return -1;
}

// The first of each are not templates of the indices, so that these convert at the call and bring its line.
template <class Self, class D, class S, why W, int... A>
struct kiln_elements : kiln_by_element {
  constexpr auto operator()(kiln_subscript_of<A>... i) const { return kiln_element<mode::clamp>(i...); }
  template <mode M>
    requires(M != mode::constant)
  constexpr auto at(kiln_subscript_of<A>... i) const {
    return kiln_element<M>(i...);
  }
  template <mode M>
    requires(M == mode::constant)
  constexpr auto at(kiln_subscript_of<A>... i, const kiln_right<D, sh<>>& outside) const {
    return kiln_constant<sh<>>(outside, i...);
  }
#define KILN_UNWRAP(...) __VA_ARGS__
#define KILN_PART(T, N, P, A)                                                             \
  template <KILN_UNWRAP T>                                                                \
    requires(kiln_several<S, KILN_UNWRAP N>)                                              \
  constexpr auto operator()(KILN_UNWRAP P, sloc l = sloc::current()) const {              \
    return kiln_part_of<mode::clamp>(l, KILN_UNWRAP A);                                   \
  }                                                                                       \
  template <mode M, KILN_UNWRAP T>                                                        \
    requires(M != mode::constant && kiln_several<S, KILN_UNWRAP N>)                       \
  constexpr auto at(KILN_UNWRAP P, sloc l = sloc::current()) const {                      \
    return kiln_part_of<M>(l, KILN_UNWRAP A);                                             \
  }                                                                                       \
  template <mode M, KILN_UNWRAP T, class V>                                               \
    requires(M == mode::constant && kiln_several<S, KILN_UNWRAP N> && kiln_outside<D, V>) \
  constexpr auto at(KILN_UNWRAP P, const V& v, sloc l = sloc::current()) const {          \
    return kiln_part_outside(kiln_right<D, sh<>>(v, l), KILN_UNWRAP A);                   \
  }
  KILN_PART((class I), (I), (const I& i), (i))
  KILN_PART((class I, class J), (I, J), (const I& i, const J& j), (i, j))
  KILN_PART((class I, class J, class K), (I, J, K), (const I& i, const J& j, const K& k), (i, j, k))
  KILN_PART((class I, class J, class K, class L), (I, J, K, L), (const I& i, const J& j, const K& k, const L& h), (i, j, k, h))
#undef KILN_PART
#undef KILN_UNWRAP
  template <class... I, why Reason = kiln_element_why<S, I...>()>
    requires(kiln_wrong(Reason))
  mistake<Reason> operator()(const I&...) const KILN_MISTAKE(KILN_REASONS_ELEMENT);
  template <mode M, class... I, why Reason = kiln_at_why<M, S, I...>()>
    requires(kiln_wrong(Reason))
  mistake<Reason> at(const I&...) const KILN_MISTAKE(KILN_REASONS_ELEMENT);
  template <class... I, why Reason = why::at_takes_a_mode__write_at_of_mode>
  mistake<Reason> at(const I&...) const KILN_MISTAKE(KILN_REASONS_ELEMENT);

 private:
  constexpr const Self& self() const { return static_cast<const Self&>(*this); }
  template <mode M, class... I>
  constexpr auto kiln_element(const kiln_subscript& first, const I&... rest) const {
    return kiln_named<M, sh<>>(first.l, first, rest...);
  }
  template <mode M, class... I>
  constexpr auto kiln_part_of(const sloc& l, const I&... i) const {
    return kiln_part_at<M>(l, make_seq<sizeof...(I)>{}, i...);
  }
  template <mode M, int... K, class... I>
  constexpr auto kiln_part_at(const sloc& l, seq<K...>, const I&... i) const {
    const kiln_subscript at[] = {kiln_index<kiln_ranges_before<K, I...>, kiln_ranges<I...>>(self().b, i, l)...};
    return kiln_named<M, kiln_part_shape<S, I...>>(l, at[K]...);
  }
  template <mode M, class P, class... I>
  constexpr auto kiln_named(const sloc& l, const I&... i) const {
    if constexpr (W == kiln_computed)
      return kiln_value < M == mode::skip ? mode::clamp : M, P > (l, {i.node(self().b)...}, sizeof...(I));
    else
      return element_ < D, P, M, W == why::ok > (self().b, self().slot, kiln_given(self()), l, i...);
  }
  template <class... I>
  constexpr auto kiln_part_outside(const kiln_right<D, sh<>>& outside, const I&... i) const {
    return kiln_part_around(outside, make_seq<sizeof...(I)>{}, i...);
  }
  template <int... K, class... I>
  constexpr auto kiln_part_around(const kiln_right<D, sh<>>& outside, seq<K...>, const I&... i) const {
    const kiln_subscript at[] = {kiln_index<kiln_ranges_before<K, I...>, kiln_ranges<I...>>(self().b, i, outside.l)...};
    return kiln_constant<kiln_part_shape<S, I...>>(outside, at[K]...);
  }
  // The value where the index is outside is the last source.
  template <class P, class... I>
  constexpr expr_<D, P> kiln_constant(const kiln_right<D, sh<>>& outside, const I&... i) const {
    builder* b = self().b;
    return kiln_value<mode::constant, P>(outside.l, {i.node(b)..., outside.node(b)}, sizeof...(I) + 1);
  }
  template <mode M, class P>
  constexpr expr_<D, P> kiln_value(const sloc& l, const int (&sources)[S::rank + 1], int n) const {
    builder* b = self().b;
    kiln_check_small<P>(b, l);
    constexpr auto where = static_cast<std::uint64_t>(M) << 32;
    int tensor = -1;
    if constexpr (requires { self().kiln_read(l); })  // arrays of a kernel are no values
      if (W == kiln_computed || kiln_given(self()) >= 0) tensor = self().kiln_read(l);
    if (tensor >= 0) {
      kiln_begin<D, P>(b, op::element, l, where | record::computed_tensor);
      b->src(tensor);
    } else if constexpr (W != kiln_computed) {
      kiln_begin<D, P>(b, op::element, l, where | static_cast<std::uint64_t>(self().slot));
    }
    for (int k = 0; k < n; ++k) b->src(sources[k]);
    return kiln_result<D, P>(b);
  }
};
// The element of a scalar: what atomics and scatters of one sum go to.
template <class Self, class D, class S, why W>
struct kiln_elements<Self, D, S, W> : kiln_by_element {
  constexpr auto operator()(sloc l = sloc::current()) const {
    const auto& t = static_cast<const Self&>(*this);
    return element_ < D, sh<>, mode::clamp, W == why::ok > (t.b, t.slot, kiln_given(t), l);
  }
};

// An array of one turn of the scope that it stands in, all zero: auto a = local<f32, 4>();
template <class D, class S>
struct local_ : elements_t<local_<D, S>, D, S, why::ok> {
  using kiln_array_of_kernel = void;
  using dtype = D;
  using shape = S;
  builder* b;
  int slot;
  constexpr local_(builder* b_, int slot_) : b(b_), slot(slot_) {}
  constexpr local_(const local_&) = default;
  constexpr ~local_() = default;
  constexpr void operator=(const local_&) { b->fail(why::an_array_is_written_by_element__write_a_of_i, b->current()); }
#define KILN_X(sym, k, o)                                                            \
  template <class X, why Reason = why::an_array_is_written_by_element__write_a_of_i> \
  mistake<Reason> operator sym(const X&) KILN_MISTAKE(KILN_REASONS_ASSIGN);
  KILN_X(=, , )
  KILN_COMPOUNDS(KILN_X)
#undef KILN_X
};

}  // namespace kiln::dsl
