// Scopes: kernel, loop, forever, when and otherwise. Each runs its C++ body once and records it between two nodes. They are
// members of program, and of `scope` for helper functions.
#pragma once

#include "kiln/dsl/branches.h"
#include "kiln/dsl/elements.h"
#include "kiln/dsl/positions.h"
#include "kiln/dsl/variable.h"
#include "kiln/dsl/window.h"

namespace kiln::dsl {

template <class X>
constexpr why kiln_bound_why() {
  if constexpr (std::is_same_v<X, ext>)
    return why::computed_extent_is_a_template_argument__write_kernel_or_loop_in_angle_brackets;
  else if constexpr (Operand<X>)
    return (std::is_same_v<dtype_of<X>, i32> || std::is_same_v<dtype_of<X>, i64>) && rank_of<X> == 0
               ? why::ok
               : why::bound_must_be_a_scalar_integer__write_for_auto_i_kernel_of_an_extent;
  else
    return kiln_scalar_integer<X>() ? why::ok : why::bound_must_be_a_scalar_integer__write_for_auto_i_kernel_of_an_extent;
}
template <class... X>
constexpr why kiln_bounds_why() {
  why r = why::ok;
  ((r = r == why::ok ? kiln_bound_why<X>() : r), ...);
  return r;
}
template <class... X>
constexpr why kiln_loop_why() {
  return sizeof...(X) >= 1 && sizeof...(X) <= 3 ? kiln_bounds_why<X...>() : why::loop_takes_one_to_three_bounds;
}
// Counters are i32 unless a bound is i64.
template <class... X>
using kiln_counter_dtype = std::conditional_t<(std::is_same_v<dtype_of<X>, i64> || ...), i64, i32>;
template <class D, class... X>
constexpr why kiln_extents_why() {
  if (sizeof...(X) < 1 || sizeof...(X) > 4) return why::kernel_takes_one_to_four_extents;
  if (kiln_wrong(kiln_bounds_why<X...>())) return kiln_bounds_why<X...>();
  if (!std::is_same_v<D, i32> && !std::is_same_v<D, i64>)
    return why::bound_must_be_a_scalar_integer__write_for_auto_i_kernel_of_an_extent;
  return std::is_same_v<D, i32> && std::is_same_v<kiln_counter_dtype<X...>, i64> ? why::bound_of_i64_needs_a_kernel_of_i64
                                                                                 : why::ok;
}

// A bound of a scope: an extent, or a node.
struct kiln_limit {
  record::extent extent{-1, nullptr};
  int id = -1;
};
template <class X>
constexpr kiln_limit kiln_limit_of(builder* b, const X& x, const sloc& l) {
  if constexpr (Operand<X>)
    return {{-1, nullptr}, x.kiln_read(l)};
  else if constexpr (Extent<X>)
    return {kiln_record(x), -1};
  else if (x == static_cast<X>(-1))
    return {{-1, nullptr}, kiln_constant_id<i64>(b, kiln_encode<i64>(x), l)};
  else
    return {{static_cast<std::int64_t>(x), nullptr}, -1};
}
template <ext E>
constexpr kiln_limit kiln_limit_of_extent(builder* b, const sloc& l) {
  if constexpr (kiln_static(E))
    return kiln_limit_of(b, kiln_value(E), l);
  else
    return {kiln_attr<E>, -1};
}

// The body of `if (auto c = when(p))`. The condition must be asked of a name: a temporary would close the scope before the
// body.
class [[nodiscard]] kiln_branch {
 public:
  constexpr kiln_branch(builder* b, bool last) : b_(b), scope_(b->scope), last_(last) {}
  kiln_branch(const kiln_branch&) = delete;
  kiln_branch& operator=(const kiln_branch&) = delete;
  constexpr ~kiln_branch() {
    b_->leave(scope_, op::when_end, b_->regions.v[scope_ - 1].entered ? why::ok : why::scope_is_not_entered__write_for_or_if);
    b_->closed_when = last_ ? -1 : b_->last();
  }
  constexpr explicit operator bool() & {
    b_->regions.v[scope_ - 1].entered = true;
    return b_->refused == 0 || kiln_depth(*b_, scope_) != b_->refused;
  }
  template <class B, why Reason = why::scope_has_no_name__write_if_auto_c_when>
    requires(std::is_same_v<B, bool>)
  explicit operator B() && KILN_DELETED("kiln: name the scope: if (auto c = when(p))");

