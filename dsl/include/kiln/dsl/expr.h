// Handles: expr is an immutable value. The type of a handle carries dtype and shape, its value the number of a node.
#pragma once

#include "kiln/dsl/builder.h"
#include "kiln/dsl/dtype.h"

namespace kiln::dsl {

enum class dir { in = KILN_IN, out = KILN_OUT, inout = KILN_INOUT };

template <class T>
concept Operand = requires { typename T::is_operand; };
// A number or extent of C++, which becomes a constant of the other operand's dtype. A computed extent is size<N + 1>().
template <class T>
concept Literal = detail::arithmetic<T> || (Extent<T> && !std::is_same_v<T, ext>);
template <class T>
concept Arg = Operand<T> || Literal<T>;

// Dtype and shape of an argument; a literal has none.
template <class X>
struct info {
  using dtype = void;
  using shape = sh<>;
};
template <Operand X>
struct info<X> {
  using dtype = typename X::dtype;
  using shape = typename X::shape;
};
template <class X>
using dtype_of = typename info<X>::dtype;
template <class X>
using shape_of = typename info<X>::shape;
template <class X>
inline constexpr int rank_of = shape_of<X>::rank;

template <class D, class S, class = typename detail::hint<D>::type>
struct expr_;

// Classes of dtypes that operations accept.
enum class klass { any, number, integer, bits, boolean, floating };

template <class Self>
struct ops;
// t(i, j) and t.at<mode>(i, j) (elements.h). W: whether elements may be written. A: the numbers of the axes.
template <class Self, class D, class S, why W, int... A>
struct elements_;

// An operand with its line. The conversion happens at the call, so the default argument is the user's line.
template <class E>
struct at {
  const E& e;
  sloc l;
  constexpr at(const E& x, sloc l_ = sloc::current()) : e(x), l(l_) {}  // NOLINT(google-explicit-constructor)
};

namespace detail {

// An array of a kernel, which is memory and no value.
template <class T>
concept kernel_array = requires { typename T::is_array; };
// The mistake if some X is a computed extent or an array of a kernel, else not_ours.
template <class... X>
inline constexpr why meant = (std::is_same_v<X, ext> || ...) ? why::computed_extent_is_a_template_argument__write_size_of_extent
                             : (kernel_array<X> || ...)      ? why::an_array_is_read_by_element__write_a_of_i
                                                             : why::not_ours;

template <class D, class S>
constexpr expr_<D, S> result(builder* b) {
  return expr_<D, S>(b, b->last());
}
template <class D, class S>
constexpr void begin_node(builder* b, op o, const sloc& l, std::uint64_t imm = 0) {
  b->begin(o, dtype_v<D>, shape_v<S>, l, imm);
}

template <class D>
constexpr int constant_id(builder* b, const detail::literal& v, const sloc& l) {
  if (!v.fits) b->fail(why::literal_is_out_of_range_of_the_dtype, b->at(l));
  detail::begin_node<D, sh<>>(b, op::constant, l, v.bits);
  return b->last();
}
template <class D>
constexpr int dim_id(builder* b, const record::extent& e, const sloc& l) {
  using I = std::conditional_t<is_int<D>, D, i64>;
  detail::begin_node<I, sh<>>(b, op::dim, l);
  b->attr(e);
  if constexpr (!std::is_same_v<I, D>) {
    const int id = b->last();
    detail::begin_node<D, sh<>>(b, op::cast, l);
    b->src(id);
  }
  return b->last();
}

// The node of an argument, as dtype D.
template <class D, Arg X>
constexpr int node_of(builder* b, const X& x, const sloc& l) {
  if constexpr (Operand<X>)
    return x.read_(l);
  else if constexpr (Extent<X>)
    return detail::dim_id<D>(b, detail::record_of(x), l);
  else
    return detail::constant_id<D>(b, detail::encode<D>(x), l);
}

// A node of shape From as a node of shape To, to which From broadcasts.
template <class D, class From, class To>
constexpr int expand_node(builder* b, int id, const sloc& l) {
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
      detail::begin_node<D, Same>(b, op::reshape, l);
      b->src(id);
      id = b->last();
    }
    if constexpr (!same_shape<Same, To>) {
      detail::begin_node<D, To>(b, op::expand, l);
      b->src(id);
      id = b->last();
    }
    return id;
  }
}

