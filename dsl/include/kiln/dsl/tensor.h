// in, out and inout: the parameters of a program, with their layouts. A copy of an out or inout names the same tensor.
#pragma once

#include "kiln/dsl/expr.h"

namespace kiln::dsl {

// A parameter. Strides: the number of leading axes whose strides the call gives.
template <dir Dir, class D, class S, int Strides = 0, class = typename detail::hint<D>::type>
struct tensor_ : ops<tensor_<Dir, D, S, Strides>>, elements_t<tensor_<Dir, D, S, Strides>, D, S, detail::writable<Dir>> {
  using is_operand = void;
  using is_parameter = void;
  using dtype = D;
  using shape = S;
  using right = right_<D, S>;
  static constexpr dir direction = Dir;
  static constexpr int free_strides = Strides;
  static constexpr why writable = detail::writable<Dir>;
  builder* b = nullptr;
  int slot = -1;
  // A copy of an `in` is a value. value: the node that was assigned to the copy (-1: none; it has the parameter's value).
  // declared: the scope that declares the copy (-1: this object is the parameter itself).
  int value = -1, declared = -1;
  sloc place;  // the line of the struct with this member

  constexpr tensor_(sloc l = sloc::current()) : place(l) {}  // NOLINT(google-explicit-constructor)
  constexpr tensor_(const tensor_& x)
      : b(x.b), slot(x.slot), value(x.value), declared(b == nullptr ? -1 : b->scope), place(x.place) {}
  constexpr ~tensor_() = default;

  constexpr tensor_& operator=(const tensor_& x) {
    called_from here(b, b->current());
    assign_(x.read_(sloc()), sloc());
    return *this;
  }
  constexpr tensor_& operator=(const right& r)
    requires(writable == why::ok)
  {
    store_(r.node(b), r.l);
    return *this;
  }
  constexpr tensor_& operator=(const expr_<D, S>& x)
    requires(Dir == dir::in)
  {
    assign_(x.id, sloc());
    return *this;
  }
  template <class B, why Reason = Dir == dir::in ? detail::copy_why<B, D, S> : assign_why<D, S, B>>
    requires(detail::wrong(Reason))
  mistake<Reason> operator=(const B&) KILN_MISTAKE(KILN_REASONS_ASSIGN);
  KILN_CONST_TWIN(=)

#define KILN_X(sym, k, o)                                                   \
  constexpr tensor_& operator sym(const right & r)                          \
    requires(detail::class_why<D>(klass::k) == why::ok)                     \
  {                                                                         \
    b->begin_with_zeros(slot, o);                                           \
    const int now = read_(r.l), by = r.node(b);                             \
    assign_(detail::node2<D, S>(b, o, r.l, now, by), r.l);                  \
    return *this;                                                           \
  }                                                                         \
  template <class B, why Reason = compound_why<D, S, B, klass::k>>          \
    requires(detail::wrong(Reason))                                         \
  mistake<Reason> operator sym(const B&) KILN_MISTAKE(KILN_REASONS_ASSIGN); \
  KILN_CONST_TWIN(sym)
  KILN_COMPOUNDS(KILN_X)
#undef KILN_X

  constexpr void store_(int id, const sloc& l) { b->store(slot, detail::dtype_v<D>, shape_v<S>, id, l); }
  constexpr void assign_(int id, const sloc& l) {
    if constexpr (Dir != dir::in) {
      store_(id, l);
    } else {
      if (declared < 0) b->fail(writable, b->current());
      if (declared != b->scope) b->fail(why::value_is_rebound_inside_a_scope__write_var, b->current());
      value = id;
    }
  }
  constexpr int read_(const sloc& l) const { return value >= 0 ? value : b->read(slot, detail::dtype_v<D>, shape_v<S>, l); }
};

// in<D, E...>, out and inout are parameters, expr<D, E...> is the type of a value. D is a tag (f32, i32, ..) or bool. Each
// extent E is an integer from 0, a dim or a polynomial of dims; without extents the tensor is a scalar.
template <dtype_of_kiln__write_f32_for_float_f64_i32_for_int_i64_u8 D, auto... E>
  requires extents__write_dim_or_an_integer_from_0_divide_by_no_zero_give_at_most_six_dims_facts<E...>
using expr = expr_<D, make_sh<E...>>;
template <dtype_of_kiln__write_f32_for_float_f64_i32_for_int_i64_u8 D, auto... E>
  requires extents__write_dim_or_an_integer_from_0_divide_by_no_zero_give_at_most_six_dims_facts<E...>
using in = tensor_<dir::in, D, make_sh<E...>>;
template <dtype_of_kiln__write_f32_for_float_f64_i32_for_int_i64_u8 D, auto... E>
  requires extents__write_dim_or_an_integer_from_0_divide_by_no_zero_give_at_most_six_dims_facts<E...>
using out = tensor_<dir::out, D, make_sh<E...>>;
template <dtype_of_kiln__write_f32_for_float_f64_i32_for_int_i64_u8 D, auto... E>
  requires extents__write_dim_or_an_integer_from_0_divide_by_no_zero_give_at_most_six_dims_facts<E...>
using inout = tensor_<dir::inout, D, make_sh<E...>>;

template <class T>
inline constexpr int dense_axes = -1;
template <dir Dir, class D, class S>
inline constexpr int dense_axes<tensor_<Dir, D, S>> = S::rank;
template <class T, int Strides>
struct laid_out;
template <dir Dir, class D, class S, int Strides>
struct laid_out<tensor_<Dir, D, S>, Strides> {
  using type = tensor_<Dir, D, S, Strides>;
};
// Both compilers print the name of the concept that does not hold.
template <class T>
concept an_in_out_or_inout_with_axes__write_pitched_of_in_f32_H_W = dense_axes<T> > 0;
template <class T, int Axes>
concept two_axes_or_more__of_one_axis_write_strided = (Axes == -1 ? dense_axes<T> > 1 : Axes > 0 && Axes <= dense_axes<T>);

// pitched<in<f32, H, W>> x: the last axis is dense, and the call gives the strides of all other axes, in elements (rows of a
// crop, of an image with a pitch). pitched<in<u8, H, W, 3>, 1> x: the call gives the stride of the first axis alone.
template <class T, int Axes = -1>
  requires an_in_out_or_inout_with_axes__write_pitched_of_in_f32_H_W<T> && two_axes_or_more__of_one_axis_write_strided<T, Axes>
using pitched = typename laid_out < T, Axes == -1 ? dense_axes<T> - 1 : Axes > ::type;
// strided<in<f32, N>> x: the call gives the strides of all axes, in elements (a column, every other element, backwards).
template <class T>
  requires an_in_out_or_inout_with_axes__write_pitched_of_in_f32_H_W<T>
using strided = typename laid_out<T, dense_axes<T>>::type;

}  // namespace kiln::dsl
