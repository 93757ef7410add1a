// Captured programs: names, shapes, operations and locations. The C++ compiler knows all of them.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <string>
#include <string_view>

using namespace kiln::dsl;

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;
inline constexpr dim<"E", facts{.min = 2, .max = 1024, .multiple_of = 4}> E;

constexpr bool text_is(const char* a, std::string_view b) { return std::string_view(a) == b; }
template <ext X>
constexpr bool prints(std::string_view s) {
  return s == X.text;
}

// Polynomials have a canonical form.
static_assert(prints<N * M + M * N>("2*M*N"));
static_assert(prints<N - 1 + 1>("N"));
static_assert(prints<N - N>("0"));
static_assert(prints<3 - N>("-N+3"));
static_assert(prints<(N + 1) * (N - 1)>("N*N-1"));
static_assert(prints<(N + 1) / 2>("(N+1)//2"));
static_assert(prints<(2 * N + 4) / 2>("N+2"));
static_assert(prints<(2 * N + 3) / 4>("(N+1)//2"));
static_assert(prints<N / 2 / 3>("(N)//6"));
static_assert(prints<E / 2 * 2>("E"));
static_assert(prints<E - E / 2>("(E)//2"));
static_assert(prints<E / 2 + E / 4>("3*(E)//4"));
static_assert(prints<E % 4>("0"));
static_assert(prints<N % 2>("-2*(N)//2+N"));
static_assert(std::is_same_v<in<f32, N * 2>, in<f32, N + N>>);
static_assert(std::is_same_v<in<f32, 784>, in<f32, 784L>>);
static_assert(std::is_same_v<in<f32, N + 0>, in<f32, N>>);
static_assert(std::is_same_v<in<f32, E * 1>, in<f32, E>>);

// Broadcasting.
template <class A, class B>
constexpr bool fits = broadcastable<A, B>;
template <class A, class B, class R>
constexpr bool gives = std::is_same_v<broadcast_t<A, B>, R>;
using S0 = make_sh<>;
static_assert(gives<S0, make_sh<3>, make_sh<3>> && gives<make_sh<3>, S0, make_sh<3>>);
static_assert(gives<make_sh<4, 1>, make_sh<3>, make_sh<4, 3>>);
static_assert(gives<make_sh<3>, make_sh<4, 1>, make_sh<4, 3>>);
static_assert(gives<make_sh<1>, make_sh<N>, make_sh<N>> && gives<make_sh<N>, make_sh<1>, make_sh<N>>);
static_assert(gives<make_sh<N, 1>, make_sh<1, M>, make_sh<N, M>>);
static_assert(gives<make_sh<2, 1, 3>, make_sh<5, 1>, make_sh<2, 5, 3>>);
static_assert(gives<make_sh<1>, make_sh<0>, make_sh<0>> && gives<make_sh<1, 1>, make_sh<1>, make_sh<1, 1>>);
static_assert(gives<make_sh<N + 1>, make_sh<1 + N>, make_sh<N + 1>>);
static_assert(!fits<make_sh<3>, make_sh<4>> && !fits<make_sh<0>, make_sh<2>> && !fits<make_sh<N>, make_sh<M>>);
static_assert(!fits<make_sh<N>, make_sh<4>> && !fits<make_sh<N>, make_sh<N + 1>> && !fits<make_sh<2, 3>, make_sh<2>>);

// Literals: the C++ types that an element type takes, and their bits.
static_assert(detail::takes<int, f16> && detail::takes<double, bf16> && detail::takes<int, u8> && detail::takes<bool, bool>);
static_assert(!detail::takes<double, i32> && !detail::takes<bool, i32> && !detail::takes<int, bool> &&
              !detail::takes<bool, f32>);
static_assert(detail::encode<f32>(0.1).bits == 0x3dcccccd && detail::encode<f32>(-2).bits == 0xc0000000);
static_assert(detail::encode<f16>(1.0).bits == 0x3c00 && detail::encode<f16>(65504).bits == 0x7bff &&
              !detail::encode<f16>(65520).fits);
