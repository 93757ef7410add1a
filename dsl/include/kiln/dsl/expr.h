// Handles: expr is an immutable value, in / out / inout are the program's parameters (views: a copy names the same tensor).
// Their types carry dtype and shape, their values a node number.
#pragma once

#include "kiln/dsl/builder.h"
#include "kiln/dsl/dtype.h"

namespace kiln::dsl {

enum class dir { in, out, inout };

template <class T>
concept Operand = requires { typename T::kiln_operand; };
// Something that becomes a constant of the other operand's dtype. A computed extent (N + 1) is written size<N + 1>.
template <class T>
concept Literal = kiln_arithmetic<T> || (Extent<T> && !std::is_same_v<T, ext>);
template <class T>
concept Arg = Operand<T> || Literal<T>;
// Of a kernel: memory, not a value.
template <class T>
concept kiln_array = requires { typename T::kiln_array_of_kernel; };
// What is no operand, but was meant to be one.
template <class... X>
inline constexpr why kiln_meant =
    (std::is_same_v<X, ext> || ...) ? why::computed_extent_is_a_template_argument__write_size_of_extent
    : (kiln_array<X> || ...)        ? why::an_array_is_read_by_element__write_a_of_i
                                    : why::not_ours;

template <class X>
struct kiln_info {  // of a literal
  using dtype = void;
  using shape = sh<>;
};
template <Operand X>
struct kiln_info<X> {
  using dtype = typename X::dtype;
  using shape = typename X::shape;
};
template <class X>
using dtype_of = typename kiln_info<X>::dtype;
template <class X>
using shape_of = typename kiln_info<X>::shape;
template <class X>
inline constexpr int rank_of = shape_of<X>::rank;

template <class D, class S, class = typename kiln_hint<D>::type>
struct expr_;

// Converts at the call, so that the default argument is the user's line.
template <class E>
struct at {
  const E& e;
  sloc l;
  constexpr at(const E& x, sloc l_ = sloc::current()) : e(x), l(l_) {}  // NOLINT(google-explicit-constructor)
};

template <class D, class S>
constexpr expr_<D, S> kiln_result(builder* b) {
  return expr_<D, S>(b, b->last());
}
template <class D, class S>
constexpr void kiln_begin(builder* b, op o, const sloc& l, std::uint64_t imm = 0) {
  b->begin(o, kiln_code<D>, shape_v<S>, l, imm);
}

template <class D>
constexpr int kiln_constant_id(builder* b, const kiln_literal& v, const sloc& l) {
  if (!v.fits) b->fail(why::literal_is_out_of_range_of_the_dtype, b->at(l));
  kiln_begin<D, sh<>>(b, op::constant, l, v.bits);
  return b->last();
}
template <class D>
constexpr int kiln_dim_id(builder* b, const record::extent& e, const sloc& l) {
  using I = std::conditional_t<kiln_is_int<D>, D, i64>;
  kiln_begin<I, sh<>>(b, op::dim, l);
  b->attr(e);
  if constexpr (!std::is_same_v<I, D>) {
    const int id = b->last();
    kiln_begin<D, sh<>>(b, op::cast, l);
    b->src(id);
  }
  return b->last();
}

// The node of an argument that is to have dtype D.
template <class D, Arg X>
constexpr int kiln_id(builder* b, const X& x, const sloc& l) {
  if constexpr (Operand<X>)
    return x.kiln_read(l);
  else if constexpr (Extent<X>)
    return kiln_dim_id<D>(b, kiln_record(x), l);
  else
    return kiln_constant_id<D>(b, kiln_encode<D>(x), l);
}

// Node of shape From as a node of shape To (From broadcasts to To).
template <class D, class From, class To>
constexpr int kiln_expand(builder* b, int id, const sloc& l) {
  if constexpr (same_shape<From, To>) {
    return id;
  } else {
    constexpr ints m = [] {
      ints r;
      for (int i = From::rank - To::rank; i < From::rank; ++i) r.add(i);
      return r;
    }();
    using Same = gather_t<From, m>;
    if constexpr (From::rank != To::rank) {
      kiln_begin<D, Same>(b, op::reshape, l);
      b->src(id);
      id = b->last();
    }
    if constexpr (!same_shape<Same, To>) {
      kiln_begin<D, To>(b, op::expand, l);
      b->src(id);
      id = b->last();
    }
    return id;
  }
}
template <class From, class To>
inline constexpr bool expandable = [] {
  const ints m = kiln_broadcast(*shape_v<From>, *shape_v<To>);
  if (m.n != To::rank) return false;
  for (int i = 0; i < m.n; ++i)
    if (m.v[i] < From::rank && !kiln_same(shape_v<From>->extents[m.v[i]], shape_v<To>->extents[i])) return false;
  return true;
}();

template <class Self>
struct ops;

// May a B become a value of dtype D and shape S?
template <class D, class S, class B>
constexpr why kiln_assign_why() {
  if constexpr (Operand<B>) {
    if (!std::is_same_v<dtype_of<B>, D>) return why::assigned_value_has_another_dtype__write_cast;
    if (!expandable<shape_of<B>, S>) return why::assigned_value_has_another_shape__write_sum_expand_or_reshape;
    return why::ok;
  } else if constexpr (Extent<B> && !std::is_same_v<B, ext>) {
    return kiln_is_bool<D> ? why::literal_does_not_fit_the_dtype__write_cast_or_a_literal_of_its_kind : why::ok;
  } else if constexpr (kiln_arithmetic<B>) {
    return kiln_takes<B, D> ? why::ok : why::literal_does_not_fit_the_dtype__write_cast_or_a_literal_of_its_kind;
  } else {
    return kiln_meant<B>;
  }
}

template <class D, class S, class B>
inline constexpr why assign_why = kiln_assign_why<D, S, B>();

// The right side of an assignment, with its line: a node of dtype D and shape S, or a scalar that still needs its builder.
template <class D, class S>
struct kiln_right {
  int id = -1;
  bool operand = false;
  kiln_literal literal{};
  record::extent extent{};
  sloc l;

