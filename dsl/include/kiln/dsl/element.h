// t(i, j): an element of a tensor or of a local array. If an index is a tensor, or some axis has no index, t(i) is a tensor
// of elements. The expression t(i) reads at once, so `auto k = t(i)` is a snapshot. `t(i) = v`, `t(i) += v` and the atomics
// write. An index outside of its axis is clamped; t.at<mode::wrap>(i, j) names another mode.
#pragma once

#include "kiln/dsl/subscript.h"

namespace kiln::dsl {

// S: the shape of the elements. W: whether they may be written. Unique: unique() below.
template <class D, class S, mode Mode, bool W, bool Unique = false, class = typename detail::hint<D>::type>
struct element_ : ops<element_<D, S, Mode, W, Unique>>, elements_t<element_<D, S, Mode, W, Unique>, D, S, detail::computed> {
  using is_operand = void;
  using dtype = D;
  using shape = S;
  using right = right_<D, S>;
  static constexpr int max_rank = 8;
  builder* b;
  int tensor, computed, rank, id, index[max_rank] = {};  // computed: the node of a copy of an `in`, or -1

  template <class... I>
  constexpr element_(builder* b_, int tensor_, int computed_, const sloc& l, const I&... i)
      : b(b_), tensor(tensor_), computed(computed_), rank(sizeof...(I)), index{i.node(b_)...} {
    detail::check_small<S>(b, l);
    id = load_(l);
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
    put_(x.id, sloc());
  }
  constexpr void operator=(const right& r) && requires(W) {
    put_(r.node(b), r.l);
  }
  template <class B, why Reason = !W ? detail::writable<dir::in> : assign_why<D, S, B>>
    requires(detail::wrong(Reason))
  mistake<Reason> operator=(const B&) && KILN_MISTAKE(KILN_REASONS_ASSIGN);
  template <class B, why Reason = why::a_value_keeps_what_it_was__write_var>
    requires(Arg<B>)
  mistake<Reason> operator=(const B&) & KILN_MISTAKE(KILN_REASONS_ASSIGN);

#define KILN_X(sym, k, o)                                                                                   \
  constexpr void operator sym(const right& r) && requires(W && detail::class_why<D>(klass::k) == why::ok) { \
    compound_(o, r);                                                                                        \
  }                                                                                                         \
  template <class B, why Reason = !W ? detail::writable<dir::in> : compound_why<D, S, B, klass::k>>         \
    requires(detail::wrong(Reason))                                                                         \
  mistake<Reason> operator sym(const B&) && KILN_MISTAKE(KILN_REASONS_ASSIGN);                              \
  template <class B, why Reason = why::a_value_keeps_what_it_was__write_var>                                \
    requires(Arg<B>)                                                                                        \
  mistake<Reason> operator sym(const B&) & KILN_MISTAKE(KILN_REASONS_ASSIGN);
  // clang-format on
  KILN_COMPOUNDS(KILN_X)
#undef KILN_X

  // Indivisible updates; the result is the element's value before the update. A kernel's iterations have no specified order.
#define KILN_ATOMICS(X)        \
  X(atomic_add, number, add)   \
  X(atomic_min, any, min)      \
  X(atomic_max, any, max)      \
  X(atomic_and, bits, bit_and) \
  X(atomic_or, bits, bit_or)   \
  X(atomic_xor, bits, bit_xor) \
  X(atomic_exchange, any, exchange)
#define KILN_X(name, k, kind)                                                                       \
  constexpr auto name(const right& r) const                                                         \
    requires(W && detail::class_why<D>(klass::k) == why::ok)                                        \
  {                                                                                                 \
    return atomic_(record::atomic_kind::kind, r.l, r.node(b), -1);                                  \
  }                                                                                                 \
  template <class B, why Reason = !W ? detail::writable<dir::in> : compound_why<D, S, B, klass::k>> \
    requires(detail::wrong(Reason))                                                                 \
  mistake<Reason> name(const B&) const KILN_MISTAKE(KILN_REASONS_ASSIGN);
  KILN_ATOMICS(KILN_X)
#undef KILN_X
#undef KILN_ATOMICS
  // Writes `desired` if the element equals `expected`; the result is the element's value before the write.
  constexpr auto atomic_compare_exchange(const right& expected, const right& desired) const
    requires(W)
  {
    const int e = expected.node(b);
    return atomic_(record::atomic_kind::compare_exchange, desired.l, desired.node(b), e);
  }