 private:
  builder* b_;
  int scope_;
  bool last_;
};

template <class C>
inline constexpr why condition_why = [] {
  if constexpr (Operand<C>)
    return kiln_is_bool<dtype_of<C>> && rank_of<C> == 0 ? why::ok
                                                        : why::condition_must_be_a_bool_scalar__write_x_greater_0_or_any;
  else
    return why::condition_must_be_a_bool_scalar__write_x_greater_0_or_any;
}();

#define KILN_CONDITION_TWIN(name)                   \
  template <class C, why Reason = condition_why<C>> \
    requires(kiln_wrong(Reason))                    \
  mistake<Reason> name(const C&) const KILN_MISTAKE(KILN_REASONS_SCOPE);

template <class X>
inline constexpr why range_why = std::is_same_v<X, ext>     ? why::computed_extent_is_a_template_argument__write_size_of_extent
                                 : kiln_scalar_integer<X>() ? why::ok
                                                            : why::index_must_be_an_integer__write_cast_or_select;

// local<f32>(4), local(4)
template <class X>
concept kiln_extent_value = Operand<X> || kiln_arithmetic<X> || Extent<X>;
#define KILN_EXTENTS_TWIN(name)                                                                               \
  template <DType D, auto... E, class X, class... More,                                                       \
            why Reason = why::extents_are_template_arguments__write_local_of_extents>                         \
    requires(kiln_extent_value<X>)                                                                            \
  mistake<Reason> name(const X&, const More&...) const KILN_MISTAKE(KILN_REASONS_SCOPE);                      \
  template <class X, class... More, why Reason = why::extents_are_template_arguments__write_local_of_extents> \
    requires(kiln_extent_value<X>)                                                                            \
  mistake<Reason> name(const X&, const More&...) const KILN_MISTAKE(KILN_REASONS_SCOPE);

// The keywords of a body.
template <class Self>
struct keywords {
  // Options: names that only bodies say are members, so that programs, modules and dims may have them (names.h).
  using mode = dsl::mode;
  using conv = dsl::conv;
  using pool = dsl::pool;
  using hw = dsl::hw;

  // for (auto [i, j] : kernel(N, M)): for every position, in any order. kernel<N / 2>() where an extent is computed.
  template <DType D = i32, class A>
    requires(kiln_extents_why<D, A>() == why::ok)
  constexpr auto kernel(const A& n, sloc l = sloc::current()) const {
    builder* b = kiln_b();
    return kiln_kernel<D>(b, l, kiln_limit_of(b, n, l));
  }
  template <DType D = i32, class A, class B>
    requires(kiln_extents_why<D, A, B>() == why::ok)
  constexpr auto kernel(const A& n, const B& m, sloc l = sloc::current()) const {
    builder* b = kiln_b();
    return kiln_kernel<D>(b, l, kiln_limit_of(b, n, l), kiln_limit_of(b, m, l));
  }
  template <DType D = i32, class A, class B, class C>
    requires(kiln_extents_why<D, A, B, C>() == why::ok)
  constexpr auto kernel(const A& n, const B& m, const C& k, sloc l = sloc::current()) const {
    builder* b = kiln_b();
    return kiln_kernel<D>(b, l, kiln_limit_of(b, n, l), kiln_limit_of(b, m, l), kiln_limit_of(b, k, l));
  }
  template <DType D = i32, class A, class B, class C, class E>
    requires(kiln_extents_why<D, A, B, C, E>() == why::ok)
  constexpr auto kernel(const A& n, const B& m, const C& k, const E& h, sloc l = sloc::current()) const {
    builder* b = kiln_b();
    return kiln_kernel<D>(b, l, kiln_limit_of(b, n, l), kiln_limit_of(b, m, l), kiln_limit_of(b, k, l), kiln_limit_of(b, h, l));
  }
  template <DType D, auto... E>
    requires(sizeof...(E) >= 1 && sizeof...(E) <= 4)
  constexpr auto kernel(sloc l = sloc::current()) const {
    builder* b = kiln_b();
    return kiln_kernel<D>(b, l, kiln_limit_of_extent<kiln_ext(E)>(b, l)...);
  }
  template <auto... E>
    requires(sizeof...(E) >= 1 && sizeof...(E) <= 4)
  constexpr auto kernel(sloc l = sloc::current()) const {
    return kernel<i32, E...>(l);
  }
  template <DType D = i32, class... X, why Reason = kiln_extents_why<D, X...>()>
    requires(kiln_wrong(Reason))
  mistake<Reason> kernel(const X&...) const KILN_MISTAKE(KILN_REASONS_SCOPE);
  template <auto E, auto... More, class X, class... Rest,
            why Reason = why::extents_are_template_arguments__write_local_of_extents>
    requires(kiln_extent_value<X>)
  mistake<Reason> kernel(const X&, const Rest&...) const KILN_MISTAKE(KILN_REASONS_SCOPE);

