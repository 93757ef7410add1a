// Reductions, contractions, windows and the library functions.
#include <kiln/dsl.h>

using namespace kiln;

inline constexpr dim<"N"> N;
inline constexpr dim<"M", facts{.min = 1}> M;
inline constexpr dim<"K"> K;

template <class D>
struct reductions : program<reductions<D>> {
  in<D, N, M> x;
  out<D, N> rows, products, row_max;
  out<D, M> columns, column_max, column_min;
  out<D> total, largest, smallest;
  out<D, N, 1> kept;
  out<i64, N> where_max, where_min;
  out<i64, M> down;
  constexpr void body() {
    rows = sum<1>(x);
    products = prod<-1>(x);
    row_max = max<1>(x);
    columns = sum<0>(x);
    column_max = max<0>(x);
    column_min = min<0>(x);
    total = sum(x);
    largest = max<0, 1>(x);
    smallest = min(x);
    kept = sum<1>(x, keepdims);
    where_max = argmax<1>(x);
    where_min = argmin<1>(x);
    down = argmax<0>(x);
  }
};

template <class D>
struct means : program<means<D>> {
  in<D, N, M> x;
  in<D, 4, 3, 5> y;
  out<D, N> row;
  out<D, 1, M> column;
  out<D> all_of_it;
  out<D, 3> outer;
  constexpr void body() {
    row = mean<1>(x);
    column = mean<0>(x, keepdims);
    all_of_it = mean(x);
    outer = mean<0, 2>(y);
  }
};

struct quantifiers : program<quantifiers> {
  in<bool, N, M> p;
  in<f32, 4, 3, 5> y;
  in<f32, N, M> x;
  out<bool, N> some, every;
  out<bool> anywhere, everywhere;
  out<i64> flat_max, flat_min;
  out<i64, 3> outer_max;
  out<i64, 4, 1, 5> kept;
  constexpr void body() {
    some = any<1>(p);
    every = all<1>(p);
    anywhere = any(p);
    everywhere = all(p);
    flat_max = argmax(x);
    flat_min = argmin(x);
    outer_max = argmax<0, 2>(y);
    kept = argmin<1>(y, keepdims);
  }
};

template <class D>
struct contractions : program<contractions<D>> {
  in<D, N, K> a;
  in<D, K, M> b;
  in<D, K> u, v;
  in<D, 2, 1, 3, 4> batch_a;
  in<D, 5, 4, 2> batch_b;
  in<D, 4> few;
  out<D, N, M> product;
  out<D, N> by_vector;
  out<D, M> vector_by;
  out<D> scalar, inner;
  out<D, 2, 5, 3, 2> batched;
  out<D, 2, 1, 3> batch_by_vector;
  constexpr void body() {
    product = matmul(a, b);
    by_vector = matmul(a, v);
    vector_by = matmul(u, b);
    scalar = matmul(u, v);
    inner = dot(u, v);
    batched = matmul(batch_a, batch_b);
    batch_by_vector = matmul(batch_a, few);
  }
};

struct convolution : program<convolution> {
  in<f32, 2, 4, 9, 8> x;
  in<f32, 6, 4, 3, 3> w;
  in<f32, 6, 2, 2, 3> grouped;
  in<f32, 4, 1, 3, 3> depthwise;
  in<f32, 6> bias;
  in<f32, 5, 4, 1, 1> pointwise;
  out<f32, 2, 6, 7, 6> plain;
  out<f32, 2, 6, 5, 4> strided;
  out<f32, 2, 6, 7, 6> dilated;
  out<f32, 2, 6, 8, 6> in_groups;
  out<f32, 2, 4, 9, 8> per_channel;
  out<f32, 2, 6, 7, 6> with_bias;
  out<f32, 2, 5, 9, 8> one_by_one;
  constexpr void body() {
    plain = conv2d(x, w);
    strided = conv2d<conv{.stride = 2, .padding = 1}>(x, w);
    dilated = conv2d<conv{.padding = 1, .dilation = 2}>(x, w);
    in_groups = conv2d<conv{.groups = 2}>(x, grouped);
    per_channel = conv2d<conv{.padding = 1, .groups = 4}>(x, depthwise);
    with_bias = conv2d(x, w, bias);
    one_by_one = conv2d(x, pointwise);
  }
};

struct symbolic_convolution : program<symbolic_convolution> {
  in<f32, 1, 1, N, M> x;
  in<f32, 1, 1, 3, 3> w;
  out<f32, 1, 1, N, M> same;
  constexpr void body() { same = conv2d<conv{.padding = 1}>(x, w); }
};

struct pooling : program<pooling> {
  in<f32, 2, 3, 8, 9> x;
  in<i32, 1, 2, 6, 6> k;
  out<f32, 2, 3, 4, 4> halved, averaged;
  out<f32, 2, 3, 4, 5> overlapping;
  out<f32, 2, 3, 6, 7> average3;
  out<i32, 1, 2, 4, 4> integers;
  constexpr void body() {
    halved = max_pool2d<pool{.kernel = 2}>(x);
    averaged = avg_pool2d<pool{.kernel = 2}>(x);
    overlapping = max_pool2d<pool{.kernel = 3, .stride = 2, .padding = 1}>(x);
    average3 = avg_pool2d<pool{.kernel = 3, .stride = 1}>(x);
    integers = max_pool2d<pool{.kernel = 2, .stride = 1, .dilation = 2}>(k);
  }
};

template <class D>
struct library : program<library<D>> {
  in<D, N, M> x, y;
  in<D, M> gamma, beta;
  out<D, N, M> re, ge, sg, si, sm, lsm, ln, affine, sm0;
  out<D> loss;
  constexpr void body() {
    re = relu(x);
    ge = gelu(x);
    sg = sigmoid(x);
    si = silu(x);
    sm = softmax<1>(x);
    lsm = log_softmax(x);
    ln = layer_norm(x);
    affine = layer_norm<-1>(x, gamma, beta);
    sm0 = softmax<0>(x);
    loss = mse(x, y);
  }
};

static const programs<reductions<i32>, reductions<i64>, reductions<u8>, reductions<f16>, reductions<bf16>, reductions<f32>,
                      reductions<f64>, means<f16>, means<f32>, means<f64>, quantifiers, contractions<i32>, contractions<f16>,
                      contractions<bf16>, contractions<f32>, contractions<f64>, convolution, symbolic_convolution, pooling,
                      library<f16>, library<f32>, library<f64>>
    exported;
