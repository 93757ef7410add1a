// Operators, elementwise: both operands have one dtype, which a literal adopts, and their shapes broadcast; comparisons give
// bool. Each operator is a hidden friend of the handle, so that its first operand converts to `at` with the user's line. The
// twins for ill-formed operands are templates of the namespace.
#pragma once

#include "kiln/dsl/expr.h"

namespace kiln::dsl {

struct scope_;

namespace detail {

template <class X>
constexpr scope_ scope_of(const X& x);

// The dtype of a mixed call is that of the first operand that is a tensor.
template <class A, class B>
using common_dtype = std::conditional_t<Operand<A>, dtype_of<A>, dtype_of<B>>;

template <class X, class D>
constexpr why fits() {
  if constexpr (Operand<X>)
    return std::is_same_v<dtype_of<X>, D> ? why::ok : why::dtypes_differ__write_cast_or_sum_and_matmul_of_a_dtype;
  else if constexpr (Extent<X>)
    return is_bool<D> ? why::literal_does_not_fit_the_dtype__write_cast_or_a_literal_of_its_kind : why::ok;
  else
    return takes<X, D> ? why::ok : why::literal_does_not_fit_the_dtype__write_cast_or_a_literal_of_its_kind;
}

template <class A, class B, klass K>
constexpr why check_binary() {
  if constexpr ((!Operand<A> && !Operand<B> && !kernel_array<A> && !kernel_array<B>) || !Arg<A> || !Arg<B>) {
    return Operand<A> || Operand<B> || kernel_array<A> || kernel_array<B> ? meant<A, B> : why::not_ours;
  } else {
    using D = common_dtype<A, B>;
    if (K == klass::any && is_bool<D> && ((arithmetic<A> && !is_bool<A>) || (arithmetic<B> && !is_bool<B>)))
      return why::a_bool_is_compared_with_a_number__write_a_less_b_and_b_less_c;
    if (detail::wrong(detail::fits<A, D>())) return detail::fits<A, D>();
    if (detail::wrong(detail::fits<B, D>())) return detail::fits<B, D>();
    if (detail::wrong(detail::class_why<D>(K))) return detail::class_why<D>(K);
    return broadcastable<shape_of<A>, shape_of<B>> ? why::ok : why::shapes_do_not_broadcast__write_unsqueeze_expand_or_reshape;
  }
}

template <class A>
constexpr builder* builder_of(const A& a) {
  if constexpr (Operand<A>)
    return a.b;
  else
    return nullptr;
}
template <class A, class B, class... C>
constexpr builder* builder_of(const A& a, const B& b, const C&... c) {
  if constexpr (Operand<A>)
    return a.b != nullptr ? a.b : detail::builder_of(b, c...);
  else
    return detail::builder_of(b, c...);
}

// R: the dtype of the result; void: that of the operands.
template <class R, class A, class B>
constexpr auto binary_node(op o, const sloc& l, const A& x, const B& y) {
  using D = common_dtype<A, B>;
  using S = broadcast_t<shape_of<A>, shape_of<B>>;
  using T = std::conditional_t<std::is_void_v<R>, D, R>;
  builder* b = detail::builder_of(x, y);
  const int ix = detail::node_of<D>(b, x, l), iy = detail::node_of<D>(b, y, l);
  return expr_<T, S>(b, detail::node2<T, S>(b, o, l, ix, iy));
}

template <class X, klass K>
constexpr why check_unary() {
  if constexpr (Operand<X>)
    return detail::class_why<dtype_of<X>>(K);
  else
    return kernel_array<X> ? meant<X> : why::not_ours;
}

template <class X>
constexpr auto unary_node(op o, const sloc& l, const X& x) {
  const int id = x.read_(l);
  detail::begin_node<dtype_of<X>, shape_of<X>>(x.b, o, l);
  x.b->src(id);
  return detail::result<dtype_of<X>, shape_of<X>>(x.b);
}

}  // namespace detail

template <class A, class B, klass K>
inline constexpr why binary_why = detail::check_binary<A, B, K>();

// X(symbol, class of dtypes, result dtype, operation); > and >= are < and <= with the operands exchanged.
#define KILN_BINARY_OPERATORS(X)                                        \
  X(+, number, void, op::add)                                           \
  X(-, number, void, op::sub)                                           \
  X(*, number, void, op::mul)                                           \
  X(/, number, void, (detail::division<detail::common_dtype<Self, B>>)) \
  X(%, integer, void, op::cmod)                                         \
  X(&, bits, void, op::and_)                                            \
  X(|, bits, void, op::or_)                                             \
  X(^, bits, void, op::xor_)                                            \
  X(<<, integer, void, op::shl)                                         \
  X(>>, integer, void, op::shr)                                         \
  X(&&, boolean, void, op::and_)                                        \
  X(||, boolean, void, op::or_)                                         \
  X(<, any, bool, op::lt)                                               \
  X(<=, any, bool, op::le)
#define KILN_SWAPPED_OPERATORS(X) \
  X(>, any, bool, op::lt)         \
  X(>=, any, bool, op::le)
#define KILN_UNARY_OPERATORS(X) \
  X(-, number, op::neg)         \
  X(~, integer, op::not_)

template <class X, klass K>
inline constexpr why unary_why = detail::check_unary<X, K>();

// The friends of one type. g++ compares each new friend with all friends of the same name in the namespace, so the time is
// quadratic in the number of types. Therefore the types are spread over several namespaces. Constraints are behind the
// parameters, because g++ then compares those of friends with equal parameters only.
#define KILN_X(sym, k, R, o)                                         \
  template <class B>                                                 \
  friend constexpr auto operator sym(at<Self> a, const B& b)         \
    requires(binary_why<Self, B, klass::k> == why::ok)               \
  {                                                                  \
    return detail::binary_node<R>(o, a.l, a.e, b);                   \
  }                                                                  \
  template <class B>                                                 \
  friend constexpr auto operator sym(const B& b, at<Self> a)         \
    requires(Literal<B> && binary_why<B, Self, klass::k> == why::ok) \
  {                                                                  \
    return detail::binary_node<R>(o, a.l, b, a.e);                   \
  }
#define KILN_SWAPPED(sym, k, R, o)                                   \
  template <class B>                                                 \
  friend constexpr auto operator sym(at<Self> a, const B& b)         \
    requires(binary_why<Self, B, klass::k> == why::ok)               \
  {                                                                  \
    return detail::binary_node<R>(o, a.l, b, a.e);                   \
  }                                                                  \
  template <class B>                                                 \
  friend constexpr auto operator sym(const B& b, at<Self> a)         \
    requires(Literal<B> && binary_why<B, Self, klass::k> == why::ok) \
  {                                                                  \
    return detail::binary_node<R>(o, a.l, a.e, b);                   \
  }
#define KILN_UNARY(sym, k, o)                      \
  friend constexpr auto operator sym(at<Self> a)   \
    requires(unary_why<Self, klass::k> == why::ok) \
  {                                                \
    return detail::unary_node(o, a.l, a.e);        \
  }
// auto s = scope(x). The call finds this friend by its operand, so the user's scope has no name `scope`.
#define KILN_FRIENDS(part)                                                       \
  namespace detail::friends_##part {                                             \
    template <class Self>                                                        \
    struct of_type {                                                             \
      KILN_BINARY_OPERATORS(KILN_X)                                              \
      KILN_SWAPPED_OPERATORS(KILN_SWAPPED)                                       \
      KILN_UNARY_OPERATORS(KILN_UNARY)                                           \
      friend constexpr auto scope(const Self& x) { return detail::scope_of(x); } \
    };                                                                           \
  }                                                                              \
  namespace detail {                                                             \
  template <class Self>                                                          \
  struct friends<Self, part> {                                                   \
    using type = friends_##part::of_type<Self>;                                  \
  };                                                                             \
  }