  template <class B>
    requires(assign_why<D, S, B> == why::ok)
  constexpr kiln_right(const B& x, sloc l_ = sloc::current()) : l(l_) {  // NOLINT(google-explicit-constructor)
    if constexpr (Operand<B>) {
      operand = true;
      if (x.b != nullptr) id = kiln_expand<D, shape_of<B>, S>(x.b, x.kiln_read(l), l);
    } else if constexpr (Extent<B>) {
      extent = kiln_record(x);
    } else {
      literal = kiln_encode<D>(x);
    }
  }
  constexpr int node(builder* to) const {
    if (operand) return id;
    if (extent.text != nullptr) return kiln_expand<D, sh<>, S>(to, kiln_dim_id<D>(to, extent, l), l);
    return kiln_expand<D, sh<>, S>(to, kiln_constant_id<D>(to, literal, l), l);
  }
};

// Classes of dtypes that operations accept.
enum class klass { any, number, integer, bits, boolean, floating };
template <class D>
constexpr why kiln_class_why(klass k) {
  switch (k) {
    case klass::any: return why::ok;
    case klass::number: return kiln_is_bool<D> ? why::arithmetic_on_bool__write_cast : why::ok;
    case klass::integer: return kiln_is_int<D> ? why::ok : why::operands_must_be_integers__write_cast_floor_or_pow;
    case klass::bits: return kiln_is_float<D> ? why::operands_must_be_integers_or_bool__write_cast_or_pow : why::ok;
    case klass::boolean: return kiln_is_bool<D> ? why::ok : why::operands_must_be_bool__write_x_not_equal_0;
    case klass::floating: return kiln_is_float<D> ? why::ok : why::operand_must_be_floating_point__write_cast;
  }
  return why::ok;
}
template <class D, class S, class B, klass K>
inline constexpr why compound_why = assign_why<D, S, B> != why::ok ? assign_why<D, S, B> : kiln_class_why<D>(K);

// One node of dtype D and shape S with two sources.
template <class D, class S>
constexpr int kiln_node2(builder* b, op o, const sloc& l, int x, int y) {
  kiln_begin<D, S>(b, o, l);
  b->src(x);
  b->src(y);
  return b->last();
}
template <class D>
constexpr op kiln_division = kiln_is_float<D> ? op::fdiv : op::cdiv;

#define KILN_COMPOUNDS(X)         \
  X(+=, number, op::add)          \
  X(-=, number, op::sub)          \
  X(*=, number, op::mul)          \
  X(/=, number, kiln_division<D>) \
  X(%=, integer, op::cmod)        \
  X(&=, bits, op::and_)           \
  X(|=, bits, op::or_)            \
  X(^=, bits, op::xor_)           \
  X(<<=, integer, op::shl)        \
  X(>>=, integer, op::shr)

// t(i, j) and its kin (elements.h); W says whether elements may be written, A are the axes.
template <class Self, class D, class S, why W, int... A>
struct kiln_elements;
template <class Self, class D, class S, why W, class = make_seq<S::rank>>
struct kiln_elements_of;
template <class Self, class D, class S, why W, int... A>
struct kiln_elements_of<Self, D, S, W, seq<A...>> {
  using type = kiln_elements<Self, D, S, W, A...>;
};
template <class Self, class D, class S, why W>
using elements_t = typename kiln_elements_of<Self, D, S, W>::type;
inline constexpr why kiln_computed = why::left_side_is_a_computed_value__write_t_of_i_j_of_a_parameter;
template <class Self, class D, class S>
struct kiln_elements<Self, D, S, kiln_computed> {};

// An element, parameter or variable of this dtype and shape.
template <class X, class D, class S>
concept kiln_reads_as =
    Operand<X> && std::is_same_v<dtype_of<X>, D> && same_shape<shape_of<X>, S> && !std::is_base_of_v<expr_<D, S>, X>;

template <class D, class S, class>
struct expr_ : ops<expr_<D, S>>, elements_t<expr_<D, S>, D, S, kiln_computed> {
  using kiln_operand = void;
  using dtype = D;
  using shape = S;
  using right = kiln_right<D, S>;
  builder* b = nullptr;
  int id = -1;
  int declared = 0;  // scope where the name was declared: there it may be given another value

