// Elements of tensors of all sorts, t(i, j) and t.at<mode>(i, j), and their extents, t.size<axis>().
#pragma once

#include "kiln/dsl/element.h"

namespace kiln::dsl {

struct by_element_ {
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

namespace detail {

// The node that a copy of an `in` was given; -1 for every other tensor.
template <class T>
constexpr int given(const T& t) {
  if constexpr (requires { t.value; })
    return t.value;
  else
    return -1;
}

}  // namespace detail

// The extents of a tensor.
template <class Self, class S>
struct sized_ {
  // The extent of an axis as a scalar of dtype I. A negative axis counts from the end.
  template <int Axis, DType I = i32>
    requires(detail::axis_ok(Axis, S::rank))
  constexpr auto size(sloc l = sloc::current()) const {
    return expr_<I, sh<>>(
        static_cast<const Self&>(*this).b,
        detail::dim_id<I>(static_cast<const Self&>(*this).b, detail::attr<ext_at<S, detail::axis_of(Axis, S::rank)>>, l));
  }

  template <int Axis, why Reason = why::axis_out_of_range>
    requires(!detail::axis_ok(Axis, S::rank))
  mistake<Reason> size() const KILN_MISTAKE(KILN_REASONS_ELEMENT);
  template <why Reason = why::axis_of_a_size_is_a_template_argument__write_size_of_axis>
  mistake<Reason> size() const KILN_MISTAKE(KILN_REASONS_ELEMENT);
  template <detail::arithmetic I, why Reason = why::axis_of_a_size_is_a_template_argument__write_size_of_axis>
  mistake<Reason> size(const I&) const KILN_MISTAKE(KILN_REASONS_ELEMENT);
};

// The first overload of each kind does not have the types of its indices as template parameters. So the indices convert at
// the call, and the conversion takes the line of the call.
template <class Self, class D, class S, why W, int... A>
struct elements_ : by_element_, sized_<Self, S> {
  constexpr auto operator()(subscript_of<A>... i) const { return single_<mode::clamp>(i...); }
  template <mode M>
    requires(M != mode::constant)
  constexpr auto at(subscript_of<A>... i) const {
    return single_<M>(i...);
  }
  template <mode M>
    requires(M == mode::constant)
  constexpr auto at(subscript_of<A>... i, const right_<D, sh<>>& outside) const {
    return constant_<sh<>>(outside, i...);
  }
#define KILN_UNWRAP(...) __VA_ARGS__
#define KILN_PART(T, N, P, A)                                                                   \
  template <KILN_UNWRAP T>                                                                      \
    requires(detail::several<S, KILN_UNWRAP N>)                                                 \
  constexpr auto operator()(KILN_UNWRAP P, sloc l = sloc::current()) const {                    \
    return part_of_<mode::clamp>(l, KILN_UNWRAP A);                                             \
  }                                                                                             \
  template <mode M, KILN_UNWRAP T>                                                              \
    requires(M != mode::constant && detail::several<S, KILN_UNWRAP N>)                          \
  constexpr auto at(KILN_UNWRAP P, sloc l = sloc::current()) const {                            \
    return part_of_<M>(l, KILN_UNWRAP A);                                                       \
  }                                                                                             \
  template <mode M, KILN_UNWRAP T, class V>                                                     \
    requires(M == mode::constant && detail::several<S, KILN_UNWRAP N> && detail::outside<D, V>) \
  constexpr auto at(KILN_UNWRAP P, const V& v, sloc l = sloc::current()) const {                \
    return part_outside_(right_<D, sh<>>(v, l), KILN_UNWRAP A);                                 \
  }
  KILN_PART((class I), (I), (const I& i), (i))
  KILN_PART((class I, class J), (I, J), (const I& i, const J& j), (i, j))
  KILN_PART((class I, class J, class K), (I, J, K), (const I& i, const J& j, const K& k), (i, j, k))
  KILN_PART((class I, class J, class K, class L), (I, J, K, L), (const I& i, const J& j, const K& k, const L& h), (i, j, k, h))
#undef KILN_PART
#undef KILN_UNWRAP
  template <class... I, why Reason = detail::element_why<S, I...>()>
    requires(detail::wrong(Reason))
  mistake<Reason> operator()(const I&...) const KILN_MISTAKE(KILN_REASONS_ELEMENT);
  template <mode M, class... I, why Reason = detail::at_why<M, S, I...>()>
    requires(detail::wrong(Reason))
  mistake<Reason> at(const I&...) const KILN_MISTAKE(KILN_REASONS_ELEMENT);
  template <class... I, why Reason = why::at_takes_a_mode__write_at_of_mode>
  mistake<Reason> at(const I&...) const KILN_MISTAKE(KILN_REASONS_ELEMENT);

