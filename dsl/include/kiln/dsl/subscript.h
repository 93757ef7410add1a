// The indices of t(i, j). The elements that they name have the broadcast shape of the indices, then the axes without an index.
#pragma once

#include "kiln/dsl/operators.h"

namespace kiln::dsl {

// The meaning of an index outside of its axis. clamp: the nearest element. wrap: the axis is periodic. mirror: the axis is
// mirrored at both ends, .. 1 0 | 0 1 .. n-1 | n-1 n-2 .. constant: x.at<mode::constant>(i, j, value) gives the value.
// unchecked: the program promises that no index is outside. skip: t.at<mode::skip>(i) = v writes nothing.
using mode = record::index_mode;

namespace detail {

// A scalar of an integer dtype, or an integer or extent of C++.
template <class X>
constexpr bool scalar_integer() {
  if constexpr (Operand<X>)
    return is_int<dtype_of<X>> && rank_of<X> == 0;
  else
    return Extent<X> || (std::is_integral_v<X> && !std::is_same_v<X, bool>);
}

// Inside a kernel a tensor is at most 16 values, not memory.
template <class S>
inline constexpr bool is_small = [] {
  std::int64_t n = 1;
  for (int k = 0; k < S::rank; ++k) {
    const record::extent& e = shape_v<S>->extents[k];
    n = e.text != nullptr || e.value > 16 ? 17 : n * e.value;
    if (n > 16) return false;
  }
  return true;
}();
template <class S>
constexpr void check_small(builder* b, const sloc& l) {
  if (b->kernel() != 0 && !is_small<S>) b->fail(why::elements_inside_a_kernel_are_at_most_16_with_static_extents, b->at(l));
}

struct tensor_index {};

}  // namespace detail

struct subscript_ {
  int id = -1;
  std::int64_t literal = 0;
  record::extent extent{};
  sloc l;