  constexpr expr_() = default;
  constexpr expr_(builder* builder_, int id_) : b(builder_), id(id_), declared(b->scope) {}
  constexpr expr_(const expr_& x) : b(x.b), id(x.id), declared(b == nullptr ? 0 : b->scope) {}
  template <class X>
    requires(kiln_reads_as<X, D, S>)
  constexpr expr_(const X& x, sloc l = sloc::current()) : expr_(x.b, x.kiln_read(l)) {}  // NOLINT(google-explicit-constructor)
  template <Operand X, why Reason = assign_why<D, S, X> == why::ok
                                        ? why::assigned_value_has_another_shape__write_sum_expand_or_reshape
                                        : assign_why<D, S, X>>
    requires(!kiln_reads_as<X, D, S> && !std::is_base_of_v<expr_<D, S>, X>)
  constexpr expr_(const X&) KILN_DELETED("kiln: the value has another dtype or shape: write cast<...>(x), expand<...>(x)");
  template <kiln_arithmetic L, why Reason = why::a_value_of_cpp_belongs_to_no_program__write_var>
  constexpr expr_(const L&) KILN_DELETED("kiln: a value of C++ belongs to no program: auto v = var(0.0f)");
  constexpr expr_& operator=(const expr_& x) & {
    if (b == nullptr && x.b != nullptr) declared = x.b->scope;
    b = x.b;
    kiln_rebind(x.id);
    return *this;
  }
  constexpr ~expr_() = default;
  template <class B, why Reason = why::left_side_is_a_computed_value__write_t_of_i_j_of_a_parameter>
    requires(Arg<B>)
  mistake<Reason> operator=(const B&) && KILN_MISTAKE(KILN_REASONS_ASSIGN);
  template <class B, why Reason = why::the_type_of_a_value_never_changes__give_the_result_a_new_name>
    requires(Arg<B> && !kiln_reads_as<B, D, S>)
  mistake<Reason> operator=(const B&) & KILN_MISTAKE(KILN_REASONS_ASSIGN);

  // clang-format off: it runs what follows `& requires(..)` together
#define KILN_X(sym, k, o)                                                                            \
  constexpr expr_& operator sym(const right& r) & requires(kiln_class_why<D>(klass::k) == why::ok) { \
    kiln_rebind(kiln_node2<D, S>(b, o, r.l, id, r.node(b)));                                         \
    return *this;                                                                                    \
  }                                                                                                  \
  template <class B, why Reason = compound_why<D, S, B, klass::k>>                                   \
    requires(kiln_wrong(Reason))                                                                     \
  mistake<Reason> operator sym(const B&) KILN_MISTAKE(KILN_REASONS_ASSIGN);
  // clang-format on
  KILN_COMPOUNDS(KILN_X)
#undef KILN_X

