// Bounds of scopes, and the nodes that open and close them (scope.h).
#pragma once

#include "kiln/dsl/branches.h"
#include "kiln/dsl/elements.h"
#include "kiln/dsl/scope_body.h"
#include "kiln/dsl/variable.h"

namespace kiln::dsl {

namespace detail {

template <class X>
constexpr why bound_why() {
  if constexpr (std::is_same_v<X, ext>)
    return why::computed_extent_is_a_template_argument__write_kernel_or_loop_in_angle_brackets;
  else if constexpr (Operand<X>)
    return (std::is_same_v<dtype_of<X>, i32> || std::is_same_v<dtype_of<X>, i64>) && rank_of<X> == 0
               ? why::ok
               : why::bound_must_be_a_scalar_integer__write_for_auto_i_kernel_of_an_extent;
  else
    return detail::scalar_integer<X>() ? why::ok : why::bound_must_be_a_scalar_integer__write_for_auto_i_kernel_of_an_extent;
}
template <class... X>
constexpr why bounds_why() {
  why r = why::ok;
  ((r = r == why::ok ? detail::bound_why<X>() : r), ...);
  return r;
}
template <class... X>
constexpr why loop_why() {
  return sizeof...(X) >= 1 && sizeof...(X) <= 3 ? detail::bounds_why<X...>() : why::loop_takes_one_to_three_bounds;
}
// Counters are i32 unless a bound is i64.
template <class... X>
using counter_dtype = std::conditional_t<(std::is_same_v<dtype_of<X>, i64> || ...), i64, i32>;
template <class D, class... X>
constexpr why extents_why() {
  if (sizeof...(X) < 1 || sizeof...(X) > 4) return why::kernel_takes_one_to_four_extents;
  if (detail::wrong(detail::bounds_why<X...>())) return detail::bounds_why<X...>();
  if (!std::is_same_v<D, i32> && !std::is_same_v<D, i64>)
    return why::bound_must_be_a_scalar_integer__write_for_auto_i_kernel_of_an_extent;
  return std::is_same_v<D, i32> && std::is_same_v<counter_dtype<X...>, i64> ? why::bound_of_i64_needs_a_kernel_of_i64 : why::ok;
}

// A bound of a scope: an extent, or the id of a node.
struct limit {
  record::extent extent{-1, nullptr};
  int id = -1;
};
template <class X>
constexpr limit limit_of(builder* b, const X& x, const sloc& l) {
  if constexpr (Operand<X>)
    return {{-1, nullptr}, x.read_(l)};
  else if constexpr (Extent<X>)
    return {detail::record_of(x), -1};
  else if (x == static_cast<X>(-1))
    return {{-1, nullptr}, detail::constant_id<i64>(b, detail::encode<i64>(x), l)};
  else
    return {{static_cast<std::int64_t>(x), nullptr}, -1};
}
template <ext E>
constexpr limit limit_of_extent(builder* b, const sloc& l) {
  if constexpr (detail::is_static(E))
    return detail::limit_of(b, detail::value_of(E), l);
  else
    return {attr<E>, -1};
}

template <auto... E>
concept static_extents = (detail::is_static(detail::to_ext(E)) && ...);

// An argument in parentheses where angle brackets are meant: local<f32>(4), local(4).
template <class X>
concept extent_value = Operand<X> || arithmetic<X> || Extent<X>;

template <class C>
constexpr void record_condition(op o, const C& c, const sloc& l) {
  const int id = c.read_(l);
  detail::begin_node<bool, sh<>>(c.b, o, l);
  c.b->src(id);
}
template <class D>
constexpr void put_bound(builder* b, const sloc& l, const detail::limit& x) {
  if (x.extent.text == nullptr && !detail::encode<D>(x.extent.value).fits)
    b->fail(why::literal_is_out_of_range_of_the_dtype, b->at(l));
  b->attr(x.extent);
  if (x.id >= 0) b->src(x.id);
}
template <class X>
constexpr auto workgroup_index(const X& i, std::uint64_t what, const sloc& l) {
  using D = typename X::dtype_in_workgroup;
  builder* b = i.b;
  if (b->nodes.v[i.id].o != op::index) b->fail(why::work_item_is_not_of_a_kernel_with_workgroups, b->at(l));
  const int kernel = b->sources.v[b->nodes.v[i.id].source_begin];
  detail::begin_node<D, sh<>>(b, op::index, l, b->nodes.v[i.id].imm | what);
  b->src(kernel);
  return scope_index_<D>(b, b->last());
}
template <class D, int... A>
constexpr auto kernel_indices(builder* b, int kernel, const sloc& l, seq<A...>) {
  const auto index = [&](int axis) {
    detail::begin_node<D, sh<>>(b, op::index, l, static_cast<std::uint64_t>(axis));
    b->src(kernel);
    return scope_index_<D>(b, b->last());
  };
  return kernel_scope_<D, sizeof...(A)>(b, op::kernel_end, {index(A)...});
}
template <class D, class... X>
constexpr auto open_kernel(builder* b, const sloc& l, const X&... x) {
  if (b->kernel() != 0) b->fail(why::kernel_inside_a_kernel__write_kernel_of_n_m_or_loop, b->at(l));
  detail::begin_node<D, sh<>>(b, op::kernel, l, sizeof...(X));
  (detail::put_bound<D>(b, l, x), ...);
  b->enter(op::kernel);
  return detail::kernel_indices<D>(b, b->last(), l, make_seq<sizeof...(X)>{});
}
template <class D>
constexpr auto open_loop(builder* b, const sloc& l, const detail::limit& begin, const detail::limit& end,
                         const detail::limit& step, std::uint64_t endless = 0) {
  if (step.id < 0 && step.extent.text == nullptr && step.extent.value == 0) b->fail(why::step_of_a_loop_is_0, b->at(l));
  detail::begin_node<D, sh<>>(b, op::loop, l, endless);
  for (const detail::limit* x : {&begin, &end, &step}) detail::put_bound<D>(b, l, *x);
  b->enter(op::loop);
  const int loop = b->last();
  detail::begin_node<D, sh<>>(b, op::counter, l);
  b->src(loop);
  return body_<scope_index_<D>>(b, op::loop_end, scope_index_<D>(b, b->last()));
}

}  // namespace detail

// The scope of `if (auto c = when(p))`. It converts to bool only as a named object: a temporary would close the scope before
// the body.
class [[nodiscard]] branch_ {
 public:
  constexpr branch_(builder* b, bool last) : b_(b), scope_(b->scope), last_(last) {}
  branch_(const branch_&) = delete;
  branch_& operator=(const branch_&) = delete;
  constexpr ~branch_() {
    b_->leave(scope_, op::when_end, b_->regions.v[scope_ - 1].entered ? why::ok : why::scope_is_not_entered__write_for_or_if);
    b_->closed_when = last_ ? -1 : b_->last();
  }
  constexpr explicit operator bool() & {
    b_->regions.v[scope_ - 1].entered = true;
    return b_->refused == 0 || detail::depth(*b_, scope_) != b_->refused;
  }
  template <class B, why Reason = why::scope_has_no_name__write_if_auto_c_when>
    requires(std::is_same_v<B, bool>)
  explicit operator B() && KILN_DELETED("kiln: name the scope: if (auto c = when(p))");
  // for (auto c : when(p))
  template <why Reason = why::scope_has_no_name__write_if_auto_c_when>
  mistake<Reason> begin() const KILN_DELETED("kiln: a condition is an if: if (auto c = when(p))");
  template <why Reason = why::scope_has_no_name__write_if_auto_c_when>
  mistake<Reason> end() const KILN_DELETED("kiln: a condition is an if: if (auto c = when(p))");

 private:
  builder* b_;
  int scope_;
  bool last_;
};

}  // namespace kiln::dsl