  constexpr subscript_() = default;
  template <class X>
    requires(detail::scalar_integer<X>() && !std::is_same_v<X, ext>)
  constexpr subscript_(const X& x, sloc l_ = sloc::current()) : l(l_) {  // NOLINT(google-explicit-constructor)
    if constexpr (Operand<X>)
      id = x.read_(l);
    else if constexpr (Extent<X>)
      extent = detail::record_of(x);
    else
      literal = static_cast<std::int64_t>(x);
  }
  template <class X>
  constexpr subscript_(detail::tensor_index, const X& x, const sloc& l_) : l(l_) {
    if constexpr (Operand<X>)
      id = x.read_(l);
    else
      *this = subscript_(x, l);
  }
  constexpr int node(builder* b) const {
    if (id >= 0) return id;
    if (extent.text != nullptr) return detail::dim_id<i64>(b, extent, l);
    return detail::constant_id<i64>(b, {static_cast<std::uint64_t>(literal), true}, l);
  }
};

template <int>
using subscript_of = const subscript_&;

// range<4>(k): the positions k .. k + 3 of an axis, as an index. Several ranges name the block that they span: the first range
// is the block's first axis, and so on.
template <class Line>
struct range_ {
  using is_range = void;
  using line = Line;
  subscript_ begin;
};

namespace detail {

template <class T>
concept is_range = requires { typename T::is_range; };
template <class... I>
inline constexpr int ranges = (0 + ... + (is_range<I> ? 1 : 0));
// The number of ranges among the first K indices.
template <int K, class... I>
inline constexpr int ranges_before = [] {
  const bool range[] = {is_range<I>..., false};
  int n = 0;
  for (int i = 0; i < K; ++i) n += range[i];
  return n;
}();
// Range number At of Of ranges, as a tensor of indices, has its length on axis At and 1 on the others.
template <class Line, int At, int Of>
struct range_shape {
  static constexpr ints axes = [] {
    ints r;
    for (int i = 0; i < Of; ++i) r.add(i == At ? 0 : -1);
    return r;
  }();
  using type = typename gathered<Line, axes>::type;
};
template <class X, int At, int Of>
struct index_as {
  using type = X;
};
template <is_range X, int At, int Of>
struct index_as<X, At, Of> {
  using type = expr_<i64, typename range_shape<typename X::line, At, Of>::type>;
};
template <int At, int Of, class X>
constexpr subscript_ index_node(builder* b, const X& x, const sloc& l) {
  if constexpr (!is_range<X>) {
    return subscript_(tensor_index{}, x, l);
  } else {
    int first = x.begin.node(b);
    const kiln_dtype d = b->nodes.v[first].d;
    if (b->nodes.v[first].o != op::constant && d == KILN_U64) {  // a number that no i64 holds is far outside
      b->begin(op::constant, d, shape_v<sh<>>, l, std::uint64_t{1} << 62);
      const int limit = b->last();
      b->begin(op::min, d, shape_v<sh<>>, l);
      b->src(first);
      b->src(limit);
      first = b->last();
    }
    if (d != KILN_I64) {
      detail::begin_node<i64, sh<>>(b, op::cast, l);
      b->src(first);
      first = b->last();
    }
    using S = shape_of<typename index_as<X, At, Of>::type>;
    detail::begin_node<i64, typename X::line>(b, op::iota, l);
    if constexpr (Of > 1) {
      const int line = b->last();
      detail::begin_node<i64, S>(b, op::reshape, l);
      b->src(line);
    }
    subscript_ r;
    r.l = l;
    r.id = detail::node2<i64, S>(b, op::add, l, b->last(), first);
    return r;
  }
}

template <class T>
concept index_pack = requires { typename T::is_index_pack; };

// An index: a scalar or tensor of an integer dtype, an integer or extent of C++, or a range.
template <class X>
constexpr bool integer_index() {
  if constexpr (Operand<X>)
    return is_int<dtype_of<X>>;
  else
    return is_range<X> || detail::scalar_integer<X>();
}
template <class... I>
struct index_shape {
  static constexpr bool fits = true;
  using type = sh<>;
};
template <class A, class B>
struct index_shapes {
  static constexpr bool fits = false;
  using type = sh<>;
};
template <class A, class B>
  requires(B::fits && broadcastable<A, typename B::type>)
struct index_shapes<A, B> {
  static constexpr bool fits = true;
  using type = broadcast_t<A, typename B::type>;
};
template <class A, class... I>
struct index_shape<A, I...> : index_shapes<shape_of<A>, index_shape<I...>> {};
template <class, class... I>
struct index_shape_of;
template <int... K, class... I>
struct index_shape_of<seq<K...>, I...> : index_shape<typename index_as<I, ranges_before<K, I...>, ranges<I...>>::type...> {};
template <class S, class... I>
using part_shape = cat_t<typename index_shape_of<make_seq<sizeof...(I)>, I...>::type, typename rest<S, sizeof...(I)>::type>;

template <class S, class... I>
constexpr bool is_one = sizeof...(I) == S::rank && ((rank_of<I> == 0 && !is_range<I>) && ...);
template <class S, class... I>
constexpr why element_why() {
  if constexpr ((std::is_same_v<I, ext> || ...))
    return why::computed_extent_is_a_template_argument__write_size_of_extent;
  else if constexpr ((index_pack<I> || ...))
    return why::work_items_of_a_kernel_come_in_brackets__write_for_auto_i;
  else if constexpr (!(detail::integer_index<I>() && ...))
    return why::index_must_be_an_integer__write_cast_or_select;
  else if constexpr (sizeof...(I) == 0 || sizeof...(I) > S::rank)
    return why::at_most_one_index_for_each_axis;
  else if constexpr (ranges<I...> > 0 && ((rank_of<I> > 0) || ...))
    return why::a_range_stands_beside_ranges_and_single_indices;
  else if constexpr (!index_shape_of<make_seq<sizeof...(I)>, I...>::fits)
    return why::shapes_of_the_indices_do_not_broadcast;
  else
    return is_one<S, I...> || sizeof...(I) <= 4 ? why::ok : why::at_most_four_indices_where_one_is_a_tensor;
}
template <class S, class... I>
concept several = !is_one<S, I...> && detail::element_why<S, I...>() == why::ok;

template <mode M, class S, class... I>
constexpr why at_why() {
  if constexpr (M == mode::constant)
    return sizeof...(I) == S::rank + 1 ? why::ok : why::mode_constant_takes_the_value_outside_after_the_indices;
  else
    return detail::element_why<S, I...>();
}

// Whether x.at<mode::constant>(i, value) takes this value.
template <class D, class X>
concept outside = assign_why<D, sh<>, X> == why::ok;

}  // namespace detail

}  // namespace kiln::dsl