  constexpr int kiln_read(const sloc&) const { return id; }
  constexpr void kiln_rebind(int to) {
    id = to;
    if (b != nullptr && b->scope != declared) b->fail(why::value_is_rebound_inside_a_scope__write_var, b->current());
  }
};

// A write through const: in a `body() const`, in a helper function of `auto const&`.
struct kiln_written {
  template <class B>
  constexpr kiln_written(const B&) {}  // NOLINT(google-explicit-constructor)
};
#define KILN_CONST_TWIN(sym)                                                                                  \
  mistake<why::a_const_tensor_is_not_written__write_auto_and_without_const> operator sym(const kiln_written&) \
      const KILN_DELETED(                                                                                     \
          "kiln: a const tensor is not written: constexpr void body() without const; auto& y in a helper function");

template <dir Dir>
inline constexpr why kiln_writable = Dir == dir::in ? why::an_in_parameter_is_read_only__declare_it_out_or_inout : why::ok;

// What a copy of an `in` cannot become.
template <class B, class D, class S>
inline constexpr why kiln_copy_why = !Arg<B>       ? kiln_meant<B>
                                     : !Operand<B> ? kiln_writable<dir::in>
                                     : kiln_reads_as<B, D, S> || std::is_base_of_v<expr_<D, S>, B>
                                         ? why::ok
                                         : why::the_type_of_a_value_never_changes__give_the_result_a_new_name;

// Strides: that many leading axes have strides of the caller's.
template <dir Dir, class D, class S, int Strides = 0, class = typename kiln_hint<D>::type>
struct tensor_ : ops<tensor_<Dir, D, S, Strides>>, elements_t<tensor_<Dir, D, S, Strides>, D, S, kiln_writable<Dir>> {
  using kiln_operand = void;
  using kiln_tensor = void;
  using dtype = D;
  using shape = S;
  using right = kiln_right<D, S>;
  static constexpr dir direction = Dir;
  static constexpr int free_strides = Strides;
  static constexpr why writable = kiln_writable<Dir>;
  builder* b = nullptr;
  int slot = -1;
  // A copy of an `in` is a value: the node that it was given (-1: none, the parameter), and the scope where it was declared
  // (-1: this is the parameter itself).
  int value = -1, declared = -1;
  sloc place;  // the line of the struct that it is a member of

  constexpr tensor_(sloc l = sloc::current()) : place(l) {}  // NOLINT(google-explicit-constructor)
  constexpr tensor_(const tensor_& x)
      : b(x.b), slot(x.slot), value(x.value), declared(b == nullptr ? -1 : b->scope), place(x.place) {}
  constexpr ~tensor_() = default;

  constexpr tensor_& operator=(const tensor_& x) {
    called_from here(b, b->current());
    kiln_assign(x.kiln_read(sloc()), sloc());
    return *this;
  }
  constexpr tensor_& operator=(const right& r)
    requires(writable == why::ok)
  {
    kiln_store(r.node(b), r.l);
    return *this;
  }
  constexpr tensor_& operator=(const expr_<D, S>& x)
    requires(Dir == dir::in)
  {
    kiln_assign(x.id, sloc());
    return *this;
  }
  template <class B, why Reason = Dir == dir::in ? kiln_copy_why<B, D, S> : assign_why<D, S, B>>
    requires(kiln_wrong(Reason))
  mistake<Reason> operator=(const B&) KILN_MISTAKE(KILN_REASONS_ASSIGN);
  KILN_CONST_TWIN(=)

#define KILN_X(sym, k, o)                                                   \
  constexpr tensor_& operator sym(const right & r)                          \
    requires(kiln_class_why<D>(klass::k) == why::ok)                        \
  {                                                                         \
    b->begin_with_zeros(slot, o);                                           \
    const int now = kiln_read(r.l), by = r.node(b);                         \
    kiln_assign(kiln_node2<D, S>(b, o, r.l, now, by), r.l);                 \
    return *this;                                                           \
  }                                                                         \
  template <class B, why Reason = compound_why<D, S, B, klass::k>>          \
    requires(kiln_wrong(Reason))                                            \
  mistake<Reason> operator sym(const B&) KILN_MISTAKE(KILN_REASONS_ASSIGN); \
  KILN_CONST_TWIN(sym)
  KILN_COMPOUNDS(KILN_X)
#undef KILN_X