  // for (auto o : once()): a kernel of one position, which may assign small variables of outside.
  constexpr auto once(sloc l = sloc::current()) const {
    builder* b = kiln_b();
    if (b->kernel() != 0) b->fail(why::kernel_inside_a_kernel__write_kernel_of_n_m_or_loop, b->at(l));
    kiln_begin<i32, sh<>>(b, op::kernel, l, 1);
    b->attr(1);
    b->enter(op::kernel);
    b->regions.v[b->scope - 1].once = true;
    return kiln_body<kiln_one_time>(b, op::kernel_end, {});
  }

  // for (auto i : loop(end)), loop(begin, end), loop(begin, end, step). A step below 0 counts down; a step of 0 makes no turn.
  template <class E>
    requires(kiln_bounds_why<E>() == why::ok)
  constexpr auto loop(const E& end, sloc l = sloc::current()) const {
    builder* b = kiln_b();
    return kiln_loop<kiln_counter_dtype<E>>(b, l, {{0, nullptr}, -1}, kiln_limit_of(b, end, l), {{1, nullptr}, -1});
  }
  template <class B, class E>
    requires(kiln_bounds_why<B, E>() == why::ok)
  constexpr auto loop(const B& begin, const E& end, sloc l = sloc::current()) const {
    builder* b = kiln_b();
    const kiln_limit first = kiln_limit_of(b, begin, l);
    return kiln_loop<kiln_counter_dtype<B, E>>(b, l, first, kiln_limit_of(b, end, l), {{1, nullptr}, -1});
  }
  template <class B, class E, class S>
    requires(kiln_bounds_why<B, E, S>() == why::ok)
  constexpr auto loop(const B& begin, const E& end, const S& step, sloc l = sloc::current()) const {
    builder* b = kiln_b();
    const kiln_limit first = kiln_limit_of(b, begin, l), last = kiln_limit_of(b, end, l);
    return kiln_loop<kiln_counter_dtype<B, E, S>>(b, l, first, last, kiln_limit_of(b, step, l));
  }
  template <auto Begin, auto End, auto Step = 1>
  constexpr auto loop(sloc l = sloc::current()) const {
    builder* b = kiln_b();
    const kiln_limit first = kiln_limit_of_extent<kiln_ext(Begin)>(b, l), last = kiln_limit_of_extent<kiln_ext(End)>(b, l);
    return kiln_loop<i32>(b, l, first, last, kiln_limit_of_extent<kiln_ext(Step)>(b, l));
  }
  template <auto End>
  constexpr auto loop(sloc l = sloc::current()) const {
    return loop<0, End>(l);
  }
  template <class... X, why Reason = kiln_loop_why<X...>()>
    requires(kiln_wrong(Reason))
  mistake<Reason> loop(const X&...) const KILN_MISTAKE(KILN_REASONS_SCOPE);
  // Until break_if: for (auto i : forever()).
  constexpr auto forever(sloc l = sloc::current()) const {
    return kiln_loop<i32>(kiln_b(), l, {{0, nullptr}, -1}, {{0, nullptr}, -1}, {{1, nullptr}, -1}, 1);
  }

