// The members of a program or module and their names, without macros. Aggregate initialisation gives their number, structured
// bindings give the members, and the text of a template argument that points at a member gives its name.
#pragma once

#include "kiln/dsl/expr.h"

namespace kiln::dsl::detail {

// A list of modules as one member, whose modules are named by their index. hana.h makes one of hana::tuple: it specialises this
// with is_list = true, size, element<I>, and unpack(list, f), which calls f(module...).
template <class T>
struct module_list {
  static constexpr bool is_list = false;
};
template <class T>
concept list_of_modules = module_list<std::remove_const_t<T>>::is_list;

template <class Owner>
struct any_member {
  template <class T>
    requires(!std::is_same_v<T, Owner>)
  constexpr operator T() const {  // NOLINT(google-explicit-constructor)
    return T{};
  }
};

template <class M, int... I>
concept made_of = requires { M{(static_cast<void>(I), any_member<M>{})...}; };
// The first initialiser of a program is for its empty base.
template <class P, int... I>
concept based_made_of = requires { P{{}, (static_cast<void>(I), any_member<P>{})...}; };

template <class M>
concept has_base = requires { typename M::kiln_program; };

template <class M, int... I>
constexpr bool made(seq<I...>) {
  if constexpr (has_base<M>)
    return based_made_of<M, I...>;
  else
    return made_of<M, I...>;
}
inline constexpr int max_members = 32;
template <class M, int N = max_members>
constexpr int members() {
  if constexpr (list_of_modules<M>)
    return module_list<M>::size;
  else if constexpr (N == 0 || detail::made<M>(make_seq<N>{}))
    return N;
  else
    return detail::members<M, N - 1>();
}
template <class M>
inline constexpr int member_count = detail::members<M>();

// Whether no member is an array: initialisers in braces enter arrays, initialisers in parentheses do not.
template <class M, int... I>
concept made_in_parentheses = requires { M((static_cast<void>(I), any_member<M>{})...); };
template <class M>
inline constexpr bool members_are_single = list_of_modules<M> || []<int... I>(seq<I...>) {
  return made_in_parentheses<M, I...>;
}(make_seq<member_count<M> + (has_base<M> ? 1 : 0)>{});

// f(member...) for the members of x.
template <class M, class F>
constexpr auto with_members(M& x, F f)
  requires(list_of_modules<M>)
{
  return module_list<std::remove_const_t<M>>::unpack(x, f);
}
template <class M, class F>
constexpr auto with_members(M& x, F f) {
  constexpr int n = member_count<std::remove_const_t<M>>;
  static_assert(!detail::made<std::remove_const_t<M>>(make_seq<max_members + 1>{}),
                "kiln: a program or module has at most 32 members: put parameters into modules (structs)");
  // clang-format off
#define KILN_BIND(N, ...) else if constexpr (n == N) { auto& [__VA_ARGS__] = x; return f(__VA_ARGS__); }
  if constexpr (n == 0) return f();
  KILN_BIND(1, m0)
  KILN_BIND(2, m0, m1)
  KILN_BIND(3, m0, m1, m2)
  KILN_BIND(4, m0, m1, m2, m3)
  KILN_BIND(5, m0, m1, m2, m3, m4)
  KILN_BIND(6, m0, m1, m2, m3, m4, m5)
  KILN_BIND(7, m0, m1, m2, m3, m4, m5, m6)
  KILN_BIND(8, m0, m1, m2, m3, m4, m5, m6, m7)
  KILN_BIND(9, m0, m1, m2, m3, m4, m5, m6, m7, m8)
  KILN_BIND(10, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9)
  KILN_BIND(11, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10)
  KILN_BIND(12, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11)
  KILN_BIND(13, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12)
  KILN_BIND(14, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13)
  KILN_BIND(15, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14)
  KILN_BIND(16, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15)
  KILN_BIND(17, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16)
  KILN_BIND(18, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17)
  KILN_BIND(19, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18)
  KILN_BIND(20, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19)
  KILN_BIND(21, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20)
  KILN_BIND(22, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21)
  KILN_BIND(23, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22)
  KILN_BIND(24, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23)
  KILN_BIND(25, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24)
  KILN_BIND(26, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25)
  KILN_BIND(27, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26)
  KILN_BIND(28, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27)
  KILN_BIND(29, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28)
  KILN_BIND(30, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29)
  KILN_BIND(31, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30)
  KILN_BIND(32, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31)
#undef KILN_BIND
  // clang-format on
}

// The object is never defined: only addresses inside of it are named.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
template <class M>
struct fake {
  const M value;
  static const fake object;
};
// The last identifier of "... [with auto* P = (& ...::object...::x)]" or "... [P = &object.value.x]".
template <auto* P>
consteval text_view member_name() {
  const char* text = __PRETTY_FUNCTION__;
  int end = detail::text_length(text);
  while (end > 0 && !poly::is_name(text[end - 1])) --end;
  int begin = end;
  while (begin > 0 && poly::is_name(text[begin - 1])) --begin;
  return {text + begin, end - begin};
}

template <int I, class T, class... R>
constexpr auto* nth(T* p, R*... r) {
  if constexpr (I == 0)
    return p;
  else
    return detail::nth<I - 1>(r...);
}
template <class M, int I>
constexpr auto* member_pointer() {
  return detail::with_members(fake<M>::object.value, [](auto&... m) { return detail::nth<I>(__builtin_addressof(m)...); });
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
template <class M, int I>
struct member {
  using type = std::remove_cv_t<std::remove_pointer_t<decltype(detail::member_pointer<M, I>())>>;
  static constexpr text_view name() { return detail::member_name<detail::member_pointer<M, I>()>(); }
};
template <list_of_modules M, int I>
struct member<M, I> {
  using type = typename module_list<M>::template element<I>;
  static constexpr char digits[2] = {static_cast<char>('0' + I / 10), static_cast<char>('0' + I % 10)};
  static constexpr text_view name() { return I < 10 ? text_view{digits + 1, 1} : text_view{digits, 2}; }
};
template <class M, int I>
using member_t = typename member<M, I>::type;

template <class T>
concept parameter_tensor = requires { typename T::is_parameter; };

// The name of a parameter: the names of the fields that lead to it, joined by '_'.
template <class M, int I, str Prefix>
constexpr auto member_path() {
  constexpr text_view name = member<M, I>::name();
  constexpr int n = static_cast<int>(sizeof(Prefix.c)) - 1, sep = n > 0 ? 1 : 0;
  str<n + sep + name.n> r;
  for (int i = 0; i < n; ++i) r.c[i] = Prefix.c[i];
  if constexpr (sep > 0) r.c[n] = '_';
  for (int i = 0; i < name.n; ++i) r.c[n + sep + i] = name.p[i];
  return r;
}

// The name of the first member that is neither a parameter nor a module of parameters; empty if there is none.
template <class M, str Prefix>
consteval poly::text wrong_member() {
  poly::text t;
  auto one = [&t]<int I>() {
    using T = member_t<M, I>;
    constexpr auto path = detail::member_path<M, I, Prefix>();
    if constexpr (list_of_modules<T> || (std::is_class_v<T> && std::is_aggregate_v<T>)) {
      if (t.n == 0) t = detail::wrong_member<T, path>();
    } else if constexpr (!parameter_tensor<T>) {
      if (t.n == 0) t.put(detail::text_of(path.c));
    }
  };
  [&one]<int... I>(seq<I...>) { (one.template operator()<I>(), ...); }(make_seq<member_count<M>>{});
  return t;
}

// Calls f.template operator()<tensor type, name>() for every parameter in M, in order; modules are opened in place.
template <class M, str Prefix, class F, int... I>
constexpr void each_parameter(F& f, seq<I...>);
template <class M, str Prefix, int I, class F>
constexpr void each_member(F& f) {
  using T = member_t<M, I>;
  constexpr auto path = detail::member_path<M, I, Prefix>();
  if constexpr (parameter_tensor<T>) {
    f.template operator()<T, path>();
  } else {
    static_assert(list_of_modules<T> || std::is_aggregate_v<T>,
                  "kiln: members of a program are in<>, out<>, inout<> or modules (structs) of them");
    detail::each_parameter<T, path>(f, make_seq<member_count<T>>{});
  }
}
template <class M, str Prefix, class F, int... I>
constexpr void each_parameter(F& f, seq<I...>) {
  (detail::each_member<M, Prefix, I>(f), ...);
}
template <class P, class F>
constexpr void each_parameter(F& f) {
  detail::each_parameter<P, str<0>{}>(f, make_seq<member_count<P>>{});
}

// Calls f(tensor) for every parameter of x, in the same order.
template <class M, class F>
constexpr void each_tensor(M& x, F& f) {
  if constexpr (parameter_tensor<M>)
    f(x);
  else
    detail::with_members(x, [&f](auto&... m) { (detail::each_tensor(m, f), ...); });
}
template <class M>
constexpr builder* first_builder(const M& x) {
  builder* b = nullptr;
  auto take = [&b](const auto& t) {
    if (b == nullptr) b = t.b;
  };
  detail::each_tensor(x, take);
  return b;
}

}  // namespace kiln::dsl::detail
