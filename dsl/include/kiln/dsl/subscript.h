// The indices of t(i, j), and the shape of what they name: that of the indices, which broadcast, then the axes without one.
#pragma once

#include "kiln/dsl/operators.h"

namespace kiln::dsl {

// wrap: periodic. mirror: .. 1 0 | 0 1 .. n-1 | n-1 n-2 .. constant: x.at<mode::constant>(i, j, value), the value outside.
// unchecked: the program promises that every index is in range. skip: t.at<mode::skip>(i) = v writes nothing outside.
using mode = record::index_mode;

// A scalar of an integer dtype, or an integer or extent of C++.
template <class X>
constexpr bool kiln_scalar_integer() {
  if constexpr (Operand<X>)
    return kiln_is_int<dtype_of<X>> && rank_of<X> == 0;
  else
    return Extent<X> || (std::is_integral_v<X> && !std::is_same_v<X, bool>);
}

// Inside a kernel tensors are a few values, not memory.
template <class S>
inline constexpr bool kiln_is_small = [] {
  std::int64_t n = 1;
  for (int k = 0; k < S::rank; ++k) {
    const record::extent& e = shape_v<S>->extents[k];
    n = e.text != nullptr || e.value > 16 ? 17 : n * e.value;
    if (n > 16) return false;
  }
  return true;
}();
template <class S>
constexpr void kiln_check_small(builder* b, const sloc& l) {
  if (b->kernel() != 0 && !kiln_is_small<S>)
    b->fail(why::elements_inside_a_kernel_are_at_most_16_with_static_extents, b->at(l));
}

struct kiln_tensor_index {};
struct kiln_subscript {
  int id = -1;
  std::int64_t literal = 0;
  record::extent extent{};
  sloc l;

