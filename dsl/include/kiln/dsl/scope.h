// Scopes: kernel, loop, forever, when and otherwise. The C++ body of a scope runs once and is recorded between two nodes.
// Scopes are members of program, and of `scope` for helper functions.
#pragma once

#include "kiln/dsl/scope_nodes.h"
#include "kiln/dsl/window.h"

namespace kiln::dsl {

template <class C>
inline constexpr why condition_why = [] {
  if constexpr (Operand<C>)
    return detail::is_bool<dtype_of<C>> && rank_of<C> == 0 ? why::ok
                                                           : why::condition_must_be_a_bool_scalar__write_x_greater_0_or_any;
  else
    return why::condition_must_be_a_bool_scalar__write_x_greater_0_or_any;
}();

#define KILN_CONDITION_TWIN(name)                   \
  template <class C, why Reason = condition_why<C>> \
    requires(detail::wrong(Reason))                 \
  mistake<Reason> name(const C&) const KILN_MISTAKE(KILN_REASONS_SCOPE);

template <class X>
inline constexpr why range_why = std::is_same_v<X, ext> ? why::computed_extent_is_a_template_argument__write_size_of_extent
                                 : detail::scalar_integer<X>() ? why::ok
                                                               : why::index_must_be_an_integer__write_cast_or_select;

#define KILN_EXTENTS_TWIN(name)                                                                               \
  template <DType D, auto... E, class X, class... More,                                                       \
            why Reason = why::extents_are_template_arguments__write_local_of_extents>                         \
    requires(detail::extent_value<X>)                                                                         \
  mistake<Reason> name(const X&, const More&...) const KILN_MISTAKE(KILN_REASONS_SCOPE);                      \
  template <class X, class... More, why Reason = why::extents_are_template_arguments__write_local_of_extents> \
    requires(detail::extent_value<X>)                                                                         \
  mistake<Reason> name(const X&, const More&...) const KILN_MISTAKE(KILN_REASONS_SCOPE);

// The keywords of a body. A scalar below is of rank 0.
template <class Self>
struct keywords {
  // Names of options are members, because only bodies use them: programs, modules and dims may have these names (names.h).
  using mode = dsl::mode;
  using conv = dsl::conv;
  using pool = dsl::pool;
  using hw = dsl::hw;

  // for (auto [i, j] : kernel(N, M)): every work item, in any order; one to four extents, each an integer, a dim or a scalar of
  // i32. A computed extent is in angle brackets: kernel<N / 2>(). Indices are i32; kernel<i64>(n) has indices of i64 and
  // takes scalars of i64 too. A kernel contains no other kernel.
  template <DType D = i32, class A>
    requires(detail::extents_why<D, A>() == why::ok)
  constexpr auto kernel(const A& n, sloc l = sloc::current()) const {
    builder* b = kiln_b();
    return detail::open_kernel<D>(b, l, detail::limit_of(b, n, l));
  }
  template <DType D = i32, class A, class B>
    requires(detail::extents_why<D, A, B>() == why::ok)
  constexpr auto kernel(const A& n, const B& m, sloc l = sloc::current()) const {
    builder* b = kiln_b();
    return detail::open_kernel<D>(b, l, detail::limit_of(b, n, l), detail::limit_of(b, m, l));
  }
  template <DType D = i32, class A, class B, class C>
    requires(detail::extents_why<D, A, B, C>() == why::ok)
  constexpr auto kernel(const A& n, const B& m, const C& k, sloc l = sloc::current()) const {
    builder* b = kiln_b();
    return detail::open_kernel<D>(b, l, detail::limit_of(b, n, l), detail::limit_of(b, m, l), detail::limit_of(b, k, l));
  }
  template <DType D = i32, class A, class B, class C, class E>
    requires(detail::extents_why<D, A, B, C, E>() == why::ok)
  constexpr auto kernel(const A& n, const B& m, const C& k, const E& h, sloc l = sloc::current()) const {
    builder* b = kiln_b();
    return detail::open_kernel<D>(b, l, detail::limit_of(b, n, l), detail::limit_of(b, m, l), detail::limit_of(b, k, l),
                                  detail::limit_of(b, h, l));
  }
  template <DType D, auto... E>
    requires(sizeof...(E) >= 1 && sizeof...(E) <= 4)
  constexpr auto kernel(sloc l = sloc::current()) const {
    builder* b = kiln_b();
    return detail::open_kernel<D>(b, l, detail::limit_of_extent<detail::to_ext(E)>(b, l)...);
  }
  template <auto... E>
    requires(sizeof...(E) >= 1 && sizeof...(E) <= 4)
  constexpr auto kernel(sloc l = sloc::current()) const {
    return kernel<i32, E...>(l);
  }
  template <DType D = i32, class... X, why Reason = detail::extents_why<D, X...>()>
    requires(detail::wrong(Reason))
  mistake<Reason> kernel(const X&...) const KILN_MISTAKE(KILN_REASONS_SCOPE);
  template <auto E, auto... More, class X, class... Rest,
            why Reason = why::extents_are_template_arguments__write_local_of_extents>
    requires(detail::extent_value<X>)
  mistake<Reason> kernel(const X&, const Rest&...) const KILN_MISTAKE(KILN_REASONS_SCOPE);