static_assert(detail::encode<f16>(6e-8).bits == 1 && detail::encode<f16>(2e-8).bits == 0 &&
              detail::encode<f16>(1e-320).bits == 0);
static_assert(detail::encode<f16>(1.00048828125).bits == 0x3c00 && detail::encode<f16>(1.00146484375).bits == 0x3c02);
static_assert(detail::encode<bf16>(3.140625).bits == 0x4049 && detail::encode<bf16>(1.0).bits == 0x3f80);
static_assert(detail::encode<f32>(__builtin_inf()).bits == 0x7f800000 && detail::encode<f32>(__builtin_inf()).fits);
static_assert(!detail::encode<f32>(1e39).fits && detail::encode<f32>(1e-46).bits == 0 && detail::encode<f32>(1e-45).bits == 1);
static_assert(detail::encode<i8>(-128).fits && !detail::encode<i8>(128).fits && !detail::encode<i8>(-129).fits);
static_assert(detail::encode<u8>(255).fits && !detail::encode<u8>(256).fits && !detail::encode<u8>(-1).fits);
static_assert(detail::encode<u64>(~0ull).fits && !detail::encode<i64>(~0ull).fits && detail::encode<i32>(-1).bits == ~0ull);

template <int In, int Out>
struct linear {
  inout<f32, In, Out> w;
  in<f32, Out> b;
  constexpr auto operator()(Operand auto const& x) const { return matmul(x, w) + b; }
};
struct mlp {
  linear<3, 4> l1;
  linear<4, 2> l2;
};
struct net : program<net> {
  mlp model;
  in<f32, N, 3> x;
  out<f32, N, 2> y;
  constexpr void body() {
    auto h = relu(model.l1(x));
    y = softmax<1>(model.l2(h));
    model.l1.w *= 0.5;
  }
};
static_assert(text_is(ir<net>.name, "net"));
static_assert(ir<net>.n_params == 6);
static_assert(text_is(ir<net>.params[0].name, "model_l1_w") && text_is(ir<net>.params[1].name, "model_l1_b"));
static_assert(text_is(ir<net>.params[2].name, "model_l2_w") && text_is(ir<net>.params[3].name, "model_l2_b"));
static_assert(text_is(ir<net>.params[4].name, "x") && text_is(ir<net>.params[5].name, "y"));
static_assert(ir<net>.params[0].direction == 2 && ir<net>.params[4].direction == 0 && ir<net>.params[5].direction == 1);
static_assert(ir<net>.params[4].s->rank == 2 && text_is(ir<net>.params[4].s->extents[0].text, "N"));
static_assert(ir<net>.params[4].s->extents[1].value == 3 && ir<net>.params[4].s->extents[1].text == nullptr);
static_assert(count_ops<net>(op::reduce) == 4 && count_ops<net>(op::store) == 2 && count_ops<net>(op::exp) == 1);
static_assert(ir<net>.n_symbols == 1 && text_is(ir<net>.symbols[0].name, "N") && ir<net>.symbols[0].min == 0);

template <class D, int K>
struct shifted : program<shifted<D, K>> {
  in<D, E, N + K> x;
  out<D, E, N + K> y;
  in<D, N> plain;
  constexpr void body() { y = x + K; }
};
static_assert(text_is(ir<shifted<u8, 3>>.name, "shifted_u8_3"));
static_assert(ir<shifted<u8, 3>>.n_symbols == 2 && text_is(ir<shifted<u8, 3>>.symbols[0].name, "E"));
static_assert(ir<shifted<u8, 3>>.symbols[0].min == 2 && ir<shifted<u8, 3>>.symbols[0].max == 1024);
static_assert(ir<shifted<u8, 3>>.symbols[0].multiple_of == 4);
static_assert(text_is(ir<shifted<u8, 3>>.params[0].s->extents[1].text, "N+3"));