// Whether a B becomes a value of dtype D and shape S.
template <class D, class S, class B>
constexpr why check_assign() {
  if constexpr (Operand<B>) {
    if (!std::is_same_v<dtype_of<B>, D>)
      return why::assigned_value_has_another_dtype__write_cast_or_sum_and_matmul_of_that_dtype;
    if (!expandable<shape_of<B>, S>) return why::assigned_value_has_another_shape__write_sum_expand_or_reshape;
    return why::ok;
  } else if constexpr (Extent<B> && !std::is_same_v<B, ext>) {
    return is_bool<D> ? why::literal_does_not_fit_the_dtype__write_cast_or_a_literal_of_its_kind : why::ok;
  } else if constexpr (arithmetic<B>) {
    return takes<B, D> ? why::ok : why::literal_does_not_fit_the_dtype__write_cast_or_a_literal_of_its_kind;
  } else {
    return meant<B>;
  }
}

template <class D>
constexpr why class_why(klass k) {
  switch (k) {
    case klass::any: return why::ok;
    case klass::number: return is_bool<D> ? why::arithmetic_on_bool__write_cast : why::ok;
    case klass::integer: return is_int<D> ? why::ok : why::operands_must_be_integers__write_cast_floor_or_pow;
    case klass::bits: return is_float<D> ? why::operands_must_be_integers_or_bool__write_cast_or_pow : why::ok;
    case klass::boolean: return is_bool<D> ? why::ok : why::operands_must_be_bool__write_x_not_equal_0;
    case klass::floating: return is_float<D> ? why::ok : why::operand_must_be_floating_point__write_cast;
  }
  return why::ok;
}

// A node of dtype D and shape S with two sources.
template <class D, class S>
constexpr int node2(builder* b, op o, const sloc& l, int x, int y) {
  detail::begin_node<D, S>(b, o, l);
  b->src(x);
  b->src(y);
  return b->last();
}
template <class D>
constexpr op division = is_float<D> ? op::fdiv : op::cdiv;

template <class Self, class D, class S, why W, class = make_seq<S::rank>>
struct elements_of;
template <class Self, class D, class S, why W, int... A>
struct elements_of<Self, D, S, W, seq<A...>> {
  using type = elements_<Self, D, S, W, A...>;
};

inline constexpr why computed = why::left_side_is_a_computed_value__write_t_of_i_j_of_a_parameter;

// An element, a parameter or a variable of dtype D and shape S.
template <class X, class D, class S>
concept reads_as =
    Operand<X> && std::is_same_v<dtype_of<X>, D> && same_shape<shape_of<X>, S> && !std::is_base_of_v<expr_<D, S>, X>;

template <dir Dir>
inline constexpr why writable = Dir == dir::in ? why::an_in_parameter_is_read_only__declare_it_out_or_inout : why::ok;

// Whether a copy of an `in` may be given a B.
template <class B, class D, class S>
inline constexpr why copy_why = !Arg<B>       ? meant<B>
                                : !Operand<B> ? writable<dir::in>
                                : reads_as<B, D, S> || std::is_base_of_v<expr_<D, S>, B>
                                    ? why::ok
                                    : why::the_type_of_a_value_never_changes__give_the_result_a_new_name;

}  // namespace detail

template <class D, class S, class B>
inline constexpr why assign_why = detail::check_assign<D, S, B>();
template <class D, class S, class B, klass K>
inline constexpr why compound_why = assign_why<D, S, B> != why::ok ? assign_why<D, S, B> : detail::class_why<D>(K);
template <class Self, class D, class S, why W>
using elements_t = typename detail::elements_of<Self, D, S, W>::type;
template <class Self, class D, class S>
struct elements_<Self, D, S, detail::computed> {};

// The right side of an assignment, with its line: a node of dtype D and shape S, or a scalar that gets its node later.
template <class D, class S>
struct right_ {
  int id = -1;
  bool operand = false;
  detail::literal literal{};
  record::extent extent{};
  sloc l;

  template <class B>
    requires(assign_why<D, S, B> == why::ok)
  constexpr right_(const B& x, sloc l_ = sloc::current()) : l(l_) {  // NOLINT(google-explicit-constructor)
    if constexpr (Operand<B>) {
      operand = true;
      if (x.b != nullptr) id = detail::expand_node<D, shape_of<B>, S>(x.b, x.read_(l), l);
    } else if constexpr (Extent<B>) {
      extent = detail::record_of(x);
    } else {
      literal = detail::encode<D>(x);
    }
  }
  constexpr int node(builder* to) const {
    if (operand) return id;
    if (extent.text != nullptr) return detail::expand_node<D, sh<>, S>(to, detail::dim_id<D>(to, extent, l), l);
    return detail::expand_node<D, sh<>, S>(to, detail::constant_id<D>(to, literal, l), l);
  }
};

