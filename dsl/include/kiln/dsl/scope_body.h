// The scopes of kernels and loops, and their indices and counters.
#pragma once

#include "kiln/dsl/expr.h"

namespace kiln::dsl {

// The range of a `for` over a kernel or loop, with one element, of type Index. Its body runs once. The ++ after the body closes
// the scope; a scope that is left without it was left by a C++ jump.
template <class Index>
class [[nodiscard]] body_ {
 public:
  constexpr body_(builder* b, op end, const Index& i) : index_(i), b_(b), end_(end), scope_(b->scope) {}
  body_(const body_&) = delete;
  body_& operator=(const body_&) = delete;
  // if (auto c = once())
  template <class T, why Reason = why::loops_and_kernels_repeat__write_for_auto>
    requires(std::is_same_v<T, bool>)
  explicit constexpr operator T() const KILN_DELETED(
      "kiln: loops, kernels and once are a for: for (auto i : loop(n)), for (auto [i] : kernel(n)), for (auto o : once())");
  constexpr ~body_() {
    if (b_ != nullptr && b_->is_open(scope_))
      b_->leave(scope_, end_, why::scope_is_left_by_a_jump_of_cpp__write_break_or_continue_if);
  }

  struct end_type {};
  struct iterator {
    body_* body;
    constexpr Index operator*() const { return body->index_; }
    constexpr void operator++() const { body->b_->leave(body->scope_, body->end_); }
    constexpr bool operator!=(end_type) const { return body->b_->is_open(body->scope_); }
  };
  constexpr iterator begin() {
    b_->regions.v[scope_ - 1].entered = true;
    return {this};
  }
  constexpr end_type end() const { return {}; }

 protected:
  Index index_;
  builder* b_;
  op end_;
  int scope_;
};

// An index of a kernel or counter of a loop. The attribute and the destructor keep clang and g++ from warning about a body that
// does not use it.
template <class D>
struct [[maybe_unused]] scope_index_ : expr_<D, sh<>> {
  using value = expr_<D, sh<>>;
  using value::operator=;
  int copies = 0;
  constexpr scope_index_() = default;
  constexpr scope_index_(builder* builder_, int id_) : value(builder_, id_) {}
  constexpr scope_index_(const scope_index_& x) : value(x), copies(x.copies + 1) {}
  constexpr scope_index_& operator=(const scope_index_& x) & {
    *this = static_cast<const value&>(x);
    return *this;
  }
  constexpr value& operator=(const value& x) & {
    check_own_(this->b->current());
    return value::operator=(x);
  }
  constexpr ~scope_index_() {}  // NOLINT(modernize-use-equals-default)

  // clang-format off: it runs what follows `& requires(..)` together
#define KILN_X(sym, k, o)                                                                                               \
  using value::operator sym;                                                                                            \
  constexpr value& operator sym(const typename value::right& r) & requires(detail::class_why<D>(klass::k) == why::ok) { \
    check_own_(this->b->at(r.l));                                                                                       \
    return value::operator sym(r);                                                                                      \
  }
  // clang-format on
  KILN_COMPOUNDS(KILN_X)
#undef KILN_X

 private:
  // The scope keeps the first copy, and the `for` gets the second. Only a further copy is a value of the program's own.
  constexpr void check_own_(const record::source_loc& l) const {
    if (copies <= 2) this->b->fail(why::work_item_or_counter_is_assigned__write_a_value_of_its_own, l);
  }
};
// The element of once().
struct [[maybe_unused]] one_time_ {
  constexpr one_time_() = default;
  constexpr one_time_(const one_time_&) {}
  constexpr ~one_time_() {}  // NOLINT(modernize-use-equals-default)
};

template <class P, int N>
struct work_items__write_one_name_for_each_extent_of_kernel;
template <class P>
struct [[maybe_unused]] work_items__write_one_name_for_each_extent_of_kernel<P, 1> {
  using is_index_pack = void;
  P i;
};
template <class P>
struct [[maybe_unused]] work_items__write_one_name_for_each_extent_of_kernel<P, 2> {
  using is_index_pack = void;
  P i, j;
};
template <class P>
struct [[maybe_unused]] work_items__write_one_name_for_each_extent_of_kernel<P, 3> {
  using is_index_pack = void;
  P i, j, k;
};
template <class P>
struct [[maybe_unused]] work_items__write_one_name_for_each_extent_of_kernel<P, 4> {
  using is_index_pack = void;
  P i, j, k, l;
};

// A work item of a kernel with workgroups, which local_id(i) and group_id(i) take.
template <class D>
struct [[maybe_unused]] work_item_of_workgroup_ : scope_index_<D> {
  using scope_index_<D>::operator=;
  using dtype_in_workgroup = D;
  constexpr work_item_of_workgroup_() = default;
  constexpr work_item_of_workgroup_(builder* builder_, int id_) : scope_index_<D>(builder_, id_) {}
};
template <class X>
concept WorkItemOfWorkgroup = requires { typename X::dtype_in_workgroup; };
template <class X>
inline constexpr why workgroup_index_why = WorkItemOfWorkgroup<X> ? why::ok : why::work_item_is_not_of_a_kernel_with_workgroups;

namespace detail {

inline constexpr int largest_workgroup = 4096;  // indices on each axis

}  // namespace detail

template <int Rank, int... Size>
inline constexpr why workgroup_sizes_why =
    sizeof...(Size) == Rank && Rank <= 3 && ((Size >= 1 && Size <= detail::largest_workgroup) && ...)
        ? why::ok
        : why::workgroup_needs_a_size_from_1_to_4096_for_each_extent;

// kernel(N, M), and kernel(N, M).workgroup<16, 16>(): work items in workgroups, which share arrays and have barriers.
template <class D, int Rank>
class [[nodiscard]] kernel_scope_ : public body_<work_items__write_one_name_for_each_extent_of_kernel<scope_index_<D>, Rank>> {
 public:
  using kernel_scope_::body_::body_;
  template <int... Size>
    requires(workgroup_sizes_why<Rank, Size...> == why::ok)
  constexpr auto workgroup() && {
    builder* b = this->b_;
    builder::region& r = b->regions.v[b->scope - 1];
    r.grouped = true;
    int shift = 8;
    for (const int size : {Size...}) {
      b->nodes.v[r.node].imm |= static_cast<std::uint64_t>(size) << shift;
      shift += 16;
    }
    this->b_ = nullptr;
    return grouped(b, r.node, make_seq<Rank>{});
  }
  template <int... Size, why Reason = workgroup_sizes_why<Rank, Size...>>
    requires(detail::wrong(Reason))
  mistake<Reason> workgroup() && KILN_MISTAKE(KILN_REASONS_SCOPE);
  template <class X, class... More, why Reason = why::extents_are_template_arguments__write_local_of_extents>
      mistake<Reason> workgroup(const X&, const More&...) && KILN_MISTAKE(KILN_REASONS_SCOPE);

 private:
  template <int... A>
  static constexpr auto grouped(builder* b, int kernel, seq<A...>) {  // the indices follow the kernel
    return body_<work_items__write_one_name_for_each_extent_of_kernel<work_item_of_workgroup_<D>, Rank>>(
        b, op::kernel_end, {work_item_of_workgroup_<D>(b, kernel + 1 + A)...});
  }
};

}  // namespace kiln::dsl
