// Movement operations and index tensors as a user writes them. The references are in movement_reference.cpp.
#pragma once

#include "tests/run/operations/tags.h"

using namespace kiln::dsl;

template <class D, class E>
struct shapes : program<shapes<D, E>> {
  in<D, E::N, 6, E::M> x;
  in<D, 1, E::M, 1> one;
  in<D> scalar;
  out<D, 6 * E::N * E::M> reshaped, flat;
  out<D, 3, 2 * E::N * E::M> inferred;
  out<D, E::M, E::N, 6> permuted;
  out<D, E::N, E::M, 6> transposed;
  out<D, E::M, 6, E::N> exchanged;
  out<D, E::N, E::M, 5> expanded;
  out<D, 3, E::M> spread;
  out<D, E::M> squeezed;
  out<D, 1, E::N, 6, 1, E::M> unsqueezed;
  out<D, E::N, E::M, E::M> broadcast_min;
  out<bool, E::N, 6, E::M> broadcast_equal;
  constexpr void body() {
    reshaped = reshape<6 * E::N * E::M>(x);
    inferred = reshape<3, -1>(x);
    flat = flatten(x);
    permuted = permute<2, 0, 1>(x);
    transposed = transpose(x);
    exchanged = transpose<0, -1>(x);
    expanded = expand<E::N, E::M, 5>(one);
    spread = expand<3, E::M>(scalar);
    squeezed = squeeze<0, 2>(one);
    unsqueezed = unsqueeze<0, 3>(x);
    broadcast_min = min(slice<1, 2, 3>(x), one);
    broadcast_equal = x == squeeze<0, 2>(one);
  }
};

template <class D, class E>
struct slices : program<slices<D, E>> {
  in<D, E::N, 6, E::M> x;
  in<D, 6 * E::N + 1, 5> y;
  out<D, 6 * E::N, 5> tail;
  out<D, (6 * E::N + 2) / 2, 5> even;
  out<D, 6 * E::N + 1, 5> backward;
  out<D, E::N, 3, E::M> down;
  out<D, E::N, 6, E::M - 2> inner;
  out<D, E::N, 6, 0> nothing;
  out<D, E::N, 6, E::M> flipped, flipped_twice, held, rolled, rolled_back, rolled_around;
  out<D, 3 * E::N, 6, E::M> repeated;
  out<D, E::N, 6, 2 * E::M> repeated_last;
  out<D, 2 * E::N, 6, 3 * E::M> tiled;
  constexpr void body() {
    tail = slice<0, 1, none>(y);
    even = slice<0, none, none, 2>(y);
    backward = slice<0, none, none, -1>(y);
    down = slice<1, 5, 0, -2>(x);
    inner = slice<-1, 1, -1>(x);
    nothing = slice<2, 3, 3>(x);
    flipped = flip<0>(x);
    flipped_twice = flip<0, 2>(x);
    held = flip<1>(stored(flip<1, 2>(x)));
    rolled = roll<1, 2>(x);
    rolled_back = roll<-1, -3>(x);
    rolled_around = roll<1, 9>(x);
    repeated = repeat<0, 3>(x);
    repeated_last = repeat<2, 2>(x);
    tiled = tile<2, 1, 3>(x);
  }
};

template <class D>
constexpr auto fill_literal() {
  if constexpr (std::is_same_v<D, bool>)
    return true;
  else
    return 1;
}
template <class D, class E>
struct pads : program<pads<D, E>> {
  in<D, E::M, 5> x;
  in<D> fill;
  out<D, E::M + 3, 5> zeros;
  out<D, E::M, 9> literals, values;
  out<D, E::M + 5, 5> edges, reflected, wrapped;
  out<D, E::M, 11> edge_columns, reflect_columns, wrap_columns;
  constexpr void body() {
    zeros = pad<0, 2, 1>(x);
    literals = pad<1, 1, 3>(x, fill_literal<D>());
    values = pad<-1, 0, 4>(x, fill);
    edges = pad<0, 3, 2, pad_mode::edge>(x);
    reflected = pad<0, 2, 3, pad_mode::reflect>(x);
    wrapped = pad<0, 4, 1, pad_mode::wrap>(x);
    edge_columns = pad<1, 0, 6, pad_mode::edge>(x);
    reflect_columns = pad<1, 4, 2, pad_mode::reflect>(x);
    wrap_columns = pad<1, 1, 5, pad_mode::wrap>(x);
  }
};

template <class D, class E>
struct joins : program<joins<D, E>> {
  in<D, E::N, 6, E::M> x, y;
  in<D, E::N, 2, E::M> thin;
  in<D, 5, 6, E::M> rows;
  in<D, 2 * E::N, 3> pairs;
  out<D, E::N, 14, E::M> middle;
  out<D, E::N + 5, 6, E::M> first;
  out<D, E::N, 2, 6, E::M> stacked;
  out<D, E::N, 6, E::M, 3> stacked_last;
  out<D, E::N, 2, E::M> part0, part1, part2;
  out<D, E::N, 3> half0, half1;
  out<D, E::N, 1, E::M> size1;
  out<D, E::N, 3, E::M> size3;
  out<D, E::N, 2, E::M> size2;
  constexpr void body() {
    middle = concat<1>(x, thin, y);
    first = concat<0>(rows, x);
    stacked = stack<1>(x, y);
    stacked_last = stack<-1>(x, y, x);
    auto [a, b, c] = split<1, 3>(x);
    part0 = a;
    part1 = b;
    part2 = c;
    auto [h, i] = split<0, 2>(pairs);
    half0 = h;
    half1 = i;
    auto [p, q, r] = split_sizes<1, 1, 3, 2>(y);
    size1 = p;
    size3 = q;
    size2 = r;
  }
};

template <class D, class E>
struct positions : program<positions<D, E>> {
  in<D, E::N, E::M> x;
  out<D, E::N, E::M> row, column, index_row, index_column;
  out<D, E::L> ramp;
  constexpr void body() {
    row = iota<0, D>(x);
    column = iota<-1, D>(x);
    auto [i, j] = indices<D>(x);
    index_row = i;
    index_column = j;
    ramp = this->template arange<E::L, D>();
  }
};

template <class D, class E>
struct constants : program<constants<D, E>> {
  in<D, E::N, E::M> x;
  out<D, E::N, E::M> filled;
  out<D> extent, product;
  constexpr void body() {
    filled = this->template full<D, E::N, E::M>(fill_literal<D>());
    extent = this->template size<E::N, D>();
    product = this->template size<E::N * E::M + 1, D>();
  }
};

template <class D, class E>
struct grids : program<grids<D, E>> {
  in<D, E::N, E::M> x;
  out<D, E::N, E::M> grid_row, grid_column, default_row;
  out<D, E::L> ramp;
  constexpr void body() {
    auto [i, j] = this->template grid<E::N, E::M>();
    grid_row = i;
    grid_column = j;
    default_row = iota<0>(x);
    ramp = this->template arange<E::L>();
  }
};