  // if (auto c = when(p)) { .. } if (auto d = otherwise(q)) { .. } if (auto e = otherwise()) { .. }
  template <class C>
    requires(condition_why<C> == why::ok)
  constexpr kiln_branch when(const C& c, sloc l = sloc::current()) const {
    kiln_record(op::when, c, l);
    c.b->enter(op::when);
    return {c.b, false};
  }
  KILN_CONDITION_TWIN(when)
  template <class C>
    requires(condition_why<C> == why::ok)
  constexpr kiln_branch otherwise(const C& c, sloc l = sloc::current()) const {
    c.b->follows_when(l);
    kiln_record(op::otherwise, c, l);
    c.b->enter(op::otherwise);
    return {c.b, false};
  }
  KILN_CONDITION_TWIN(otherwise)
  constexpr kiln_branch otherwise(sloc l = sloc::current()) const {
    builder* b = kiln_b();
    b->follows_when(l);
    kiln_begin<bool, sh<>>(b, op::otherwise, l);
    b->enter(op::otherwise);
    return {b, true};
  }

  // Of the innermost loop.
  template <class C>
    requires(condition_why<C> == why::ok)
  constexpr void break_if(const C& c, sloc l = sloc::current()) const {
    kiln_record(op::break_, c, l);
    c.b->in_loop();
  }
  KILN_CONDITION_TWIN(break_if)
  template <class C>
    requires(condition_why<C> == why::ok)
  constexpr void continue_if(const C& c, sloc l = sloc::current()) const {
    kiln_record(op::continue_, c, l);
    c.b->in_loop();
  }
  KILN_CONDITION_TWIN(continue_if)
  constexpr void break_(sloc l = sloc::current()) const {
    kiln_begin<bool, sh<>>(kiln_b(), op::break_, l);
    kiln_b()->in_loop();
  }
  constexpr void continue_(sloc l = sloc::current()) const {
    kiln_begin<bool, sh<>>(kiln_b(), op::continue_, l);
    kiln_b()->in_loop();
  }

  // range<4>(k): an index, the positions k .. k + 3. t(range<4>(k), range<4>(j)) is a block.
  template <auto Length, class X>
    requires(range_why<X> == why::ok)
  constexpr auto range(const X& begin, sloc l = sloc::current()) const {
    return kiln_range<make_sh<Length>>{kiln_subscript(begin, l)};
  }
  template <auto Length, class X, why Reason = range_why<X>>
    requires(kiln_wrong(Reason))
  mistake<Reason> range(const X&) const KILN_MISTAKE(KILN_REASONS_ELEMENT);
  template <class... X, why Reason = why::the_length_of_a_range_is_a_template_argument__write_range_of_length_or_loop>
  mistake<Reason> range(const X&...) const KILN_MISTAKE(KILN_REASONS_ELEMENT);

  // check(p, "text"): where the bool scalar p does not hold, the call fails with this text.
  template <class C>
    requires(condition_why<C> == why::ok)
  constexpr void check(const C& c, const char* text, sloc l = sloc::current()) const {
    const int id = c.kiln_read(l);
    c.b->check(id, text, c.b->at(l));
  }
  template <class C, class T, why Reason = condition_why<C>>
    requires(kiln_wrong(Reason))
  mistake<Reason> check(const C&, const T&) const KILN_MISTAKE(KILN_REASONS_SCOPE);
  template <class C, why Reason = why::a_check_needs_a_text__write_check_of_condition_and_text>
  mistake<Reason> check(const C&) const KILN_MISTAKE(KILN_REASONS_SCOPE);

  // var(0), var(x): mutable. var<f32>(0), var<f32, 3>(0) name the dtype, and extents; var<f32, 3>() is zeros.
  template <Operand X>
  constexpr auto var(const X& x, sloc l = sloc::current()) const {
    return variable_<dtype_of<X>, shape_of<X>>(x.b, x.kiln_read(l), x.b->at(l));
  }
  template <int = 0, kiln_arithmetic L>  // so that var<bool>(x) names a dtype, not L
  constexpr auto var(const L& x, sloc l = sloc::current()) const {
    return var<typename kiln_natural<L>::type>(x, l);
  }
  template <DType D, auto... E, Arg X>
    requires(assign_why<D, make_sh<E...>, X> == why::ok)
  constexpr auto var(const X& x, sloc l = sloc::current()) const {
    builder* b = kiln_b();
    const int id = kiln_expanded<D, make_sh<E...>>(b, x, l);
    return variable_<D, make_sh<E...>>(b, id, b->at(l));
  }
  template <DType D, auto... E, Arg X, why Reason = assign_why<D, make_sh<E...>, X>>
    requires(kiln_wrong(Reason))
  mistake<Reason> var(const X&) const KILN_MISTAKE(KILN_REASONS_SCOPE);