 private:
  constexpr const Self& self() const { return static_cast<const Self&>(*this); }
  template <mode M, class... I>
  constexpr auto single_(const subscript_& first, const I&... rest) const {
    return named_<M, sh<>>(first.l, first, rest...);
  }
  template <mode M, class... I>
  constexpr auto part_of_(const sloc& l, const I&... i) const {
    return part_at_<M>(l, make_seq<sizeof...(I)>{}, i...);
  }
  template <mode M, int... K, class... I>
  constexpr auto part_at_(const sloc& l, seq<K...>, const I&... i) const {
    const subscript_ at[] = {detail::index_node<detail::ranges_before<K, I...>, detail::ranges<I...>>(self().b, i, l)...};
    return named_<M, detail::part_shape<S, I...>>(l, at[K]...);
  }
  template <mode M, class P, class... I>
  constexpr auto named_(const sloc& l, const I&... i) const {
    if constexpr (W == detail::computed)
      return values_ < M == mode::skip ? mode::clamp : M, P > (l, {i.node(self().b)...}, sizeof...(I));
    else
      return element_ < D, P, M, W == why::ok > (self().b, self().slot, detail::given(self()), l, i...);
  }
  template <class... I>
  constexpr auto part_outside_(const right_<D, sh<>>& outside, const I&... i) const {
    return part_around_(outside, make_seq<sizeof...(I)>{}, i...);
  }
  template <int... K, class... I>
  constexpr auto part_around_(const right_<D, sh<>>& outside, seq<K...>, const I&... i) const {
    const subscript_ at[] = {
        detail::index_node<detail::ranges_before<K, I...>, detail::ranges<I...>>(self().b, i, outside.l)...};
    return constant_<detail::part_shape<S, I...>>(outside, at[K]...);
  }
  // The last source is the value outside of the axes.
  template <class P, class... I>
  constexpr expr_<D, P> constant_(const right_<D, sh<>>& outside, const I&... i) const {
    builder* b = self().b;
    return values_<mode::constant, P>(outside.l, {i.node(b)..., outside.node(b)}, sizeof...(I) + 1);
  }
  template <mode M, class P>
  constexpr expr_<D, P> values_(const sloc& l, const int (&sources)[S::rank + 1], int n) const {
    builder* b = self().b;
    detail::check_small<P>(b, l);
    constexpr auto where = static_cast<std::uint64_t>(M) << 32;
    int tensor = -1;
    if constexpr (requires { self().read_(l); })  // arrays of a kernel are no values
      if (W == detail::computed || detail::given(self()) >= 0) tensor = self().read_(l);
    if (tensor >= 0) {
      detail::begin_node<D, P>(b, op::element, l, where | record::computed_tensor);
      b->src(tensor);
    } else if constexpr (W != detail::computed) {
      detail::begin_node<D, P>(b, op::element, l, where | static_cast<std::uint64_t>(self().slot));
    }
    for (int k = 0; k < n; ++k) b->src(sources[k]);
    return detail::result<D, P>(b);
  }
};
// A scalar's only element, s(), is the target of atomics and of sums over a kernel.
template <class Self, class D, class S, why W>
struct elements_<Self, D, S, W> : by_element_, sized_<Self, S> {
  constexpr auto operator()(sloc l = sloc::current()) const {
    const auto& t = static_cast<const Self&>(*this);
    return element_ < D, sh<>, mode::clamp, W == why::ok > (t.b, t.slot, detail::given(t), l);
  }
};

// auto a = local<f32, 4>(): an array, all zeros at the beginning of each iteration of its scope.
template <class D, class S>
struct local_ : elements_t<local_<D, S>, D, S, why::ok> {
  using is_array = void;
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
