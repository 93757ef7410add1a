// The arena of a body: an ordered list of nodes, recorded in constant evaluation or at run time. The sources and attributes of
// a node directly follow its creation: `b.begin(...); b.src(x); b.attr(a); return b.last();`
#pragma once

#include "kiln/dsl/error.h"
#include "kiln/dsl/shape.h"

namespace kiln::dsl {

using record::op;

namespace detail {

template <class T>
struct arena_list {
  T* v = nullptr;
  int n = 0, cap = 0;
  constexpr arena_list() = default;
  arena_list(const arena_list&) = delete;
  arena_list& operator=(const arena_list&) = delete;
  constexpr ~arena_list() { delete[] v; }
  constexpr void add(const T& x) {
    if (n == cap) {
      cap = cap == 0 ? 64 : cap * 2;
      T* w = new T[static_cast<unsigned>(cap)]{};
      for (int i = 0; i < n; ++i) w[i] = v[i];
      delete[] v;
      v = w;
    }
    v[n++] = x;
  }
};

constexpr record::source_loc loc(const sloc& l) { return {l.file_name(), l.line(), l.column()}; }

}  // namespace detail

struct builder {
  // A parameter: the node of its present value (-1: not read yet), and whether it may be read.
  struct slot {
    int node = -1;
    bool readable = true, stored = false;
  };
  // A scope: kernel, loop, when or otherwise; the scope around it; its innermost kernel (0: none). Scope 0 is the body.
  struct region {
    op kind = op::kernel;
    int node = 0, parent = 0, kernel = 0;
    bool open = false, entered = false, breaks = false, grouped = false, once = false, checks = false;
  };
  struct variable {
    int node = -1, scope = 0;  // the get of its present value (-1: not read yet); the scope that declares it
  };
  detail::arena_list<record::node> nodes;
  detail::arena_list<int> owner;  // per node: its scope, or `unreadable` for an element of an output without a value
  detail::arena_list<region> regions;
  detail::arena_list<variable> variables;
  int scope = 0, locals = 0;
  int numbers = 0;       // of marks and custom derivatives
  int closed_when = -1;  // the when_end that an otherwise may follow
  int refused = 0;       // depth of the whens whose branches are not taken, 0: none (branches.h)
  static constexpr int unreadable = -1;
  detail::arena_list<std::int32_t> sources;
  detail::arena_list<record::extent> attrs;
  detail::arena_list<slot> slots;
  detail::arena_list<record::check> checks;
  why error = why::ok;
  record::source_loc error_loc{};
  const char* error_name = "";  // the name of the parameter that the error is about
  // Inside a library function every node gets the line of the call.
  record::source_loc call{};
  int calls = 0;

  constexpr void fail(why w, const record::source_loc& l, const char* name = "") {
    if (error != why::ok) return;
    error = w;
    error_loc = l;
    error_name = name;
    // Nodes after a scope without a body are outside of it: the missing body is the mistake.
    if (scope == 0 || regions.v[scope - 1].entered) return;
    error = why::scope_is_not_entered__write_for_or_if;
    error_loc = nodes.v[regions.v[scope - 1].node].loc;
  }
  constexpr record::source_loc at(const sloc& l) const { return calls > 0 ? call : detail::loc(l); }

  constexpr void begin(op o, kiln_dtype d, const record::shape* s, const sloc& l, std::uint64_t imm = 0) {
    push(o, d, s, at(l), imm);
  }
  // Recording stops here, so that an endless C++ loop does not fill the memory.
  static constexpr int max_nodes = 1 << 16;
  constexpr bool full() const { return nodes.n >= max_nodes; }
  constexpr void push(op o, kiln_dtype d, const record::shape* s, const record::source_loc& l, std::uint64_t imm = 0) {
    if (full()) return fail(why::body_is_too_large__write_loop_or_kernel, l);
    nodes.add({o, d, 0, sources.n, 0, attrs.n, imm, s, l});
    owner.add(scope);
  }
  constexpr bool is_open(int s) const { return s == 0 || regions.v[s - 1].open; }
  constexpr void src(int id) {
    if (full()) return;
    record::node& x = nodes.v[nodes.n - 1];
    if (id < 0)
      fail(why::value_is_used_before_it_has_one, x.loc);
    else if (owner.v[id] == unreadable)
      fail(why::out_parameter_is_read_before_it_is_assigned__assign_it_first_or_declare_it_inout, x.loc);
    else if (!is_open(owner.v[id]))
      fail(why::value_of_a_closed_scope_is_used_outside__write_var, x.loc);
    sources.add(id);
    ++x.n_sources;
  }
  constexpr void attr(const record::extent& e) {
    if (full()) return;
    attrs.add(e);
    ++nodes.v[nodes.n - 1].n_attrs;
  }
  constexpr void attr(std::int64_t v) { attr(record::extent{v, nullptr}); }
  constexpr int last() const { return nodes.n - 1; }
  constexpr record::source_loc current() const { return nodes.n > 0 ? nodes.v[nodes.n - 1].loc : record::source_loc{}; }