  template <DType D, auto... E>
  constexpr auto var(sloc l = sloc::current()) const {
    return var<D, E...>(kiln_zero<D>(), l);
  }
  template <class X, why Reason = kiln_meant<X>>
    requires(kiln_array<X>)
  mistake<Reason> var(const X&) const KILN_MISTAKE(KILN_REASONS_SCOPE);
  template <class D, auto... E, class X, why Reason = why::cpp_types_are_no_dtypes__write_f32_f64_i32_i64_u8>
    requires(!DType<D> && kiln_arithmetic<D>)
  mistake<Reason> var(const X&) const KILN_MISTAKE(KILN_REASONS_SCOPE);
  template <why Reason = why::a_variable_needs_a_value__write_var_of_value>
  mistake<Reason> var() const KILN_MISTAKE(KILN_REASONS_SCOPE);

  // auto a = local<f32, 4>(): an array of zeros for each turn of the scope.
  template <DType D, auto... E>
    requires(kiln_static(kiln_ext(E)) && ...)
  constexpr auto local(sloc l = sloc::current()) const {
    builder* b = kiln_b();
    kiln_begin<D, make_sh<E...>>(b, op::local, l, static_cast<std::uint64_t>(b->locals));
    b->closed_when = -1;
    return local_<D, make_sh<E...>>(b, static_cast<int>(record::local_tensors) + b->locals++);
  }
  template <DType D, auto... E, why Reason = why::local_array_needs_static_extents>
    requires(!(kiln_static(kiln_ext(E)) && ...))
  mistake<Reason> local() const KILN_MISTAKE(KILN_REASONS_SCOPE);
  template <class D, auto... E, why Reason = why::cpp_types_are_no_dtypes__write_f32_f64_i32_i64_u8>
    requires(!DType<D>)
  mistake<Reason> local() const KILN_MISTAKE(KILN_REASONS_SCOPE);
  KILN_EXTENTS_TWIN(local)

  // Of for (auto [i] : kernel(N).group<256>()). auto s = group<f32, 256>(): zeros that the positions of a group share.
  template <DType D, auto... E>
    requires(kiln_static(kiln_ext(E)) && ...)
  constexpr auto group(sloc l = sloc::current()) const {
    builder* b = kiln_b();
    if (!b->grouped()) b->fail(why::group_array_outside_of_a_kernel_in_groups, b->at(l));
    kiln_begin<D, make_sh<E...>>(b, op::local, l, static_cast<std::uint64_t>(b->locals) | record::group_array);
    b->closed_when = -1;
    return local_<D, make_sh<E...>>(b, static_cast<int>(record::local_tensors) + b->locals++);
  }
  template <DType D, auto... E, why Reason = why::local_array_needs_static_extents>
    requires(!(kiln_static(kiln_ext(E)) && ...))
  mistake<Reason> group() const KILN_MISTAKE(KILN_REASONS_SCOPE);
  KILN_EXTENTS_TWIN(group)
  // What positions of the group wrote before it, all see after it.
  constexpr void barrier(sloc l = sloc::current()) const {
    builder* b = kiln_b();
    if (!b->grouped()) b->fail(why::barrier_outside_of_a_kernel_in_groups, b->at(l));
    kiln_begin<bool, sh<>>(b, op::barrier, l);
    b->closed_when = -1;
  }
  // On the axis of position i: where it is in its group, and the number of the group.
  template <class X>
    requires(group_position_why<X> == why::ok)
  constexpr auto in_group(const X& i, sloc l = sloc::current()) const {
    return kiln_position(i, record::within_group, l);
  }
  template <class X, why Reason = group_position_why<X>>
    requires(kiln_wrong(Reason))
  mistake<Reason> in_group(const X&) const KILN_MISTAKE(KILN_REASONS_SCOPE);
  template <class X>
    requires(group_position_why<X> == why::ok)
  constexpr auto group_of(const X& i, sloc l = sloc::current()) const {
    return kiln_position(i, record::of_group, l);
  }
  template <class X, why Reason = group_position_why<X>>
    requires(kiln_wrong(Reason))
  mistake<Reason> group_of(const X&) const KILN_MISTAKE(KILN_REASONS_SCOPE);

