// Extents: an integer, a symbol dim<"N">, or a polynomial of symbols. `dim<"N"> N;` may declare facts that hold at every call:
// dim<"N", {.min = 1, .max = 4096, .multiple_of = 8}>. N + 1, 2 * N * M, N / 2 (floor) and N % 2 are extents again.
#pragma once

#include "kiln/dsl/error.h"
#include "kiln/dsl/polynomial.h"
#include "kiln/record.h"

namespace kiln::dsl {

struct facts {
  std::int64_t min = 0;
  std::int64_t max = std::int64_t{1} << 40;
  std::int64_t multiple_of = 1;
};
constexpr bool kiln_default(const facts& f) { return f.min == 0 && f.max == (std::int64_t{1} << 40) && f.multiple_of == 1; }

template <str Name>
concept the_name_of_a_dim_is_an_identifier__write_dim_n = Name.c[0] != 0 && !poly::is_digit(Name.c[0]);
template <facts F>
concept facts_have_0_at_most_min_at_most_max_and_a_multiple_between =
    F.min >= 0 && F.max >= F.min && F.multiple_of >= 1 && F.max / F.multiple_of * F.multiple_of >= F.min;
template <str Name, facts F = {}>
  requires the_name_of_a_dim_is_an_identifier__write_dim_n<Name> &&
           facts_have_0_at_most_min_at_most_max_and_a_multiple_between<F>
struct dim {
  using kiln_extent = void;
  static constexpr record::symbol kiln_symbol{Name.c, F.min, F.max, F.multiple_of};
  // sum(x) where sum is a dim.
  template <class X, class... More, why Reason = why::this_name_means_a_dim_here__write_kiln_dsl_name_for_the_function>
  constexpr void operator()(const X&, const More&...) const KILN_HIDDEN_BY("dim");
  // kernel(N) where kernel is a program.
  template <class B, why Reason = why::this_name_means_a_program_here__write_kiln_dsl_name_for_the_function>
    requires requires { typename B::kiln_program; }
  explicit constexpr operator B() const KILN_HIDDEN_BY("program");
  // int n = N, float a[N]
  template <class T, why Reason = why::cpp_sees_no_extents_and_elements__write_kernel_loop_or_size>
    requires(std::is_arithmetic_v<T>)
  constexpr operator T() const  // NOLINT(google-explicit-constructor)
      KILN_DELETED(
          "kiln: C++ sees no extents: the extent as a value is size<N, i32>(), an array has static extents: local<f32, 4>()");
};

// A polynomial with its symbols' facts (null-terminated list; symbols without facts are left out).
struct ext {
  using kiln_extent = void;
  char text[poly::max_text] = {};
  const record::symbol* known[4] = {};
  bool bad = false;  // does not fit: reported where the extent is used
};

// The form of an extent inside a shape: long, dim, or this.
template <str Text, const record::symbol*... Known>
struct polynomial {
  using kiln_extent = void;
  static constexpr str<sizeof(Text.c) - 1> kiln_text = Text;
};

template <class T>
struct kiln_plain_of {
  using type = T;
};
template <class T>
struct kiln_plain_of<const T> {
  using type = T;
};
template <class T>
struct kiln_plain_of<T&> : kiln_plain_of<T> {};
template <class T>
using kiln_plain = typename kiln_plain_of<T>::type;

template <class T>
concept Extent = requires { typename T::kiln_extent; };
template <class T>
concept kiln_int =
    __is_same(T, int) || __is_same(T, long) || __is_same(T, unsigned) || __is_same(T, unsigned long) || __is_same(T, long long);
template <class T>
concept ExtentArg = Extent<T> || kiln_int<T>;

constexpr void kiln_know(ext& e, const record::symbol* s) {
  text_view name = kiln_view(s->name);
  int i = 0;
  while (i < 4 && e.known[i] != nullptr && kiln_compare(kiln_view(e.known[i]->name), name) < 0) ++i;
  if (i < 4 && e.known[i] != nullptr && kiln_compare(kiln_view(e.known[i]->name), name) == 0) return;
  if (e.known[3] != nullptr) {
    e.bad = true;
    return;
  }
  for (int k = 3; k > i; --k) e.known[k] = e.known[k - 1];
  e.known[i] = s;
}

constexpr ext kiln_ext_of_text(const poly::text& t) {
  ext e;
  if (t.n >= poly::max_text) {
    e.bad = true;
    e.text[0] = '0';
    return e;
  }
  for (int i = 0; i < t.n; ++i) e.text[i] = t.c[i];
  return e;
}

template <kiln_int I>
constexpr ext kiln_ext(I v) {
  poly::text t;
  t.put_int(static_cast<std::int64_t>(v));
  return kiln_ext_of_text(t);
}
template <str N, facts F>
constexpr ext kiln_ext(dim<N, F>) {
  poly::text t;
  t.put(kiln_view(N.c));
  ext e = kiln_ext_of_text(t);
  if (!kiln_default(F)) kiln_know(e, &dim<N, F>::kiln_symbol);
  return e;
}
template <str T, const record::symbol*... K>
constexpr ext kiln_ext(polynomial<T, K...>) {
  poly::text t;
  t.put(kiln_view(T.c));
  ext e = kiln_ext_of_text(t);
  (kiln_know(e, K), ...);
  return e;
}
constexpr ext kiln_ext(ext e) { return e; }

constexpr bool kiln_static(const ext& e) {
  const int first = e.text[0] == '-' ? 1 : 0;
  for (int i = first; e.text[i] != 0; ++i)
    if (!poly::is_digit(e.text[i])) return false;
  return true;
}
constexpr std::int64_t kiln_value(const ext& e) {
  const poly::sum s = poly::parse(kiln_view(e.text));
  return s.n == 0 ? 0 : s.t[0].c;
}
constexpr bool kiln_same(const ext& a, const ext& b) { return kiln_compare(kiln_view(a.text), kiln_view(b.text)) == 0; }
constexpr bool kiln_negative(const ext& e) { return kiln_static(e) && kiln_value(e) < 0; }

constexpr ext kiln_with_facts(const poly::text& t, const ext& a, const ext& b) {
  ext r = kiln_ext_of_text(t);
  r.bad = r.bad || a.bad || b.bad;
  for (int i = 0; i < 4; ++i) {
    if (a.known[i] != nullptr) kiln_know(r, a.known[i]);
    if (b.known[i] != nullptr) kiln_know(r, b.known[i]);
  }
  return r;
}
constexpr ext kiln_settled(const poly::sum& s, const ext& a, const ext& b) {
  const ext all = kiln_with_facts({}, a, b);
  return kiln_with_facts(poly::settle(s, {all.known, 4}), a, b);
}
constexpr ext kiln_add(const ext& a, const ext& b, int sign = 1) {
  return kiln_settled(poly::add(poly::parse(kiln_view(a.text)), poly::parse(kiln_view(b.text)), sign), a, b);
}
constexpr ext kiln_mul(const ext& a, const ext& b) {
  return kiln_settled(poly::mul(poly::parse(kiln_view(a.text)), poly::parse(kiln_view(b.text))), a, b);
}
constexpr ext kiln_floor_div(const ext& a, std::int64_t d) {
  if (d < 0) return kiln_floor_div(kiln_mul(a, kiln_ext(-1)), -d);
  ext r = kiln_with_facts(d == 0 ? poly::text{} : poly::floor_div(poly::parse(kiln_view(a.text)), d, {a.known, 4}), a, a);
  r.bad = r.bad || d == 0;
  return r;
}
constexpr ext kiln_ceil_div(const ext& a, std::int64_t d) { return kiln_floor_div(kiln_add(a, kiln_ext(d - 1)), d); }
// a / b when the division is exact for all values; text "" when it is not known to be.
constexpr ext kiln_exact_div(const ext& a, const ext& b) {
  return kiln_with_facts(poly::divide_exact(poly::parse(kiln_view(a.text)), poly::parse(kiln_view(b.text))), a, b);
}

template <ExtentArg A, ExtentArg B>
  requires(Extent<A> || Extent<B>)
constexpr ext operator+(A a, B b) {
  return kiln_add(kiln_ext(a), kiln_ext(b));
}
template <ExtentArg A, ExtentArg B>
  requires(Extent<A> || Extent<B>)
constexpr ext operator-(A a, B b) {
  return kiln_add(kiln_ext(a), kiln_ext(b), -1);
}
template <ExtentArg A, ExtentArg B>
  requires(Extent<A> || Extent<B>)
constexpr ext operator*(A a, B b) {
  return kiln_mul(kiln_ext(a), kiln_ext(b));
}
template <Extent A, kiln_int B>
constexpr ext operator/(A a, B b) {
  return kiln_floor_div(kiln_ext(a), static_cast<std::int64_t>(b));
}
template <Extent A, kiln_int B>
constexpr ext operator%(A a, B b) {
  return kiln_ext(a) - kiln_floor_div(kiln_ext(a), static_cast<std::int64_t>(b)) * b;
}
template <Extent A>
constexpr ext operator-(A a) {
  return kiln_mul(kiln_ext(a), kiln_ext(-1));
}

// In the declarations of parameters: the name is the message.
template <auto E>
constexpr bool kiln_is_extent() {
  if constexpr (ExtentArg<kiln_plain<decltype(E)>>)
    return !kiln_ext(E).bad && !kiln_negative(kiln_ext(E));
  else
    return false;
}
template <auto... E>
concept extents__write_dim_or_an_integer_from_0_and_divide_by_no_zero = (kiln_is_extent<E>() && ...);

// Canonical form of an extent inside a shape.
template <ext E>
constexpr auto kiln_canonical() {
  constexpr int n = kiln_length(E.text);
  if constexpr (E.bad) {
    static_assert(!E.bad, "kiln: an extent is too large a polynomial or divides by zero");
  } else if constexpr (kiln_static(E)) {
    return static_cast<long>(kiln_value(E));
  } else if constexpr (poly::atom_length(E.text) == n && E.text[0] != '(') {
    if constexpr (E.known[0] != nullptr)
      return dim<str<n>(E.text, n), facts{E.known[0]->min, E.known[0]->max, E.known[0]->multiple_of}>{};
    else
      return dim<str<n>(E.text, n)>{};
  } else if constexpr (E.known[0] == nullptr) {
    return polynomial<str<n>(E.text, n)>{};
  } else if constexpr (E.known[1] == nullptr) {
    return polynomial<str<n>(E.text, n), E.known[0]>{};
  } else if constexpr (E.known[2] == nullptr) {
    return polynomial<str<n>(E.text, n), E.known[0], E.known[1]>{};
  } else if constexpr (E.known[3] == nullptr) {
    return polynomial<str<n>(E.text, n), E.known[0], E.known[1], E.known[2]>{};
  } else {
    return polynomial<str<n>(E.text, n), E.known[0], E.known[1], E.known[2], E.known[3]>{};
  }
}
template <auto E>
constexpr auto kiln_normalise() {
  using type = kiln_plain<decltype(E)>;
  if constexpr (kiln_int<type>)
    return static_cast<long>(E);
  else if constexpr (__is_same(type, ext))
    return kiln_canonical<E>();
  else
    return E;
}
template <auto E>
inline constexpr auto kiln_norm = kiln_normalise<E>();

}  // namespace kiln::dsl
