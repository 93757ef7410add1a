// Mistakes of newcomers in whole programs. With -DBAD=n the program of case n is compiled in. //! as in values.cpp, at the line
// that the message must name.
#include <kiln/dsl.h>
#include <array>
#include <vector>

using namespace kiln;

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;

// clang-format off
#ifndef BAD
#define BAD 0
#endif

#if BAD == 1
struct p : program<p> { in<f32, N> x; out<f32, N> y;
  void body() { y = x; } };  //! program: constexpr
#elif BAD == 2
struct p : program<p> { in<f32, N> x; out<f32, N> y;
  constexpr void body() const { y = x; } };  //! const
#elif BAD == 3
struct p : program<p> { in<f32, N> x; out<f32, N> y; };  //! body
#elif BAD == 4
class p : public program<p> { in<f32, N> x; out<f32, N> y; constexpr void body() { y = x; } };  //! exported: public|struct
#elif BAD == 5
class p : program<p> { public: in<f32, N> x; out<f32, N> y; constexpr void body() { for (auto [i] : kernel(N)) y(i) = x(i); } };  //! exported: public|struct
#elif BAD == 6
struct p { in<f32, N> x; out<f32, N> y; constexpr void body() { y = x; } };  //! program<|program of p
#elif BAD == 7
struct other : program<other> { in<f32, N> x; out<f32, N> y; constexpr void body() { y = x; } };
struct p : program<other> { in<f32, N> x; out<f32, N> y; constexpr void body() { y = x; } };  //! program<|program of p
#elif BAD == 8
struct p : program { in<f32, N> x; out<f32, N> y; constexpr void body() { y = x; } };  //? program<|program of p
#elif BAD == 9
struct p : program<p> { std::vector<float> x; out<f32, N> y; constexpr void body() { y = 1; } };  //! in<|write in out
#elif BAD == 10
struct p : program<p> { float scale; out<f32, N> y; constexpr void body() { y = scale; } };  //! in<|static constexpr
#elif BAD == 11
struct p : program<p> { const float* x; out<f32, N> y; constexpr void body() { y = x[0]; } };  //! in<|write in out
#elif BAD == 12
struct p : program<p> { int taps = 4; in<f32, N> x; out<f32, N> y; constexpr void body() { y = x * taps; } };  //! in<|static constexpr
#elif BAD == 13
struct p : program<p> { in<float, N> x; out<f32, N> y; constexpr void body() { y = x; } };  //! f32
#elif BAD == 14
struct p : program<p> { in<int, N> x; out<i32, N> y; constexpr void body() { y = x; } };  //! i32
#elif BAD == 15
struct p : program<p> { in<double> x; out<f64> y; constexpr void body() { y = x; } };  //! f64
#elif BAD == 16
struct p : program<p> { in<unsigned char, N> x; out<u8, N> y; constexpr void body() { y = x; } };  //! u8
#elif BAD == 17
struct p : program<p> { in<N, f32> x; out<f32, N> y; constexpr void body() { y = x; } };  //? in<f32, N>
#elif BAD == 18
struct p : program<p> { in<f32, -1> x; out<f32, -1> y; constexpr void body() { y = x; } };  //! dim
#elif BAD == 19
struct p : program<p> { in<f32, 0.5> x; out<f32> y; constexpr void body() { y = sum(x); } };  //! dim|integer
#elif BAD == 20
struct p : program<p> { in<f32, "N"> x; out<f32> y; constexpr void body() { y = sum(x); } };  //? dim
#elif BAD == 21
struct p : program<p> { in<f32, N>& x; out<f32, N> y; constexpr void body() { y = x; } };  //! exported: in<|write in out
#elif BAD == 22
struct p : program<p> { const in<f32, N> x; out<f32, N> y; constexpr void body() { y = x; } };  //! const
#elif BAD == 23
struct p : program<p> { in<f32, N> x; out<f32, N> y, second; constexpr void body() { y = x; } };  //! second.*assign|assign.*second
#elif BAD == 24
struct layer { in<f32, N> w; out<f32, N> grad; };
struct p : program<p> { layer first; out<f32, N> y; constexpr void body() { y = first.w; } };  //! first_grad|first grad
#elif BAD == 25
struct layer { in<f32, N> w; };
struct p : program<p> { layer a; in<f32, N> a_w; out<f32, N> y; constexpr void body() { y = a.w + a_w; } };  //! a_w|a w
#elif BAD == 26
struct p : program<p> { in<f32, N> x; out<f32, N> y; constexpr void Body() { y = x; } };  //! body
#elif BAD == 27
struct p : program<p> { in<f32, N> x; out<f32, N> y; constexpr void body(int n) { y = x * n; } };  //! body
#elif BAD == 28
struct p : program<p> { in<f32, N> x; out<f32, N> y; static constexpr void body() { y = x; } };  //! static
#elif BAD == 29
struct p : program<p> { in<f32, N> x; out<f32, N> y; constexpr void main() { y = x; } };  //! body
#elif BAD == 30
auto twice(auto const& v) { return v * 2; }  // g++ and clang take it for constexpr where it is a lambda only
struct p : program<p> { in<f32, N> x; out<f32, N> y; constexpr void body() { y = twice(x); } };  //! constexpr
#elif BAD == 31
constexpr void twice(auto const& from, auto const& to) { to = from * 2; }
struct p : program<p> { in<f32, N> x; out<f32, N> y; constexpr void body() { twice(x, y); } };  //? auto
#elif BAD == 32
constexpr auto twice(float v) { return v * 2; }
struct p : program<p> { in<f32, N> x; out<f32, N> y; constexpr void body() { for (auto [i] : kernel(N)) y(i) = twice(x(i)); } };  //? auto
#elif BAD == 33
constexpr void clear(auto& y) { for (auto [i] : kernel(N)) y(i) = 0; }  //! scope
struct p : program<p> { in<f32, N> x; inout<f32, N> y; constexpr void body() { clear(y); } };
#elif BAD == 34
template <int K>
struct bank : program<bank<K>> { in<f32, N> x; out<f32, N> y; constexpr void body() { for (auto [i] : kernel(N)) y(i) = x(i) * K; } };  //! this
using p = bank<3>;
#elif BAD == 35
struct p : program<p> { in<f32, N> x = 1; out<f32, N> y; constexpr void body() { y = x; } };  //!
#elif BAD == 36
struct p : program<p> { in<f32, N> x; out<f32, N> y; constexpr p() {} constexpr void body() { y = x; } };  //! exported: constructor|aggregate
#elif BAD == 37
struct p : program<p> { in<f32, N> x[3]; out<f32, N> y; constexpr void body() { y = x[0] + x[1]; } };  //! exported: module|struct|write in out
#elif BAD == 38
inline constexpr dim K;  //? dim<
struct p : program<p> { in<f32, N> x; out<f32, N> y; constexpr void body() { y = x; } };
#elif BAD == 39
inline constexpr dim<"2N"> K;  //! identifier
struct p : program<p> { in<f32, K> x; out<f32, K> y; constexpr void body() { y = x; } };
#elif BAD == 40
inline constexpr dim<"K", {.min = 5, .max = 2}> K;  //! min <= max|min at most max
struct p : program<p> { in<f32, K> x; out<f32, K> y; constexpr void body() { y = x; } };
#elif BAD == 41
struct p : program<p> { in<f32, N / 0> x; out<f32> y; constexpr void body() { y = sum(x); } };  //! zero
#elif BAD == 42
struct p : program<p> { in<f32, N> x; out<f32, N> y; constexpr void body() { auto t = x * 1.0f; for (int i = 0; i >= 0; ++i) t = t + 1; y = t; } };  //! loop
#elif BAD == 43
inline constexpr dim<"N", {.multiple_of = 4}> N4;
inline constexpr dim<"N", {.min = 1}> N1;
struct p : program<p> { in<f32, N1> x; in<f32, N4> z; out<f32, N> y; constexpr void body() { y = x; } };  //! facts
#elif BAD == 44
struct p : program<p> { float twice(float v) { return v * 2; } in<f32, N> x; out<f32, N> y; constexpr void body() { y = twice(3.0f) * x; } };  //! constexpr
#elif BAD == 45
struct p : program<p> { static int taps; in<f32, N> x; out<f32, N> y; constexpr void body() { y = x * taps; } };  //! constexpr
#elif BAD == 46
struct p : program<p> { in<f32, N> x; out<f32, N> y; constexpr void body() { y = x; } };
using wrong = program<p>;
#define p wrong  //! exported: program<|program of p
#elif BAD == 47
struct p : program<p> { in<f32, N> x; out<f32, N> y; virtual constexpr void body() { y = x; } };  //! exported: virtual
#elif BAD == 48
struct p : program<p> { out<f32, N> y; constexpr void body() { auto r = arange<M, f32>(); y = 0; } };  //! parameter
#elif BAD == 49
struct p : program<p> { in<f32, N> x; out<f32, N> y; private: constexpr void body() { y = x; } };  //! public
#elif BAD == 50
struct p : program<p> { in<f32, N> x; out<f32, N> y; float helper = 0; constexpr void body() { y = x; } };  //! in<|static constexpr
#elif BAD == 51
struct p : program<p> { inout<f16> x; in<f32, 4, 4, M> w; out<float> y; constexpr void body() { y = sum(w); } };  //! f32
#elif BAD == 52
constexpr facts even{.multiple_of = 2};
inline constexpr dim<"A", even> A; inline constexpr dim<"B", even> B; inline constexpr dim<"C", even> C; inline constexpr dim<"D", even> D;
inline constexpr dim<"E", even> E; inline constexpr dim<"F", even> F; inline constexpr dim<"G", even> G;
struct p : program<p> { in<f32, A + B + C + D + E + F + G> x; out<f32> y; constexpr void body() { y = sum(x); } };  //! at most six dims
#else
struct p : program<p> { in<f32, N> x; out<f32, N> y; constexpr void body() { y = x; } };
#endif

static const programs<p> exported;
