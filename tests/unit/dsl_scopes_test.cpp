// Records of scopes: the nodes in order, their numbers, attributes and sources. The C++ compiler knows all of them.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <string>

using namespace kiln::dsl;

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;

// The names of a program's operations, beginning with the first operation `from`.
template <class P>
std::string operations() {
  static constexpr const char* names[] = {
#define KILN_X(n) #n,
      KILN_RECORD_OPS(KILN_X)
#undef KILN_X
  };
  std::string text;
  for (int i = 0; i < ir<P>.n_nodes; ++i) text += std::string(i > 0 ? " " : "") + names[static_cast<int>(ir<P>.nodes[i].o)];
  return text;
}
template <class P>
constexpr const record::node& nth(op o, int k = 0) {
  int i = 0;
  while (ir<P>.nodes[i].o != o || k-- > 0) ++i;
  return ir<P>.nodes[i];
}
template <class P>
constexpr const record::extent& attr(const record::node& n, int k) {
  return ir<P>.attrs[n.attr_begin + k];
}

struct nested : program<nested> {
  in<f32, N, M> x;
  in<i32> count;
  out<f32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto v = var(0.0f);
      for (auto k : loop(1, count, 2)) {
        if (auto c = when(x(i, k) > 1.0f)) v += x.at<mode::mirror>(k, i);
        if (auto c = otherwise()) break_();
      }
      auto value = v + 1;  // y(i) would be evaluated first: g++ 12 evaluates constants from left to right, unlike C++17 for =
      y(i) = value;
    }
  }
};

TEST(DslScopes, NodesInOrder) {
  EXPECT_EQ(operations<nested>(),
            "kernel index constant var param loop counter element constant lt when element get add set when_end otherwise "
            "break_ when_end "
            "loop_end get constant add element put kernel_end");
  constexpr auto& p = ir<nested>;
  constexpr auto& kernel = nth<nested>(op::kernel);
  static_assert(kernel.imm == 1 && kernel.n_attrs == 1 && std::string_view(attr<nested>(kernel, 0).text) == "N");
  constexpr auto& loop = nth<nested>(op::loop);
  static_assert(loop.imm == 0 && loop.n_attrs == 3 && loop.n_sources == 1);
  static_assert(attr<nested>(loop, 0).value == 1 && attr<nested>(loop, 1).value == -1 && attr<nested>(loop, 2).value == 2);
  static_assert(p.nodes[p.sources[loop.source_begin]].o == op::param);
  static_assert(nth<nested>(op::element).imm == 0 && nth<nested>(op::element, 1).imm == std::uint64_t{2} << 32);
  static_assert(nth<nested>(op::element).n_sources == 2 && nth<nested>(op::put).imm == 2 &&
                nth<nested>(op::put).n_sources == 2);
  static_assert(nth<nested>(op::break_).n_sources == 0 && nth<nested>(op::otherwise).n_sources == 0);
  EXPECT_GT(kernel.loc.line, 0U);
}

struct bounds : program<bounds> {
  inout<i32, N> x;
  in<i64> wide;
  constexpr void body() {
    for (auto [i, j] : kernel<i64, N / 2, 3>()) x(i + j) += 1;
    for (auto k : loop(5, -1, -1)) x = x + k;
    for (auto k : loop<1, N - 1>()) x += k;
    for (auto k : loop(wide)) x += cast<i32>(k);
    for (auto k : forever()) break_if(k == 3);
  }
};
static_assert(nth<bounds>(op::kernel).d == KILN_I64 && nth<bounds>(op::kernel).imm == 2 && nth<bounds>(op::index, 1).imm == 1);
static_assert(std::string_view(attr<bounds>(nth<bounds>(op::kernel), 0).text) == "(N)//2");
static_assert(attr<bounds>(nth<bounds>(op::kernel), 1).value == 3);
static_assert(nth<bounds>(op::loop).n_sources == 2 && attr<bounds>(nth<bounds>(op::loop), 0).value == 5);
static_assert(std::string_view(attr<bounds>(nth<bounds>(op::loop, 1), 1).text) == "N-1");
static_assert(nth<bounds>(op::counter).d == KILN_I32 && nth<bounds>(op::counter, 2).d == KILN_I64);
static_assert(nth<bounds>(op::loop, 3).imm == 1 && nth<bounds>(op::loop, 2).imm == 0);

// Reads are snapshots: each value has one node, and a changed value or another scope a new one.
struct snapshots : program<snapshots> {
  inout<i32, N> x;
  out<i32> y;
  constexpr void body() {
    auto v = var(1);
    auto a = v + v;  // one get
    v = a;
    auto b = v;  // a copy: get, var
    for (auto i : loop(3)) v += b + b;
    y = v + b;
  }
};
static_assert(count_ops<snapshots>(op::get) == 6 && count_ops<snapshots>(op::var) == 2 && count_ops<snapshots>(op::set) == 2);

struct atomics : program<atomics> {
  inout<i32, N> x;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto a = local<i32, 4, 2>();
      auto b = local<i32, 3>();
      auto old = a(i, 1);
      b(i) = old;
      x.at<mode::wrap>(i).atomic_compare_exchange(1, 2);
      x(i).atomic_max(3);
    }
  }
};
static_assert(nth<atomics>(op::local, 1).imm == 1 && nth<atomics>(op::local).s->rank == 2);
static_assert(nth<atomics>(op::put).imm == 1001 && nth<atomics>(op::element).imm == 1000);
static_assert(nth<atomics>(op::atomic).imm == (std::uint64_t{7} << 40 | std::uint64_t{1} << 32) &&
              nth<atomics>(op::atomic).n_sources == 3);
static_assert(nth<atomics>(op::atomic, 1).imm == std::uint64_t{2} << 40 && nth<atomics>(op::atomic, 1).n_sources == 2);

TEST(DslScopes, RunTimeTraceIsTheSame) {
  builder b;
  detail::trace<nested>(b);
  ASSERT_EQ(b.nodes.n, ir<nested>.n_nodes);
  for (int i = 0; i < b.nodes.n; ++i) EXPECT_EQ(b.nodes.v[i].o, ir<nested>.nodes[i].o) << i;
  EXPECT_EQ(b.error, why::ok);
  EXPECT_EQ(b.scope, 0);
}

}  // namespace
