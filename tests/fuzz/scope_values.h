// Random values, conditions, reads and writes of programs with scopes (random_scopes.cpp).
#pragma once

#include <optional>
#include <vector>

#include "tests/fuzz/random.h"
#include "tests/fuzz/shared_arrays.h"
#include "tests/fuzz/typed_memory.h"

namespace kiln::test {

class ScopeValues {
 protected:
  using atomic_kind = dsl::record::atomic_kind;
  using index_mode = dsl::record::index_mode;
  using op = dsl::record::op;
  using Tables = tables::Tables;

  // Parameters. Read: a[N], b[4, 5], bound. Changed, each work item its own elements: c[N], d[3, N], bytes[N]. Changed by
  // atomics: total, counts[N], wide[N]. Output: e[N]. A permutation from the first kernel on: p[N].
  enum Slot : std::uint64_t {
    slot_a,
    slot_b,
    slot_bound,
    slot_c,
    slot_d,
    slot_total,
    slot_e,
    slot_counts,
    slot_wide,
    slot_bytes,
    slot_p
  };

  explicit ScopeValues(std::uint64_t seed) : random_(seed), t_("scopes") {
    scalar_ = t_.shape({});
    const auto* n = vector_ = t_.shape({Tables::text("N")});
    const auto* matrix = t_.shape({Tables::fixed(4), Tables::fixed(5)});
    const auto* rows = t_.shape({Tables::fixed(3), Tables::text("N")});
    t_.symbol("N", 0);
    t_.param("a", 0, KILN_I32, n);
    t_.param("b", 0, KILN_I32, matrix);
    t_.param("bound", 0, KILN_I32, scalar_);
    t_.param("c", 2, KILN_I32, n);
    t_.param("d", 2, KILN_I32, rows);
    t_.param("total", 2, KILN_I32, scalar_);
    t_.param("e", 1, KILN_I32, n);
    t_.param("counts", 2, KILN_I32, n);
    t_.param("wide", 2, KILN_I64, n);
    t_.param("bytes", 2, KILN_U8, n);
    t_.param("p", 2, KILN_I32, n);
  }

  int node(op o, kiln_dtype d, std::vector<int> sources = {}, std::vector<dsl::record::extent> attrs = {},
           std::uint64_t imm = 0) {
    return t_.node(o, d, scalar_, std::move(sources), std::move(attrs), imm);
  }
  int number(std::int64_t v) { return node(op::constant, KILN_I32, {}, {}, static_cast<std::uint64_t>(v)); }
  int cast(kiln_dtype d, int v) { return node(op::cast, d, {v}); }
  kiln_dtype other_type() {
    constexpr kiln_dtype types[] = {KILN_I8, KILN_I16, KILN_I64, KILN_U8, KILN_U16, KILN_U32, KILN_U64};
    return types[random_.pick(0, 6)];
  }
  op any_binary() {
    constexpr op binaries[] = {op::add, op::sub,  op::mul,  op::min,  op::max, op::and_,
                               op::or_, op::xor_, op::cdiv, op::cmod, op::shl, op::shr};
    return binaries[random_.pick(0, 11)];
  }
  // A value converted to another type, and back.
  int foreign() {
    const kiln_dtype d = other_type();
    const int a = cast(d, any()), b = cast(d, any());
    return cast(KILN_I32, node(any_binary(), d, {a, b}));
  }
  int any() { return visible_[static_cast<std::size_t>(random_.pick(0, static_cast<std::int64_t>(visible_.size()) - 1))]; }
  int small(std::int64_t mask) { return node(op::and_, KILN_I32, {any(), number(mask)}); }

  int value() {
    int v = 0;
    switch (random_.pick(0, 8)) {
      case 0: v = number(random_.pick(-20, 20)); break;
      case 1: v = node(op::where, KILN_I32, {condition(), any(), any()}); break;
      case 2:
      case 3: v = read(); break;
      case 4: v = memory_.read_variable().value_or(visible_.back()); break;
      case 5: v = foreign(); break;
      default: {
        const op o = any_binary();
        v = node(o, KILN_I32, {any(), any()});
      }
    }
    visible_.push_back(v);
    return v;
  }
  // In a kernel: a condition that does not depend on the work item.
  int common_condition() {
    const auto outside = [&] {
      return visible_[static_cast<std::size_t>(random_.pick(0, std::ssize(visible_) - 1)) % outside_];
    };
    return node(op::le, KILN_BOOL, {outside(), random_.one_in(2) ? outside() : number(random_.pick(-5, 12))});
  }
  int condition() {
    constexpr op compares[] = {op::lt, op::le, op::eq, op::ne};
    int x = any(), y = random_.one_in(2) ? any() : number(random_.pick(-5, 12));
    if (random_.one_in(6)) {
      const kiln_dtype d = other_type();
      x = cast(d, x), y = cast(d, y);
    }
    const int c = node(compares[random_.pick(0, 3)], KILN_BOOL, {x, y});
    return random_.one_in(4) ? node(op::not_, KILN_BOOL, {c}) : c;
  }
  int index() { return random_.one_in(3) ? small(7) : any(); }