namespace detail {

// The part of a type depends on the length of its name, which the compiler has without a loop.
template <class Self>
constexpr int part_of() {
  return sizeof(__PRETTY_FUNCTION__) % 8;
}
template <class Self, int Part = detail::part_of<Self>()>
struct friends;

}  // namespace detail

KILN_FRIENDS(0)
KILN_FRIENDS(1)
KILN_FRIENDS(2)
KILN_FRIENDS(3)
KILN_FRIENDS(4)
KILN_FRIENDS(5)
KILN_FRIENDS(6)
KILN_FRIENDS(7)
#undef KILN_FRIENDS
#undef KILN_X
#undef KILN_SWAPPED
#undef KILN_UNARY

template <class Self>
struct ops : detail::friends<Self>::type {
#if defined(__clang__)
  // Never chosen. clang prints the name of the constraint where a captured value initialises a value of C++.
  template <no_value_of_cpp__write_auto_var_cast_or_local B>
  constexpr operator B() const;  // NOLINT(google-explicit-constructor)
#endif
  // A tensor has no value while it is captured, so it cannot steer C++ control flow, nor become a number of C++.
  template <class B, why Reason = why::no_value_while_compiling__write_when_select_forever_break_if_loop_or_max>
    requires(std::is_same_v<B, bool>)
  explicit constexpr operator B() const KILN_DELETED(
      "kiln: no value while compiling: for if write when(c), otherwise(); for ?: select(c, a, b); for while forever(), "
      "break_if(c); "
      "for a for loop(n); for std::max just max");
  template <detail::arithmetic B, why Reason = why::a_captured_value_is_no_cpp_value__write_cast_of_f32_or_auto>
    requires(!std::is_same_v<B, bool>)
  explicit constexpr operator B() const
      KILN_DELETED("kiln: a captured value is no value of C++: write cast<f32>(x), cast<i32>(x); auto v = x(i)");
  // relu(x), where relu is a program.
  template <class B, why Reason = why::this_name_means_a_program_here__write_kiln_dsl_name_for_the_function>
    requires requires { typename B::kiln_program; }
  explicit constexpr operator B() const KILN_HIDDEN_BY("program");
};

