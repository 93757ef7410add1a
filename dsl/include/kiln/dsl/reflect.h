// Members of a program or module and their names, without macros: the count from aggregate initialisation, the members from
// structured bindings, the names from the text of a template argument that points at the member.
#pragma once

#include "kiln/dsl/expr.h"

namespace kiln::dsl {

template <class Owner>
struct kiln_any {
  template <class T>
    requires(!std::is_same_v<T, Owner>)
  constexpr operator T() const;  // NOLINT(google-explicit-constructor)
};

template <class M, int... I>
concept kiln_made_of = requires { M{(static_cast<void>(I), kiln_any<M>{})...}; };
// A program has an empty base, which takes the first initialiser.
template <class P, int... I>
concept kiln_based_made_of = requires { P{{}, (static_cast<void>(I), kiln_any<P>{})...}; };

template <class M>
concept kiln_has_base = requires { typename M::kiln_program; };

template <class M, int... I>
constexpr bool kiln_made(seq<I...>) {
  if constexpr (kiln_has_base<M>)
    return kiln_based_made_of<M, I...>;
  else
    return kiln_made_of<M, I...>;
}
inline constexpr int max_members = 32;
template <class M, int N = max_members>
constexpr int kiln_members() {
  if constexpr (N == 0 || kiln_made<M>(make_seq<N>{}))
    return N;
  else
    return kiln_members<M, N - 1>();
}
template <class M>
inline constexpr int member_count = kiln_members<M>();

// Initialisers in parentheses do not enter arrays, as those in braces do: no member is an array.
template <class M, int... I>
concept kiln_made_in_parentheses = requires { M((static_cast<void>(I), kiln_any<M>{})...); };
template <class M>
inline constexpr bool kiln_members_are_single = []<int... I>(seq<I...>) {
  return kiln_made_in_parentheses<M, I...>;
}(make_seq<member_count<M> + (kiln_has_base<M> ? 1 : 0)>{});

// f(member...) for the members of x.
template <class M, class F>
constexpr auto kiln_with_members(M& x, F f) {
  constexpr int n = member_count<std::remove_const_t<M>>;
  static_assert(!kiln_made<std::remove_const_t<M>>(make_seq<max_members + 1>{}),
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

// Never defined: only addresses inside it are named.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
template <class M>
struct kiln_fake {
  const M value;
  static const kiln_fake object;
};
// The last identifier of "... [with auto* P = (& ...::object...::x)]" or "... [P = &object.value.x]".
template <auto* P>
consteval text_view kiln_member_name() {
  const char* text = __PRETTY_FUNCTION__;
  int end = kiln_length(text);
  while (end > 0 && !poly::is_name(text[end - 1])) --end;
  int begin = end;
  while (begin > 0 && poly::is_name(text[begin - 1])) --begin;
  return {text + begin, end - begin};
}

template <int I, class T, class... R>
constexpr auto* kiln_nth(T* p, R*... r) {
  if constexpr (I == 0)
    return p;
  else
    return kiln_nth<I - 1>(r...);
}
template <class M, int I>
constexpr auto* kiln_member_pointer() {
  return kiln_with_members(kiln_fake<M>::object.value, [](auto&... m) { return kiln_nth<I>(__builtin_addressof(m)...); });
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
template <class M, int I>
using member_t = std::remove_cv_t<std::remove_pointer_t<decltype(kiln_member_pointer<M, I>())>>;

template <class T>
concept ParameterTensor = requires { typename T::kiln_tensor; };

// Name of a parameter: fields joined by '_'.
template <class M, int I, str Prefix>
constexpr auto kiln_path() {
  constexpr text_view name = kiln_member_name<kiln_member_pointer<M, I>()>();
  constexpr int n = static_cast<int>(sizeof(Prefix.c)) - 1, sep = n > 0 ? 1 : 0;
  str<n + sep + name.n> r;
  for (int i = 0; i < n; ++i) r.c[i] = Prefix.c[i];
  if constexpr (sep > 0) r.c[n] = '_';
  for (int i = 0; i < name.n; ++i) r.c[n + sep + i] = name.p[i];
  return r;
}

// The path of the first member that is neither a parameter nor a module of them, else empty.
template <class M, str Prefix>
consteval poly::text kiln_wrong_member() {
  poly::text t;
  auto one = [&t]<int I>() {
    using T = member_t<M, I>;
    constexpr auto path = kiln_path<M, I, Prefix>();
    if constexpr (std::is_class_v<T> && std::is_aggregate_v<T>) {
      if (t.n == 0) t = kiln_wrong_member<T, path>();
    } else if constexpr (!ParameterTensor<T>) {
      if (t.n == 0) t.put(kiln_view(path.c));
    }
  };
  [&one]<int... I>(seq<I...>) { (one.template operator()<I>(), ...); }(make_seq<member_count<M>>{});
  return t;
}

// f.template operator()<tensor type, path>() for every tensor in M, in order, modules opened in place.
template <class M, str Prefix, class F, int... I>
constexpr void kiln_each_parameter(F& f, seq<I...>);
template <class M, str Prefix, int I, class F>
constexpr void kiln_each_member(F& f) {
  using T = member_t<M, I>;
  constexpr auto path = kiln_path<M, I, Prefix>();
  if constexpr (ParameterTensor<T>) {
    f.template operator()<T, path>();
  } else {
    static_assert(std::is_aggregate_v<T>, "kiln: members of a program are in<>, out<>, inout<> or modules (structs) of them");
    kiln_each_parameter<T, path>(f, make_seq<member_count<T>>{});
  }
}
template <class M, str Prefix, class F, int... I>
constexpr void kiln_each_parameter(F& f, seq<I...>) {
  (kiln_each_member<M, Prefix, I>(f), ...);
}
template <class P, class F>
constexpr void kiln_each_parameter(F& f) {
  kiln_each_parameter<P, str<0>{}>(f, make_seq<member_count<P>>{});
}

// f(tensor) for every tensor object in x, in the same order.
template <class M, class F>
constexpr void kiln_each_tensor(M& x, F& f) {
  if constexpr (ParameterTensor<M>)
    f(x);
  else
    kiln_with_members(x, [&f](auto&... m) { (kiln_each_tensor(m, f), ...); });
}
template <class M>
constexpr builder* kiln_first_builder(const M& x) {
  builder* b = nullptr;
  auto take = [&b](const auto& t) {
    if (b == nullptr) b = t.b;
  };
  kiln_each_tensor(x, take);
  return b;
}

}  // namespace kiln::dsl
