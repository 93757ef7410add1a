// Kernels as users write them: factorisations by host loops, conditions on positions, rows of a sparse matrix, stencils.
#include <kiln/dsl.h>

using namespace kiln;

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;
inline constexpr dim<"K"> K;

struct factor_by_rest : program<factor_by_rest> {
  inout<f64, N, N> w;
  constexpr void body() {
    for (auto k : loop(N)) {
      auto d = sqrt(w(k, k));
      w(k, k) = d;
      auto rest = size<N, i32>() - 1 - k;
      for (auto [t] : kernel(rest)) w(k + 1 + t, k) = w(k + 1 + t, k) / d;
      for (auto [s, t] : kernel(rest, rest)) {
        auto i = k + 1 + s, j = k + 1 + t;
        if (auto c = when(j <= i)) w(i, j) -= w(i, k) * w(j, k);
      }
    }
  }
};

struct factor_by_condition : program<factor_by_condition> {
  inout<f32, N, N> w;
  constexpr void body() {
    for (auto k : loop(N)) {
      auto d = w(k, k);
      for (auto [i] : kernel(N))
        if (auto c = when(i > k)) w(i, k) /= d;
      for (auto [i, j] : kernel(N, N))
        if (auto c = when(i > k && j > k)) w(i, j) -= w(i, k) * w(k, j);
    }
  }
};

struct shortest_paths : program<shortest_paths> {
  inout<f32, N, N> d;
  constexpr void body() {
    for (auto k : loop(N))
      for (auto [i, j] : kernel(N, N))
        if (auto c = when(i != k && j != k)) d(i, j) = min(d(i, j), d(i, k) + d(k, j));
  }
};

struct kept_elements : program<kept_elements> {
  inout<i32, N, N> w;
  out<i32> last;
  constexpr void body() {
    last = 0;
    for (auto k : loop(N)) {
      auto before = w(k, k);
      w(k, k) = w(k, k) * 3 + 1;
      auto now = w(k, k);
      for (auto [t] : kernel(N)) w(t, k) += now - before;
      if (auto c = when(now > before)) {
        for (auto [t] : kernel(N)) w(k, t) = w(k, t) * 2 + before;
      }
      last = w(k, 0) + now;
    }
  }
};

struct triangle : program<triangle> {
  in<f32, N, M> x;
  in<i32> first;
  inout<f32, N, M> y, z;
  constexpr void body() {
    for (auto [i, j] : kernel(N, M))
      if (auto c = when(j >= i && i + 2 != j && i < 20)) {
        y(i, j) = x(i, j) + x(i, j - 1);
        z(i, j) = y(i, j) - x(i, 3);
      }
    for (auto [i, j] : kernel(N, M))
      if (auto c = when(first == 2 || i == 5)) y(i, j) += 1;
    for (auto [i, j] : kernel(N, M))
      if (auto c = when(j == first && i <= j)) z(i, j) += 7;
  }
};

struct few_parts : program<few_parts> {  // conditions that hold for one work item, or for none
  in<i32> v;
  inout<i32, 1, 2> a;
  inout<i32, 3, 5> b;
  inout<i32, 2> c;
  constexpr void body() {
    for (auto [i, j] : kernel(1, 2))
      if (auto w = when(j > 8)) a(i, j) = v;
    for (auto [i, j] : kernel(3, 5))
      if (auto w = when(j != 1 && i != 2)) b(i, j) = v;
    for (auto [i, j] : kernel(3, 5))
      if (auto w = when(j == i + 3)) b(i, j) += 5;
    for (auto [i, j] : kernel(3, 5))
      if (auto w = when(j < i - 1)) b(i, j) += 9;
    for (auto [i] : kernel(2))
      if (auto w = when(i != 0)) c(i) = v;
  }
};