  // The extent of an axis as a value.
  template <int Axis, DType I = i32>
    requires(kiln_axis_ok(Axis, S::rank))
  constexpr auto size(sloc l = sloc::current()) const {
    return expr_<I, sh<>>(b, kiln_dim_id<I>(b, kiln_attr<ext_at<S, kiln_axis(Axis, S::rank)>>, l));
  }

  template <int Axis, why Reason = why::axis_out_of_range>
    requires(!kiln_axis_ok(Axis, S::rank))
  mistake<Reason> size() const KILN_MISTAKE(KILN_REASONS_ELEMENT);
  template <why Reason = why::axis_of_a_size_is_a_template_argument__write_size_of_axis>
  mistake<Reason> size() const KILN_MISTAKE(KILN_REASONS_ELEMENT);
  template <kiln_arithmetic A, why Reason = why::axis_of_a_size_is_a_template_argument__write_size_of_axis>
  mistake<Reason> size(const A&) const KILN_MISTAKE(KILN_REASONS_ELEMENT);

  constexpr void kiln_store(int id, const sloc& l) { b->store(slot, kiln_code<D>, shape_v<S>, id, l); }
  constexpr void kiln_assign(int id, const sloc& l) {
    if constexpr (Dir != dir::in) {
      kiln_store(id, l);
    } else {
      if (declared < 0) b->fail(writable, b->current());
      if (declared != b->scope) b->fail(why::value_is_rebound_inside_a_scope__write_var, b->current());
      value = id;
    }
  }
  constexpr int kiln_read(const sloc& l) const { return value >= 0 ? value : b->read(slot, kiln_code<D>, shape_v<S>, l); }
};

template <dtype_of_kiln__write_f32_for_float_f64_i32_for_int_i64_u8 D, auto... E>
  requires extents__write_dim_or_an_integer_from_0_and_divide_by_no_zero<E...>
using expr = expr_<D, make_sh<E...>>;
template <dtype_of_kiln__write_f32_for_float_f64_i32_for_int_i64_u8 D, auto... E>
  requires extents__write_dim_or_an_integer_from_0_and_divide_by_no_zero<E...>
using in = tensor_<dir::in, D, make_sh<E...>>;
template <dtype_of_kiln__write_f32_for_float_f64_i32_for_int_i64_u8 D, auto... E>
  requires extents__write_dim_or_an_integer_from_0_and_divide_by_no_zero<E...>
using out = tensor_<dir::out, D, make_sh<E...>>;
template <dtype_of_kiln__write_f32_for_float_f64_i32_for_int_i64_u8 D, auto... E>
  requires extents__write_dim_or_an_integer_from_0_and_divide_by_no_zero<E...>
using inout = tensor_<dir::inout, D, make_sh<E...>>;

template <class T>
inline constexpr int kiln_dense_axes = -1;
template <dir Dir, class D, class S>
inline constexpr int kiln_dense_axes<tensor_<Dir, D, S>> = S::rank;
template <class T, int Strides>
struct kiln_laid_out;
template <dir Dir, class D, class S, int Strides>
struct kiln_laid_out<tensor_<Dir, D, S>, Strides> {
  using type = tensor_<Dir, D, S, Strides>;
};
// Both compilers print the name of what does not hold.
template <class T>
concept an_in_out_or_inout_with_axes__write_pitched_of_in_f32_H_W = kiln_dense_axes<T> > 0;
template <class T, int Axes>
concept two_axes_or_more__of_one_axis_write_strided =
    (Axes == -1 ? kiln_dense_axes<T> > 1 : Axes > 0 && Axes <= kiln_dense_axes<T>);

// pitched<in<f32, H, W>> x: elements of the last axis lie side by side, the strides of all other axes come with the call (rows
// of a crop, of an image with a pitch). pitched<in<u8, H, W, 3>, 1> x: the strides of the first axis alone.
template <class T, int Axes = -1>
  requires an_in_out_or_inout_with_axes__write_pitched_of_in_f32_H_W<T> && two_axes_or_more__of_one_axis_write_strided<T, Axes>
using pitched = typename kiln_laid_out < T, Axes == -1 ? kiln_dense_axes<T> - 1 : Axes > ::type;
// strided<in<f32, N>> x: the strides of all axes come with the call (a column, every other element, backwards).
template <class T>
  requires an_in_out_or_inout_with_axes__write_pitched_of_in_f32_H_W<T>
using strided = typename kiln_laid_out<T, kiln_dense_axes<T>>::type;

}  // namespace kiln::dsl
