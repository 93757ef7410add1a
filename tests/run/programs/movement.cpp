// Every movement operation of the DSL, static and symbolic.
#include <kiln/dsl.h>

using namespace kiln;

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;
inline constexpr dim<"E", facts{.min = 2, .multiple_of = 2}> E;

struct shapes : program<shapes> {
  in<f32, 6, 4> x;
  in<f32, N, M> y;
  in<f32, 1, 5> one;
  out<f32, 2, 12> reshaped;
  out<f32, 3, 8> inferred;
  out<f32, 24> flat;
  out<f32, M, N> turned, permuted;
  out<f32, N * M> line;
  out<f32, 7, 5> expanded;
  out<f32, 5> squeezed;
  out<f32, N, 1, M> unsqueezed;
  constexpr void body() {
    reshaped = reshape<2, 12>(x);
    inferred = reshape<3, -1>(x);
    flat = flatten(x);
    turned = transpose(y);
    permuted = permute<1, 0>(y);
    line = reshape<N * M>(y);
    expanded = expand<7, 5>(one);
    squeezed = squeeze<0>(one);
    unsqueezed = unsqueeze<1>(y);
  }
};

struct slices : program<slices> {
  in<f32, 10> x;
  in<f32, N, M> y;
  out<f32, 3> head, tail;
  out<f32, 5> even;
  out<f32, 10> reversed;
  out<f32, 4> down;
  out<f32, 0> nothing;
  out<f32, N - 2, M> inner;
  out<f32, N, (M + 1) / 2> half;
  out<f32, N, M> mirrored, both;
  constexpr void body() {
    head = slice<0, 0, 3>(x);
    tail = slice<0, -3, none>(x);
    even = slice<0, 0, none, 2>(x);
    reversed = slice<0, none, none, -1>(x);
    down = slice<0, 8, 0, -2>(x);
    nothing = slice<0, 4, 4>(x);
    inner = slice<0, 1, -1>(y);
    half = slice<1, none, none, 2>(y);
    mirrored = flip<1>(y);
    both = flip<0, 1>(y);
  }
};

struct pads : program<pads> {
  in<f32, 5> x;
  in<i32, N, M> y;
  in<f32> fill;
  out<f32, 8> zero, filled, by_value;
  out<f32, 9> edged, reflected, wrapped;
  out<i32, N + 2, M> framed, edge_rows;
  constexpr void body() {
    zero = pad<0, 1, 2>(x);
    filled = pad<0, 2, 1>(x, -1.5);
    by_value = pad<0, 0, 3>(x, fill);
    edged = pad<0, 2, 2, pad_mode::edge>(x);
    reflected = pad<0, 2, 2, pad_mode::reflect>(x);
    wrapped = pad<0, 1, 3, pad_mode::wrap>(x);
    framed = pad<0, 1, 1>(y, 7);
    edge_rows = pad<0, 1, 1, pad_mode::edge>(y);
  }
};

struct rolls : program<rolls> {
  in<f32, 7> x;
  in<i16, N, M> y;
  out<f32, 7> right, left, around;
  out<i16, N, M> rows, columns;
  constexpr void body() {
    right = roll<0, 2>(x);
    left = roll<0, -3>(x);
    around = roll<0, 9>(x);
    rows = roll<0, 1>(y);
    columns = roll<-1, -2>(y);
  }
};

// Rolls along extents that may be 0, 1 or less than the shift.
struct rolls_of_any_extent : program<rolls_of_any_extent> {
  in<i16, N, M> y;
  in<f32, 0> nothing;
  out<i16, N, M> far, back, both;
  out<f32, 0> still;
  constexpr void body() {
    far = roll<0, 40>(y);
    back = roll<1, -9>(y);
    both = roll<0, -1>(roll<1, 2>(y)) + roll<0, 0>(y);
    still = roll<0, 3>(nothing);
  }
};

// Products and sums of floor divisions can be extents.
struct halves : program<halves> {
  in<f32, N, M> x;
  in<f32, N> v;
  out<f32, (N / 2) * (M / 2)> pooled;
  out<f32, N - N / 2> second;
  out<f32, M*(N / 3) + (N + 1) / 2> joined;
  out<f32, (N / 2) / 3, M % 4> corner;
  constexpr void body() {
    pooled = flatten(slice<0, none, N / 2>(slice<1, none, M / 2>(x))) * 2;
    second = slice<0, N / 2, none>(v);
    joined = concat<0>(flatten(slice<0, none, N / 3>(x)), slice<0, none, none, 2>(v));
    corner = slice<0, none, (N / 2) / 3>(slice<1, none, M % 4>(x));
  }
};

// No axis has the extent N.
struct thirds : program<thirds> {
  in<u8, 3 * N> x;
  in<u8, 2 * N + M> z;
  out<u8, 3 * N> y;
  out<u8, N> sums;
  constexpr void body() {
    y = x + sum(z);
    sums = sum<0>(reshape<3, N>(x));
  }
};

struct joins : program<joins> {
  in<f32, 2, 3> a, b;
  in<f32, 4, 3> c;
  in<u8, N, M> y;
  in<u8, N, 2> z;
  out<f32, 8, 3> rows;
  out<f32, 2, 6> columns;
  out<f32, 2, 2, 3> stacked;
  out<f32, 2, 3, 3> stacked_last;
  out<u8, N, M + 2> wider;
  constexpr void body() {
    rows = concat<0>(a, b, c);
    columns = concat<1>(a, b);
    stacked = stack<0>(a, b);
    stacked_last = stack<-1>(a, b, a + b);
    wider = concat<1>(y, z);
  }
};

struct splits : program<splits> {
  in<f32, 6, 2> x;
  in<f32, N, 5> y;
  in<f32, E> z;
  out<f32, 2, 2> first, second, third;
  out<f32, N, 1> narrow;
  out<f32, N, 4> wide;
  out<f32, E / 2> sums;
  constexpr void body() {
    auto [a, b, c] = split<0, 3>(x);
    first = a;
    second = b * 2;
    third = c - a;
    auto [l, r] = split_sizes<1, 1, 4>(y);
    narrow = l;
    wide = r;
    sums = slice<0, 0, E / 2>(z) + slice<0, E / 2, none>(z);
  }
};

struct repeats : program<repeats> {
  in<f32, 3, 2> x;
  in<i64, N> y;
  out<f32, 6, 2> each;
  out<f32, 3, 6> whole;
  out<f32, 6, 4> grid;
  out<i64, 3 * N> longer, cycles;
  constexpr void body() {
    each = repeat<0, 2>(x);
    whole = tile<3>(x);
    grid = tile<2, 2>(x);
    longer = repeat<0, 3>(y);
    cycles = tile<3>(y);
  }
};

struct positions : program<positions> {
  in<f32, N, M> x;
  out<i32, N, M> row, column;
  out<f32, N, M> ramp;
  out<i64, N> line;
  out<f64, 5> reals;
  out<i32, N, M> sum;
  out<f32, 3, 3> sevens;
  out<i64> count;
  constexpr void body() {
    auto [i, j] = indices(x);
    row = i;
    column = j;
    ramp = iota<1, f32>(x) / M;
    line = arange<N, i64>() * 2 + 1;
    reals = arange<5, f64>() / 4;
    auto [k, l] = grid<N, M>();
    sum = k + l;
    sevens = full<f32, 3, 3>(7);
    count = size<N * M>();
  }
};

static const programs<shapes, slices, pads, rolls, rolls_of_any_extent, halves, thirds, joins, splits, repeats, positions>
    exported;