struct writes_twice : program<writes_twice> {  // the last write of a work item has a condition that the first one does not have
  inout<i32, 9, 9> y;
  inout<i32, 3, 40> z;
  in<i32> far;
  constexpr void body() {
    for (auto [i, j] : kernel(9, 9)) {
      if (auto c = when(j >= 2)) y(i, j) = 7;
      if (auto c = when(j <= i)) y(i, j) = 8;
    }
    for (auto [i, j] : kernel(3, 40)) {  // an array of the work item, with places outside of it that are skipped
      auto a = local<i32, 4>();
      if (auto c = when(z(i, j) > 0)) a.at<mode::skip>(far) = 5;
      if (auto c = when(z(i, j) > 1)) a(far & 3) = 6;
      z(i, j) = a(0) + 10 * a(1) + 100 * a(2) + 1000 * a(3);
    }
  }
};

struct sparse_rows : program<sparse_rows> {
  in<i32, N + 1> start;
  in<i32, K> column;
  in<f32, K> value;
  in<f32, M> x;
  out<f32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto s = var(0.0f);
      for (auto k : loop(start(i) / 64, start(i + 1) / 64)) s += value(k) * x(column(k) / 64);
      y(i) = s;
    }
  }
};

struct bytes_around : program<bytes_around> {  // neighbours of bytes, clamped, periodic and inside
  in<u8, N, M> g;
  out<u8, N, M> clamped, periodic, inside;
  constexpr void body() {
    for (auto [r, c] : kernel(N, M)) {
      auto a = var<u8>(0), b = var<u8>(0);
      for (int dr = -1; dr < 2; ++dr)
        for (int dc = -1; dc < 2; ++dc) {
          a += g(r + dr, c + dc);
          b = max(b, g.at<mode::wrap>(r + dr, c + dc));
        }
      clamped(r, c) = a;
      periodic(r, c) = b;
      if (auto in = when(r > 0 && c > 0 && r < size<N, i32>() - 1 && c < size<M, i32>() - 1)) inside(r, c) = a - b;
    }
  }
};

struct price_trees : program<price_trees> {  // an array of 65 elements for each work item, at the same place in all lanes
  in<f32, N> spot, strike;
  out<f32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto v = local<f32, 65>();
      auto s = var(spot(i) * 0.5f);
      for (auto j : loop(65)) {
        v(j) = max(strike(i) - s, 0.0f);
        s *= 1.04f;
      }
      for (auto t : loop(64))
        for (auto j : loop(64 - t)) v(j) = 0.51f * v(j + 1) + 0.49f * v(j);
      y(i) = v(0);
    }
  }
};

struct sorted_eight : program<sorted_eight> {  // stores to an array under conditions of each lane
  in<f32, N, 8> x;
  out<f32, N, 8> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto a = local<f32, 8>();
      for (auto j : loop(8)) a(j) = x(i, j);
      for (auto p : loop(8))
        for (auto j : loop(p % 2, 7, 2)) {
          auto u = a(j), v = a(j + 1);
          if (auto c = when(v < u)) {
            a(j) = v;
            a(j + 1) = u;
          }
        }
      for (auto j : loop(8)) y(i, j) = a(j);
    }
  }
};

struct sums_of_neighbours : program<sums_of_neighbours> {  // reductions whose elements wrap or are padding at the ends
  in<f32, 70001> x;
  in<f32, 5, 300> rows;
  in<u8, 1000> bytes;
  out<f32> ring, line;
  out<f32, 5> ring_of_rows, left;
  out<i32> changes;
  out<bool> rises;
  constexpr void body() {
    ring = sum(x * roll<0, 1>(x) - roll<0, -2>(x));
    auto d = slice<0, 0, 70001>(pad<0, 3, 0>(x)) - x;
    line = sum(d * d);
    ring_of_rows = max<1>(roll<1, 1>(rows) + rows);
    left = sum<1>(slice<1, 1, 301>(pad<1, 0, 1, pad_mode::edge>(rows)) * rows);
    auto before = slice<0, 0, 1000>(pad<0, 1, 0>(bytes));
    changes = sum(cast<i32>(before != bytes));
    rises = any(before + 200 < bytes);
  }
};

static const programs<sums_of_neighbours, price_trees, sorted_eight, factor_by_rest, factor_by_condition, shortest_paths,
                      kept_elements, triangle, few_parts, writes_twice, sparse_rows, bytes_around>
    exported;
