// Twins of lines that newcomers write, as in twins.cpp. More of them are in mistakes/.
#include <kiln/dsl.h>

#include <cmath>
#include <utility>

using namespace kiln;

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;

// clang-format off
#ifndef BAD
#define BAD 0
#endif

template <class X>
constexpr auto erfc(const X& x) {  // kiln has none
  return 1 - erf(x);
}

struct newcomers : program<newcomers> {
  in<f32, N> x;
  in<i32, N> k;
  in<f32> s;
  in<i32> n;
  in<bool> p;
  in<u8, N> bytes;
  inout<f32, N> y, x_;
  inout<f32, N, M> q;
  inout<f32> total;
  inout<i32> count;
  inout<i32, 16> hist;
  constexpr void body() {
#if BAD == 1
    for (auto [i] : kernel(N)) { auto a = local<f32, 4>(); y(i) = sum(a); }  //! an array is read by element|an array of a kernel is read by element
#elif BAD == 2
    for (auto [i] : kernel(N)) { auto a = local<f32, 4>(); auto b = a * 2; y(i) = a(0); }  //! an array is read by element|an array of a kernel is read by element
#elif BAD == 3
    for (auto [i] : kernel(N)) { auto a = local<f32, 4>(); auto b = -a; y(i) = a(0); }  //! an array is read by element|an array of a kernel is read by element
#elif BAD == 4
    for (auto [i] : kernel(N)) { auto a = local<f32, 4>(); auto b = sqrt(a); y(i) = a(0); }  //! an array is read by element|an array of a kernel is read by element
#elif BAD == 5
    for (auto [i] : kernel(N)) { auto a = local<f32, 4>(); y(i) = a; y(i) = a(0); }  //! an array is read by element|an array of a kernel is read by element
#elif BAD == 6
    for (auto [i] : kernel(N)) { auto a = local<f32, 4>(); a = 1; y(i) = a(0); }  //! an array is written by element|an array of a kernel is written by element
#elif BAD == 7
    for (auto [i] : kernel(N)) { auto a = local<f32, 4>(); a += 1; y(i) = a(0); }  //! an array is written by element|an array of a kernel is written by element
#elif BAD == 8
    for (auto [i] : kernel(N)) { auto a = local<f32, 4>(); auto b = local<f32, 4>(); b = a; y(i) = a(0); }  //! an array is written by element
#elif BAD == 9
    total = kiln::dsl::sum(3);  //! operand must be a tensor|not a plain C\+\+ value
#elif BAD == 10
    y.at(1) = 2;  //! at takes a mode|at names a mode
#elif BAD == 11
    expr<f32> v = 0.0f;  //! a value of cpp belongs to no program|a value of C\+\+ belongs to no program
#elif BAD == 12
    expr<i32> v = x(3);  //! assigned value has another dtype|another dtype or shape
#elif BAD == 13
    auto v = s; if (s > 1.0f) v = s * 2;  //! no value while compiling
#elif BAD == 14
    auto v = p ? s : s * 2;  //! no value while compiling
#elif BAD == 15
    for (auto i : kernel(N)) y(i) = 1;  //! work items of a kernel come in brackets
#elif BAD == 16
    for (auto e : x) total += e;  //! cpp sees no extents and elements|C\+\+ sees no extents and elements
#elif BAD == 17
    for (auto i : N) y(0) = 0;  //! cpp sees no extents and elements|C\+\+ sees no extents and elements
#elif BAD == 18
    for (int i = 0; i < N; ++i) y(i) = 1;  //! cpp sees no extents and elements|C\+\+ sees no extents and elements
#elif BAD == 19
    for (int i = 0; i < n; ++i) y(i) = 1;  //! no value while compiling
#elif BAD == 20
    for (auto [i] : kernel(N)) { i += 1; y(i) = 1; }  //! work item or counter is assigned
#elif BAD == 21
    for (auto i : loop(3)) { i = i + 1; total += 1; }  //! work item or counter is assigned
#elif BAD == 22
    for (auto i : loop(3)) { i = 0; total += 1; }  //! the type of a value never changes|give the result a new name
#elif BAD == 23
    for (auto [i, j] : kernel(N, M)) { i = j; q(i, j) = 1; }  //! work item or counter is assigned
#elif BAD == 24
    for (auto [i] : kernel(N)) y[i] = 1;  //! elements are in parentheses
#elif BAD == 25
    for (auto [i] : kernel(N)) { auto a = local<f32, 4>(); a[0] = 1; y(i) = a(0); }  //! elements are in parentheses
#elif BAD == 26
    for (auto [i] : kernel(N)) { f32 a = x(i); y(i) = 1; }  //! a dtype is no variable
#elif BAD == 27
    for (auto [i] : kernel(N)) { f32 a[4]; y(i) = 1; }  //! a dtype is no variable
#elif BAD == 28
    for (auto [i] : kernel(N)) if (auto c = when(i < N - 1)) y(i) = 1;  //! computed extent is a template argument write size of extent|a computed extent is a template argument: size
#elif BAD == 29
    for (auto [i] : kernel(N)) if (auto c = when(i == N - 1)) y(i) = 1;  //! computed extent is a template argument write size of extent|a computed extent is a template argument: size
#elif BAD == 30
    for (auto [i] : kernel(N)) y(min(i, N - 1)) = 1;  //! computed extent is a template argument write size of extent|a computed extent is a template argument: size
#elif BAD == 31
    for (auto [i] : kernel(N)) y(N - 1 - i) = 1;  //! computed extent is a template argument write size of extent|a computed extent is a template argument: size
#elif BAD == 32
    y(0) = x(N - 1);  //! computed extent is a template argument write size of extent|a computed extent is a template argument: size
#elif BAD == 33
    count = N - 1;  //! computed extent is a template argument write size of extent|a computed extent is a template argument: size
#elif BAD == 34
    count = select(p, N - 1, n);  //! computed extent is a template argument write size of extent|a computed extent is a template argument: size
#elif BAD == 35
    total++;  //! increment has no meaning|no \+\+ and --
#elif BAD == 36
    auto v = var(0); ++v;  //! increment has no meaning|no \+\+ and --
#elif BAD == 37
    hist(k(0))--;  //! increment has no meaning|no \+\+ and --
#elif BAD == 38
    hist.atomic_add(1);  //! an atomic is of an element
#elif BAD == 39
    count.atomic_max(k(0));  //! an atomic is of an element
#elif BAD == 40
    auto r = x.size();  //! axis of a size is a template argument
#elif BAD == 41
    auto r = x.size(0);  //! axis of a size is a template argument
#elif BAD == 42
    auto r = x.size<1>();  //! axis out of range
#elif BAD == 43
    y = reshape(x, N);  //! axes and extents are template arguments
#elif BAD == 44
    q = transpose(q, 1, 0);  //! axes and extents are template arguments
#elif BAD == 45
    y = concat(x, x);  //! axes and extents are template arguments
#elif BAD == 46
    auto a = local<f32>(4);  //! extents are template arguments write local|extents of an array and sizes of workgroups
#elif BAD == 47
    auto a = local(4);  //! extents are template arguments write local|extents of an array and sizes of workgroups
#elif BAD == 48
    for (auto [i] : kernel(N).workgroup(64)) y(i) = 0;  //! extents are template arguments write local|extents of an array and sizes of workgroups
#elif BAD == 49
    for (auto [i] : kernel<256>(N)) y(i) = 0;  //! extents are template arguments write local|extents of an array and sizes of workgroups
#elif BAD == 50
    for (auto [i] : kernel(N).workgroup<8>()) { auto a = shared<f32>(8); y(i) = 0; }  //! extents are template arguments write local|extents of an array and sizes of workgroups
#elif BAD == 51
    auto v = var<f32, 3>(k(0));  //! assigned value has another dtype|another dtype
#elif BAD == 52
    auto v = var(); v = s;  //! a variable needs a value
#elif BAD == 53
    for (auto [i] : kernel(N)) { auto v = var(0); v = x(i); y(i) = 1; }  //! assigned value has another dtype|another dtype
#elif BAD == 54
    for (auto [i] : kernel(N)) y(i) = x(i) * i;  //! dtypes differ|different dtypes
#elif BAD == 55
    for (auto [i] : kernel(N)) if (auto c = when(0 < i < 5)) y(i) = 1;  //! a bool is compared with a number
#elif BAD == 56
    for (auto [i] : kernel(N)) if (auto c = when(x(i) > 0 && k(i))) y(i) = 1;  //! dtypes differ|different dtypes
#elif BAD == 62
    std::swap(x_, y);  //! a captured value is not swapped write auto t of var|auto t = var\(a\)
#elif BAD == 63
    q = std::exchange(q, q + 1);  //! a captured value is not swapped write auto t of var|auto t = var\(a\)
#elif BAD == 64
    y = select(std::isnan(x), 0, x);  //! write max abs sqrt pow of kiln without std|write kiln's, without std
#elif BAD == 65
    y = std::fdim(x, x);  //! kiln has no such function|no such function in kiln
#elif BAD == 66
    y = tgamma(x);  //! kiln has no such function|erfc\(x\) is 1
#elif BAD == 67
    total = sum(k);  //! write cast or sum and matmul of that dtype|sum<...>\(x\)
#elif BAD == 68
    total = dot(bytes, bytes) + sum(x);  //! write cast or sum and matmul of a dtype|matmul<...>\(a, b\)
#elif BAD == 69
    for (auto [i] : kernel(N)) { if (auto o = once()) total() = 1; }  //! loops and kernels repeat write for auto|loops, kernels and once are a for
#elif BAD == 72
    count = total.size<0>();  //! axis out of range
#elif BAD == 70
    if (auto t = loop(3)) total = 1;  //! loops and kernels repeat write for auto|loops, kernels and once are a for
#elif BAD == 71
    for (auto c : when(s > 1)) total = 1;  //! scope has no name write if auto c when|if \(auto c = when\(p\)\)
#endif
    // Correct lines that look like some of these mistakes.
    expr<f32> v = x(3);
    v = s;
    expr<f32, N> whole = x;
    auto last = size<N - 1, i32>();
    for (auto [i] : kernel(N)) {
      auto after = i;
      after += 1;
      if (auto c = when(after < last && x.size<0>() > 1)) y(after) = v;
    }
    auto first = var(y), second = var(whole);
    std::swap(first, second);
    y = std::exchange(second, first) + erfc(x_);
    total += (x + 1).size<0, f32>();
  }
};

#if BAD == 57
struct products : program<products> { in<f32, N * M> x; out<f32> y; constexpr void body() { y = sum(x); } }; static const programs<products> others;  //! no argument gives a symbolic extent
#elif BAD == 58
inline constexpr dim<"Q", facts{.min = 3, .max = 5, .multiple_of = 7}> Q;  //! a multiple between
#elif BAD == 59
inline constexpr dim<"Q", facts{.min = 6, .max = 5}> Q;  //! 0 at most min at most max
#elif BAD == 60
struct halves : program<halves> { in<f32, N / 2> x; out<f32, N / 2> y; constexpr void body() { y = x; } }; static const programs<halves> others;  //! no argument gives a symbolic extent
#elif BAD == 61
struct slopes : program<slopes> { in<f32, M> m; in<f32, M * N> x; out<f32, M> y; constexpr void body() { y = m + sum(x); } }; static const programs<slopes> others;  //! no argument gives a symbolic extent
#endif

// No axis has the extent N.
struct linear : program<linear> {
  in<f32, 3 * N> x;
  in<f32, 2 * N + M> z;
  out<f32, 3 * N> y;
  constexpr void body() { y = x + sum(z); }
};

static const programs<newcomers, linear> exported;