  constexpr int read(int s, kiln_dtype d, const record::shape* shape, const sloc& l) {
    slot& p = slots.v[s];
    if (!p.readable) fail(why::out_parameter_is_read_before_it_is_assigned__assign_it_first_or_declare_it_inout, at(l));
    if (p.node < 0 || owner.v[p.node] != scope) {
      begin(op::param, d, shape, l, static_cast<std::uint64_t>(s));
      p.node = last();
    }
    return p.node;
  }
  constexpr void store(int s, kiln_dtype d, const record::shape* shape, int value, const sloc& l) {
    if (kernel() != 0)
      fail(why::whole_tensor_is_assigned_inside_a_kernel__write_its_elements_also_of_a_scalar_or_atomic_add, at(l));
    begin(op::store, d, shape, l, static_cast<std::uint64_t>(s));
    src(value);
    written(s);
  }
  // Records that a variable, or one of its elements, gets another value.
  constexpr void changed(int number, const record::source_loc& l) {
    variable& v = variables.v[number];
    if (!is_open(v.scope)) fail(why::value_of_a_closed_scope_is_used_outside__write_var, l);
    v.node = -1;
    closed_when = -1;
  }
  // An output begins with zeros if operation `o` changes it before its first assignment. Operations that make zeros of zeros
  // (mul, for one) are excepted: there the missing assignment is a mistake.
  constexpr void begin_with_zeros(int s, op o) {
    slot& p = slots.v[s];
    p.readable = p.readable || o == op::add || o == op::sub || o == op::or_ || o == op::xor_ || o == op::atomic;
  }
  constexpr void written(int s) {
    closed_when = -1;
    slot& p = slots.v[s];
    p.node = -1;
    p.readable = p.stored = true;
  }

  constexpr int kernel_of(int s) const { return s == 0 ? 0 : regions.v[s - 1].kernel; }
  constexpr int kernel() const { return kernel_of(scope); }
  constexpr bool once() const { return kernel() != 0 && regions.v[kernel() - 1].once; }
  constexpr bool grouped() const { return kernel() != 0 && regions.v[kernel() - 1].grouped; }
  // Opens a scope, whose first node was recorded last.
  constexpr void enter(op kind) {
    const int number = regions.n + 1;
    regions.add({kind, last(), scope, kind == op::kernel ? number : kernel(), true, false, false});
    scope = number;
    closed_when = -1;
  }
  constexpr void leave(int s, op end, why wrong = why::ok) {
    region& r = regions.v[s - 1];
    const record::node opens = nodes.v[r.node];
    const bool checks_data = r.checks && (r.kind == op::kernel || r.kind == op::loop);
    if (wrong != why::ok) fail(wrong, opens.loc);
    if (r.kind == op::loop && opens.imm == 1 && !r.breaks) fail(why::forever_has_no_break__write_break_if, opens.loc);
    r.open = false;
    scope = r.parent;
    closed_when = -1;
    push(end, KILN_BOOL, shape_v<sh<>>, opens.loc);
    if (checks_data && loop_around() != 0 && kernel() == 0) leave_if_failed(opens.loc);
  }
  constexpr void follows_when(const sloc& l) {
    if (closed_when < 0 || owner.v[closed_when] != scope) fail(why::otherwise_does_not_follow_a_when, at(l));
  }
  // Checks the place of the node recorded last, a break or continue.
  constexpr void in_loop() {
    closed_when = -1;
    const int s = loop_around();
    if (s == 0)
      fail(why::break_or_continue_outside_a_loop__write_loop_or_forever, current());
    else if (nodes.v[last()].o == op::break_)
      regions.v[s - 1].breaks = true;
  }
  // The innermost loop of the kernel, or of the body; 0: none.
  constexpr int loop_around() const {
    int s = scope;
    while (s != 0 && regions.v[s - 1].kind != op::loop && regions.v[s - 1].kind != op::kernel) s = regions.v[s - 1].parent;
    return s == 0 || regions.v[s - 1].kind == op::kernel ? 0 : s;
  }

  // A failed check leaves the innermost loop, so that no loop waits for ever for data that is wrong. Outside of kernels, where
  // the number of the failed check can be read, it leaves all loops.
  constexpr void check(int condition, const char* text, const record::source_loc& l) {
    push(op::check, KILN_BOOL, shape_v<sh<>>, l,
         static_cast<std::uint64_t>(checks.n) << 40 | static_cast<std::uint64_t>(slots.n));
    src(condition);
    checks.add({text, l});
    closed_when = -1;
    for (int s = scope; s != 0; s = regions.v[s - 1].parent) regions.v[s - 1].checks = true;
    if (loop_around() == 0 || grouped()) return;
    push(op::not_, KILN_BOOL, shape_v<sh<>>, l);
    src(condition);
    leave_if(last(), l);
  }
  constexpr void leave_if(int condition, const record::source_loc& l) {
    push(op::break_, KILN_BOOL, shape_v<sh<>>, l);
    src(condition);
    in_loop();
  }
  constexpr void leave_if_failed(const record::source_loc& l) {
    push(op::element, KILN_I32, shape_v<sh<>>, l, static_cast<std::uint64_t>(slots.n));
    const int failed = last();
    push(op::constant, KILN_I32, shape_v<sh<>>, l, static_cast<std::uint64_t>(KILN_NO_CHECK));
    const int none = last();
    push(op::ne, KILN_BOOL, shape_v<sh<>>, l);
    src(failed);
    src(none);
    leave_if(last(), l);
  }
};

// An object at the start of a library function gives all nodes of the function the line of the call.
struct called_from {
  builder* b;
  constexpr called_from(builder* builder_, const sloc& l) : called_from(builder_, detail::loc(l)) {}
  constexpr called_from(builder* builder_, const record::source_loc& l) : b(builder_) {
    if (b->calls++ == 0) b->call = l;
  }
  called_from(const called_from&) = delete;
  called_from& operator=(const called_from&) = delete;
  constexpr ~called_from() { --b->calls; }
};

}  // namespace kiln::dsl
