// Makes the nodes of a Product: a contraction, or a multiplication.
#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

#include "compiler/autodiff/factor.h"
#include "compiler/autodiff/product_layout.h"
#include "compiler/ir/nth.h"

namespace kiln::compiler::autodiff {
namespace {

Id whole(Emit& e, Factor f, const Extents& space) {
  put_in_order(e, f);
  Extents ones(space.size(), e.g.index(1));
  for (std::size_t i = 0; i < space.size(); ++i)
    if (f.axis[i] >= 0) ones[i] = space[i];
  const Id x = e.reshape(f.base, ones);
  return ones == space ? x : e.b.expand(x, space);
}

Extents value_extents(const Emit& e, const Product& p) {
  Extents out;
  for (const int v : p.value) out.push_back(v == Product::unit ? e.g.index(1) : nth(p.space, v));
  return out;
}

constexpr std::int64_t elements_of_vector = 8;
constexpr std::int64_t longest_short_sum = 16;  // terms of a sum that loops write out
constexpr std::int64_t shortest_row = 17;       // products side by side whose sums come last

// Whether the sums along the last summed axis come last: it is long, neighbours in memory of both factors are neighbours along
// it, and the axes of the result that are not in both factors are all in the same one and would not fill a vector. So the sums
// of all rows have at most as many elements as the larger factor, times these axes.
bool sums_rows_last(Emit& e, const Product& p) {
  int row = -1, axes = 0;
  bool is_in_p_only = false, is_in_q_only = false;
  for (int a = 0; a < static_cast<int>(p.space.size()); ++a) {
    const std::optional<std::int64_t> n = index_value(e.g, nth(p.space, a));
    if (is_summed(p, a)) {
      row = a;
      ++axes;
      continue;
    }
    const bool is_in_p = nth(p.p.axis, a) >= 0, is_in_q = nth(p.q.axis, a) >= 0;
    if ((is_in_p && is_in_q) || n == 1) continue;
    if (!n || *n >= elements_of_vector) return false;
    is_in_p_only |= is_in_p;
    is_in_q_only |= is_in_q;
  }
  if (is_in_p_only && is_in_q_only) return false;
  if (axes < 2 || index_value(e.g, nth(p.space, row)).value_or(shortest_row) < shortest_row) return false;
  return std::ranges::all_of(std::array{&p.p, &p.q}, [&](const Factor* f) {
    const int last = contiguous_axis(e, f->base);
    return last >= 0 && nth(f->axis, row) == last;
  });
}

// The sums of the products over the other summed axes, one for each place in a row, and then the sum of the row.
Id sum_of_rows(Emit& e, const Product& given) {
  std::vector<int> order, summed;
  std::ranges::copy_if(given.value, std::back_inserter(order), [](int v) { return v != Product::unit; });
  const auto kept = std::ssize(order);
  for (int a = 0; a < static_cast<int>(given.space.size()); ++a)
    if (is_summed(given, a)) summed.push_back(a);
  order.insert(order.end(), summed.begin(), summed.end());
  const Product p = reordered(given, order);
  Axes chain(summed.size() - 1);
  std::iota(chain.begin(), chain.end(), kept);
  const DType d = e.g.dtype(p.p.base);
  const auto factor = [&](const Factor& f) {
    const Id x = whole(e, f, p.space);
    return is_half(d) ? e.b.cast(x, DType::f32) : x;
  };
  const Id p_all = factor(p.p), q_all = factor(p.q);
  const Id sum = e.sum_over(e.b.stage(e.b.reduce_fma(p_all, q_all, chain)), {kept});
  return e.reshape(is_half(d) ? e.b.cast(sum, d) : sum, value_extents(e, p));
}

// Neighbouring parts of a split, which have equally many taps and begin at the same place of the axis h'.
struct Parts {
  std::int64_t first, end;  // of the parts
  std::int64_t taps, begin;
};

// Some parts of the last split, as an axis of the adjoint behind the split one, which has `count` elements of each part.
Product parts_of(Emit& e, const Product& given, const Parts& some, Id count) {
  Product p = given;
  const Split s = p.splits.back();
  p.splits.pop_back();
  const Id first = e.g.index(some.first), parts = e.g.index(some.end - some.first), own = e.g.index(some.taps);
  const Id first_tap = index_sub(e.g, nth(p.space, s.tap), own), begin = e.g.index(some.begin);
  for (Factor* f : {&p.p, &p.q}) {
    const int part = nth(f->axis, s.part), tap = nth(f->axis, s.tap);
    if (part >= 0) f->base = e.slice_axis(f->base, static_cast<std::size_t>(part), first, 1, parts);
    if (tap >= 0) f->base = e.slice_axis(f->base, static_cast<std::size_t>(tap), first_tap, 1, own);
  }
  nth(p.space, s.part) = parts;
  nth(p.space, s.tap) = own;
  slice(e, p, s.axis, begin, 1, count);
  p.value.insert(p.value.begin() + static_cast<std::ptrdiff_t>(s.axis) + 1, s.part);
  for (Split& other : p.splits) other.axis += other.axis > s.axis ? 1 : 0;
  return p;
}

// The parts of the last split, in the order in which their first elements follow each other on the axis. The first parts may
// have one tap more than the others, and those before the axis' begin give their next element first.
std::vector<Parts> all_parts(const Split& s) {
  const std::int64_t longer = s.taps % s.stride, before = s.begin % s.stride;
  std::int64_t cuts[] = {0, longer, before, s.stride};
  std::ranges::sort(cuts);
  std::vector<Parts> out;
  for (std::size_t i = 0; i + 1 < std::size(cuts); ++i)
    if (cuts[i] < cuts[i + 1])
      out.push_back({cuts[i], cuts[i + 1], s.taps / s.stride + (cuts[i] < longer ? 1 : 0),
                     s.begin / s.stride + (cuts[i] < before ? 1 : 0)});
  std::ranges::rotate(out, std::ranges::find(out, before, &Parts::first));
  return out;
}

// Whether the sums are short enough to be written out where they are needed.
bool has_short_sums(Emit& e, const Product& p) {
  std::int64_t terms = 1;
  for (int a = 0; a < static_cast<int>(p.space.size()); ++a) {
    if (!is_summed(p, a)) continue;
    const std::int64_t n = index_value(e.g, nth(p.space, a)).value_or(longest_short_sum + 1);
    if (n > longest_short_sum) return false;
    terms *= n;
  }
  return terms <= longest_short_sum;
}

// The parts of the last split side by side.
Id joined(Emit& e, const Product& p) {
  const Split s = p.splits.back();
  const Id stride = e.g.index(s.stride), more = index_add(e.g, s.n, e.g.index(s.stride - 1));
  const Id count = index_floordiv(e.g, more, stride);
  const std::vector<Parts> all = all_parts(s);
  std::vector<Id> values(all.size(), no_id);
  Extents whole;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].taps == 0) continue;
    const Product part = parts_of(e, p, all[i], count);
    values[i] = value_of(e, part);
    if (p.splits.size() == 1 && !has_short_sums(e, part)) values[i] = e.b.stage(values[i]);
    whole = e.shape(values[i]);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {  // parts without taps
    Extents zeros = whole;
    zeros[s.axis + 1] = e.g.index(all[i].end - all[i].first);
    if (values[i] == no_id) values[i] = e.zeros(e.g.dtype(p.p.base), zeros);
  }
  const Id all_values = values.size() == 1 ? values[0] : e.b.concat(values, static_cast<std::int64_t>(s.axis) + 1);
  whole[s.axis] = index_mul(e.g, count, stride);
  whole.erase(whole.begin() + static_cast<std::ptrdiff_t>(s.axis) + 1);
  const Id line = e.reshape(all_values, whole), begin = e.g.index(0);
  return e.slice_axis(line, s.axis, begin, 1, s.n);
}

}  // namespace

Id value_of(Emit& e, const Product& given) {
  if (!given.splits.empty()) return joined(e, given);
  const Product small = without_units(e, given);
  if (sums_rows_last(e, small)) return sum_of_rows(e, small);
  const auto [p, staged] = laid_out(e, small);
  const Id left = whole(e, p.p, p.space), right = whole(e, p.q, p.space);
  Axes summed;
  std::vector<int> kept;
  for (int i = 0; i < static_cast<int>(p.space.size()); ++i) {
    if (is_summed(p, i))
      summed.push_back(i);
    else
      kept.push_back(i);
  }
  Id x = summed.empty() ? e.mul(left, right) : e.b.reduce_fma(left, right, summed);
  if (staged) x = e.b.stage(x);
  Axes order;
  for (const int v : p.value)
    if (v != Product::unit) order.push_back(std::ranges::find(kept, v) - kept.begin());
  return e.reshape(e.permute(x, order), value_extents(e, small));
}

Id value_of(Emit& e, const Adjoint& a) {
  return std::holds_alternative<Id>(a) ? std::get<Id>(a) : value_of(e, std::get<Product>(a));
}

}  // namespace kiln::compiler::autodiff
