// Mistakes of newcomers with control flow, as in values.cpp.
#include <algorithm>
#include <cassert>
#include <kiln/dsl.h>
#include <numeric>

using namespace kiln;

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;

// clang-format off
#ifndef BAD
#define BAD 0
#endif

struct control : program<control> {
  in<f32, N> x;
  in<i32, N> k;
  in<bool, N> flags;
  in<f32> s;
  in<i32> n;
  in<bool> p;
  inout<f32, N> y;
  inout<f32, N, M> q;
  inout<f32> total;
  constexpr void body() {
#if BAD == 1
    if (s > 0.0f) total = s;  //! when
#elif BAD == 2
    if (x(0) > 0.0f && s > 0) total = s;  //! when
#elif BAD == 3
    for (auto [i] : kernel(N)) { if (x(i) > 0.0f) y(i) = 1; else y(i) = 0; }  //! when
#elif BAD == 4
    for (auto [i] : kernel(N)) if (k(i) == 3) y(i) = 1;  //! when
#elif BAD == 5
    for (auto [i] : kernel(N)) if (flags(i)) y(i) = 1;  //! when
#elif BAD == 6
    for (auto [i] : kernel(N)) if (!flags(i)) y(i) = 1;  //! when
#elif BAD == 7
    for (auto [i] : kernel(N)) if (i < 3) y(i) = 1;  //! when
#elif BAD == 8
    for (auto [i] : kernel(N)) { if (i == 0) continue; y(i) = 1; }  //! when|continue.if
#elif BAD == 9
    for (auto [i] : kernel(N)) y(i) = x(i) > 0 ? x(i) : 0;  //! select
#elif BAD == 10
    for (auto [i] : kernel(N)) y(i) = x(i) > 0 ? 1.0f : 0.0f;  //! select
#elif BAD == 11
    total = p ? 1.0f : 0.0f;  //! select
#elif BAD == 12
    auto v = var(s); while (v > 1.0f) v = v / 2; total = v;  //! forever|break.if
#elif BAD == 13
    auto v = var(n); do { v -= 1; } while (v > 0);  //! forever|break.if
#elif BAD == 14
    for (int i = 0; i < n; ++i) total += x(i);  //! loop
#elif BAD == 15
    for (auto i = 0; i < x.size<0>(); ++i) y(i) = 0;  //! loop
#elif BAD == 16
    for (int i = 0; i < N; i++) total += x(i);  //! loop
#elif BAD == 17
    for (auto i : range(N)) y(i) = 0;  //! loop
#elif BAD == 18
    for (auto i : 10) total += 1;  //? loop
#elif BAD == 19
    for (auto i : n) total += 1;  //! loop
#elif BAD == 20
    for (auto [i] : loop(N)) total += x(i);  //? auto i
#elif BAD == 21
    for (auto [i, j] : kernel(N)) q(i, j) = 0;  //! kernel
#elif BAD == 22
    for (auto [i] : kernel(N, M)) q(i, 0) = 0;  //! kernel
#elif BAD == 23
    kernel(N, [&](auto i) { y(i) = 0; });  //! for \(auto|for auto
#elif BAD == 24
    loop(N, [&](auto i) { total += x(i); });  //! for \(auto|for auto
#elif BAD == 25
    if (auto c = when(s)) total = 1;  //! bool
#elif BAD == 26
    if (auto c = when(x > 0)) y = 1;  //! select|any|x\(i\)|t\(i\)|element
#elif BAD == 27
    if (auto c = when(k(0))) total = 1;  //! bool
#elif BAD == 28
    if (auto c = when(0 < s < 1)) total = 1;  //! &&|and b less c
#elif BAD == 29
    if (auto c = when(s > 0 and not n)) total = 1;  //! bool
#elif BAD == 30
    if (auto c = when(p)) total = 1; else if (auto d = when(s > 0)) total = 2;  //! otherwise
#elif BAD == 31
    switch (n) { case 0: total = 1; break; default: total = 2; }  //? when|select
#elif BAD == 32
    for (auto j : loop(10)) { if (s > x(j)) break; total += 1; }  //! when|break.if
#elif BAD == 33
    for (auto j : loop(10)) { break_if(x(j)); total += 1; }  //! bool
#elif BAD == 34
    for (auto j : loop(10)) { if (auto c = when(x(j) > 0)) break; total += 1; }  //! break.*if
#elif BAD == 35
    for (auto j : loop(10)) { if (auto c = when(x(j) > 0)) continue; total += 1; }  //! continue.*if
#elif BAD == 36
    for (auto t : forever()) total += 1;  //! break
#elif BAD == 37
    while (true) { total += s; break_if(total > 10); }  //! program: forever
#elif BAD == 38
    for (;;) { total = total * 0.5f; if (total < 1) break; }  //! forever|break.if
#elif BAD == 39
    for (int t = 0; t >= 0; t += 2) total += s;  //! program: loop
#elif BAD == 40
    unsigned i = 9; while (i >= 0) { total += x(i); --i; }  //! program: loop
#elif BAD == 41
    auto f = [](auto v) { if (v > 0) return v; return v; }; total = f(s);  //! when|select
#elif BAD == 42
    assert(s > 0);  //! when|check|select
#elif BAD == 43
    for (auto [i] : kernel(N)) for (auto [j] : kernel(M)) q(i, j) = 0;  //! kernel\(n, m\)|loop
#elif BAD == 44
    for (auto [i] : kernel(N)) total += x(i);  //! atomic|sum
#elif BAD == 45
    auto t = var(0.0f); for (auto [i] : kernel(N)) t += x(i); total = t;  //! atomic|sum
#elif BAD == 46
    for (auto [i] : kernel(N)) { float v = x(i); y(i) = v; }  //! auto|var
#elif BAD == 47
    auto v = s; for (auto j : loop(3)) v = v * s; total = v;  //! var
#elif BAD == 48
    auto v = s * 1; if (auto c = when(p)) v = s * 2; total = v;  //! var|select
#elif BAD == 49
    auto last = s * 0; for (auto j : loop(3)) last = x(j); total = last;  //! var
#elif BAD == 50
    for (auto i : loop(N / 2)) total += x(i);  //! loop<|angle brackets
#elif BAD == 51
    for (auto [i] : kernel(N - 1)) y(i) = 0;  //! kernel<|angle brackets
#elif BAD == 52
    for (auto [i] : kernel(x)) y(i) = 0;  //! extent
#elif BAD == 53
    for (auto [i] : kernel<N>) y(i) = 0;  //? \(\)
#elif BAD == 54
    std::sort(y.begin(), y.end());  //! kernel|loop
#elif BAD == 55
    total = std::accumulate(x.begin(), x.end(), 0.0f);  //! kernel|loop|sum
#elif BAD == 56
    if (N > 100) total = 1;  //! size
#elif BAD == 57
    total = N > 100 ? 1.0f : 2.0f;  //! size
#elif BAD == 58
    if (N % 2 == 0) total = 1;  //! size
#elif BAD == 59
    int m = N; total = x(m);  //! size
#elif BAD == 60
    float inv = 1.0f / N; y = x * inv;  //! size
#elif BAD == 61
    auto inv = 1.0f / N; y = x * inv;  //! size
#elif BAD == 62
    float w[N];  //! local|size
#elif BAD == 63
    auto w = local<f32, n>();  //? static|constant
#elif BAD == 64
    when(p) total = 1;  //? auto c
#elif BAD == 65
    for (auto [i] : kernel(N)) { while (x(i) > 1) y(i) = 0; }  //! forever|break.if
#elif BAD == 66
    bool any_big = false; for (auto j : loop(N)) any_big = any_big || x(j) > 1; if (any_big) total = 1;  //? var|auto
#elif BAD == 67
    float best = -1; for (auto j : loop(N)) if (x(j) > best) best = x(j); total = best;  //! when
#elif BAD == 68
    int i = 0; while (x(i) > 0) i++; total = x(i);  //! forever|break.if
#endif
    // Correct lines that look like some of these mistakes.
    for (int t = 0; t < 3; ++t) total += s;
    if (auto c = when(s > 0 && p)) total = 1;
    if (auto c = otherwise(n == 3)) total = 2;
    for (auto t : forever()) {
      break_if(total > 10);
      total += 1;
    }
    for (auto [i] : kernel(N)) y(i) = select(flags(i), x(i), 0);
  }
};

static const programs<control> exported;