// Each class writes the operators itself: a value gets another node, a variable and an element get a node that writes them.
#define KILN_COMPOUNDS(X)            \
  X(+=, number, op::add)             \
  X(-=, number, op::sub)             \
  X(*=, number, op::mul)             \
  X(/=, number, detail::division<D>) \
  X(%=, integer, op::cmod)           \
  X(&=, bits, op::and_)              \
  X(|=, bits, op::or_)               \
  X(^=, bits, op::xor_)              \
  X(<<=, integer, op::shl)           \
  X(>>=, integer, op::shr)

template <class D, class S, class>
struct expr_ : ops<expr_<D, S>>, elements_t<expr_<D, S>, D, S, detail::computed> {
  using is_operand = void;
  using dtype = D;
  using shape = S;
  using right = right_<D, S>;
  builder* b = nullptr;
  int id = -1;
  int declared = 0;  // the scope that declares the name: only there the name may be given another value

  constexpr expr_() = default;
  constexpr expr_(builder* builder_, int id_) : b(builder_), id(id_), declared(b->scope) {}
  constexpr expr_(const expr_& x) : b(x.b), id(x.id), declared(b == nullptr ? 0 : b->scope) {}
  template <class X>
    requires(detail::reads_as<X, D, S>)
  constexpr expr_(const X& x, sloc l = sloc::current()) : expr_(x.b, x.read_(l)) {}  // NOLINT(google-explicit-constructor)
  template <Operand X, why Reason = assign_why<D, S, X> == why::ok
                                        ? why::assigned_value_has_another_shape__write_sum_expand_or_reshape
                                        : assign_why<D, S, X>>
    requires(!detail::reads_as<X, D, S> && !std::is_base_of_v<expr_<D, S>, X>)
  constexpr expr_(const X&) KILN_DELETED("kiln: the value has another dtype or shape: write cast<...>(x), expand<...>(x)");
  template <detail::arithmetic L, why Reason = why::a_value_of_cpp_belongs_to_no_program__write_var>
  constexpr expr_(const L&) KILN_DELETED("kiln: a value of C++ belongs to no program: auto v = var(0.0f)");
  constexpr expr_& operator=(const expr_& x) & {
    if (b == nullptr && x.b != nullptr) declared = x.b->scope;
    b = x.b;
    rebind_(x.id);
    return *this;
  }
  constexpr ~expr_() = default;
  template <class B, why Reason = why::left_side_is_a_computed_value__write_t_of_i_j_of_a_parameter>
    requires(Arg<B>)
  mistake<Reason> operator=(const B&) && KILN_MISTAKE(KILN_REASONS_ASSIGN);
  template <class B, why Reason = why::the_type_of_a_value_never_changes__give_the_result_a_new_name>
    requires(Arg<B> && !detail::reads_as<B, D, S>)
  mistake<Reason> operator=(const B&) & KILN_MISTAKE(KILN_REASONS_ASSIGN);

  // clang-format off: it runs what follows `& requires(..)` together
#define KILN_X(sym, k, o)                                                                               \
  constexpr expr_& operator sym(const right& r) & requires(detail::class_why<D>(klass::k) == why::ok) { \
    rebind_(detail::node2<D, S>(b, o, r.l, id, r.node(b)));                                             \
    return *this;                                                                                       \
  }                                                                                                     \
  template <class B, why Reason = compound_why<D, S, B, klass::k>>                                      \
    requires(detail::wrong(Reason))                                                                     \
  mistake<Reason> operator sym(const B&) KILN_MISTAKE(KILN_REASONS_ASSIGN);
  // clang-format on
  KILN_COMPOUNDS(KILN_X)
#undef KILN_X

  constexpr int read_(const sloc&) const { return id; }
  constexpr void rebind_(int to) {
    id = to;
    if (b != nullptr && b->scope != declared) b->fail(why::value_is_rebound_inside_a_scope__write_var, b->current());
  }
};

// The right side of a write through const: in a `body() const`, in a helper function that takes `auto const&`.
struct written_ {
  template <class B>
  constexpr written_(const B&) {}  // NOLINT(google-explicit-constructor)
};
#define KILN_CONST_TWIN(sym)                                                                                                  \
  mistake<why::a_const_tensor_is_not_written__write_auto_and_without_const> operator sym(const written_&) const KILN_DELETED( \
      "kiln: a const tensor is not written: constexpr void body() without const; auto& y in a helper function");

}  // namespace kiln::dsl
