#include "compiler/lower/interleave_shuffles.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "compiler/ir/nth.h"

namespace kiln::compiler {
namespace {

constexpr double blend_cost = 0.5, far_cost = 2;

bool fills_part(int components, int element_bytes) {
  return element_bytes >= 4 && components > 1 && components * element_bytes == part_bytes;
}

class Shuffles {
 public:
  Shuffles(Graph& g, Id vector, int narrowest = 1)
      : g_(g), dtype_(g.dtype(vector)), lanes_(g.lanes(vector)), narrowest_(narrowest) {}

  Id component(std::span<const Id> v, int c) {
    const int s = count_of(v);
    if (s == 1) return v[0];
    if (s % 2 != 0) return component_of_odd(v, c);
    if (is_transposed(s)) {
      const Id row = transposed(v)[static_cast<std::size_t>(c)];
      return shuffle({row}, [&](int i) { return place_of_row(i, s); });
    }
    std::vector<Id> half;
    for (std::size_t k = 0; k < v.size(); k += 2)
      half.push_back(shuffle({v[k], v[k + 1]}, [&](int i) { return 2 * i + c % 2; }));
    return component(half, c / 2);
  }

  std::vector<Id> rows(std::span<const Id> x) {
    const int s = count_of(x);
    if (s == 1) return {x[0]};
    if (s % 2 != 0) return rows_of_odd(x);
    if (is_transposed(s)) {
      std::vector<Id> parts;
      for (const Id c : x) parts.push_back(shuffle({c}, [&](int lane) { return row_at(lane, s); }));
      return transposed(parts);
    }
    std::vector<Id> halves[2];
    for (std::size_t k = 0; k < x.size(); ++k) halves[k % 2].push_back(x[k]);
    const std::vector<Id> even = rows(halves[0]), odd = rows(halves[1]);
    std::vector<Id> out;
    for (std::size_t k = 0; k < even.size(); ++k)
      for (const int first : {0, lanes_ / 2})
        out.push_back(shuffle({even[k], odd[k]}, [&](int lane) { return first + lane / 2 + lane % 2 * lanes_; }));
    return out;
  }

  // Vector c, part p, lane v of the result is vector v, part p, lane c: each step interleaves the halves of parts.
  std::vector<Id> transposed(std::span<const Id> x) {
    const int s = count_of(x);
    std::vector<Id> v(x.begin(), x.end());
    for (int step = 1; step < s; step *= 2) {
      const std::vector<Id> before = v;
      for (int k = 0; k < s; ++k)
        nth(v, k) = shuffle({nth(before, k / 2), nth(before, (k + s) / 2)}, [&](int lane) {
          const int from = lane / s * s + k % 2 * (s / 2) + lane % s / 2;
          return lane % 2 != 0 ? lanes_ + from : from;
        });
    }
    return v;
  }

 private:
  template <class F>
  Id shuffle(std::vector<Id> vectors, F&& from) {
    std::vector<std::int64_t> lanes;
    for (int i = 0; i < lanes_; ++i) lanes.push_back(from(i));
    if (vectors.size() == 1 && std::ranges::is_sorted(lanes)) return vectors[0];
    return g_.make(Op::SHUFFLE, dtype_, vectors, lanes, {}, lanes_);
  }

  // How a shuffle divides a register: into blocks, which it treats alike, and these into units, which stay whole.
  struct Units {
    int block, unit;
    int count() const { return block / unit; }
    int of(int lane) const { return lane % block / unit; }
    int lane(int lane, int unit_in_block) const { return lane / block * block + unit_in_block * unit + lane % unit; }
  };
  Units elements() const { return {lanes_, 1}; }
  Units parts() const { return {lanes_, part_lanes()}; }
  Units elements_of_parts() const { return {part_lanes(), 1}; }

  int part_lanes() const { return std::min(lanes_, part_bytes / bytes(dtype_)); }
  bool in_parts() const { return bytes(dtype_) < narrowest_ && part_lanes() < lanes_; }

  Id component_of_odd(std::span<const Id> v, int c) {
    if (!in_parts()) return collected(v, c, elements());
    std::vector<Id> rows_of_parts;
    for (int k = 0; k < count_of(v); ++k) rows_of_parts.push_back(collected(v, k, parts()));
    return collected(rows_of_parts, c, elements_of_parts());
  }

