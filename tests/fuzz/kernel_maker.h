// The nodes of random kernels: arithmetic that is spelled in several ways, scopes with their bodies, elements.
#pragma once

#include <functional>
#include <vector>

#include "tests/fuzz/random.h"
#include "tests/unit/generator_tables.h"

namespace kiln::test {

class KernelMaker {
 protected:
  using index_mode = dsl::record::index_mode;
  using op = dsl::record::op;
  using Tables = tables::Tables;

  KernelMaker(std::uint64_t seed, const char* name) : random_(seed), t_(name) {}

  int node(op o, std::vector<int> sources = {}, std::uint64_t imm = 0) {
    return t_.node(o, KILN_I32, scalar_, std::move(sources), {}, imm);
  }
  int node_dim() { return t_.node(op::dim, KILN_I32, scalar_, {}, {Tables::text("N")}); }
  int flag(op o, std::vector<int> sources) { return t_.node(o, KILN_BOOL, scalar_, std::move(sources)); }
  int number(std::int64_t v) { return node(op::constant, {}, static_cast<std::uint64_t>(v)); }
  // Pairs of operands. They are in braces, which C++ evaluates in order.
  struct Two {
    int a, b;
  };
  struct By {
    int a;
    std::int64_t m;
  };
  int add(Two x) { return node(op::add, {x.a, x.b}); }
  int sub(Two x) { return node(op::sub, {x.a, x.b}); }
  int plus(By x) { return x.m == 0 ? x.a : x.m > 0 ? add({x.a, number(x.m)}) : sub({x.a, number(-x.m)}); }
  bool coin() { return random_.one_in(2); }

  static bool is_power(std::int64_t m) { return (m & (m - 1)) == 0; }
  static int log2(std::int64_t m) {
    int n = 0;
    while (m > 1) m /= 2, ++n;
    return n;
  }
  // One of several ways to write the product.
  int times(By x) {
    const auto [a, m] = x;
    if (m == 2 && random_.one_in(3)) return add({a, a});
    if (is_power(m) && m > 0 && random_.one_in(3)) return node(op::shl, {a, number(log2(m) + (random_.one_in(4) ? 32 : 0))});
    return node(op::mul, {a, number(m)});
  }
  int over(By x) {
    const auto [a, m] = x;
    if (is_power(m) && random_.one_in(3)) return node(op::shr, {a, number(log2(m))});
    const op o = coin() ? op::cdiv : op::floordiv;
    return node(o, {a, number(m)});
  }
  int mod(By x) {
    const auto [a, m] = x;
    if (is_power(m) && random_.one_in(3)) return node(op::and_, {a, number(m - 1)});
    const op o = coin() ? op::cmod : op::floormod;
    return node(o, {a, number(m)});
  }

  int extent_or(std::int64_t least, std::int64_t most) {
    return random_.one_in(3) ? static_cast<int>(random_.pick(least, most)) : 0;
  }
  static dsl::record::extent extent(std::int64_t e) { return e == 0 ? Tables::text("N") : Tables::fixed(e); }

  // body: gets the kernel's indices. extents: 0 is N.
  void kernel(std::vector<std::int64_t> extents, const std::function<void(std::vector<int>)>& body) {
    std::vector<dsl::record::extent> ends;
    for (const std::int64_t e : extents) ends.push_back(extent(e));
    const int k = t_.node(op::kernel, KILN_I32, scalar_, {}, ends, extents.size());
    std::vector<int> at;
    for (std::size_t axis = 0; axis < extents.size(); ++axis) at.push_back(node(op::index, {k}, axis));
    body(at);
    t_.node(op::kernel_end, KILN_BOOL, scalar_);
  }
  void when(int condition, const std::function<void()>& body) {
    flag(op::when, {condition});
    body();
    flag(op::when_end, {});
  }
  void otherwise(const std::function<void()>& body) {
    flag(op::otherwise, {});
    body();
    flag(op::when_end, {});
  }
  // Counts 0 .. end - 1. no_end: N iterations.
  void loop(int end, const std::function<void(int)>& body) {
    const bool is_n = end < 0;
    const int l = t_.node(op::loop, KILN_I32, scalar_, is_n ? std::vector<int>{} : std::vector{end},
                          {Tables::fixed(0), is_n ? Tables::text("N") : Tables::fixed(-1), Tables::fixed(1)});
    body(node(op::counter, {l}));
    flag(op::loop_end, {});
  }
  int read(std::uint64_t slot, std::vector<int> at) {
    return node(op::element, std::move(at), static_cast<std::uint64_t>(index_mode::clamp) << 32 | slot);
  }
  int read_or_0(std::uint64_t slot, std::vector<int> at) {
    at.push_back(number(0));
    return node(op::element, std::move(at), static_cast<std::uint64_t>(index_mode::constant) << 32 | slot);
  }
  // sources: the value, then its indices.
  void put(std::uint64_t slot, std::vector<int> sources, index_mode m = index_mode::skip) {
    node(op::put, std::move(sources), static_cast<std::uint64_t>(m) << 32 | slot);
  }
  index_mode any_mode() {
    constexpr index_mode modes[] = {index_mode::skip, index_mode::skip, index_mode::clamp, index_mode::wrap};
    return modes[random_.pick(0, 3)];
  }

  Random random_;
  Tables t_;
  const dsl::record::shape* scalar_ = nullptr;
  int c_ = 0, d_ = 0, n_ = 0;
};

}  // namespace kiln::test
