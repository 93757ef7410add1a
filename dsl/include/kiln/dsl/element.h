// t(i, j): an element of a parameter or of a local array. It is read where it is written down, so `auto k = t(i)` is a
// snapshot; `t(i) = v`, `t(i) += v` and the atomics write. An index outside of the axis is clamped; t.at<mode::wrap>(i, j)
// names another mode.
#pragma once

#include "kiln/dsl/operators.h"

namespace kiln {

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

struct kiln_subscript {
  int id = -1;
  std::int64_t literal = 0;
  record::extent extent{};
  sloc l;

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
  constexpr int node(builder* b) const {
    if (id >= 0) return id;
    if (extent.text != nullptr) return kiln_dim_id<i64>(b, extent, l);
    return kiln_constant_id<i64>(b, {static_cast<std::uint64_t>(literal), true}, l);
  }
};

// W: may it be written?
template <class D, mode Mode, why W>
struct element_ : ops<element_<D, Mode, W>> {
  using kiln_operand = void;
  using dtype = D;
  using shape = sh<>;
  using right = kiln_right<D, sh<>>;
  static constexpr int max_rank = 8;
  builder* b;
  int tensor, rank, id, index[max_rank] = {};

  template <class... I>
  constexpr element_(builder* b_, int tensor_, const sloc& l, const I&... i)
      : b(b_), tensor(tensor_), rank(sizeof...(I)), index{i.node(b_)...} {
    id = kiln_load(l);
  }
  constexpr element_(const element_&) = default;
  constexpr ~element_() = default;

  constexpr void operator=(const element_& x) &&
      requires(W == why::ok) {
        called_from here(b, b->current());
        kiln_put(x.id, sloc());
      } constexpr void operator=(const right& r) &&
      requires(W == why::ok) {
        kiln_put(r.node(b), r.l);
      } template <class B, why Reason = kiln_wrong(W) ? W : assign_why<D, sh<>, B>>
        requires(kiln_wrong(Reason))
      mistake<Reason> operator=(const B&) && KILN_MISTAKE(KILN_REASONS_ASSIGN);
  template <class B, why Reason = why::left_side_is_a_computed_value_not_a_parameter>
    requires(Arg<B>)
  mistake<Reason> operator=(const B&) & KILN_MISTAKE(KILN_REASONS_ASSIGN);

#define KILN_X(sym, k, o)                                                                       \
  constexpr void operator sym(const right& r) &&                                                \
      requires(W == why::ok && kiln_class_why<D>(klass::k) == why::ok) {                        \
        kiln_put(kiln_node2<D, sh<>>(b, o, r.l, kiln_now(r.l), r.node(b)), r.l);                \
      } template <class B, why Reason = kiln_wrong(W) ? W : compound_why<D, sh<>, B, klass::k>> \
        requires(kiln_wrong(Reason))                                                            \
      mistake<Reason> operator sym(const B&) && KILN_MISTAKE(KILN_REASONS_ASSIGN);
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
#define KILN_X(name, k, kind)                                                             \
  constexpr auto name(const right& r) const                                               \
    requires(W == why::ok && kiln_class_why<D>(klass::k) == why::ok)                      \
  {                                                                                       \
    return kiln_atomic(record::atomic_kind::kind, r.l, r.node(b), -1);                    \
  }                                                                                       \
  template <class B, why Reason = kiln_wrong(W) ? W : compound_why<D, sh<>, B, klass::k>> \
    requires(kiln_wrong(Reason))                                                          \
  mistake<Reason> name(const B&) const KILN_MISTAKE(KILN_REASONS_ASSIGN);
  KILN_ATOMICS(KILN_X)
#undef KILN_X
#undef KILN_ATOMICS
  // Writes `desired` where the element equals `expected`.
  constexpr auto atomic_compare_exchange(const right& expected, const right& desired) const
    requires(W == why::ok)
  {
    const int e = expected.node(b);
    return kiln_atomic(record::atomic_kind::compare_exchange, desired.l, desired.node(b), e);
  }

  constexpr int kiln_read(const sloc&) const { return id; }