// An extent has the facts of up to six symbols.
inline constexpr facts even{.multiple_of = 2};
inline constexpr dim<"A1", even> A1;
inline constexpr dim<"A2", even> A2;
inline constexpr dim<"A3", even> A3;
inline constexpr dim<"A4", even> A4;
inline constexpr dim<"A5", even> A5;
inline constexpr dim<"A6", even> A6;
struct of_six : program<of_six> {
  in<f32, A1, A2, A3, A4, A5, A6> x;
  in<f32, A1 + A2 + A3 + A4 + A5 + A6> v;
  out<f32, A1 * A2 * A3 * A4 * A5 * A6> y;
  out<f32, A1 / 2 + A2 / 2> z;
  constexpr void body() {
    y = flatten(x);
    z = slice<0, 0, A1 / 2 + A2 / 2>(v);
  }
};
static_assert(ir<of_six>.n_symbols == 6 && ir<of_six>.symbols[5].multiple_of == 2);
static_assert(text_is(ir<of_six>.params[2].s->extents[0].text, "A1*A2*A3*A4*A5*A6"));

// An extent has facts about the symbols in its text. The text of N + M - M is N, so there are no facts about M.
static_assert(std::is_same_v<std::remove_const_t<decltype(extent_v<E + N - E>)>, dim<"N">>);
static_assert(std::is_same_v<std::remove_const_t<decltype(extent_v<N * E + E - N * E>)>, std::remove_const_t<decltype(E)>>);
struct behind_known : program<behind_known> {
  in<i32, E + N> x;
  in<i32, E> e;
  out<i32> y;
  constexpr void body() { y = sum(slice<0, E, none>(x)) + sum(e); }
};
static_assert(ir<behind_known>.n_symbols == 2 && ir<behind_known>.symbols[1].min == 0);

// An inout reads the last stored value, an out may be read once it has a value, and copies of handles name the same tensor.
struct updates : program<updates> {
  in<i32, N> x;
  inout<i32, N> y;
  out<i32, N> z;
  constexpr void body() {
    y = y + x;  // param y, param x, add, store
    y += x;     // param y, add, store
    auto& view = y;
    z = view - 1;
    z = z * z;
  }
};
static_assert(count_ops<updates>(op::store) == 4);
static_assert(count_ops<updates>(op::param) == 5);  // x once, y three times, z once

struct doubling : program<doubling> {
  in<f32, N> x;
  out<f32, N> y;
  constexpr void body() {
    auto v = x + x;
    for (int i = 1; i < 40; ++i) v = v + v;
    y = v;
  }
};
static_assert(count_nodes<doubling>() == 42 && count_ops<doubling>(op::add) == 40);

// Ill-formed operands match no overload.
template <class A, class B>
concept addable = requires(A a, B b) { a + b; };
template <class A, class B>
concept assignable = requires(A a, B b) { a = b; };
template <class A>
concept logical = requires(A a) { !a; };
static_assert(addable<in<f32, 3>, expr<f32, 3>> && addable<int, in<f32, 3>> && addable<in<f16, N>, double>);
static_assert(!addable<in<f32, 3>, in<f64, 3>> && !addable<in<i32, 3>, double> && !addable<in<bool, 3>, in<bool, 3>>);
static_assert(!addable<in<f32, N>, in<f32, M>>);
static_assert(assignable<out<f32, N>&, expr<f32>> && assignable<inout<f32, N>&, in<f32, 1>> &&
              !assignable<in<f32, N>&, in<f32, 1>>);
static_assert(!assignable<out<f32, 1>&, in<f32, N>> && !assignable<out<f32, N>&, in<i32, N>>);
static_assert(logical<in<bool, N>> && !logical<in<f32, N>>);

struct located : program<located> {
  in<f32, N> x;
  out<f32, N> y;
  constexpr void body() {
    auto a = x + 1;
    auto b = exp(a);
    y = gelu(b);
  }
};
constexpr int body_line = __LINE__ - 6;