  constexpr int read_(const sloc&) const { return id; }

 private:
  static constexpr std::uint64_t place_(mode m, int of) {
    return static_cast<std::uint64_t>(m) << 32 | static_cast<std::uint64_t>(of);
  }
  constexpr int load_(const sloc& l) const {
    if (variable_number_() >= 0 && !b->is_open(b->variables.v[variable_number_()].scope))
      b->fail(why::value_of_a_closed_scope_is_used_outside__write_var, b->at(l));
    // Mode skip is for writes: a read of the same element is clamped.
    constexpr mode read = Mode == mode::skip ? mode::clamp : Mode;
    detail::begin_node<D, S>(b, op::element, l,
                             place_(read, computed >= 0 ? static_cast<int>(record::computed_tensor) : tensor));
    if (computed >= 0) b->src(computed);
    for (int k = 0; k < rank; ++k) b->src(index[k]);
    if (is_unreadable_()) b->owner.v[b->last()] = builder::unreadable;
    return b->last();
  }
  // The right side of a compound assignment is evaluated first. The element is read after it, so the read sees its writes.
  constexpr int now_(const sloc& l) const { return id == b->last() && b->owner.v[id] != builder::unreadable ? id : load_(l); }
  constexpr void begin_with_zeros_(op o) const {
    if (!is_local_()) b->begin_with_zeros(tensor, o);
  }
  constexpr bool is_local_() const { return tensor >= static_cast<int>(record::local_tensors); }
  constexpr int variable_number_() const { return tensor - static_cast<int>(record::variable_tensors); }
  constexpr bool is_unreadable_() const { return !is_local_() && !b->slots.v[tensor].readable; }
  constexpr void mark_written_() const {
    if (variable_number_() >= 0)
      b->changed(variable_number_(), b->current());
    else if (is_local_())
      b->closed_when = -1;
    else
      b->written(tensor);
  }
  constexpr void write_(op o, std::uint64_t kind, int value, const sloc& l, int expected = -1) const {
    detail::begin_node<D, S>(b, o, l, kind << 40 | place_(Mode, tensor));
    b->src(value);
    if (expected >= 0) b->src(expected);
    for (int k = 0; k < rank; ++k) b->src(index[k]);
    if (o == op::accumulate) begin_with_zeros_(static_cast<op>(kind & 0xff));
    if (o == op::atomic) begin_with_zeros_(o);
    if (o != op::put && is_unreadable_())
      b->fail(why::out_parameter_is_read_before_it_is_assigned__assign_it_first_or_declare_it_inout, b->current());
    mark_written_();
  }
  static constexpr std::uint64_t promise = Unique ? record::unique_write >> 40 : 0;
  constexpr void put_(int value, const sloc& l) const { write_(op::put, promise, value, l); }
  // A tensor of elements may name one element twice: the updates happen one after another.
  constexpr void compound_(op o, const right& r) const {
    if constexpr (S::rank == 0) {
      begin_with_zeros_(o);
      const int now = now_(r.l), value = r.node(b);
      put_(detail::node2<D, S>(b, o, r.l, now, value), r.l);
    } else {
      write_(op::accumulate, static_cast<std::uint64_t>(o) | promise, r.node(b), r.l);
    }
  }
  constexpr expr_<D, S> atomic_(record::atomic_kind kind, const sloc& l, int value, int expected) const {
    write_(op::atomic, static_cast<std::uint64_t>(kind), value, l, expected);
    return detail::result<D, S>(b);
  }
};

// unique(y(p)) = v: the program promises that no other work item of the kernel reads or writes these elements. It is for
// indices that the compiler cannot prove to differ, such as those of a permutation p.
template <class D, class S, mode Mode, bool W>
constexpr auto unique(const element_<D, S, Mode, W>& x) {
  return element_<D, S, Mode, W, true>(x);
}

}  // namespace kiln::dsl
