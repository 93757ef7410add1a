// What is wrong with a program, and where: its structure, then whether its body can be evaluated at all, then what evaluating
// it found.
#pragma once

#include "kiln/dsl/program.h"

namespace kiln::dsl {

// What evaluating the body gave, in one integer: the error, or the sizes below a leading 1. The integer may turn out not to be
// a constant, which a concept can ask; a constexpr variable would be an error inside this header.
struct kiln_size {
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
  static constexpr kiln_size unpacked(std::int64_t v) {
    if (v >> (node_bits + source_bits + attr_bits + check_bits) == 0) return {0, 0, 0, 0, static_cast<why>(v)};
    const auto take = [&v](int bits) {
      const auto r = static_cast<int>(v & ((std::int64_t{1} << bits) - 1));
      v >>= bits;
      return r;
    };
    kiln_size s;
    s.nodes = take(node_bits);
    s.sources = take(source_bits);
    s.attrs = take(attr_bits);
    s.checks = take(check_bits);
    return s;
  }
};
template <class P>
constexpr void kiln_record_body(builder& b) {
  kiln_trace<P>(b);
  for (int depth = kiln_deepest(b); depth > 0 && b.error == why::ok; --depth) {
    builder again;
    again.refused = depth;
    kiln_trace<P>(again);
    kiln_compare_branches(b, again, depth);
  }
  if (b.error == why::ok) kiln_check<P>(b);
}
template <class P>
constexpr std::int64_t kiln_measure() {
  builder b;
  kiln_record_body<P>(b);
  return kiln_size{b.nodes.n, b.sources.n, b.attrs.n, b.checks.n, b.error}.packed();
}
template <class P>
inline const std::int64_t kiln_outcome = kiln_measure<P>();
template <class P>
concept kiln_evaluates = requires { typename std::bool_constant<(kiln_outcome<P> >= 0)>; };
template <class P>
inline constexpr kiln_size kiln_size_of = kiln_size::unpacked(kiln_outcome<P>);

// Is P a struct that can be a program?
template <class P>
constexpr why kiln_structure() {
  if constexpr (!std::is_class_v<P> || !std::is_base_of_v<program<P>, P>)
    return why::base_is_not_program_of_itself__write_struct_p_program_of_p;
  else if constexpr (!std::is_aggregate_v<P> || !std::is_convertible_v<P*, const program<P>*>)
    return why::program_is_no_plain_struct__write_struct_public_without_constructor_virtual_private;
  else if constexpr (!requires(P& p) { p.body(); })
    return why::body_is_missing_or_private__write_constexpr_void_body_in_a_public_place;
  else if constexpr (!std::is_default_constructible_v<P> || !kiln_members_are_single<P>)
    return why::member_is_no_parameter__write_in_out_inout_or_static_constexpr;
  else if constexpr (kiln_wrong_member<P, str<0>{}>().n > 0)
    return why::member_is_no_parameter__write_in_out_inout_or_static_constexpr;
  else
    return why::ok;
}
template <class P>
constexpr why kiln_reason() {
  if constexpr (constexpr why w = kiln_structure<P>(); w != why::ok)
    return w;
  else if constexpr (!kiln_evaluates<P>)
    return why::body_cannot_run_while_compiling__write_constexpr_everywhere_loop_or_forever_print_nothing;
  else
    return kiln_size_of<P>.error;
}
template <class P>
inline constexpr why kiln_reason_of = kiln_reason<P>();

// "file.cpp:30:5" of a mistake, and the name of the parameter that it is about.
struct kiln_place {
  poly::text t;
  constexpr kiln_place(const record::source_loc& l, text_view name) {
    int start = 0;
    for (int i = 0; l.file[i] != 0; ++i)
      if (l.file[i] == '/') start = i + 1;
    if (l.line != 0) {
      t.put(kiln_view(l.file + start));
      t.put(':');
      t.put_int(l.line);
      t.put(':');
      t.put_int(l.column);
    }
    if (name.n > 0) t.put(kiln_view(": "));
    t.put(name);
  }
};
template <class P>
constexpr kiln_place kiln_head_place() {
  if constexpr (std::is_aggregate_v<P> && std::is_default_constructible_v<P> && kiln_members_are_single<P>) {
    if constexpr (requires { typename std::bool_constant<(kiln_head<P>().line > 0)>; }) return {kiln_head<P>(), {}};
  }
  return {{}, {}};
}
template <class P>
constexpr kiln_place kiln_where_of() {
  if constexpr (kiln_structure<P>() != why::ok) {
    return kiln_head_place<P>();
  } else if constexpr (!kiln_evaluates<P>) {
    return kiln_head_place<P>();
  } else {
    builder b;
    kiln_record_body<P>(b);
    return {b.error_loc.line > 0 ? b.error_loc : kiln_head<P>(), kiln_view(b.error_name)};
  }
}
template <class P>
consteval auto kiln_where() {
  constexpr poly::text text = kiln_where_of<P>().t;
  constexpr int n = text.n < poly::max_text ? text.n : poly::max_text - 1;
  return str<n>(text.c, n);
}

template <class P>
consteval bool kiln_verdict() {
  static_assert(!kiln_parameters_of<P>.symbols.too_many, "kiln: at most 16 symbolic extents, names below 48 characters");
  return kiln_reason_of<P> == why::ok;
}

}  // namespace kiln::dsl
