// Mistakes of newcomers with tensors and elements, as in values.cpp.
#include <kiln/dsl.h>

using namespace kiln;

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;

// clang-format off
#ifndef BAD
#define BAD 0
#endif

struct tensors : program<tensors> {
  in<f32, N> x;
  in<f32, N> z;
  in<f32, N, M> a;
  in<i32, N> k;
  in<u8, N> bytes;
  in<f64, N> wide;
  in<bool, N> flags;
  in<f32> s;
  in<i32> n;
  inout<f32, N> y;
  inout<f32, N, M> q;
  inout<f32> total;
  out<f32, N> o;
  constexpr void body() {
#if BAD == 1
    auto r = x + a;  //! unsqueeze|expand|reshape
#elif BAD == 2
    y = a + x;  //! unsqueeze|expand|reshape
#elif BAD == 3
    q = matmul(a, a);  //! same k|inner extents
#elif BAD == 4
    total = dot(a, a);  //! matmul|vectors
#elif BAD == 5
    auto r = mean(a, 1);  //! sum<0>|template
#elif BAD == 6
    auto r = sum<2>(a);  //! axis|rank
#elif BAD == 7
    auto r = sum<M>(a);  //? axis|axes
#elif BAD == 8
    auto r = transpose(x);  //! axis|axes|rank
#elif BAD == 9
    auto r = concat<0>({x, z});  //? concat<0>\(a, b\)|angle brackets
#elif BAD == 10
    auto r = stack(x, z);  //! template|concat<0>
#elif BAD == 11
    auto r = reshape<N * M>(x);  //! number of elements
#elif BAD == 12
    auto r = reshape(a, {M, N});  //? reshape<
#elif BAD == 13
    auto r = zeros(N);  //! full
#elif BAD == 14
    auto r = zeros<f32, N>();  //? full
#elif BAD == 15
    auto r = arange(N);  //! arange<|template
#elif BAD == 16
    auto r = full(N, 1.0f);  //! full<|template
#elif BAD == 17
    auto [i, j] = grid(N, M);  //! grid<|template
#elif BAD == 18
    auto [i, j] = indices(x);  //!
#elif BAD == 19
    auto r = a[0][1];  //! \(i, j\)|parenthes
#elif BAD == 20
    auto r = x(0, 1);  //! one (index )?for each axis
#elif BAD == 21
    q(0)(1) = 2;  //! t\(i, j\)|parameter
#elif BAD == 22
    auto r = x(x > 0);  //! select|integer
#elif BAD == 23
    y(x > 0) = 0;  //! select|integer
#elif BAD == 24
    auto r = x.slice(1, 3);  //! slice<|function
#elif BAD == 25
    auto r = pad(x, 1);  //! pad<|template
#elif BAD == 26
    auto r = flip(x, 0);  //! template
#elif BAD == 27
    auto r = transpose<0, 2>(a);  //! axis|axes
#elif BAD == 28
    auto r = argmax(a, 0);  //! template|argmax<|sum<0>
#elif BAD == 29
    auto r = conv2d(q, q);  //! rank 4|batch
#elif BAD == 30
    auto r = max_pool2d(a);  //! pool2d of pool kernel|max pool2d<pool
#elif BAD == 31
    auto r = select(flags, x, wide);  //! cast
#elif BAD == 32
    auto r = clamp(x, k, 1);  //! cast
#elif BAD == 33
    auto r = pow(k, 2);  //! cast
#elif BAD == 34
    auto r = sqrt(n);  //! cast
#elif BAD == 35
    auto r = cast(x);  //! cast<|cast of dtype
#elif BAD == 36
    auto r = cast<f32>(N);  //! size|full
#elif BAD == 37
    auto r = split<0, 3>(x);  //! equal parts|parts
#elif BAD == 38
    auto r = flip<1>(x);  //! axis|rank
#elif BAD == 39
    auto r = tile(x, 2);  //! template|tile<
#elif BAD == 40
    y(0).atomic_add(k(0));  //! cast
#elif BAD == 41
    o(0) = o(1);  //! inout
#elif BAD == 42
    y = x = z;  //! program: inout
#elif BAD == 43
    sum(x) = total;  //! parameter
#elif BAD == 44
    auto r = x + a(0);  //! equal|unsqueeze
#elif BAD == 45
    y(k) = q;  //!
#elif BAD == 46
    q(0) = x;  //!
#elif BAD == 47
    auto r = x & 1;  //! cast|integer
#elif BAD == 48
    auto r = gelu(bytes);  //! cast
#elif BAD == 49
    auto r = mean(k);  //! cast
#elif BAD == 50
    auto r = any(x);  //! bool
#elif BAD == 51
    auto r = sum<1>(a, true);  //! keepdims
#elif BAD == 52
    auto r = lerp(x, z, n);  //! cast
#elif BAD == 53
    auto r = fma(x, z);  //! fma\(a, b, c\)|fma a b c
#elif BAD == 54
    auto r = stack<2>(x, z);  //! axis|rank
#elif BAD == 55
    auto r = a.size<0>;  //? \(\)
#elif BAD == 56
    total = x[0];  //! parenthes|t\(i\)|t of i
#elif BAD == 57
    y = softmax(x > 0);  //! cast
#elif BAD == 58
    y = x.at<mode::reflect>(k);  //? mirror
#elif BAD == 59
    auto r = a(0, none);  //!
#elif BAD == 60
    y(k) = flags;  //! cast
#endif
    y = sum<1>(a) + x(k);
    o = x;
  }
};

static const programs<tensors> exported;
