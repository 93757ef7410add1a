// Finds out which dtypes each spelling accepts, by asking the C++ compiler whether a program compiles. (The error messages are
// tested in compile_fail.)
#include "tests/run/operations/operations.h"
#include "tests/run/operations/tags.h"

namespace kiln::compiler::testing {
namespace {

using namespace dsl;

// The names that a body may use; `p` is the program itself.
template <class D>
struct body : program<body<D>> {
  void body_of();
};

template <class F, class... D>
std::vector<bool> ask(F f, D... tags) {
  return {f(tags)...};
}
template <class D>
struct type {
  using dtype = D;
};
template <class F>
std::vector<bool> of_each_dtype(F f) {
  return ask(f, type<bool>{}, type<i8>{}, type<i16>{}, type<i32>{}, type<i64>{}, type<u8>{}, type<u16>{}, type<u32>{},
             type<u64>{}, type<f16>{}, type<bf16>{}, type<f32>{}, type<f64>{});
}

#define ROW(spelling, ...)                                                                                            \
  rows.push_back({spelling, of_each_dtype([]<class T>(T) {                                                            \
                    using D = typename T::dtype;                                                                      \
                    return requires(in<D, 4, 6> x, in<D, 4, 6> y, in<D, 6> v, inout<D, 4, 6> w, in<bool, 4, 6> c,     \
                                    in<D, 2, 4, 6, 6> image, in<D, 4, 4, 3, 3> filter, in<D, 4, 2, 3, 3> grouped,     \
                                    in<D, 4> bias, in<D, 1, 6> one, in<D, 6, 4> b, const body<D> p) { __VA_ARGS__; }; \
                  })});

using Rows = std::vector<Accepted>;

void operators(Rows& rows) {
  ROW("x + y", x + y)
  ROW("x - y", x - y)
  ROW("x * y", x * y)
  ROW("x / y", x / y)
  ROW("x % y", x % y)
  ROW("x & y", x & y)
  ROW("x | y", x | y)
  ROW("x ^ y", x ^ y)
  ROW("x << y", x << y)
  ROW("x >> y", x >> y)
  ROW("x && y", x && y)
  ROW("x || y", x || y)
  ROW("x < y", x < y)
  ROW("x <= y", x <= y)
  ROW("x > y", x > y)
  ROW("x >= y", x >= y)
  ROW("x == y", x == y)
  ROW("x != y", x != y)
  ROW("-x", -x)
  ROW("~x", ~x)
  ROW("!x", !x)
  ROW("y = x", w = x)
  ROW("y += x", w += x)
  ROW("y -= x", w -= x)
  ROW("y *= x", w *= x)
  ROW("y /= x", w /= x)
  ROW("y %= x", w %= x)
  ROW("y &= x", w &= x)
  ROW("y |= x", w |= x)
  ROW("y ^= x", w ^= x)
  ROW("y <<= x", w <<= x)
  ROW("y >>= x", w >>= x)
}

void functions(Rows& rows) {
  ROW("exp(x)", exp(x))
  ROW("exp2(x)", exp2(x))
  ROW("expm1(x)", expm1(x))
  ROW("log10(x)", log10(x))
  ROW("cbrt(x)", cbrt(x))
  ROW("asin(x)", asin(x))
  ROW("acos(x)", acos(x))
  ROW("atan(x)", atan(x))
  ROW("sinh(x)", sinh(x))
  ROW("cosh(x)", cosh(x))
  ROW("asinh(x)", asinh(x))
  ROW("acosh(x)", acosh(x))
  ROW("atanh(x)", atanh(x))
  ROW("popcount(x)", popcount(x))
  ROW("clz(x)", clz(x))
  ROW("ctz(x)", ctz(x))
  ROW("byteswap(x)", byteswap(x))
  ROW("signbit(x)", signbit(x))
  ROW("frexp(x)", frexp(x))
  ROW("log(x)", log(x))
  ROW("log2(x)", log2(x))
  ROW("log1p(x)", log1p(x))
  ROW("sqrt(x)", sqrt(x))
  ROW("rsqrt(x)", rsqrt(x))
  ROW("sin(x)", sin(x))
  ROW("cos(x)", cos(x))
  ROW("tan(x)", tan(x))
  ROW("tanh(x)", tanh(x))
  ROW("erf(x)", erf(x))
  ROW("floor(x)", floor(x))
  ROW("ceil(x)", ceil(x))
  ROW("round(x)", round(x))
  ROW("trunc(x)", trunc(x))
  ROW("abs(x)", abs(x))
  ROW("sign(x)", sign(x))
  ROW("min(x, y)", min(x, y))
  ROW("max(x, y)", max(x, y))
  ROW("pow(x, y)", pow(x, y))
  ROW("atan2(x, y)", atan2(x, y))
  ROW("fmod(x, y)", fmod(x, y))
  ROW("remainder(x, y)", remainder(x, y))
  ROW("hypot(x, y)", hypot(x, y))
  ROW("copysign(x, y)", copysign(x, y))
  ROW("mulhi(x, y)", mulhi(x, y))
  ROW("avg(x, y)", avg(x, y))
  ROW("rotl(x, n)", rotl(x, y))
  ROW("rotr(x, n)", rotr(x, y))
  ROW("ldexp(x, n)", ldexp(x, 3))
  ROW("floordiv(x, y)", floordiv(x, y))
  ROW("floormod(x, y)", floormod(x, y))
  ROW("fma(a, b, c)", fma(x, y, x))
  ROW("clamp(x, lo, hi)", clamp(x, y, y))
  ROW("lerp(a, b, t)", lerp(x, y, x))
  ROW("select(c, x, y)", select(c, x, y))
  ROW("relu(x)", relu(x))
  ROW("gelu(x)", gelu(x))
  ROW("sigmoid(x)", sigmoid(x))
  ROW("silu(x)", silu(x))
  ROW("isnan(x)", isnan(x))
  ROW("isinf(x)", isinf(x))
  ROW("isfinite(x)", isfinite(x))
  rows.push_back({"select<D>(c, 1, 0)", of_each_dtype([]<class T>(T) {
                    using D = typename T::dtype;
                    using L = std::conditional_t<std::is_same_v<D, bool>, bool, int>;
                    return requires(in<bool, 4> c, L a) { select<D>(c, a, a); };
                  })});
}

void conversions(Rows& rows) {
  ROW("cast<bool>(x)", cast<bool>(x))
  ROW("cast<i8>(x)", cast<i8>(x))
  ROW("cast<i16>(x)", cast<i16>(x))
  ROW("cast<i32>(x)", cast<i32>(x))
  ROW("cast<i64>(x)", cast<i64>(x))
  ROW("cast<u8>(x)", cast<u8>(x))
  ROW("cast<u16>(x)", cast<u16>(x))
  ROW("cast<u32>(x)", cast<u32>(x))
  ROW("cast<u64>(x)", cast<u64>(x))
  ROW("cast<f16>(x)", cast<f16>(x))
  ROW("cast<bf16>(x)", cast<bf16>(x))
  ROW("cast<f32>(x)", cast<f32>(x))
  ROW("cast<f64>(x)", cast<f64>(x))
  ROW("bitcast<D>(x)", bitcast<D>(x))
}

void movement(Rows& rows) {
  ROW("reshape<E...>(x)", reshape<24>(x))
  ROW("flatten(x)", flatten(x))
  ROW("permute<A...>(x)", permute<1, 0>(x))
  ROW("transpose(x)", transpose(x))
  ROW("transpose<A, B>(x)", transpose<0, 1>(x))
  ROW("expand<E...>(x)", expand<5, 6>(one))
  ROW("squeeze<A...>(x)", squeeze<0>(one))
  ROW("unsqueeze<A...>(x)", unsqueeze<0>(x))
  ROW("slice<axis, begin, end, step>(x)", slice<0, 0, 3, 2>(x))
  ROW("flip<A...>(x)", flip<0>(x))
  ROW("stored(x)", stored(x))
  ROW("pad<axis, before, after>(x)", pad<0, 1, 1>(x))
  rows.push_back({"pad<axis, before, after>(x, value)", of_each_dtype([]<class T>(T) {
                    using D = typename T::dtype;
                    using L = std::conditional_t<std::is_same_v<D, bool>, bool, int>;
                    return requires(in<D, 4> x, in<D> s, L a) { pad<0, 1, 1>(x, a), pad<0, 1, 1>(x, s); };
                  })});
  ROW("pad<axis, before, after, pad_mode::edge>(x)", pad<0, 1, 1, pad_mode::edge>(x))
  ROW("pad<axis, before, after, pad_mode::reflect>(x)", pad<0, 1, 1, pad_mode::reflect>(x))
  ROW("pad<axis, before, after, pad_mode::wrap>(x)", pad<0, 1, 1, pad_mode::wrap>(x))
  ROW("roll<axis, shift>(x)", roll<0, 1>(x))
  ROW("repeat<axis, n>(x)", repeat<0, 2>(x))
  ROW("tile<n...>(x)", tile<2>(x))
  ROW("concat<axis>(x, y, ...)", concat<0>(x, y))
  ROW("stack<axis>(x, y, ...)", stack<0>(x, y))
  ROW("split<axis, n>(x)", split<0, 2>(x))
  ROW("split_sizes<axis, sizes...>(x)", split_sizes<0, 1, 3>(x))
}

void positions(Rows& rows) {
  ROW("iota<axis, D>(x)", iota<0, D>(x))
  ROW("indices<D>(x)", indices<D>(x))
  ROW("arange<N, D>()", p.template arange<5, D>())
  ROW("size<N, D>()", p.template size<5, D>())
  rows.push_back({"full<D, E...>(v)", of_each_dtype([]<class T>(T) {
                    using D = typename T::dtype;
                    using L = std::conditional_t<std::is_same_v<D, bool>, bool, int>;
                    return requires(const body<D> p, L a) { p.template full<D, 4>(a); };
                  })});
  // The indices of grid always have the same dtype.
  rows.push_back({"grid<N, M>()", of_each_dtype([]<class T>(T) {
                    using D = typename T::dtype;
                    return requires(const body<D> p) {
                      requires std::is_same_v<dtype_of<std::tuple_element_t<0, decltype(p.template grid<4>())>>, D>;
                    };
                  })});
}

void reductions(Rows& rows) {
  ROW("sum<axes>(x)", sum<0>(x))
  ROW("sum<axes>(x, keepdims)", sum<0>(x, keepdims))
  ROW("prod<axes>(x)", prod<0>(x))
  ROW("prod<axes>(x, keepdims)", prod<0>(x, keepdims))
  ROW("max<axes>(x)", max<0>(x))
  ROW("max<axes>(x, keepdims)", max<0>(x, keepdims))
  ROW("min<axes>(x)", min<0>(x))
  ROW("min<axes>(x, keepdims)", min<0>(x, keepdims))
  ROW("any<axes>(x)", any<0>(x))
  ROW("any<axes>(x, keepdims)", any<0>(x, keepdims))
  ROW("all<axes>(x)", all<0>(x))
  ROW("all<axes>(x, keepdims)", all<0>(x, keepdims))
  ROW("argmax<axes>(x)", argmax<0>(x))
  ROW("argmax<axes>(x, keepdims)", argmax<0>(x, keepdims))
  ROW("argmin<axes>(x)", argmin<0>(x))
  ROW("argmin<axes>(x, keepdims)", argmin<0>(x, keepdims))
  ROW("cumsum<axis>(x)", cumsum<0>(x))
  ROW("cumprod<axis>(x)", cumprod<0>(x))
  ROW("cummax<axis>(x)", cummax<0>(x))
  ROW("cummin<axis>(x)", cummin<0>(x))
  ROW("mean<axes>(x)", mean<0>(x))
  ROW("mean<axes>(x, keepdims)", mean<0>(x, keepdims))
}

void contractions(Rows& rows) {
  ROW("matmul(a, b)", matmul(x, b))
  ROW("dot(a, b)", dot(v, v))
  ROW("conv2d(x, w)", conv2d(image, filter))
  ROW("conv2d(x, w, bias)", conv2d(image, filter, bias))
  ROW("conv2d<conv{.stride, .padding}>(x, w)", conv2d<conv{.stride = 2, .padding = 1}>(image, filter))
  ROW("conv2d<conv{.dilation}>(x, w)", conv2d<conv{.dilation = 2}>(image, filter))
  ROW("conv2d<conv{.groups}>(x, w)", conv2d<conv{.groups = 2}>(image, grouped))
  ROW("max_pool2d<pool{.kernel, .stride, .padding, .dilation}>(x)", max_pool2d<pool{.kernel = 2}>(image))
  ROW("avg_pool2d<pool{.kernel, .stride, .padding, .dilation}>(x)", avg_pool2d<pool{.kernel = 2}>(image))
  ROW("softmax<axis>(x)", softmax<0>(x))
  ROW("log_softmax<axis>(x)", log_softmax<0>(x))
  ROW("layer_norm<axis>(x)", layer_norm<0>(x))
  ROW("layer_norm<axis>(x, gamma, beta)", layer_norm<1>(x, v, v))
  ROW("mse(x, y)", mse(x, y))
}

}  // namespace

std::vector<Accepted> accepted() {
  Rows rows;
  operators(rows);
  functions(rows);
  conversions(rows);
  movement(rows);
  positions(rows);
  reductions(rows);
  contractions(rows);
  return rows;
}

}  // namespace kiln::compiler::testing
