// Twins of scopes and elements, as in twins.cpp.
#include <kiln/dsl.h>

using namespace kiln;

inline constexpr dim<"N"> N;

// clang-format off
#ifndef BAD
#define BAD 0
#endif

struct layer { inout<f32, N> w; };

struct scopes : program<scopes> {
  in<f32, N> x;
  in<i32, N> k;
  in<i32, 4> ks;
  in<f32, 2, 2, 2, 2, 2> deep;
  inout<f32, N, 40> wide_rows;
  in<i64> wide;
  in<f32> s;
  in<bool> p;
  in<bool, N> ps;
  inout<f32, N> y;
  inout<i32, N, 3> m;
  out<f32, N> z;
  inout<bool, N> flags;
  layer model;
  constexpr void body() {
    auto total = var(0.0f);
    auto value = s + 1;
    expr<f32> later;
    expr<f32, N> tensor;
    auto doubled = x * 2;
    auto whole = var(x);
#if BAD == 1
    break_if(p);  //! break or continue outside a loop
#elif BAD == 2
    for (auto [i] : kernel(N)) continue_();  //! break or continue outside a loop
#elif BAD == 3
    for (auto t : loop(3)) for (auto [i] : kernel(N)) break_();  //! break or continue outside a loop
#elif BAD == 4
    if (auto c = otherwise()) total = 1;  //! otherwise does not follow a when
#elif BAD == 5
    if (auto c = when(p)) {} total = 2; if (auto c = otherwise()) total = 1;  //! otherwise does not follow a when
#elif BAD == 6
    if (auto c = when(p)) {} if (auto c = otherwise()) {} if (auto c = otherwise()) {}  //! otherwise does not follow a when
#elif BAD == 7
    for (auto i : loop(3)) later = cast<f32>(i); z = x + later;  //! value of a closed scope is used outside
#elif BAD == 8
    if (auto c = when(p)) later = s * 2; total = later;  //! value of a closed scope is used outside
#elif BAD == 9
    for (auto i : loop(3)) value = value + 1;  //! value is rebound inside a scope
#elif BAD == 10
    for (auto i : loop(3)) value += 1;  //! value is rebound inside a scope
#elif BAD == 11
    for (auto [i] : kernel(N)) { y(i) = 0; break; }  //! scope is left by a jump of cpp
#elif BAD == 12
    for (auto i : loop(3)) { total += s; return; }  //! scope is left by a jump of cpp
#elif BAD == 13
    auto scope = kernel(N);  //! scope is not entered
#elif BAD == 14
    auto scope = when(p);  //! scope is not entered
#elif BAD == 15
    if (when(p)) total = 1;  //! scope has no name write if auto c when|name the scope
#elif BAD == 16
    for (auto [i] : kernel(N)) for (auto [j] : kernel(3)) y(j) = 0;  //! kernel inside a kernel
#elif BAD == 17
    for (auto [i] : kernel(N)) total += x(i);  //! variable of outside is set inside a kernel
#elif BAD == 18
    for (auto [i] : kernel(N)) y = x;  //! whole tensor is assigned inside a kernel
#elif BAD == 19
    for (auto i : loop(0, 10, 0)) total += s;  //! step of a loop is 0
#elif BAD == 20
    for (auto i : loop(s)) total += s;  //! bound must be a scalar integer|scalar of i32 or i64
#elif BAD == 21
    for (auto [i] : kernel(N / 2)) y(i) = 0;  //! computed extent is a template argument|a computed extent is a template argument
#elif BAD == 22
    for (auto [i] : kernel(wide)) y(i) = 0;  //! bound of i64 needs a kernel of i64|kernel<i64>
#elif BAD == 23
    for (auto [i, j] : kernel(N, 1.5)) y(i) = 0;  //! bound must be a scalar integer|scalar of i32 or i64
#elif BAD == 24
    if (auto c = when(ps)) total = 1;  //! condition must be a bool scalar|bool scalar
#elif BAD == 25
    for (auto i : loop(3)) break_if(s);  //! condition must be a bool scalar|bool scalar
#elif BAD == 26
    if (auto c = when(true)) total = 1;  //! condition must be a bool scalar|bool scalar
#elif BAD == 27
    auto r = x(s);  //! index must be an integer|an index is an integer
#elif BAD == 28
    auto r = x(1.5);  //! index must be an integer|an index is an integer
#elif BAD == 29
    auto r = m(1, 2, 3);  //! at most one index for each axis|at most one for each axis
#elif BAD == 30
    auto r = m(k, ks);  //! shapes of the indices do not broadcast
#elif BAD == 31
    auto r = x.at<mode::constant>(1);  //! takes the value outside after the indices
#elif BAD == 32
    x(1) = 2;  //! an in parameter is read only|read-only
#elif BAD == 33
    y(1) = k(1);  //! assigned value has another dtype|another dtype
#elif BAD == 34
    y(1) = x;  //! assigned value has another shape|does not broadcast
#elif BAD == 35
    m(1, 2) = 1.5f;  //! literal does not fit the dtype|literal does not fit
#elif BAD == 36
    auto r = y(1); r = 2;  //! a value keeps what it was write var
#elif BAD == 37
    x(1).atomic_add(2);  //! an in parameter is read only|read-only
#elif BAD == 38
    flags(1).atomic_add(true);  //! arithmetic on bool|no arithmetic on bool
#elif BAD == 39
    y(1).atomic_or(1);  //! operands must be integers or bool|integers or bool
#elif BAD == 40
    total = k(1);  //! assigned value has another dtype|another dtype
#elif BAD == 41
    auto a = local<f32, N>();  //! local array needs static extents|static extents
#elif BAD == 42
    auto r = z(1) + 1;  //! out parameter is read before it is assigned
#elif BAD == 43
    z(1) *= 2;  //! out parameter is read before it is assigned
#elif BAD == 44
    for (auto i : forever()) total += s;  //! forever has no break
#elif BAD == 45
    auto r = var<i32>(0.5);  //! literal does not fit the dtype|literal does not fit
#elif BAD == 46
    y(1) += k(1);  //! assigned value has another dtype|another dtype
#elif BAD == 47
    if (auto c = when(p)) total = 1; else total = 2;  //! else of cpp after a when
#elif BAD == 48
    if (auto c = when(p)) return;  //! scope is left by a jump of cpp
#elif BAD == 49
    for (auto [i] : kernel(N)) { if (auto c = when(p)) continue; y(i) = 0; }  //! scope is left by a jump of cpp
#elif BAD == 50
    for (auto [i] : kernel(N)) { if (auto c = when(p)) { if (auto d = when(ps(i))) y(i) = 1; else y(i) = 0; } }  //! else of cpp after a when
#elif BAD == 51
    for (auto t : loop(3)) tensor = x * cast<f32>(t); z = tensor;  //! value of a closed scope is used outside
#elif BAD == 52
    for (auto t : loop(3)) doubled = doubled * 2;  //! value is rebound inside a scope
#elif BAD == 53
    for (auto t : loop(3)) { y = y * 2; if (auto c = when(sum(y) > s)) break; }  //! scope is left by a jump of cpp
#elif BAD == 54
    for (auto t : loop(3)) whole = m;  //! assigned value has another
#elif BAD == 55
    for (auto t : loop(3)) { for (auto [i] : kernel(t + 1)) later = x(i) * 2; total += later; }  //! value of a closed scope is used outside
#elif BAD == 56
    barrier();  //! barrier outside of a kernel with workgroups
#elif BAD == 57
    for (auto [i] : kernel(N)) { y(i) = 0; barrier(); }  //! barrier outside of a kernel with workgroups
#elif BAD == 58
    for (auto [i] : kernel(N)) { auto a = shared<f32, 4>(); y(i) = a(0); }  //! shared array outside of a kernel with workgroups
#elif BAD == 59
    for (auto [i] : kernel(N).workgroup<64>()) { auto a = shared<f32, N>(); }  //! local array needs static extents|static extents
#elif BAD == 60
    for (auto [i] : kernel(N).workgroup<8, 8>()) y(i) = 0;  //! workgroup needs a size from 1 to 4096 for each extent|a workgroup needs a size
#elif BAD == 61
    for (auto [i] : kernel(N).workgroup<8192>()) y(i) = 0;  //! workgroup needs a size from 1 to 4096 for each extent|a workgroup needs a size
#elif BAD == 62
    for (auto [i] : kernel(N)) y(local_id(i)) = 0;  //! work item is not of a kernel with workgroups|local_id and group_id take
#elif BAD == 63
    auto r = deep(k, 0, 0, 0, 0);  //! at most four indices where one is a tensor
#elif BAD == 64
    m(k) = ks;  //! assigned value has another shape|does not broadcast
#elif BAD == 65
    m(k) += x;  //! assigned value has another dtype|another dtype
#elif BAD == 66
    x(k) = 0;  //! an in parameter is read only|read-only
#elif BAD == 67
    auto r = wide_rows(ps);  //! index must be an integer|an index is an integer
#elif BAD == 68
    for (auto [i] : kernel(N)) wide_rows(i) = 0;  //! elements inside a kernel are at most 16
#elif BAD == 69
    for (auto [i] : kernel(N)) y(k) = 0;  //! elements inside a kernel are at most 16
#elif BAD == 70
    z(k) /= 2;  //! out parameter is read before it is assigned
#elif BAD == 71
    for (auto [i] : kernel(N)) y(i) = stored(x(i));  //! stored inside a kernel
#elif BAD == 72
    y(k).atomic_xor(k);  //! assigned value has another dtype|another dtype
#elif BAD == 73
    doubled(1) = 3;  //! left side is a computed value
#elif BAD == 74
    auto r = doubled(1, 2);  //! at most one index for each axis
#elif BAD == 75
    auto r = whole(s);  //! index must be an integer|an index is an integer
#elif BAD == 76
    for (auto [i] : kernel(N)) { auto r = whole(k); }  //! elements inside a kernel are at most 16
#elif BAD == 77
    whole(1) = k(1);  //! assigned value has another dtype|another dtype
#elif BAD == 78
    for (auto [i] : kernel(N)) y(i) = sum(cast<f32>(m(i)) + deep(0, 0, 0, 0));  //! shapes do not broadcast
#elif BAD == 79
    for (auto t : loop(3)) { auto pair = var<f32, 2>(0); for (auto [i] : kernel(N)) y(i) = sum(cast<f32>(m(i)) * pair); }  //! shapes do not broadcast
#elif BAD == 80
    for (auto [i] : kernel(1, 2, 3, 4, 5)) y(i) = 0;  //! kernel takes one to four extents|takes one to four extents
#elif BAD == 81
    for (auto i : loop()) total += s;  //! loop takes one to three bounds|loop\(begin, end, step\)
#elif BAD == 82
    for (auto [i] : kernel(5000000000)) y(i) = 0;  //! literal is out of range
#elif BAD == 83
    for (auto i : loop(0, N, 5000000000)) total += s;  //! literal is out of range
#elif BAD == 84
    for (auto [i] : kernel(N)) { auto v = var(x); y(i) = v(i); }  //! elements inside a kernel are at most 16
#elif BAD == 85
    for (auto [i] : kernel(N).workgroup<8>()) { auto j = i; j += 1; y.at<mode::skip>(local_id(j)) = 0; }  //! work item is not of a kernel with workgroups
#elif BAD == 86
    z *= 2;  //! out parameter is read before it is assigned
#elif BAD == 87
    auto v = x; for (auto i : loop(3)) v = v + 1;  //! value is rebound inside a scope
#elif BAD == 88
    for (auto [i] : kernel(N)) { total = x(i); }  //! variable of outside is set inside a kernel
#elif BAD == 89
    for (auto o : once()) { whole = x; }  //! whole tensor is assigned inside a kernel
#elif BAD == 90
    for (auto [i] : kernel(N)) for (auto o : once()) total = 1;  //! kernel inside a kernel
#elif BAD == 91
    auto o = once();  //! scope is not entered
#elif BAD == 92
    check(x > 0, "positive");  //! condition must be a bool scalar|must be a bool scalar
#elif BAD == 93
    check(s > 0);  //! a check needs a text
#elif BAD == 94
    z = x; auto r = y(range<4>(s));  //! index must be an integer|an index is an integer
#elif BAD == 95
    auto r = y(range(k(0), k(0) + 4));  //! length of a range is a template argument
#elif BAD == 96
    auto r = wide_rows(k, range<4>(k(0)));  //! a range stands beside ranges and single indices|beside a range stand ranges
#elif BAD == 97
    auto r = slice<0>(x, k(0), k(0) + 4);  //! a slice at a value is a range|has a range as its index
#elif BAD == 98
    auto r = x(range<4>(k(0)), 1);  //! at most one index for each axis
#elif BAD == 99
    for (auto [i] : kernel(N)) y(i) = sum(x(range<20>(i)));  //! elements inside a kernel are at most 16
#elif BAD == 100
    auto r = x(range<4>(ks));  //! index must be an integer|an index is an integer
#elif BAD == 101
    auto r = x(range<N - 2>(N - 2));  //! computed extent is a template argument|a computed extent is a template argument
#elif BAD == 102
    auto g = grad(s * sum(model.w), model)(y);  //! parameter is not of this module|g\(model.w\)
#elif BAD == 103
    for (auto [i] : kernel(N)) y(i) = grad(s * sum(x), x)(i);  //! gradient of a large tensor in a kernel|at most 16 elements
#elif BAD == 104
    auto g = unused_is_zero(s + 1);  //! unused is zero is of a derivative|takes what grad, vjp, jvp and hvp return
#endif
    z = x;
  }
};

static const programs<scopes> exported;