  // for (auto o : once()): a kernel of one work item, which may assign small variables that the body around it declares.
  constexpr auto once(sloc l = sloc::current()) const {
    builder* b = kiln_b();
    if (b->kernel() != 0) b->fail(why::kernel_inside_a_kernel__write_kernel_of_n_m_or_loop, b->at(l));
    detail::begin_node<i32, sh<>>(b, op::kernel, l, 1);
    b->attr(1);
    b->enter(op::kernel);
    b->regions.v[b->scope - 1].once = true;
    return body_<one_time_>(b, op::kernel_end, {});
  }

  // for (auto i : loop(end)), loop(begin, end), loop(begin, end, step): one iteration after another. Bounds are integers, dims
  // or scalars of i32 or i64; the counter is i64 if one of them is, else i32. A step below 0 counts down; a step of 0 that is
  // known only at the call makes no iteration. Computed extents are loop<begin, end, step>().
  template <class E>
    requires(detail::bounds_why<E>() == why::ok)
  constexpr auto loop(const E& end, sloc l = sloc::current()) const {
    builder* b = kiln_b();
    return detail::open_loop<detail::counter_dtype<E>>(b, l, {{0, nullptr}, -1}, detail::limit_of(b, end, l),
                                                       {{1, nullptr}, -1});
  }
  template <class B, class E>
    requires(detail::bounds_why<B, E>() == why::ok)
  constexpr auto loop(const B& begin, const E& end, sloc l = sloc::current()) const {
    builder* b = kiln_b();
    const detail::limit first = detail::limit_of(b, begin, l);
    return detail::open_loop<detail::counter_dtype<B, E>>(b, l, first, detail::limit_of(b, end, l), {{1, nullptr}, -1});
  }
  template <class B, class E, class S>
    requires(detail::bounds_why<B, E, S>() == why::ok)
  constexpr auto loop(const B& begin, const E& end, const S& step, sloc l = sloc::current()) const {
    builder* b = kiln_b();
    const detail::limit first = detail::limit_of(b, begin, l), last = detail::limit_of(b, end, l);
    return detail::open_loop<detail::counter_dtype<B, E, S>>(b, l, first, last, detail::limit_of(b, step, l));
  }
  template <auto Begin, auto End, auto Step = 1>
  constexpr auto loop(sloc l = sloc::current()) const {
    builder* b = kiln_b();
    const detail::limit first = detail::limit_of_extent<detail::to_ext(Begin)>(b, l),
                        last = detail::limit_of_extent<detail::to_ext(End)>(b, l);
    return detail::open_loop<i32>(b, l, first, last, detail::limit_of_extent<detail::to_ext(Step)>(b, l));
  }
  template <auto End>
  constexpr auto loop(sloc l = sloc::current()) const {
    return loop<0, End>(l);
  }
  template <class... X, why Reason = detail::loop_why<X...>()>
    requires(detail::wrong(Reason))
  mistake<Reason> loop(const X&...) const KILN_MISTAKE(KILN_REASONS_SCOPE);
  // for (auto i : forever()): iterations until a break, which the body must have.
  constexpr auto forever(sloc l = sloc::current()) const {
    return detail::open_loop<i32>(kiln_b(), l, {{0, nullptr}, -1}, {{0, nullptr}, -1}, {{1, nullptr}, -1}, 1);
  }

  // if (auto c = when(p)) { .. } if (auto d = otherwise(q)) { .. } if (auto e = otherwise()) { .. }. Conditions are bool
  // scalars.
  template <class C>
    requires(condition_why<C> == why::ok)
  constexpr branch_ when(const C& c, sloc l = sloc::current()) const {
    detail::record_condition(op::when, c, l);
    c.b->enter(op::when);
    return {c.b, false};
  }
  KILN_CONDITION_TWIN(when)
  template <class C>
    requires(condition_why<C> == why::ok)
  constexpr branch_ otherwise(const C& c, sloc l = sloc::current()) const {
    c.b->follows_when(l);
    detail::record_condition(op::otherwise, c, l);
    c.b->enter(op::otherwise);
    return {c.b, false};
  }
  KILN_CONDITION_TWIN(otherwise)
  constexpr branch_ otherwise(sloc l = sloc::current()) const {
    builder* b = kiln_b();
    b->follows_when(l);
    detail::begin_node<bool, sh<>>(b, op::otherwise, l);
    b->enter(op::otherwise);
    return {b, true};
  }

