// Twins of names, as in twins.cpp: Kiln's functions where the program, another program or a dim has the same name.
#include <kiln/dsl.h>

using namespace kiln;

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;
inline constexpr dim<"prod"> prod;

// clang-format off
#ifndef BAD
#define BAD 0
#endif

// Functions with names of kiln/dsl/elsewhere.h are better matches than those.
constexpr auto norm(Operand auto const& x) { return sqrt(sum(x * x)); }
template <class X> constexpr auto add(X a, X b) { return a + b; }
template <class... X> constexpr auto mul(const X&... x) { return (x * ...); }
template <class X> constexpr auto dropout(const X& x, float p = 0.5f) { return x * p; }
template <class X> constexpr auto softplus(X&& x) { return log1p(exp(x)); }
template <int A, class X> constexpr auto amax(const X& x) { return max<A>(x); }
template <int A = 0, class X> constexpr auto variance(const X& x) { return mean<A>(x * x); }
constexpr auto relu6(expr<f32, N> x) { return clamp(x, 0, 6); }
template <int A> constexpr auto vector_norm(expr<f32, N, M> x) { return sqrt(sum<A>(x * x)); }
template <class X, class W> constexpr auto linear(const X& x, const W& w) { return matmul(x, w); }
template <DType D, class X> constexpr auto astype(const X& x) { return cast<D>(x); }
template <auto K, class X> constexpr auto one_hot(const X& x) { return unsqueeze<1>(x) == iota<1>(expand<N, K>(unsqueeze<1>(x))); }
struct layer { inout<f32, M, N> w; template <class X> constexpr auto operator()(const X& x) const { return linear(x, w); } };
struct own : program<own> {
  in<f32, N, M> x;
  in<f32, N> v;
  in<i32, N> k;
  out<f32, N> y;
  out<f32, N> z;
  layer model;
  constexpr void body() {
    auto mish = [&](auto a) { return a * tanh(a); };
    y = norm(v) * add(v, v) + mul(v, v, v) + dropout(v) + dropout(v, 0.1f) + softplus(v) + mish(v) + relu6(v + v) + relu6(v);
    z = vector_norm<1>(x) + amax<1>(x) + variance<1>(x) + sum(variance(x)) + sum<1>(model(x)) + astype<f32>(k) + cast<f32>(any<1>(one_hot<10>(k)));
  }
};
struct max : program<max> {
  in<f32, N> x;
  out<f32, N> y;
  constexpr void body() { y = kiln::dsl::max(x, 0); }
};
struct kernel : program<kernel> {
  in<f32, N> x;
  out<f32, N> y;
  constexpr void body() {
    for (auto [i] : program::kernel(N)) y(i) = x(i);
#if BAD == 5
    for (auto [i] : kernel(N)) y(i) = x(i);  //! this name means a program here write kiln dsl name for the function|this name means a program here
#endif
  }
};

#define CALLED(NAME)                          \
  struct NAME : program<NAME> {               \
    in<f32, N> x;                             \
    out<f32, N> y;                            \
    constexpr void body() { y = x * 2; }      \
  };
CALLED(conv)
CALLED(histogram)
CALLED(matmul)
CALLED(mode)
CALLED(pool)
CALLED(scope)
CALLED(softmax)
CALLED(sort)
CALLED(status)
CALLED(str)
CALLED(sum)
CALLED(transpose)
CALLED(view)

struct relu : program<relu> {
  in<f32, N, prod> x;
  in<f32, N> v;
  out<f32, N, prod> y;
  out<f32> total;
  constexpr void body() {
    y = kiln::dsl::relu(x);
    total = kiln::dsl::prod(v);
#if BAD == 1
    y = relu(x);  //! this name means a program here write kiln dsl name for the function|write kiln::dsl::NAME\(x\)
#elif BAD == 2
    y = max(x, 0.0f);  //! this name means a program here write kiln dsl name for the function|write kiln::dsl::NAME\(x\)
#elif BAD == 3
    total = prod(v);  //! this name means a dim here write kiln dsl name for the function|write kiln::dsl::NAME\(x\)
#elif BAD == 4
    total = max(v);  //! this name means a program here write kiln dsl name for the function|write kiln::dsl::NAME\(x\)
#endif
  }
};
static const programs<relu, max, kernel, conv, histogram, matmul, mode, pool, scope, softmax, sort, status, str, sum, transpose, view, own> exported;
// clang-format on
