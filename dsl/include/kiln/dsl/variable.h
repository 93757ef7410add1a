// auto v = var(0.0f): storage that scopes may change. A copy is a new variable with the present value; a read is a snapshot.
#pragma once

#include "kiln/dsl/elements.h"

namespace kiln::dsl {

template <class D, class S, class = typename detail::hint<D>::type>
struct variable_ : ops<variable_<D, S>>, elements_t<variable_<D, S>, D, S, why::ok> {
  using is_operand = void;
  using dtype = D;
  using shape = S;
  using right = right_<D, S>;
  builder* b;
  int number, slot;  // its number as a variable; its slot as a tensor with elements

  constexpr variable_(builder* b_, int initial, const record::source_loc& l)
      : b(b_), number(b_->variables.n), slot(static_cast<int>(record::variable_tensors) + number) {
    if (b->kernel() != 0 && !detail::is_small<S>) b->fail(why::elements_inside_a_kernel_are_at_most_16_with_static_extents, l);
    b->push(op::var, detail::dtype_v<D>, shape_v<S>, l, static_cast<std::uint64_t>(number));
    b->src(initial);
    b->variables.add({-1, b->scope});
    b->closed_when = -1;
  }
  constexpr variable_(const variable_& x) : variable_(x.b, x.now_(), x.b->current()) {}
  constexpr ~variable_() = default;

  constexpr variable_& operator=(const variable_& x) {
    set_(x.now_(), b->current());
    return *this;
  }
  constexpr variable_& operator=(const right& r) {
    set_(r.node(b), b->at(r.l));
    return *this;
  }
  template <class B, why Reason = assign_why<D, S, B>>
    requires(detail::wrong(Reason))
  mistake<Reason> operator=(const B&) KILN_MISTAKE(KILN_REASONS_ASSIGN);

#define KILN_X(sym, k, o)                                                    \
  constexpr variable_& operator sym(const right & r)                         \
    requires(detail::class_why<D>(klass::k) == why::ok)                      \
  {                                                                          \
    set_(detail::node2<D, S>(b, o, r.l, read_(r.l), r.node(b)), b->at(r.l)); \
    return *this;                                                            \
  }                                                                          \
  template <class B, why Reason = compound_why<D, S, B, klass::k>>           \
    requires(detail::wrong(Reason))                                          \
  mistake<Reason> operator sym(const B&) KILN_MISTAKE(KILN_REASONS_ASSIGN);
  KILN_COMPOUNDS(KILN_X)
#undef KILN_X

  constexpr int read_(const sloc& l) const { return get_(b->at(l)); }

 private:
  constexpr int now_() const { return get_(b->current()); }
  constexpr int get_(const record::source_loc& l) const {
    const builder::variable v = b->variables.v[number];
    if (v.node >= 0 && b->owner.v[v.node] == b->scope) return v.node;
    if (!b->is_open(v.scope)) b->fail(why::value_of_a_closed_scope_is_used_outside__write_var, l);
    b->push(op::get, detail::dtype_v<D>, shape_v<S>, l, static_cast<std::uint64_t>(number));
    return b->variables.v[number].node = b->last();
  }
  constexpr void set_(int value, const record::source_loc& l) {
    b->changed(number, l);
    if (b->kernel_of(b->variables.v[number].scope) != b->kernel()) {
      if (!b->once()) b->fail(why::variable_of_outside_is_set_inside_a_kernel__write_atomic_add_sum_or_once, l);
      if (!detail::is_small<S>)
        b->fail(why::whole_tensor_is_assigned_inside_a_kernel__write_its_elements_also_of_a_scalar_or_atomic_add, l);
    }
    b->push(op::set, detail::dtype_v<D>, shape_v<S>, l, static_cast<std::uint64_t>(number));
    b->src(value);
  }
};

namespace detail {

// The dtype of a variable whose initial value is a literal of C++.
template <class L>
struct natural {
  static constexpr bool is_unsigned = std::is_unsigned_v<L>;
  template <class A, class B>
  using pick = std::conditional_t<is_unsigned, B, A>;
  using type = std::conditional_t<
      sizeof(L) == 1, pick<i8, u8>,
      std::conditional_t<sizeof(L) == 2, pick<i16, u16>, std::conditional_t<sizeof(L) == 4, pick<i32, u32>, pick<i64, u64>>>>;
};
// clang-format off
template <> struct natural<bool> { using type = bool; };
template <> struct natural<float> { using type = f32; };
template <> struct natural<double> { using type = f64; };
// clang-format on

}  // namespace detail

}  // namespace kiln::dsl