 private:
  constexpr std::uint64_t kiln_where(mode m) const {
    return static_cast<std::uint64_t>(m) << 32 | static_cast<std::uint64_t>(tensor);
  }
  constexpr int kiln_load(const sloc& l) const {
    // A read outside of a skipped write is clamped.
    kiln_begin<D, sh<>>(b, op::element, l, kiln_where(Mode == mode::skip ? mode::clamp : Mode));
    for (int k = 0; k < rank; ++k) b->src(index[k]);
    if (kiln_is_unreadable()) b->owner.v[b->last()] = builder::unreadable;
    return b->last();
  }
  // The right side of a compound assignment comes first: what it writes is read.
  constexpr int kiln_now(const sloc& l) const { return id == b->last() ? id : kiln_load(l); }
  constexpr bool kiln_is_local() const { return tensor >= static_cast<int>(record::local_tensors); }
  constexpr bool kiln_is_unreadable() const { return !kiln_is_local() && !b->slots.v[tensor].readable; }
  constexpr void kiln_written() const {
    if (kiln_is_local())
      b->closed_when = -1;
    else
      b->written(tensor);
  }
  constexpr void kiln_put(int value, const sloc& l) const {
    kiln_begin<D, sh<>>(b, op::put, l, kiln_where(Mode));
    b->src(value);
    for (int k = 0; k < rank; ++k) b->src(index[k]);
    kiln_written();
  }
  constexpr expr_<D, sh<>> kiln_atomic(record::atomic_kind kind, const sloc& l, int value, int expected) const {
    kiln_begin<D, sh<>>(b, op::atomic, l, static_cast<std::uint64_t>(kind) << 40 | kiln_where(Mode));
    b->src(value);
    if (expected >= 0) b->src(expected);
    for (int k = 0; k < rank; ++k) b->src(index[k]);
    if (kiln_is_unreadable()) b->fail(why::out_parameter_is_read_before_it_is_assigned__declare_it_inout, b->current());
    kiln_written();
    return kiln_result<D, sh<>>(b);
  }
};

template <int Rank, class... I>
constexpr why kiln_element_why() {
  if (!(kiln_scalar_integer<I>() && ...)) return why::index_must_be_a_scalar_integer;
  return sizeof...(I) == Rank ? why::ok : why::one_index_for_each_axis;
}
template <mode M, int Rank, class... I>
constexpr why kiln_at_why() {
  if constexpr (M == mode::constant)
    return sizeof...(I) == Rank + 1 ? why::ok : why::mode_constant_takes_the_value_outside_after_the_indices;
  else
    return kiln_element_why<Rank, I...>();
}

template <int>
using kiln_subscript_of = const kiln_subscript&;

// Not templates of the indices, so that these convert at the call and bring its line.
template <class Self, class D, class S, why W, int... A>
struct kiln_elements<Self, D, S, W, seq<A...>> {
  constexpr auto operator()(kiln_subscript_of<A>... i) const { return kiln_element<mode::clamp>(i...); }
  template <mode M>
    requires(M != mode::constant)
  constexpr auto at(kiln_subscript_of<A>... i) const {
    return kiln_element<M>(i...);
  }
  template <mode M>
    requires(M == mode::constant)
  constexpr auto at(kiln_subscript_of<A>... i, const kiln_right<D, sh<>>& outside) const {
    const auto& t = static_cast<const Self&>(*this);
    const int index[] = {i.node(t.b)...};
    const int value = outside.node(t.b);
    kiln_begin<D, sh<>>(t.b, op::element, outside.l, static_cast<std::uint64_t>(M) << 32 | static_cast<std::uint64_t>(t.slot));
    for (const int k : index) t.b->src(k);
    t.b->src(value);
    return kiln_result<D, sh<>>(t.b);
  }
  template <class... I, why Reason = kiln_element_why<sizeof...(A), I...>()>
    requires(kiln_wrong(Reason))
  mistake<Reason> operator()(const I&...) const KILN_MISTAKE(KILN_REASONS_ELEMENT);
  template <mode M, class... I, why Reason = kiln_at_why<M, sizeof...(A), I...>()>
    requires(kiln_wrong(Reason))
  mistake<Reason> at(const I&...) const KILN_MISTAKE(KILN_REASONS_ELEMENT);

 private:
  template <mode M, class... I>
  constexpr auto kiln_element(const kiln_subscript& first, const I&... rest) const {
    const auto& t = static_cast<const Self&>(*this);
    return element_<D, M, W>(t.b, t.slot, first.l, first, rest...);
  }
};
// The element of a scalar: what atomics and scatters of one sum go to.
template <class Self, class D, class S, why W>
struct kiln_elements<Self, D, S, W, seq<>> {
  constexpr auto operator()(sloc l = sloc::current()) const {
    const auto& t = static_cast<const Self&>(*this);
    return element_<D, mode::clamp, W>(t.b, t.slot, l);
  }
};

// An array of one turn of the scope that it stands in, all zero: auto a = local<f32, 4>();
template <class D, class S>
struct local_ : kiln_elements<local_<D, S>, D, S, why::ok> {
  using dtype = D;
  using shape = S;
  builder* b;
  int slot;
  constexpr local_(builder* b_, int slot_) : b(b_), slot(slot_) {}
};

}  // namespace kiln