  std::vector<Id> rows_of_odd(std::span<const Id> x) {
    if (!in_parts()) return spread(x, elements());
    const std::vector<Id> inside = spread(x, elements_of_parts());
    return spread(inside, parts());
  }

  // Units c, c + s, c + 2 * s, .. of the blocks of s vectors. A unit of the blend is the unit at the same place of the vector
  // in which it belongs to the component.
  Id collected(std::span<const Id> v, int c, Units u) {
    const int s = count_of(v), n = u.count();
    std::vector<int> vector_at(static_cast<std::size_t>(n)), place_of_row(vector_at);
    for (int i = 0; i < n; ++i) {
      const int position = i * s + c;
      nth(place_of_row, i) = position % n;
      nth(vector_at, position % n) = position / n;
    }
    Id blend = v[0];
    for (int k = 1; k < s; ++k)
      blend = shuffle({blend, nth(v, k)}, [&](int lane) { return nth(vector_at, u.of(lane)) == k ? lanes_ + lane : lane; });
    return shuffle({blend}, [&](int lane) { return u.lane(lane, nth(place_of_row, u.of(lane))); });
  }

  // The inverse: vectors whose units c, c + s, c + 2 * s, .. are the units of x[c].
  std::vector<Id> spread(std::span<const Id> x, Units u) {
    const int s = count_of(x), n = u.count();
    std::vector<Id> placed, out;
    for (int c = 0; c < s; ++c) {
      std::vector<int> row_at(static_cast<std::size_t>(n));
      for (int i = 0; i < n; ++i) nth(row_at, (i * s + c) % n) = i;
      placed.push_back(shuffle({nth(x, c)}, [&](int lane) { return u.lane(lane, nth(row_at, u.of(lane))); }));
    }
    for (int k = 0; k < s; ++k) {
      Id blend = placed[0];
      for (int c = 1; c < s; ++c)
        blend =
            shuffle({blend, nth(placed, c)}, [&](int lane) { return (k * n + u.of(lane)) % s == c ? lanes_ + lane : lane; });
      out.push_back(blend);
    }
    return out;
  }

  bool is_transposed(int s) const { return fills_part(s, bytes(dtype_)) && lanes_ >= s; }

  // Row i is in part i % parts of vector i / parts. The transposed parts have its components in lane i / parts.
  int place_of_row(int i, int s) const { return i % (lanes_ / s) * s + i / (lanes_ / s); }
  int row_at(int lane, int s) const { return lane % s * (lanes_ / s) + lane / s; }

  Graph& g_;
  DType dtype_;
  int lanes_;
  int narrowest_;  // bytes of the narrowest elements that one instruction orders across parts
};

}  // namespace

Id component_of(Graph& g, std::span<const Id> vectors, int component, const Target& target) {
  return Shuffles(g, vectors[0], target.narrowest_permuted()).component(vectors, component);
}

std::vector<Id> in_rows(Graph& g, std::span<const Id> components, const Target& target) {
  return Shuffles(g, components[0], target.narrowest_permuted()).rows(components);
}

int columns_together(int n, int element_bytes) { return std::min(n, part_bytes / element_bytes); }

std::vector<Id> columns_of_rows(Graph& g, std::span<const Id> rows) {
  const int n = count_of(rows), s = g.lanes(rows[0]);
  if (n == s) return Shuffles(g, rows[0]).transposed(rows);
  std::vector<std::int64_t> all;
  for (int i = 0; i < n; ++i) all.push_back(i);
  std::vector<Id> vectors;
  for (int v = 0; v < s; ++v) {
    std::vector<Id> parts;
    for (int i = v; i < n; i += s) parts.push_back(nth(rows, i));
    vectors.push_back(g.make(Op::SHUFFLE, g.dtype(rows[0]), parts, all, {}, n));
  }
  return Shuffles(g, vectors[0]).transposed(vectors);
}

double component_cost(int components, int element_bytes) {
  if (components <= 1) return 0;
  if (components % 2 != 0) return blend_cost * (components - 1) + 1;
  if (fills_part(components, element_bytes)) return std::bit_width(static_cast<unsigned>(components));
  return far_cost + component_cost(components / 2, element_bytes);
}

}  // namespace kiln::compiler