 private:
  constexpr builder* kiln_b() const {
    if constexpr (requires(const Self& s) { s.kiln_arena(); })
      return static_cast<const Self&>(*this).kiln_arena();
    else
      return nullptr;  // a private base: the verdict on the program speaks of it
  }

  template <class C>
  static constexpr void kiln_record(op o, const C& c, const sloc& l) {
    const int id = c.kiln_read(l);
    kiln_begin<bool, sh<>>(c.b, o, l);
    c.b->src(id);
  }
  template <class D>
  static constexpr void kiln_put(builder* b, const sloc& l, const kiln_limit& x) {
    if (x.extent.text == nullptr && !kiln_encode<D>(x.extent.value).fits)
      b->fail(why::literal_is_out_of_range_of_the_dtype, b->at(l));
    b->attr(x.extent);
    if (x.id >= 0) b->src(x.id);
  }
  template <class X>
  static constexpr auto kiln_position(const X& i, std::uint64_t what, const sloc& l) {
    using D = typename X::kiln_dtype_in_group;
    builder* b = i.b;
    if (b->nodes.v[i.id].o != op::index) b->fail(why::position_is_not_of_a_kernel_in_groups, b->at(l));
    const int kernel = b->sources.v[b->nodes.v[i.id].source_begin];
    kiln_begin<D, sh<>>(b, op::index, l, b->nodes.v[i.id].imm | what);
    b->src(kernel);
    return position_<D>(b, b->last());
  }
  template <class D, class... X>
  static constexpr auto kiln_kernel(builder* b, const sloc& l, const X&... x) {
    if (b->kernel() != 0) b->fail(why::kernel_inside_a_kernel__write_kernel_of_n_m_or_loop, b->at(l));
    kiln_begin<D, sh<>>(b, op::kernel, l, sizeof...(X));
    (kiln_put<D>(b, l, x), ...);
    b->enter(op::kernel);
    return kiln_kernel_body<D>(b, b->last(), l, make_seq<sizeof...(X)>{});
  }
  template <class D, int... A>
  static constexpr auto kiln_kernel_body(builder* b, int kernel, const sloc& l, seq<A...>) {
    const auto position = [&](int axis) {
      kiln_begin<D, sh<>>(b, op::index, l, static_cast<std::uint64_t>(axis));
      b->src(kernel);
      return position_<D>(b, b->last());
    };
    return kiln_kernel_scope<D, sizeof...(A)>(b, op::kernel_end, {position(A)...});
  }
  template <class D>
  static constexpr auto kiln_loop(builder* b, const sloc& l, const kiln_limit& begin, const kiln_limit& end,
                                  const kiln_limit& step, std::uint64_t endless = 0) {
    if (step.id < 0 && step.extent.text == nullptr && step.extent.value == 0) b->fail(why::step_of_a_loop_is_0, b->at(l));
    kiln_begin<D, sh<>>(b, op::loop, l, endless);
    for (const kiln_limit* x : {&begin, &end, &step}) kiln_put<D>(b, l, *x);
    b->enter(op::loop);
    const int loop = b->last();
    kiln_begin<D, sh<>>(b, op::counter, l);
    b->src(loop);
    return kiln_body<position_<D>>(b, op::loop_end, position_<D>(b, b->last()));
  }
};
#undef KILN_CONDITION_TWIN
#undef KILN_EXTENTS_TWIN

// The keywords for a helper function: auto s = scope(x); for (auto i : s.loop(3)) .. The call finds the friend of ops.
struct scope_ : keywords<scope_> {
  builder* b;
  template <class X>
    requires(Operand<X>)
  constexpr explicit scope_(const X& x) : b(x.b) {}
  constexpr builder* kiln_arena() const { return b; }
};
template <class X>
constexpr scope_ kiln_scope_of(const X& x) {
  return scope_(x);
}

}  // namespace kiln::dsl