  static std::uint64_t place(index_mode m, std::uint64_t tensor) { return static_cast<std::uint64_t>(m) << 32 | tensor; }
  int element(std::uint64_t tensor, std::vector<int> indices, bool may_be_constant = true) {
    auto m = static_cast<index_mode>(random_.pick(0, may_be_constant ? 3 : 2));
    if (m == index_mode::constant) indices.push_back(any());
    return node(op::element, KILN_I32, indices, {}, place(m, tensor));
  }
  // A readable value: inputs, local arrays and, of tensors that the kernel around changes, the work item's own elements.
  // Outside of kernels every tensor is readable.
  int read() {
    switch (random_.pick(0, 5)) {
      case 0: return element(slot_b, {index(), index()});
      case 1: {
        const int i = index(), j = index(), otherwise = any();
        if (const auto shared = arrays_.read(i, otherwise)) return *shared;
        if (const auto own = memory_.read_array(i, j, otherwise)) return *own;
        break;
      }
      case 2:
        if (on_host_) return element(slot_d, {index(), index()});
        if (own_.column >= 0)
          return own_.row >= 0 ? element(slot_d, {own_.row, own_.column}, false)
                               : element(slot_d, {index(), own_.column}, false);
        break;
      case 3:
        if (on_host_) return element(slot_c, {index()});
        if (own_.column >= 0 && own_.row < 0)
          return random_.one_in(3)
                     ? cast(KILN_I32, node(op::element, KILN_U8, {own_.column}, {}, place(index_mode::clamp, slot_bytes)))
                     : node(op::element, KILN_I32, {own_.column}, {}, place(index_mode::clamp, slot_c));
        break;
      default: break;
    }
    return element(slot_a, {index()});
  }
  void put() {
    const auto m = static_cast<index_mode>(random_.one_in(4) ? 5 : random_.pick(0, 2));
    if (random_.one_in(2) && put_typed()) return;
    if (on_host_) return lone_put(m);
    if (random_.one_in(2) && put_shared()) return;
    if (!own_.inside) return;
    if (own_.column < 0 || random_.one_in(3))
      add(m);
    else if (random_.one_in(4) && !own_.promised)
      exchange();
    else
      put_own(m);
  }
  bool put_typed() {
    const int v = any(), i = index(), j = index();
    return memory_.put(v, i, j);
  }
  bool put_shared() {
    std::optional<int> old;
    const int i = index(), v = any();
    const bool written = arrays_.write(i, v, old);
    if (old) visible_.push_back(*old);
    return written;
  }
  void put_own(index_mode m) {
    const std::uint64_t promise = own_.promised ? dsl::record::unique_write : 0;
    const Slot vector = random_.one_in(3) ? slot_e : slot_c;
    if (own_.row >= 0)
      node(op::put, KILN_I32, {any(), own_.row, own_.column}, {}, promise | place(m, slot_d));
    else if (random_.one_in(2))
      node(op::put, KILN_I32, {any(), index(), own_.column}, {}, promise | place(m, slot_d));
    else if (random_.one_in(4))
      node(op::put, KILN_U8, {cast(KILN_U8, any()), own_.column}, {}, promise | place(m, slot_bytes));
    else
      node(op::put, KILN_I32, {any(), own_.column}, {}, promise | place(m, vector));
  }
  static std::uint64_t atomically(atomic_kind k, std::uint64_t place) { return static_cast<std::uint64_t>(k) << 40 | place; }
  // An atomic operation on an element that other work items also change.
  void add(index_mode m) {
    switch (random_.pick(0, 2)) {
      case 0: node(op::atomic, KILN_I32, {any()}, {}, atomically(own_.kind, slot_total)); break;
      case 1: node(op::atomic, KILN_I32, {any(), index()}, {}, atomically(own_.kind, place(m, slot_counts))); break;
      default: node(op::atomic, KILN_I64, {cast(KILN_I64, any()), index()}, {}, atomically(own_.kind, place(m, slot_wide)));
    }
  }
  // An atomic operation on the work item's own element, so that its old value is known.
  void exchange() {
    const auto kind = static_cast<atomic_kind>(random_.pick(0, 7));
    std::vector<int> sources{any()};
    if (kind == atomic_kind::compare_exchange) sources.push_back(any());
    if (own_.row >= 0) sources.push_back(own_.row);
    sources.push_back(own_.column);
    visible_.push_back(node(op::atomic, KILN_I32, sources, {}, atomically(kind, own_.row >= 0 ? slot_d : slot_c)));
  }

  void lone_put(index_mode m) {
    const auto kind = static_cast<atomic_kind>(random_.pick(0, 5));
    const Slot vector = random_.one_in(3) ? slot_e : slot_c;
    if (random_.one_in(3))
      visible_.push_back(node(op::atomic, KILN_I32, {any(), index()}, {}, atomically(kind, place(m, slot_c))));
    else if (random_.one_in(2))
      node(op::put, KILN_I32, {any(), index()}, {}, place(m, vector));
    else
      node(op::put, KILN_I32, {any(), index(), index()}, {}, place(m, slot_d));
  }

  // The elements that the kernel's work items write. The work items of a counted kernel have no elements of their own.
  struct Own {
    bool inside = false;
    int row = -1, column = -1;
    atomic_kind kind = atomic_kind::add;
    bool promised = false;  // whether the program promises that each work item has another column
  };

  Random random_;
  Tables t_;
  const dsl::record::shape *scalar_ = nullptr, *vector_ = nullptr;
  std::vector<int> visible_;  // integers of the open scopes
  std::vector<int> shared_;   // values that are equal for all work items of a workgroup
  SharedArrays arrays_{random_, t_};
  TypedMemory memory_{random_, t_};
  Own own_;
  int loops_ = 0, budget_ = 0, host_budget_ = 14;
  bool on_host_ = true;
  std::size_t outside_ = 0;  // number of visible_ from before the kernel
};

}  // namespace kiln::test
