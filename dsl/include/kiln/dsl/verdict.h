// The first mistake of a program and its place. The structure of the program is judged first, then whether its body can be
// evaluated at all, then the mistakes that the evaluation found.
#pragma once

#include "kiln/dsl/program.h"

namespace kiln::dsl::detail {

// The result of evaluating the body, packed into one integer: the error, or the sizes below a leading 1. If the body cannot
// be evaluated, the integer is no constant. A concept can test that; a constexpr variable would be an error in this header.
struct body_size {
  static constexpr int node_bits = 17, source_bits = 19, attr_bits = 18, check_bits = 8;
  int nodes = 0, sources = 0, attrs = 0, checks = 0;
  why error = why::ok;

  constexpr std::int64_t packed() const {
    if (error != why::ok) return static_cast<int>(error);
    if (nodes >> node_bits != 0 || sources >> source_bits != 0 || attrs >> attr_bits != 0 || checks >> check_bits != 0)
      return static_cast<int>(why::body_is_too_large__write_loop_or_kernel);
    std::int64_t v = 1;
    v = v << check_bits | checks;
    v = v << attr_bits | attrs;
    v = v << source_bits | sources;
    return v << node_bits | nodes;
  }
  static constexpr body_size unpacked(std::int64_t v) {
    if (v >> (node_bits + source_bits + attr_bits + check_bits) == 0) return {0, 0, 0, 0, static_cast<why>(v)};
    const auto take = [&v](int bits) {
      const auto r = static_cast<int>(v & ((std::int64_t{1} << bits) - 1));
      v >>= bits;
      return r;
    };
    body_size s;
    s.nodes = take(node_bits);
    s.sources = take(source_bits);
    s.attrs = take(attr_bits);
    s.checks = take(check_bits);
    return s;
  }
};
template <class P>
constexpr void capture(builder& b) {
  detail::trace<P>(b);
  for (int depth = detail::deepest(b); depth > 0 && b.error == why::ok; --depth) {
    builder again;
    again.refused = depth;
    detail::trace<P>(again);
    detail::compare_branches(b, again, depth);
  }
  if (b.error == why::ok) detail::check_program<P>(b);
}
template <class P>
constexpr std::int64_t pack() {
  builder b;
  detail::capture<P>(b);
  return body_size{b.nodes.n, b.sources.n, b.attrs.n, b.checks.n, b.error}.packed();
}
template <class P>
inline const std::int64_t packed = detail::pack<P>();
template <class P>
concept evaluates = requires { typename std::bool_constant<(packed<P> >= 0)>; };
template <class P>
inline constexpr body_size size_of = body_size::unpacked(packed<P>);

// Whether P is a struct that can be a program.
template <class P>
constexpr why structure() {
  if constexpr (!std::is_class_v<P> || !std::is_base_of_v<program<P>, P>)
    return why::base_is_not_program_of_itself__write_struct_p_program_of_p;
  else if constexpr (!std::is_aggregate_v<P> || !std::is_convertible_v<P*, const program<P>*>)
    return why::program_is_no_plain_struct__write_struct_public_without_constructor_virtual_private;
  else if constexpr (!requires(P& p) { p.body(); })
    return why::body_is_missing_or_private__write_constexpr_void_body_in_a_public_place;
  else if constexpr (!std::is_default_constructible_v<P> || !members_are_single<P>)
    return why::member_is_no_parameter__write_in_out_inout_or_static_constexpr;
  else if constexpr (detail::wrong_member<P, str<0>{}>().n > 0)
    return why::member_is_no_parameter__write_in_out_inout_or_static_constexpr;
  else
    return why::ok;
}
template <class P>
constexpr why reason() {
  if constexpr (constexpr why w = detail::structure<P>(); w != why::ok)
    return w;
  else if constexpr (!evaluates<P>)
    return why::body_cannot_run_while_compiling__write_constexpr_everywhere_loop_or_forever_print_nothing;
  else
    return size_of<P>.error;
}
template <class P>
inline constexpr why reason_of = detail::reason<P>();

// The place of a mistake, "file.cpp:30:5", and the name of the parameter that the mistake is about.
struct place {
  poly::text t;
  constexpr place(const record::source_loc& l, text_view name) {
    int start = 0;
    for (int i = 0; l.file[i] != 0; ++i)
      if (l.file[i] == '/') start = i + 1;
    if (l.line != 0) {
      t.put(detail::text_of(l.file + start));
      t.put(':');
      t.put_int(l.line);
      t.put(':');
      t.put_int(l.column);
    }
    if (name.n > 0) t.put(detail::text_of(": "));
    t.put(name);
  }
};
template <class P>
constexpr place head_place() {
  if constexpr (std::is_aggregate_v<P> && std::is_default_constructible_v<P> && members_are_single<P>) {
    if constexpr (requires { typename std::bool_constant<(detail::head<P>().line > 0)>; }) return {detail::head<P>(), {}};
  }
  return {{}, {}};
}
template <class P>
constexpr place place_of() {
  if constexpr (detail::structure<P>() != why::ok) {
    return detail::head_place<P>();
  } else if constexpr (!evaluates<P>) {
    return detail::head_place<P>();
  } else {
    builder b;
    detail::capture<P>(b);
    return {b.error_loc.line > 0 ? b.error_loc : detail::head<P>(), detail::text_of(b.error_name)};
  }
}
template <class P>
consteval auto place_text() {
  constexpr poly::text text = detail::place_of<P>().t;
  constexpr int n = text.n < poly::max_text ? text.n : poly::max_text - 1;
  return str<n>(text.c, n);
}

template <class P>
consteval bool verdict() {
  static_assert(!parameters_of<P>.symbols.too_many, "kiln: at most 16 symbolic extents, names below 48 characters");
  return reason_of<P> == why::ok;
}

}  // namespace kiln::dsl::detail