  // break and continue of the innermost loop; conditions are bool scalars.
  template <class C>
    requires(condition_why<C> == why::ok)
  constexpr void break_if(const C& c, sloc l = sloc::current()) const {
    detail::record_condition(op::break_, c, l);
    c.b->in_loop();
  }
  KILN_CONDITION_TWIN(break_if)
  template <class C>
    requires(condition_why<C> == why::ok)
  constexpr void continue_if(const C& c, sloc l = sloc::current()) const {
    detail::record_condition(op::continue_, c, l);
    c.b->in_loop();
  }
  KILN_CONDITION_TWIN(continue_if)
  constexpr void break_(sloc l = sloc::current()) const {
    detail::begin_node<bool, sh<>>(kiln_b(), op::break_, l);
    kiln_b()->in_loop();
  }
  constexpr void continue_(sloc l = sloc::current()) const {
    detail::begin_node<bool, sh<>>(kiln_b(), op::continue_, l);
    kiln_b()->in_loop();
  }

  // range<4>(k): an index that names the positions k .. k + 3 of an axis. t(range<4>(k), range<4>(j)) is a 4 x 4 block.
  template <auto Length, class X>
    requires(range_why<X> == why::ok)
  constexpr auto range(const X& begin, sloc l = sloc::current()) const {
    return range_<make_sh<Length>>{subscript_(begin, l)};
  }
  template <auto Length, class X, why Reason = range_why<X>>
    requires(detail::wrong(Reason))
  mistake<Reason> range(const X&) const KILN_MISTAKE(KILN_REASONS_ELEMENT);
  template <class... X, why Reason = why::the_length_of_a_range_is_a_template_argument__write_range_of_length_or_loop>
  mistake<Reason> range(const X&...) const KILN_MISTAKE(KILN_REASONS_ELEMENT);

  // check(p, "text"): the call of the program fails with this text if the bool scalar p is false.
  template <class C>
    requires(condition_why<C> == why::ok)
  constexpr void check(const C& c, const char* text, sloc l = sloc::current()) const {
    const int id = c.read_(l);
    c.b->check(id, text, c.b->at(l));
  }
  template <class C, class T, why Reason = condition_why<C>>
    requires(detail::wrong(Reason))
  mistake<Reason> check(const C&, const T&) const KILN_MISTAKE(KILN_REASONS_SCOPE);
  template <class C, why Reason = why::a_check_needs_a_text__write_check_of_condition_and_text>
  mistake<Reason> check(const C&) const KILN_MISTAKE(KILN_REASONS_SCOPE);

  // var(0), var(x): a variable with the dtype and shape of its initial value. var<f32>(0), var<f32, 3>(0) name the dtype and
  // the extents, to which the value broadcasts; var<f32, 3>() is zeros. A variable of a kernel has at most 16 elements.
  template <Operand X>
  constexpr auto var(const X& x, sloc l = sloc::current()) const {
    return variable_<dtype_of<X>, shape_of<X>>(x.b, x.read_(l), x.b->at(l));
  }
  template <int = 0, detail::arithmetic L>  // so that var<bool>(x) names a dtype, not L
  constexpr auto var(const L& x, sloc l = sloc::current()) const {
    return var<typename detail::natural<L>::type>(x, l);
  }
  template <DType D, auto... E, Arg X>
    requires(assign_why<D, make_sh<E...>, X> == why::ok)
  constexpr auto var(const X& x, sloc l = sloc::current()) const {
    builder* b = kiln_b();
    const int id = detail::expanded<D, make_sh<E...>>(b, x, l);
    return variable_<D, make_sh<E...>>(b, id, b->at(l));
  }
  template <DType D, auto... E, Arg X, why Reason = assign_why<D, make_sh<E...>, X>>
    requires(detail::wrong(Reason))
  mistake<Reason> var(const X&) const KILN_MISTAKE(KILN_REASONS_SCOPE);

  template <DType D, auto... E>
  constexpr auto var(sloc l = sloc::current()) const {
    return var<D, E...>(detail::zero_of<D>(), l);
  }
  template <class X, why Reason = detail::meant<X>>
    requires(detail::kernel_array<X>)
  mistake<Reason> var(const X&) const KILN_MISTAKE(KILN_REASONS_SCOPE);
  template <class D, auto... E, class X, why Reason = why::cpp_types_are_no_dtypes__write_f32_f64_i32_i64_u8>
    requires(!DType<D> && detail::arithmetic<D>)
  mistake<Reason> var(const X&) const KILN_MISTAKE(KILN_REASONS_SCOPE);
  template <why Reason = why::a_variable_needs_a_value__write_var_of_value>
  mistake<Reason> var() const KILN_MISTAKE(KILN_REASONS_SCOPE);