// C++ tries == and != in both orders, and ! competes with the built-in one. These operators are therefore templates of the
// namespace, which match exactly; their nodes get the last recorded line.
template <Operand X>
  requires(unary_why<X, klass::boolean> == why::ok)
constexpr auto operator!(const X& x) {
  called_from here(x.b, x.b->current());
  return detail::unary_node(op::not_, sloc(), x);
}
#define KILN_X(sym, o)                                              \
  template <class A, class B>                                       \
    requires(Operand<A> && binary_why<A, B, klass::any> == why::ok) \
  constexpr auto operator sym(const A& a, const B& b) {             \
    called_from here(a.b, a.b->current());                          \
    return detail::binary_node<bool>(o, sloc(), a, b);              \
  }                                                                 \
  template <Literal A, Operand B>                                   \
    requires(binary_why<A, B, klass::any> == why::ok)               \
  constexpr auto operator sym(const A& a, const B& b) {             \
    called_from here(b.b, b.b->current());                          \
    return detail::binary_node<bool>(o, sloc(), a, b);              \
  }
KILN_X(==, op::eq)
KILN_X(!=, op::ne)
#undef KILN_X

#define KILN_X(sym, k, R, o)                                           \
  template <class A, class B, why Reason = binary_why<A, B, klass::k>> \
    requires(detail::wrong(Reason))                                    \
  mistake<Reason> operator sym(const A&, const B&) KILN_MISTAKE(KILN_REASONS_OPERAND);
KILN_BINARY_OPERATORS(KILN_X)
KILN_SWAPPED_OPERATORS(KILN_X)
KILN_X(==, any, , )
KILN_X(!=, any, , )
#undef KILN_X
#define KILN_X(sym, k, o)                                 \
  template <class A, why Reason = unary_why<A, klass::k>> \
    requires(detail::wrong(Reason))                       \
  mistake<Reason> operator sym(const A&) KILN_MISTAKE(KILN_REASONS_OPERAND);
KILN_UNARY_OPERATORS(KILN_X)
KILN_X(!, boolean, )
#undef KILN_X

}  // namespace kiln::dsl
