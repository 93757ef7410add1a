// t(i, j): elements of a parameter or of a local array: one, or, where an index is a tensor or axes are left over, a tensor of
// them. They are read where they are written down, so `auto k = t(i)` is a snapshot; `t(i) = v`, `t(i) += v` and the atomics
// write. An index outside of the axis is clamped; t.at<mode::wrap>(i, j) names another mode.
#pragma once

#include "kiln/dsl/subscript.h"

namespace kiln::dsl {

// S: shape of the elements. W: may they be written? Unique: see unique().
template <class D, class S, mode Mode, bool W, bool Unique = false, class = typename kiln_hint<D>::type>
struct element_ : ops<element_<D, S, Mode, W, Unique>>, elements_t<element_<D, S, Mode, W, Unique>, D, S, kiln_computed> {
  using kiln_operand = void;
  using dtype = D;
  using shape = S;
  using right = kiln_right<D, S>;
  static constexpr int max_rank = 8;
  builder* b;
  int tensor, computed, rank, id, index[max_rank] = {};  // computed: the value of a copy of an `in`, or -1

  template <class... I>
  constexpr element_(builder* b_, int tensor_, int computed_, const sloc& l, const I&... i)
      : b(b_), tensor(tensor_), computed(computed_), rank(sizeof...(I)), index{i.node(b_)...} {
    kiln_check_small<S>(b, l);
    id = kiln_load(l);
  }
  constexpr element_(const element_& x) : b(x.b), tensor(x.tensor), computed(x.computed), rank(x.rank), id(x.id) {
    for (int k = 0; k < rank; ++k) index[k] = x.index[k];
  }
  constexpr explicit element_(const element_<D, S, Mode, W, false>& x)
    requires Unique
      : b(x.b), tensor(x.tensor), computed(x.computed), rank(x.rank), id(x.id) {
    for (int k = 0; k < rank; ++k) index[k] = x.index[k];
  }
  constexpr ~element_() = default;

  // clang-format off: it runs what follows `&& requires(..)` together
  constexpr void operator=(const element_& x) && requires(W) {
    called_from here(b, b->current());
    kiln_put(x.id, sloc());
  }
  constexpr void operator=(const right& r) && requires(W) {
    kiln_put(r.node(b), r.l);
  }
  template <class B, why Reason = !W ? kiln_writable<dir::in> : assign_why<D, S, B>>
    requires(kiln_wrong(Reason))
  mistake<Reason> operator=(const B&) && KILN_MISTAKE(KILN_REASONS_ASSIGN);
  template <class B, why Reason = why::a_value_keeps_what_it_was__write_var>
    requires(Arg<B>)
  mistake<Reason> operator=(const B&) & KILN_MISTAKE(KILN_REASONS_ASSIGN);

#define KILN_X(sym, k, o)                                                                                             \
  constexpr void operator sym(const right& r) && requires(W && kiln_class_why<D>(klass::k) == why::ok) {   \
    kiln_compound(o, r);                                                                                              \
  }                                                                                                                   \
  template <class B, why Reason = !W ? kiln_writable<dir::in> : compound_why<D, S, B, klass::k>>                                \
    requires(kiln_wrong(Reason))                                                                                      \
  mistake<Reason> operator sym(const B&) && KILN_MISTAKE(KILN_REASONS_ASSIGN);                                        \
  template <class B, why Reason = why::a_value_keeps_what_it_was__write_var>                                          \
    requires(Arg<B>)                                                                                                  \
  mistake<Reason> operator sym(const B&) & KILN_MISTAKE(KILN_REASONS_ASSIGN);
  // clang-format on
  KILN_COMPOUNDS(KILN_X)
#undef KILN_X

  // Indivisible updates; the result is the element before. The order among the iterations of a kernel is not specified.
#define KILN_ATOMICS(X)      \
  X(atomic_add, number, add) \
  X(atomic_min, any, min)    \
  X(atomic_max, any, max)    \
  X(atomic_and, bits, and_)  \
  X(atomic_or, bits, or_)    \
  X(atomic_xor, bits, xor_)  \
  X(atomic_exchange, any, exchange)
#define KILN_X(name, k, kind)                                                                    \
  constexpr auto name(const right& r) const                                                      \
    requires(W && kiln_class_why<D>(klass::k) == why::ok)                                        \
  {                                                                                              \
    return kiln_atomic(record::atomic_kind::kind, r.l, r.node(b), -1);                           \
  }                                                                                              \
  template <class B, why Reason = !W ? kiln_writable<dir::in> : compound_why<D, S, B, klass::k>> \
    requires(kiln_wrong(Reason))                                                                 \
  mistake<Reason> name(const B&) const KILN_MISTAKE(KILN_REASONS_ASSIGN);
  KILN_ATOMICS(KILN_X)
#undef KILN_X
#undef KILN_ATOMICS
  // Writes `desired` where the element equals `expected`.
  constexpr auto atomic_compare_exchange(const right& expected, const right& desired) const
    requires(W)
  {
    const int e = expected.node(b);
    return kiln_atomic(record::atomic_kind::compare_exchange, desired.l, desired.node(b), e);
  }