  // auto a = local<f32, 4>(): an array of zeros for each iteration of the scope; extents are static.
  template <DType D, auto... E>
    requires detail::static_extents<E...>
  constexpr auto local(sloc l = sloc::current()) const {
    builder* b = kiln_b();
    detail::begin_node<D, make_sh<E...>>(b, op::local, l, static_cast<std::uint64_t>(b->locals));
    b->closed_when = -1;
    return local_<D, make_sh<E...>>(b, static_cast<int>(record::local_tensors) + b->locals++);
  }
  template <DType D, auto... E, why Reason = why::local_array_needs_static_extents>
    requires(!detail::static_extents<E...>)
  mistake<Reason> local() const KILN_MISTAKE(KILN_REASONS_SCOPE);
  template <class D, auto... E, why Reason = why::cpp_types_are_no_dtypes__write_f32_f64_i32_i64_u8>
    requires(!DType<D>)
  mistake<Reason> local() const KILN_MISTAKE(KILN_REASONS_SCOPE);
  KILN_EXTENTS_TWIN(local)

  // In a kernel with workgroups, for (auto [i] : kernel(N).workgroup<256>()): auto s = shared<f32, 256>() is an array of zeros
  // that the work items of one workgroup share; extents are static.
  template <DType D, auto... E>
    requires detail::static_extents<E...>
  constexpr auto shared(sloc l = sloc::current()) const {
    builder* b = kiln_b();
    if (!b->grouped()) b->fail(why::shared_array_outside_of_a_kernel_with_workgroups, b->at(l));
    detail::begin_node<D, make_sh<E...>>(b, op::local, l, static_cast<std::uint64_t>(b->locals) | record::shared_array);
    b->closed_when = -1;
    return local_<D, make_sh<E...>>(b, static_cast<int>(record::local_tensors) + b->locals++);
  }
  template <DType D, auto... E, why Reason = why::local_array_needs_static_extents>
    requires(!detail::static_extents<E...>)
  mistake<Reason> shared() const KILN_MISTAKE(KILN_REASONS_SCOPE);
  KILN_EXTENTS_TWIN(shared)
  // After the barrier every work item of the workgroup reads the values that any of them wrote before it.
  constexpr void barrier(sloc l = sloc::current()) const {
    builder* b = kiln_b();
    if (!b->grouped()) b->fail(why::barrier_outside_of_a_kernel_with_workgroups, b->at(l));
    detail::begin_node<bool, sh<>>(b, op::barrier, l);
    b->closed_when = -1;
  }
  // local_id(i): the number of work item i in its workgroup, from 0, along its axis. group_id(i): the number of the workgroup,
  // from 0.
  template <class X>
    requires(workgroup_index_why<X> == why::ok)
  constexpr auto local_id(const X& i, sloc l = sloc::current()) const {
    return detail::workgroup_index(i, record::within_workgroup, l);
  }
  template <class X, why Reason = workgroup_index_why<X>>
    requires(detail::wrong(Reason))
  mistake<Reason> local_id(const X&) const KILN_MISTAKE(KILN_REASONS_SCOPE);
  template <class X>
    requires(workgroup_index_why<X> == why::ok)
  constexpr auto group_id(const X& i, sloc l = sloc::current()) const {
    return detail::workgroup_index(i, record::of_workgroup, l);
  }
  template <class X, why Reason = workgroup_index_why<X>>
    requires(detail::wrong(Reason))
  mistake<Reason> group_id(const X&) const KILN_MISTAKE(KILN_REASONS_SCOPE);

 private:
  constexpr builder* kiln_b() const {
    if constexpr (requires(const Self& s) { s.kiln_arena(); })
      return static_cast<const Self&>(*this).kiln_arena();
    else
      return nullptr;  // the base is private: the verdict on the program says so
  }
};
#undef KILN_CONDITION_TWIN
#undef KILN_EXTENTS_TWIN

// The keywords for a helper function: auto s = scope(x); for (auto i : s.loop(3)) .. The call scope(x) finds a friend of ops.
struct scope_ : keywords<scope_> {
  builder* b;
  template <class X>
    requires(Operand<X>)
  constexpr explicit scope_(const X& x) : b(x.b) {}
  constexpr builder* kiln_arena() const { return b; }
};

namespace detail {

template <class X>
constexpr scope_ scope_of(const X& x) {
  return scope_(x);
}

}  // namespace detail

}  // namespace kiln::dsl
