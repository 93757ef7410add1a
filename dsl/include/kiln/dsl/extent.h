// Extents: an integer, a symbol dim<"N">, or a polynomial of symbols. `dim<"N"> N;` may declare facts that hold at every call:
// dim<"N", {.min = 1, .max = 4096, .multiple_of = 8}>. N + 1, 2 * N * M, N / 2 (floor) and N % 2 are extents too.
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

template <str Name>
concept the_name_of_a_dim_is_an_identifier__write_dim_n = Name.c[0] != 0 && !poly::is_digit(Name.c[0]);
template <facts F>
concept facts_have_0_at_most_min_at_most_max_and_a_multiple_between =
    F.min >= 0 && F.max >= F.min && F.multiple_of >= 1 && F.max / F.multiple_of * F.multiple_of >= F.min;
template <str Name, facts F = {}>
  requires the_name_of_a_dim_is_an_identifier__write_dim_n<Name> &&
           facts_have_0_at_most_min_at_most_max_and_a_multiple_between<F>
struct dim {
  using is_extent = void;
  static constexpr record::symbol symbol{Name.c, F.min, F.max, F.multiple_of};
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

// What makes an extent unusable. It is reported where the extent is used.
enum class flaw : unsigned char { none, too_large_or_by_zero, too_many_facts };

// A polynomial with its symbols' facts. The list `known` ends with a null and leaves out symbols without facts.
inline constexpr int max_known = poly::max_atoms;
struct ext {
  using is_extent = void;
  char text[poly::max_text] = {};
  const record::symbol* known[max_known] = {};
  flaw bad = flaw::none;
};

// An extent inside a shape is a long, a dim or a polynomial.
template <str Text, const record::symbol*... Known>
struct polynomial {
  using is_extent = void;
  static constexpr str<sizeof(Text.c) - 1> text = Text;
};

namespace detail {

template <class T>
struct plain_of {
  using type = T;
};
template <class T>
struct plain_of<const T> {
  using type = T;
};
template <class T>
struct plain_of<T&> : plain_of<T> {};
template <class T>
using plain = typename plain_of<T>::type;
template <class T>
concept integer =
    __is_same(T, int) || __is_same(T, long) || __is_same(T, unsigned) || __is_same(T, unsigned long) || __is_same(T, long long);

}  // namespace detail

template <class T>
concept Extent = requires { typename T::is_extent; };
template <class T>
concept ExtentArg = Extent<T> || detail::integer<T>;

namespace detail {

constexpr bool is_default(const facts& f) { return f.min == 0 && f.max == (std::int64_t{1} << 40) && f.multiple_of == 1; }

// Calls f(name) for every symbol in the text of an extent.
template <class F>
constexpr void each_symbol(text_view text, F f) {
  for (int i = 0; i < text.n;) {
    if (poly::is_digit(text.p[i])) {
      while (i < text.n && poly::is_digit(text.p[i])) ++i;
    } else if (poly::is_name(text.p[i])) {
      int n = 0;
      while (i + n < text.n && poly::is_name(text.p[i + n])) ++n;
      f(text_view{text.p + i, n});
      i += n;
    } else {
      ++i;
    }
  }
}
template <class F>
constexpr void each_symbol(const char* text, F f) {
  detail::each_symbol(detail::text_of(text), f);
}

constexpr void know(ext& e, const record::symbol* s) {
  text_view name = detail::text_of(s->name);
  int i = 0;
  while (i < max_known && e.known[i] != nullptr && detail::compare_text(detail::text_of(e.known[i]->name), name) < 0) ++i;
  if (i < max_known && e.known[i] != nullptr && detail::compare_text(detail::text_of(e.known[i]->name), name) == 0) return;
  if (e.known[max_known - 1] != nullptr) {
    e.bad = flaw::too_many_facts;
    return;
  }
  for (int k = max_known - 1; k > i; --k) e.known[k] = e.known[k - 1];
  e.known[i] = s;
}

constexpr ext ext_of_text(const poly::text& t) {
  ext e;
  if (t.n >= poly::max_text) {
    e.bad = flaw::too_large_or_by_zero;
    e.text[0] = '0';
    return e;
  }
  for (int i = 0; i < t.n; ++i) e.text[i] = t.c[i];
  return e;
}

template <integer I>
constexpr ext to_ext(I v) {
  poly::text t;
  t.put_int(static_cast<std::int64_t>(v));
  return detail::ext_of_text(t);
}
template <str N, facts F>
constexpr ext to_ext(dim<N, F>) {
  poly::text t;
  t.put(detail::text_of(N.c));
  ext e = detail::ext_of_text(t);
  if (!detail::is_default(F)) detail::know(e, &dim<N, F>::symbol);
  return e;
}
template <str T, const record::symbol*... K>
constexpr ext to_ext(polynomial<T, K...>) {
  poly::text t;
  t.put(detail::text_of(T.c));
  ext e = detail::ext_of_text(t);
  (detail::know(e, K), ...);
  return e;
}
constexpr ext to_ext(ext e) { return e; }

constexpr bool is_static(const ext& e) {
  const int first = e.text[0] == '-' ? 1 : 0;
  for (int i = first; e.text[i] != 0; ++i)
    if (!poly::is_digit(e.text[i])) return false;
  return true;
}
constexpr std::int64_t value_of(const ext& e) {
  const poly::sum s = poly::parse(detail::text_of(e.text));
  return s.n == 0 ? 0 : s.t[0].c;
}
constexpr bool same(const ext& a, const ext& b) {
  return detail::compare_text(detail::text_of(a.text), detail::text_of(b.text)) == 0;
}
constexpr bool is_negative(const ext& e) { return detail::is_static(e) && detail::value_of(e) < 0; }

// The facts of the symbols in the text: N + M - M has none of M.
constexpr void know_own(ext& e, const record::symbol* s) {
  bool own = false;
  if (s != nullptr)
    detail::each_symbol(e.text,
                        [&](text_view name) { own = own || detail::compare_text(name, detail::text_of(s->name)) == 0; });
  if (own) detail::know(e, s);
}
constexpr ext with_facts(const poly::text& t, const ext& a, const ext& b) {
  ext r = detail::ext_of_text(t);
  for (const flaw f : {a.bad, b.bad})
    if (r.bad == flaw::none) r.bad = f;
  for (int i = 0; i < max_known; ++i) {
    detail::know_own(r, a.known[i]);
    detail::know_own(r, b.known[i]);
  }
  return r;
}
constexpr ext settled(const poly::sum& s, const ext& a, const ext& b) {
  ext all;
  for (int i = 0; i < max_known; ++i) {
    if (a.known[i] != nullptr) detail::know(all, a.known[i]);
    if (b.known[i] != nullptr) detail::know(all, b.known[i]);
  }
  return detail::with_facts(poly::settle(s, {all.known, max_known}), a, b);
}
constexpr ext plus(const ext& a, const ext& b, int sign = 1) {
  return detail::settled(poly::add(poly::parse(detail::text_of(a.text)), poly::parse(detail::text_of(b.text)), sign), a, b);
}
constexpr ext times(const ext& a, const ext& b) {
  return detail::settled(poly::mul(poly::parse(detail::text_of(a.text)), poly::parse(detail::text_of(b.text))), a, b);
}
constexpr ext floor_div(const ext& a, std::int64_t d) {
  if (d < 0) return floor_div(detail::times(a, detail::to_ext(-1)), -d);
  ext r = detail::with_facts(
      d == 0 ? poly::text{} : poly::floor_div(poly::parse(detail::text_of(a.text)), d, {a.known, max_known}), a, a);
  if (d == 0) r.bad = flaw::too_large_or_by_zero;
  return r;
}
constexpr ext ceil_div(const ext& a, std::int64_t d) { return detail::floor_div(detail::plus(a, detail::to_ext(d - 1)), d); }
// a / b, where the division is exact for all values of the symbols; else an extent with an empty text. The symbols and the
// integer of b divide apart: only the integer may need a fact, as in E * M / (8 * M) for an E with multiple_of 8.
constexpr ext exact_div(const ext& a, const ext& b) {
  const poly::sum all = poly::parse(detail::text_of(a.text));
  poly::sum by = poly::parse(detail::text_of(b.text));
  const ext quotient = detail::with_facts(poly::divide_exact(all, by), a, b);
  if (quotient.text[0] != 0 || by.n != 1 || by.t[0].c < 2) return quotient;
  const std::int64_t integer = by.t[0].c;
  by.t[0].c = 1;
  const ext rest = detail::with_facts(poly::divide_exact(all, by), a, b);
  if (rest.text[0] == 0) return quotient;
  const ext by_fact = detail::floor_div(rest, integer);
  return detail::same(detail::times(by_fact, detail::to_ext(integer)), rest) ? by_fact : quotient;
}

template <auto E>
constexpr bool valid() {
  if constexpr (ExtentArg<plain<decltype(E)>>)
    return detail::to_ext(E).bad == flaw::none && !detail::is_negative(detail::to_ext(E));
  else
    return false;
}
constexpr int known_count(const ext& e) {
  int n = 0;
  while (n < max_known && e.known[n] != nullptr) ++n;
  return n;
}
// The canonical form of an extent inside a shape.
template <ext E>
constexpr auto canonical() {
  constexpr int n = detail::text_length(E.text);
  if constexpr (E.bad != flaw::none) {
    static_assert(E.bad != flaw::too_many_facts, "kiln: an extent has at most six dims with facts: declare the others without");
    static_assert(E.bad != flaw::too_large_or_by_zero, "kiln: an extent is too large a polynomial or divides by zero");
  } else if constexpr (detail::is_static(E)) {
    return static_cast<long>(detail::value_of(E));
  } else if constexpr (poly::atom_length(E.text) == n && E.text[0] != '(') {
    if constexpr (E.known[0] != nullptr)
      return dim<str<n>(E.text, n), facts{E.known[0]->min, E.known[0]->max, E.known[0]->multiple_of}>{};
    else
      return dim<str<n>(E.text, n)>{};
  } else {
    return
        []<int... I>(seq<I...>) { return polynomial<str<n>(E.text, n), E.known[I]...>{}; }(make_seq<detail::known_count(E)>{});
  }
}
template <auto E>
constexpr auto normalise() {
  using type = plain<decltype(E)>;
  if constexpr (integer<type>)
    return static_cast<long>(E);
  else if constexpr (__is_same(type, ext))
    return detail::canonical<E>();
  else
    return E;
}

}  // namespace detail

template <auto E>
inline constexpr auto extent_v = detail::normalise<E>();

template <ExtentArg A, ExtentArg B>
  requires(Extent<A> || Extent<B>)
constexpr ext operator+(A a, B b) {
  return detail::plus(detail::to_ext(a), detail::to_ext(b));
}
template <ExtentArg A, ExtentArg B>
  requires(Extent<A> || Extent<B>)
constexpr ext operator-(A a, B b) {
  return detail::plus(detail::to_ext(a), detail::to_ext(b), -1);
}
template <ExtentArg A, ExtentArg B>
  requires(Extent<A> || Extent<B>)
constexpr ext operator*(A a, B b) {
  return detail::times(detail::to_ext(a), detail::to_ext(b));
}
template <Extent A, detail::integer B>
constexpr ext operator/(A a, B b) {
  return detail::floor_div(detail::to_ext(a), static_cast<std::int64_t>(b));
}
template <Extent A, detail::integer B>
constexpr ext operator%(A a, B b) {
  return detail::to_ext(a) - detail::floor_div(detail::to_ext(a), static_cast<std::int64_t>(b)) * b;
}
template <Extent A>
constexpr ext operator-(A a) {
  return detail::times(detail::to_ext(a), detail::to_ext(-1));
}

// The constraint of parameters' declarations: compilers print its name as the message.
template <auto... E>
concept extents__write_dim_or_an_integer_from_0_divide_by_no_zero_give_at_most_six_dims_facts = (detail::valid<E>() && ...);

}  // namespace kiln::dsl
