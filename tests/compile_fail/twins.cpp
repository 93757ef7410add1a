// Twins: with -DBAD=n the line of case n is compiled in and must give an error in words at its own line. Without it, the file
// must compile. //! is followed by a regular expression for the message of g++ or clang (mistakes.py).
#include <kiln/dsl.h>

using namespace kiln;

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;
inline constexpr dim<"K"> K;
inline constexpr dim<"L"> L;
inline constexpr dim<"N", {.multiple_of = 8}> N8;

// clang-format off
#ifndef BAD
#define BAD 0
#endif

struct layer { inout<f32, 3, 4> w; in<f32, 4> frozen; };
struct constants { in<f32, 3> w; inout<i32> steps; };

struct twins : program<twins> {
  in<f32, 64, 768> x;
  in<f32, 512, 10> w;
  in<f32, N, K> a;
  in<f32, L, M> b;
  in<f32, N> v;
  in<f32, M> u;
  in<i32, N> k;
  in<u8, N> bytes;
  in<f64, N> wide;
  in<f16, N> half;
  in<bool, N> p;
  in<f32, 1, 3, 8, 8> image;
  in<f32, 4, 3, 3, 3> filter;
  in<f32, 4, 2, 3, 3> thin_filter;
  in<f32, 5> five;
  in<f32, 0> empty;
  in<f32> s;
  inout<f32, N> y;
  layer model;
  constants fixed;
  out<f32, N> z;
  out<i32, N> zi;
  constexpr void body() {
    auto loss = sum(model.w) * sum(v) * s;
#if BAD == 1
    auto r = matmul(x, w);  //! inner extents of matmul differ|same K
#elif BAD == 2
    auto r = matmul(a, b);  //! inner extents of matmul differ|same K
#elif BAD == 3
    auto r = v + u;  //! shapes do not broadcast
#elif BAD == 4
    auto r = v + k;  //! dtypes differ write cast|different dtypes
#elif BAD == 5
    auto r = v * wide;  //! dtypes differ write cast|different dtypes
#elif BAD == 6
    auto r = sum<2>(x);  //! axis out of range
#elif BAD == 7
    (v + v) = v;  //! left side is a computed value
#elif BAD == 8
    v = y;  //! an in parameter is read only|read only
#elif BAD == 9
    v += 1;  //! an in parameter is read only|read only
#elif BAD == 10
    auto r = 2.5 * k;  //! literal does not fit the dtype|literal does not fit
#elif BAD == 11
    if (v > 0.0f) z = v;  //! no value while compiling
#elif BAD == 12
    auto r = reshape<64, 700>(x);  //! reshape changes the number of elements|number of elements
#elif BAD == 13
    auto r = reshape<N, M>(v);  //! reshape changes the number of elements|number of elements
#elif BAD == 14
    auto r = reshape<-1, -1>(x);  //! only one extent may be inferred|only one extent
#elif BAD == 15
    auto r = reshape<-1, 1000>(x);  //! inferred extent does not divide|cannot be inferred
#elif BAD == 16
    auto r = permute<0, 0>(x);  //! axis is named twice|named twice
#elif BAD == 17
    auto r = permute<1>(x);  //! permutation must name every axis once|every axis once
#elif BAD == 18
    auto r = transpose<0, 3>(x);  //! axis out of range
#elif BAD == 19
    auto r = squeeze<0>(x);  //! squeezed axis must have extent 1|extent 1
#elif BAD == 20
    auto r = unsqueeze<4>(x);  //! axis out of range
#elif BAD == 21
    auto r = expand<3>(five);  //! extents do not expand|grow from 1
#elif BAD == 22
    auto r = slice<0, 0, 6>(five);  //! slice is out of range|outside the axis
#elif BAD == 23
    auto r = slice<0, 0, none, 0>(five);  //! slice step is zero|must not be 0
#elif BAD == 24
    auto r = pad<0, -1, 0>(five);  //! padding is negative|must not be negative
#elif BAD == 25
    auto r = pad<0, 5, 0, pad_mode::reflect>(five);  //! padding is larger than the axis|larger than the axis
#elif BAD == 26
    auto r = split<0, 2>(five);  //! number of parts does not divide the axis|equal parts
#elif BAD == 27
    auto r = split_sizes<0, 2, 2>(five);  //! parts do not add up to the axis|do not add up
#elif BAD == 28
    auto r = concat<0>(a, b);  //! extents differ outside the joined axis|but the joined one
#elif BAD == 29
    auto r = stack<0>(v, k);  //! dtypes differ write cast|different dtypes
#elif BAD == 30
    auto r = p + p;  //! arithmetic on bool|no arithmetic on bool
#elif BAD == 31
    auto r = v % 2;  //! operands must be integers|must be integers
#elif BAD == 32
    auto r = v && p;  //! dtypes differ write cast|different dtypes
#elif BAD == 33
    auto r = v & v;  //! operands must be integers or bool|integers or bool
#elif BAD == 34
    auto r = k && k;  //! operands must be bool|must be bool
#elif BAD == 35
    auto r = exp(k);  //! operand must be floating point|must be floating point
#elif BAD == 36
    auto r = select(v, v, v);  //! condition must be bool|must be a bool tensor
#elif BAD == 37
    auto r = select(p, v, k);  //! dtypes differ write cast|different dtypes
#elif BAD == 38
    auto r = max<0>(empty);  //! reduction of an empty axis has no value|have no value
#elif BAD == 39
    auto r = any<0>(v);  //! operands must be bool|must be bool
#elif BAD == 40
    auto r = bitcast<f64>(v);  //! bitcast needs the same width|same width
#elif BAD == 41
    auto r = dot(v, u);  //! dot needs two vectors of the same extent|two vectors
#elif BAD == 42
    auto r = conv2d(image, thin_filter);  //! channels do not match the filter|channels of the image
#elif BAD == 43
    auto r = conv2d(v, filter);  //! image must be batch channels height width|must have rank 4
#elif BAD == 44
    auto r = max_pool2d<pool{.kernel = 9}>(image);  //! window does not fit the image|does not fit the padded image
#elif BAD == 45
    auto r = conv2d<conv{.stride = 0}>(image, filter);  //! stride and dilation must be positive|at least 1
#elif BAD == 46
    z = u;  //! assigned value has another shape|does not broadcast to the parameter
#elif BAD == 47
    z = k;  //! assigned value has another dtype|another dtype
#elif BAD == 48
    zi = 1.5;  //! literal does not fit the dtype|literal does not fit
#elif BAD == 49
    auto r = bytes + 256;  //! literal is out of range of the dtype
#elif BAD == 50
    auto r = z + 1;  //! out parameter is read before it is assigned
#elif BAD == 51
    auto r = expand<dim<"Q">{}>(s);  //! symbolic extent is not an extent of any parameter
#elif BAD == 52
    expr<f32, N> r; y = r;  //! value is used before it has one
#elif BAD == 53
    auto r = sum<0>(x); r = x;  //! type of a value never changes|give the result a new name
#elif BAD == 54
    auto r = softmax<1>(v);  //! axis out of range
#elif BAD == 55
    auto r = gelu(k);  //! operand must be floating point|must be floating point
#elif BAD == 56
    auto r = v == k;  //! dtypes differ write cast|different dtypes
#elif BAD == 57
    y += k;  //! assigned value has another dtype|another dtype
#elif BAD == 58
    auto r = clamp(k, 0.5, 1);  //! literal does not fit the dtype|literal does not fit
#elif BAD == 59
    while (p) z = v;  //! no value while compiling
#elif BAD == 60
    auto r = !v;  //! operands must be bool|must be bool
#elif BAD == 61
    auto r = roll<1, 2>(v);  //! axis out of range
#elif BAD == 62
    auto r = half + wide;  //! dtypes differ write cast|different dtypes
#elif BAD == 64
    auto r = arange<-3>();  //! extent is negative
#elif BAD == 65
    auto r = v + 3.0f * k;  //! literal does not fit the dtype|literal does not fit
#elif BAD == 66
    y = matmul(a, v);  //! inner extents of matmul differ|same K
#elif BAD == 67
    auto r = layer_norm(k);  //! operand must be floating point|must be floating point
#elif BAD == 68
    auto r = min(v, u);  //! shapes do not broadcast
#elif BAD == 69
    auto r = select(p, 1.0f, 0.0f);  //! two literals have no dtype|write select<f32>\(c, a, b\)
#elif BAD == 70
    auto r = kiln::dsl::cast<f32>(1);  //! operand must be a tensor|not a plain C\+\+ value
#elif BAD == 71
    auto r = tile<2, 2>(v);  //! axis out of range
#elif BAD == 72
    auto r = concat<0>(v, 1.0f);  //! operand must be a tensor|not a plain C\+\+ value
#elif BAD == 73
    auto r = iota<0, bool>(v);  //! indices are numbers name another dtype|indices are numbers, not bool
#elif BAD == 74
    auto [r] = indices<bool>(v);  //! indices are numbers name another dtype|indices are numbers, not bool
#elif BAD == 75
    auto r = arange<5, bool>();  //! indices are numbers name another dtype|indices are numbers, not bool
#elif BAD == 76
    auto r = abs(p);  //! arithmetic on bool write cast|no arithmetic on bool
#elif BAD == 77
    auto r = v % 2.0f;  //! operands must be integers|must be integers
#elif BAD == 78
    auto r = max_pool2d<pool{.kernel = 9}>(image);  //! window does not fit the image|window
#elif BAD == 79
    auto r = sum(x, 0);  //! axes are template arguments
#elif BAD == 80
    auto r = softmax(x, 1);  //! axes are template arguments
#elif BAD == 81
    s = 2;  //! an in parameter is read only|read-only
#elif BAD == 82
    auto r = v; r = sum<0>(r);  //! type of a value never changes|give the result a new name
#elif BAD == 83
    auto r = sum<f32>(wide);  //! named dtype does not hold every element|does not hold every element
#elif BAD == 84
    auto r = mean<i32>(k);  //! operand must be floating point|must be floating point
#elif BAD == 85
    auto r = max<f64, 0>(v);  //! this reduction names no dtype|names no dtype
#elif BAD == 86
    auto r = dot<f32>(v, wide);  //! named dtype does not hold every element|does not hold every element
#elif BAD == 87
    auto r = matmul<f64>(a, b);  //! inner extents of matmul differ|same K
#elif BAD == 88
    auto r = sum<f64, 1>(v, keepdims);  //! axis out of range
#elif BAD == 90
    auto r = reshape<N8 / 8, 8>(v);  //! no parameter declares.*use one dim for both
#elif BAD == 91
    auto r = expand<2 * (N8 / 2)>(s);  //! no parameter declares.*use one dim for both
#elif BAD == 92
    for (auto [i] : kernel(N8)) z(i) = 0;  //! no parameter declares.*use one dim for both
#elif BAD == 93
    auto g = grad(v * 2, v);  //! gradient is of a scalar write grad of sum|a gradient is of a scalar
#elif BAD == 94
    auto g = grad(loss, k);  //! gradient needs floating point|derivatives are of floating point
#elif BAD == 95
    auto g = grad(k * 2, v);  //! gradient needs floating point|derivatives are of floating point
#elif BAD == 96
    auto g = grad(loss, 2.0f);  //! gradient is of a value or parameter|a derivative is of a value
#elif BAD == 97
    auto g = grad(loss, N);  //! gradient is of a value or parameter|a derivative is of a value
#elif BAD == 98
    auto g = vjp(v * 2, v, u);  //! cotangent has another type|has the dtype and the shape of y
#elif BAD == 99
    auto g = vjp(v * 2, v, wide);  //! cotangent has another type|has the dtype and the shape of y
#elif BAD == 100
    auto g = jvp(loss, v, s);  //! direction has another shape|has the dtype and the shape of x
#elif BAD == 101
    auto g = jvp(loss, v, wide);  //! direction has another shape|has the dtype and the shape of x
#elif BAD == 102
    auto g = jvp(loss, wrt(v, v), wrt(v, unsqueeze<0>(v)));  //! direction has another shape|one more leading axis, of one extent for all
#elif BAD == 103
    auto g = hvp(v, v, v);  //! gradient is of a scalar write grad of sum|a gradient is of a scalar
#elif BAD == 104
    auto g = grad(loss, fixed);  //! module has no trainable parameter|no trainable parameter
#elif BAD == 105
    auto g = grad(loss, model)(v + v);  //! parameter is not of this module|g\(model.w\)
#elif BAD == 106
    auto g = custom_vjp(exp(v), [&](auto c) { return sum(c); }, v);  //! custom derivative returns other types|for each x, with the dtype and the shape
#elif BAD == 107
    auto g = custom_vjp(exp(v), [&](auto c) { return c; }, v, s);  //! custom derivative returns other types|for each x, with the dtype and the shape
#elif BAD == 108
    auto g = straight_through(wide, v);  //! dtypes differ|different dtypes
#elif BAD == 109
    auto g = value_and_grad([&](auto p) { return p * 2; }, v);  //! gradient is of a scalar write grad of sum|a gradient is of a scalar
#elif BAD == 110
    auto g = checkpoint([&](auto p) { return p > 0; }, v);  //! gradient needs floating point|derivatives are of floating point
#elif BAD == 111
    auto [a, b] = grad(loss, v, k);  //! gradient needs floating point|derivatives are of floating point
#elif BAD == 112
    auto r = cumsum<1>(v);  //! axis out of range
#elif BAD == 113
    auto r = cumsum(a);  //! a scan is along one axis
#elif BAD == 114
    auto r = cumsum<0>(v > 0.0f, reverse);  //! arithmetic on bool
#elif BAD == 115
    auto r = cummax<f64, 0>(v);  //! this reduction names no dtype|names no dtype
#elif BAD == 116
    auto r = cumprod(v, 0);  //! axes are template arguments
#elif BAD == 117
    auto r = ldexp(v, 0.5);  //! literal does not fit the dtype|integers take 2
#elif BAD == 118
    auto r = laplacian(loss, v);  //! laplacian is of a value with the first axes of x|with the first axes of x
#elif BAD == 119
    auto g = grad(loss);  //! derivative lacks an argument|needs the value to differentiate by
#elif BAD == 120
    auto g = jvp(v * 2, v);  //! derivative lacks an argument|needs the value to differentiate by
#elif BAD == 121
    auto g = value_and_grad(loss, v);  //! argument is no function of one value|a function of one value
#elif BAD == 122
    auto g = unused_is_zero(v, v);  //! unused is zero is of a derivative|takes what grad, vjp, jvp and hvp return
#elif BAD == 123
    auto g = value_and_grad([&](auto p, auto q) { return sum(p * q); }, v, y);  //! argument is no function of one value|a function of one value
#elif BAD == 124
    auto g = grad(loss, model, model);  //! gradient is of values or of one module|one after the other, or to one module
#elif BAD == 125
    auto g = grad(loss, {v, y});  //! gradient is of values or of one module|one after the other, or to one module
#elif BAD == 126
    auto g = jacobian(v * 2, v);  //! kiln makes no matrix of derivatives|has its columns
#elif BAD == 127
    auto r = einsum("ij,j->i", a, v);  //! products are matmul dot or sums|matmul\(a, b\), also of batches
#elif BAD == 128
    auto r = conv2d(image, filter, 1, 1);  //! options are in angle brackets|conv2d<conv
#elif BAD == 129
    auto r = conv2d(image, filter, conv{.stride = 1});  //! options are in angle brackets|conv2d<conv
#elif BAD == 130
    auto r = conv2d<1, 1>(image, filter);  //! options are in angle brackets|conv2d<conv
#elif BAD == 131
    auto r = max_pool2d<2>(image);  //! options are in angle brackets|max_pool2d<pool
#elif BAD == 132
    auto r = avg_pool2d(image, 2);  //! options are in angle brackets|max_pool2d<pool
#elif BAD == 133
    auto r = grad(loss, {1, 2});  //! gradient is of values or of one module|one after the other, or to one module
#elif BAD == 134
    auto r = value_and_grad([&](auto m) { return sum(m.w); }, model);  //! a module is no value|auto g = grad\(l, model\)
#elif BAD == 135
    auto r = stop_gradient(model);  //! a module is no value|stop_gradient\(model.w\)
#elif BAD == 136
    auto r = slice<0, M, -L>(v);  //! only integers count from the end|for a bound of -Q write N - Q
#elif BAD == 137
    auto r = slice<0, -L>(v);  //! only integers count from the end|for a bound of -Q write N - Q
#elif BAD == 138
    auto r = sort(v);  //! kiln sorts nothing|max<1>\(x\) at argmax<1>\(x\)
#elif BAD == 139
    auto r = topk<3>(v);  //! kiln sorts nothing|topk is a loop
#elif BAD == 140
    auto r = one_hot(k, 10);  //! write select of positions iota or arange|one hot unsqueeze<1>\(k\) == arange<10>
#elif BAD == 141
    auto r = tril(x);  //! write select of positions iota or arange|tril is select
#elif BAD == 142
    auto r = norm(v);  //! sqrt of sum of x times x|a norm is sqrt
#elif BAD == 143
    auto r = dropout(v, 0.1f);  //! draws no random numbers|select\(keep
#elif BAD == 144
    auto r = batch_norm(image);  //! mean of axes keepdims|of other axes
#elif BAD == 145
    auto r = conv1d(a, b, 1);  //! conv2d of unsqueeze|conv1d is conv2d\(unsqueeze<2>
#elif BAD == 146
    auto r = softplus(v);  //! an activation is a few operations|log1p\(exp
#elif BAD == 147
    auto r = cross_entropy(x, k);  //! a loss is a few operations|-mean\(log softmax
#elif BAD == 148
    auto r = swapaxes(x, 0, 1);  //! write permute transpose|transpose<0, 1>\(x\)
#elif BAD == 149
    auto r = add(v, 1.0f);  //! select full loop or operators|a \+ b for add
#elif BAD == 150
    auto r = gather(v, 0, k);  //! elements at places|x\(rows\) for take and gather
#elif BAD == 151
    auto r = checkpoint([&](auto m) { return sum(m.w); }, model);  //! a module is no value|stop_gradient\(model.w\)
#elif BAD == 152
    auto r = independent(model);  //! a module is no value|stop_gradient\(model.w\)
#elif BAD == 153
    auto r = einsum<"ij,j->i">(a, v);  //! products are matmul dot or sums|matmul\(a, b\), also of batches
#elif BAD == 89
    k = 1.5;  //! an in parameter is read only|read-only
#endif
    y = v;
#if BAD == 63
    zi = k;  //! program: out parameter is never assigned
#else
    zi = k;
    z = v;
#endif
  }
};

static const programs<twins> exported;