  constexpr kiln_subscript() = default;
  template <class X>
    requires(kiln_scalar_integer<X>() && !std::is_same_v<X, ext>)
  constexpr kiln_subscript(const X& x, sloc l_ = sloc::current()) : l(l_) {  // NOLINT(google-explicit-constructor)
    if constexpr (Operand<X>)
      id = x.kiln_read(l);
    else if constexpr (Extent<X>)
      extent = kiln_record(x);
    else
      literal = static_cast<std::int64_t>(x);
  }
  template <class X>
  constexpr kiln_subscript(kiln_tensor_index, const X& x, const sloc& l_) : l(l_) {
    if constexpr (Operand<X>)
      id = x.kiln_read(l);
    else
      *this = kiln_subscript(x, l);
  }
  constexpr int node(builder* b) const {
    if (id >= 0) return id;
    if (extent.text != nullptr) return kiln_dim_id<i64>(b, extent, l);
    return kiln_constant_id<i64>(b, {static_cast<std::uint64_t>(literal), true}, l);
  }
};

// range<4>(k): the positions k .. k + 3 of an axis, as an index. Several stand for the block that they span: the first names
// its rows, and so on.
template <class Line>
struct kiln_range {
  using kiln_range_index = void;
  using line = Line;
  kiln_subscript begin;
};
template <class T>
concept kiln_is_range = requires { typename T::kiln_range_index; };
template <class... I>
inline constexpr int kiln_ranges = (0 + ... + (kiln_is_range<I> ? 1 : 0));
// Of the first K indices.
template <int K, class... I>
inline constexpr int kiln_ranges_before = [] {
  const bool range[] = {kiln_is_range<I>..., false};
  int n = 0;
  for (int i = 0; i < K; ++i) n += range[i];
  return n;
}();
// Range number At of Of as a tensor of indices: its axis of the block, and 1 on the others.
template <class Line, int At, int Of>
struct kiln_range_shape {
  static constexpr ints axes = [] {
    ints r;
    for (int i = 0; i < Of; ++i) r.add(i == At ? 0 : -1);
    return r;
  }();
  using type = typename kiln_gather<Line, axes>::type;
};
template <class X, int At, int Of>
struct kiln_index_as {
  using type = X;
};
template <kiln_is_range X, int At, int Of>
struct kiln_index_as<X, At, Of> {
  using type = expr_<i64, typename kiln_range_shape<typename X::line, At, Of>::type>;
};
template <int At, int Of, class X>
constexpr kiln_subscript kiln_index(builder* b, const X& x, const sloc& l) {
  if constexpr (!kiln_is_range<X>) {
    return kiln_subscript(kiln_tensor_index{}, x, l);
  } else {
    int first = x.begin.node(b);
    const kiln_dtype d = b->nodes.v[first].d;
    if (b->nodes.v[first].o != op::constant && d == KILN_U64) {  // what no i64 holds is far outside
      b->begin(op::constant, d, shape_v<sh<>>, l, std::uint64_t{1} << 62);
      const int limit = b->last();
      b->begin(op::min, d, shape_v<sh<>>, l);
      b->src(first);
      b->src(limit);
      first = b->last();
    }
    if (d != KILN_I64) {
      kiln_begin<i64, sh<>>(b, op::cast, l);
      b->src(first);
      first = b->last();
    }
    using S = shape_of<typename kiln_index_as<X, At, Of>::type>;
    kiln_begin<i64, typename X::line>(b, op::iota, l);
    if constexpr (Of > 1) {
      const int line = b->last();
      kiln_begin<i64, S>(b, op::reshape, l);
      b->src(line);
    }
    kiln_subscript r;
    r.l = l;
    r.id = kiln_node2<i64, S>(b, op::add, l, b->last(), first);
    return r;
  }
}

template <class T>
concept kiln_position_pack = requires { typename T::kiln_positions_of_kernel; };

// Indices of a tensor of shape S; those of a dtype may be tensors.
template <class X>
constexpr bool kiln_integer_index() {
  if constexpr (Operand<X>)
    return kiln_is_int<dtype_of<X>>;
  else
    return kiln_is_range<X> || kiln_scalar_integer<X>();
}
template <class... I>
struct kiln_index_shape {
  static constexpr bool fits = true;
  using type = sh<>;
};
template <class A, class B>
struct kiln_index_shapes {
  static constexpr bool fits = false;
  using type = sh<>;
};
template <class A, class B>
  requires(B::fits && broadcastable<A, typename B::type>)
struct kiln_index_shapes<A, B> {
  static constexpr bool fits = true;
  using type = broadcast_t<A, typename B::type>;
};
template <class A, class... I>
struct kiln_index_shape<A, I...> : kiln_index_shapes<shape_of<A>, kiln_index_shape<I...>> {};
template <class, class... I>
struct kiln_index_shape_of;
template <int... K, class... I>
struct kiln_index_shape_of<seq<K...>, I...>
    : kiln_index_shape<typename kiln_index_as<I, kiln_ranges_before<K, I...>, kiln_ranges<I...>>::type...> {};
template <class S, class... I>
using kiln_part_shape =
    cat_t<typename kiln_index_shape_of<make_seq<sizeof...(I)>, I...>::type, typename kiln_rest<S, sizeof...(I)>::type>;

template <class S, class... I>
constexpr bool kiln_is_one = sizeof...(I) == S::rank && ((rank_of<I> == 0 && !kiln_is_range<I>) && ...);
template <class S, class... I>
constexpr why kiln_element_why() {
  if constexpr ((std::is_same_v<I, ext> || ...))
    return why::computed_extent_is_a_template_argument__write_size_of_extent;
  else if constexpr ((kiln_position_pack<I> || ...))
    return why::positions_of_a_kernel_come_in_brackets__write_for_auto_i;
  else if constexpr (!(kiln_integer_index<I>() && ...))
    return why::index_must_be_an_integer__write_cast_or_select;
  else if constexpr (sizeof...(I) == 0 || sizeof...(I) > S::rank)
    return why::at_most_one_index_for_each_axis;
  else if constexpr (kiln_ranges<I...> > 0 && ((rank_of<I> > 0) || ...))
    return why::a_range_stands_beside_ranges_and_single_indices;
  else if constexpr (!kiln_index_shape_of<make_seq<sizeof...(I)>, I...>::fits)
    return why::shapes_of_the_indices_do_not_broadcast;
  else
    return kiln_is_one<S, I...> || sizeof...(I) <= 4 ? why::ok : why::at_most_four_indices_where_one_is_a_tensor;
}
template <class S, class... I>
concept kiln_several = !kiln_is_one<S, I...> && kiln_element_why<S, I...>() == why::ok;

template <mode M, class S, class... I>
constexpr why kiln_at_why() {
  if constexpr (M == mode::constant)
    return sizeof...(I) == S::rank + 1 ? why::ok : why::mode_constant_takes_the_value_outside_after_the_indices;
  else
    return kiln_element_why<S, I...>();
}

template <int>
using kiln_subscript_of = const kiln_subscript&;

// Whether `x.at<mode::constant>(i, value)` may take this value.
template <class D, class X>
concept kiln_outside = assign_why<D, sh<>, X> == why::ok;

}  // namespace kiln::dsl