  constexpr int kiln_read(const sloc&) const { return id; }

 private:
  static constexpr std::uint64_t kiln_where(mode m, int of) {
    return static_cast<std::uint64_t>(m) << 32 | static_cast<std::uint64_t>(of);
  }
  constexpr int kiln_load(const sloc& l) const {
    if (kiln_variable() >= 0 && !b->is_open(b->variables.v[kiln_variable()].scope))
      b->fail(why::value_of_a_closed_scope_is_used_outside__write_var, b->at(l));
    // A read outside of a skipped write is clamped.
    constexpr mode read = Mode == mode::skip ? mode::clamp : Mode;
    kiln_begin<D, S>(b, op::element, l, kiln_where(read, computed >= 0 ? static_cast<int>(record::computed_tensor) : tensor));
    if (computed >= 0) b->src(computed);
    for (int k = 0; k < rank; ++k) b->src(index[k]);
    if (kiln_is_unreadable()) b->owner.v[b->last()] = builder::unreadable;
    return b->last();
  }
  // The right side of a compound assignment comes first: what it writes is read.
  constexpr int kiln_now(const sloc& l) const {
    return id == b->last() && b->owner.v[id] != builder::unreadable ? id : kiln_load(l);
  }
  constexpr void kiln_begin_with_zeros(op o) const {
    if (!kiln_is_local()) b->begin_with_zeros(tensor, o);
  }
  constexpr bool kiln_is_local() const { return tensor >= static_cast<int>(record::local_tensors); }
  constexpr int kiln_variable() const { return tensor - static_cast<int>(record::variable_tensors); }
  constexpr bool kiln_is_unreadable() const { return !kiln_is_local() && !b->slots.v[tensor].readable; }
  constexpr void kiln_written() const {
    if (kiln_variable() >= 0)
      b->changed(kiln_variable(), b->current());
    else if (kiln_is_local())
      b->closed_when = -1;
    else
      b->written(tensor);
  }
  constexpr void kiln_write(op o, std::uint64_t kind, int value, const sloc& l, int expected = -1) const {
    kiln_begin<D, S>(b, o, l, kind << 40 | kiln_where(Mode, tensor));
    b->src(value);
    if (expected >= 0) b->src(expected);
    for (int k = 0; k < rank; ++k) b->src(index[k]);
    if (o == op::accumulate) kiln_begin_with_zeros(static_cast<op>(kind & 0xff));
    if (o == op::atomic) kiln_begin_with_zeros(o);
    if (o != op::put && kiln_is_unreadable())
      b->fail(why::out_parameter_is_read_before_it_is_assigned__declare_it_inout, b->current());
    kiln_written();
  }
  static constexpr std::uint64_t promise = Unique ? record::unique_write >> 40 : 0;
  constexpr void kiln_put(int value, const sloc& l) const { kiln_write(op::put, promise, value, l); }
  // Where several elements may be one, each takes its turn.
  constexpr void kiln_compound(op o, const right& r) const {
    if constexpr (S::rank == 0) {
      kiln_begin_with_zeros(o);
      const int now = kiln_now(r.l), value = r.node(b);
      kiln_put(kiln_node2<D, S>(b, o, r.l, now, value), r.l);
    } else {
      kiln_write(op::accumulate, static_cast<std::uint64_t>(o) | promise, r.node(b), r.l);
    }
  }
  constexpr expr_<D, S> kiln_atomic(record::atomic_kind kind, const sloc& l, int value, int expected) const {
    kiln_write(op::atomic, static_cast<std::uint64_t>(kind), value, l, expected);
    return kiln_result<D, S>(b);
  }
};

// unique(y(p)) = v: a promise that no other position of the kernel writes these elements or reads them, where that cannot be
// proven.
template <class D, class S, mode Mode, bool W>
constexpr auto unique(const element_<D, S, Mode, W>& x) {
  return element_<D, S, Mode, W, true>(x);
}

}  // namespace kiln::dsl
