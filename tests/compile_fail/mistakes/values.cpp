// Mistakes of newcomers with values. With -DBAD=n the line of case n is compiled in. //! is followed by the remedy that the
// message must name, as a regular expression; if it is empty, no remedy is required.
#include <kiln/dsl.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <vector>

using namespace kiln;

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;

// clang-format off
#ifndef BAD
#define BAD 0
#endif

struct values : program<values> {
  in<f32, N> x;
  in<f32, N> z;
  in<f32, N, M> a;
  in<i32, N> k;
  in<u8, N> bytes;
  in<f16, N> half;
  in<f64, N> wide;
  in<bool, N> flags;
  in<f32> s;
  in<i32> n;
  in<bool> p;
  inout<f32, N> y;
  inout<f32, N, M> q;
  inout<f32> total;
  inout<i32> count;
  constexpr void body() {
#if BAD == 1
    for (auto [i] : kernel(N)) { auto t = a(i, 0); for (auto j : loop(M)) t += a(i, j); y(i) = t; }  //! var
#elif BAD == 2
    for (auto [i] : kernel(N)) { auto t = q(i, 0); for (auto j : loop(M)) t += q(i, j); y(i) = t; }  //! var
#elif BAD == 3
    for (auto [i] : kernel(N)) { auto t = x(i) * 2; for (auto j : loop(M)) t += a(i, j); y(i) = t; }  //! var
#elif BAD == 4
    for (auto [i] : kernel(N)) { float t = 0; for (auto j : loop(M)) t += a(i, j); y(i) = t; }  //! var
#elif BAD == 5
    double t = 0.0; for (auto j : loop(N)) t = t + x(j); total = t;  //? var|auto
#elif BAD == 6
    auto t = 0.0f; for (auto j : loop(N)) t += x(j); total = t;  //! var
#elif BAD == 7
    float v = x(0); total = v;  //! auto|var
#elif BAD == 8
    float v = s; total = v * 2;  //! auto|var
#elif BAD == 9
    int m = n; total = x(m);  //! auto|var
#elif BAD == 10
    int best = argmax(x); total = x(best);  //! auto|var
#elif BAD == 11
    bool big = s > 1.0f; total = big;  //! auto|when|select
#elif BAD == 12
    double w = wide(0) * 2;  //! auto|var
#elif BAD == 13
    const float v = sum(x); y = x / v;  //! auto|var
#elif BAD == 14
    auto v = (int)s;  //! cast
#elif BAD == 15
    auto v = int(s);  //! cast
#elif BAD == 16
    auto v = static_cast<float>(k(0));  //! cast
#elif BAD == 17
    auto v = (float)k;  //! cast
#elif BAD == 18
    auto v = (double)x(0) * 2;  //! cast
#elif BAD == 19
    total = (float)n / 2;  //! cast
#elif BAD == 20
    y = std::max(x, 0.0f);  //! kiln::|write max|without std
#elif BAD == 21
    y = std::max(x * 2, z * 2);  //! kiln::|write max|without std
#elif BAD == 22
    y = std::min(x, z);  //! kiln::|write max|without std
#elif BAD == 23
    y = std::sqrt(x);  //! kiln::|write max|without std
#elif BAD == 24
    y = std::abs(x - z);  //! kiln::|write max|without std
#elif BAD == 25
    y = std::exp(-x);  //! kiln::|write max|without std
#elif BAD == 26
    y = std::pow(x, 2.0f);  //! kiln::|write max|without std
#elif BAD == 27
    y = std::clamp(x, 0.0f, 1.0f);  //! kiln::|write max|without std
#elif BAD == 28
    for (auto [i] : kernel(N)) y(i) = std::max(x(i), 0.0f);  //! kiln::|write max|without std
#elif BAD == 29
    for (auto [i] : kernel(N)) y(i) = std::floor(x(i) * 10);  //! kiln::|write max|without std
#elif BAD == 30
    for (auto [i] : kernel(N)) y(i) = std::fma(x(i), x(i), z(i));  //! kiln::|write max|without std
#elif BAD == 31
    y = fabs(x);  //! abs
#elif BAD == 32
    total = sqrtf(s);  //! sqrt|kiln::
#elif BAD == 33
    y = fmaxf(x, 0.0f);  //! max
#elif BAD == 34
    total = powf(s, 2);  //! pow|kiln::
#elif BAD == 35
    total = std::sin(s) + std::cos(s);  //! kiln::|write max|without std
#elif BAD == 36
    std::cout << x(0);  //! out<|out parameter
#elif BAD == 37
    std::cout << "total " << total << "\n";  //! out<|out parameter
#elif BAD == 38
    printf("%f\n", x(0));  //! out<|out parameter
#elif BAD == 39
    std::printf("%d\n", n);  //! out<|out parameter
#elif BAD == 40
    std::swap(y(0), y(1));  //! auto|var
#elif BAD == 41
    std::vector<float> v(n);  //? local|var
#elif BAD == 42
    float b[4] = {x(0), x(1), x(2), x(3)};  //! local|auto|var
#elif BAD == 43
    float b[3]; b[0] = x(0);  //? local|auto|var
#elif BAD == 44
    int h[16] = {}; h[k(0)] = 1;  //? local
#elif BAD == 45
    y = x + "a";  //! tensor|number
#elif BAD == 46
    y = x + nullptr;  //! tensor|number
#elif BAD == 47
    y = x * 1.5 * k;  //! cast
#elif BAD == 48
    y = k * 0.5;  //! cast
#elif BAD == 49
    y = k;  //! cast
#elif BAD == 50
    count = total;  //! cast
#elif BAD == 51
    y = half;  //! cast
#elif BAD == 52
    count = 0.5;  //! cast|integer
#elif BAD == 53
    total = x;  //! sum|x\(i\)|t\(i\)|expand|reshape
#elif BAD == 54
    y = a;  //! sum|expand|reshape|transpose
#elif BAD == 55
    q = x;  //! unsqueeze|expand|reshape
#elif BAD == 56
    auto v = var(0); v = 0.5f; total = cast<f32>(v);  //! var\(0\.0f\)|var<f32>|cast
#elif BAD == 57
    auto v = var(0.0); v = s;  //! cast|var<f32>|0\.0f
#elif BAD == 58
    var v = 0.0f;  //? auto
#elif BAD == 59
    auto b = local<f32, 4>(); auto v = var(b);  //! element|a\(i\)|a of i
#elif BAD == 60
    auto b = local<float, 4>();  //! f32
#elif BAD == 61
    auto v = var<float>(0);  //! f32
#elif BAD == 62
    auto v = cast<float>(k);  //! f32
#elif BAD == 63
    auto v = cast<int>(x);  //! i32
#elif BAD == 64
    auto v = k.cast<f32>();  //! cast
#elif BAD == 65
    total = x.sum();  //! sum\(x\)|function
#elif BAD == 66
    q = q.T;  //? transpose
#elif BAD == 67
    total = x.max();  //! max\(x\)|sum\(x\)|function
#elif BAD == 68
    y = x.reshape(N);  //! reshape<|function
#elif BAD == 69
    auto m = x.shape[0];  //? size
#elif BAD == 70
    y = x.sqrt();  //! sqrt\(x\)|sum\(x\)|function
#elif BAD == 71
    y.fill(0);  //! = 0|function|full
#elif BAD == 72
    x = x * 2;  //! inout
#elif BAD == 73
    for (auto [i] : kernel(N)) x(i) += 1;  //! inout
#elif BAD == 74
    auto u = x; u = cast<f64>(u); y = u;  //! var|new name|inout
#elif BAD == 75
    auto v = f32(1.0);  //! auto|var|literal
#elif BAD == 76
    y = f32(2) * x;  //! auto|var|literal
#elif BAD == 77
    auto v = x(0); v++;  //! \+= 1|plus equals 1
#elif BAD == 78
    y = -flags;  //! cast|select
#elif BAD == 79
    y = select(x > 0, x);  //! select\(c, a, b\)|select c a b
#elif BAD == 80
    y = select(x, 1.0f, 0.0f);  //! bool
#elif BAD == 81
    y = x > 0 ? x : 0;  //! select
#elif BAD == 82
    y = where(x > 0, x, 0);  //! select
#elif BAD == 83
    y = maximum(x, z);  //! max\(|write max
#elif BAD == 84
    y = tanh(k);  //! cast
#elif BAD == 85
    y = x ** 2;  //? pow|x \* x
#elif BAD == 86
    y = x ^ 2;  //! pow|cast
#elif BAD == 87
    y = x % 2;  //! cast|floor
#elif BAD == 88
    y = !x;  //! == 0|bool
#elif BAD == 89
    auto c = k << 1.5;  //! integer|cast
#elif BAD == 90
    total = x == z;  //! cast
#elif BAD == 91
    y = 1 / k;  //! cast
#elif BAD == 92
    if (auto c = when(std::isnan(s))) total = 0;  //! without std|without std
#elif BAD == 93
    std::string text = std::to_string(s);  //! out<|out parameter|auto
#elif BAD == 94
    auto v = std::vector<float>{x(0), x(1)};  //? local|auto|var
#elif BAD == 95
    y = take<0>(x, k);  //! x\(rows\)|write x of
#elif BAD == 96
    y = gather(x, k);  //! x\(rows\)|write x of
#endif
    // Correct lines that look like some of these mistakes.
    auto w = x(0);
    y = max(x, 0.0f) + sqrt(abs(z)) * 0.5;
    auto t = var(x(1));
    t += w;
    total = t;
    count = cast<i32>(s);
  }
};

static const programs<values> exported;