TEST(DslCapture, LocationsAreTheUsers) {
  const auto& p = ir<located>;
  for (int i = 0; i < p.n_nodes; ++i) {
    const auto& n = p.nodes[i];
    const std::string file = n.loc.file;
    EXPECT_NE(file.find("dsl_capture_test.cpp"), std::string::npos) << i;
    EXPECT_GT(n.loc.column, 0u);
    if (n.o == op::exp) {
      EXPECT_EQ(n.loc.line, static_cast<unsigned>(body_line + 2));
    }
    if (n.o == op::erf || n.o == op::store) {
      EXPECT_EQ(n.loc.line, static_cast<unsigned>(body_line + 3));
    }
  }
  EXPECT_EQ(p.nodes[0].loc.line, static_cast<unsigned>(body_line + 1));
}

struct compares_first : program<compares_first> {
  in<f32, N> x;
  out<bool, N> y;
  constexpr void body() { y = !(x == 0); }
};
static_assert(ir<compares_first>.nodes[0].loc.line == __LINE__ - 2);
static_assert(ir<compares_first>.loc.line == __LINE__ - 3);

TEST(DslCapture, RunTimeTraceIsTheSame) {
  builder b;
  detail::trace<net>(b);
  const auto& p = ir<net>;
  ASSERT_EQ(b.nodes.n, p.n_nodes);
  for (int i = 0; i < p.n_nodes; ++i) {
    EXPECT_EQ(b.nodes.v[i].o, p.nodes[i].o) << i;
    EXPECT_EQ(b.nodes.v[i].imm, p.nodes[i].imm) << i;
    EXPECT_EQ(b.nodes.v[i].loc.line, p.nodes[i].loc.line) << i;
    for (int k = 0; k < p.nodes[i].n_sources; ++k)
      EXPECT_EQ(b.sources.v[b.nodes.v[i].source_begin + k], p.sources[p.nodes[i].source_begin + k]) << i;
  }
}

}  // namespace

// A call finds no function of kiln::dsl::detail by its arguments, so a helper function of a user may have any name of it.
namespace kiln::dsl::detail {
template <class X>
constexpr void found_by_arguments(const X&) {}
}  // namespace kiln::dsl::detail

namespace {

template <class X>
concept finds = requires(const X& x) { found_by_arguments(x); };
template <class... X>
concept finds_detail = (finds<X> || ...);
static_assert(finds_detail<detail::literal> && !finds_detail<float>);

struct handles : program<handles> {
  in<f32, N> x;
  in<f32, 4> w;
  out<f32, N> y;
  inout<f32> total;
  constexpr void body() {
    const auto doubled = x * 2;
    const auto halves = split<0, 2>(w);
    y = doubled;
    for (auto [i] : kernel(N).workgroup<64>()) {
      auto v = var(0.0f);
      auto a = local<f32, 4>();
      auto part = local_id(i);
      static_assert(!finds_detail<decltype(i), decltype(part), decltype(v), decltype(a), decltype(x(i)), decltype(a(0)),
                                  decltype(range<2>(i)), decltype(w(range<2>(i)))>);
      if (auto c = when(x(i) > v)) {
        static_assert(!finds_detail<decltype(c)>);
        total().atomic_add(x(i));
      }
      for (auto k : loop(2)) static_assert(!finds_detail<decltype(k)>);
    }
    static_assert(!finds_detail<decltype(x), decltype(y), decltype(total), decltype(doubled), decltype(halves), handles>);
    static_assert(
        !finds_detail<decltype(kernel(N, M)), decltype(kernel(N).workgroup<64>()), decltype(once()), mistake<why::ok>>);
    static_assert(!finds_detail<decltype(scope(x)), decltype(N), decltype(N + 1), decltype(none), decltype(keepdims)>);
  }
};
static_assert(count_ops<handles>(op::kernel) == 1);

}  // namespace
