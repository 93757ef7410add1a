#include "tests/run/tensor_reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <span>

namespace kiln::compiler::testing {
namespace {

std::int64_t product(const Extents& e) {
  std::int64_t n = 1;
  for (std::int64_t x : e) n *= x;
  return n;
}

DType accumulator(DType d) { return d == DType::f16 || d == DType::bf16 ? DType::f32 : d; }

Bits integer_mask(DType d) { return bits(d) == 64 ? ~Bits{0} : (Bits{1} << bits(d)) - 1; }

Bits identity(ReduceKind kind, DType d) {
  const Bits high = Bits{1} << (bits(d) - 1);
  constexpr auto infinity = std::numeric_limits<long double>::infinity();
  const bool largest = kind == ReduceKind::max, smallest = kind == ReduceKind::min;
  if (kind == ReduceKind::any || kind == ReduceKind::all) return kind == ReduceKind::all ? 1 : 0;
  if (d == DType::boolean) return smallest ? 1 : 0;
  if (is_float(d)) return real_bits(d, kind == ReduceKind::prod ? 1.0L : largest ? -infinity : smallest ? infinity : 0.0L);
  if (kind == ReduceKind::prod) return 1;
  if (largest) return is_signed_int(d) ? high : 0;
  if (smallest) return is_signed_int(d) ? high - 1 : integer_mask(d);
  return 0;
}

Bits element(Op op, DType d, Bits a, Bits b) { return expected_element(op, d, d, {a, b}).exact; }

Bits combine(ReduceKind kind, DType d, Bits a, Bits b) {
  switch (kind) {
    case ReduceKind::any: return a | b;
    case ReduceKind::all: return a & b;
    case ReduceKind::sum: return is_float(d) ? element(Op::ADD, d, a, b) : (a + b) & integer_mask(d);
    case ReduceKind::prod: return is_float(d) ? element(Op::MUL, d, a, b) : (a * b) & integer_mask(d);
    case ReduceKind::max: return element(Op::MAX, d, a, b);
    default: return element(Op::MIN, d, a, b);
  }
}

Bits sequential(ReduceKind kind, DType d, const std::vector<Bits>& line) {
  Bits acc = identity(kind, d);
  for (Bits x : line) acc = combine(kind, d, acc, x);
  return acc;
}

Bits striped(ReduceKind kind, DType d, std::vector<Bits> line) {
  constexpr std::size_t block = 65536;
  for (;;) {
    std::vector<Bits> results;
    for (std::size_t begin = 0; begin == 0 || begin < line.size(); begin += block) {
      std::array<Bits, 32> acc;
      acc.fill(identity(kind, d));
      for (std::size_t i = begin; i < std::min(begin + block, line.size()); ++i)
        acc[i % 32] = combine(kind, d, acc[i % 32], line[i]);
      for (std::size_t half : {16u, 8u, 4u, 2u, 1u})
        for (std::size_t j = 0; j < half; ++j) acc[j] = combine(kind, d, acc[j], acc[j + half]);
      results.push_back(acc[0]);
    }
    if (results.size() == 1) return results[0];
    line = std::move(results);
  }
}

Bits first_extreme(ReduceKind kind, DType d, const std::vector<Bits>& line) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < line.size(); ++i)
    if (is_nan(d, line[i])) return i;
  for (std::size_t i = 1; i < line.size(); ++i) {
    const bool better = kind == ReduceKind::argmax
                            ? expected_element(Op::LT, d, DType::boolean, {line[best], line[i]}).exact != 0
                            : expected_element(Op::LT, d, DType::boolean, {line[i], line[best]}).exact != 0;
    if (better) best = i;
  }
  return best;
}

Bits reduce_line(ReduceKind kind, DType d, bool last, std::vector<Bits> line) {
  if (kind == ReduceKind::argmax || kind == ReduceKind::argmin) return first_extreme(kind, d, line);
  const DType wide = accumulator(d);
  if (wide != d)
    for (Bits& x : line) x = real_bits(wide, real_value(d, x));
  const Bits r = last ? striped(kind, wide, std::move(line)) : sequential(kind, wide, line);
  return wide == d ? r : real_bits(d, real_value(wide, r));
}

// Element i of a part of 2^n elements, combined with the elements of the part before it: the second half of a part follows the
// result of the first half.
Bits prefix(ReduceKind kind, DType d, std::span<const Bits> x, std::size_t size, std::size_t i) {
  if (size == 1) return x[0];
  const std::size_t half = size / 2;
  if (i < half) return prefix(kind, d, x, half, i);
  return combine(kind, d, prefix(kind, d, x, half, half - 1), prefix(kind, d, x.subspan(half), half, i - half));
}

std::vector<Bits> scanned(ReduceKind kind, DType d, std::span<const Bits> line) {
  Bits blocks = identity(kind, d), groups = blocks;
  std::vector<Bits> out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto group = [&](std::size_t g, std::size_t place) { return prefix(kind, d, line.subspan(g), 16, place); };
    if (i > 0 && i % 16 == 0) groups = combine(kind, d, groups, group(i - 16, 15));
    if (i > 0 && i % 4096 == 0) {
      blocks = combine(kind, d, blocks, groups);
      groups = identity(kind, d);
    }
    out.push_back(combine(kind, d, blocks, combine(kind, d, groups, group(i / 16 * 16, i % 16))));
  }
  return out;
}

// The index in x for padded index i, counted from x's first element. Walks from outside to inside. -1: the pad value.
std::int64_t padded_source(PadMode mode, std::int64_t i, std::int64_t n) {
  while (i < 0 || i >= n) switch (mode) {
      case PadMode::constant: return -1;
      case PadMode::edge: return i < 0 ? 0 : n - 1;
      case PadMode::wrap: i += i < 0 ? n : -n; break;
      case PadMode::reflect: i = i < 0 ? -i : 2 * (n - 1) - i; break;
    }
  return i;
}

}  // namespace

Bits Tensor::at(const Extents& coordinates) const {
  std::int64_t linear = 0;
  for (std::size_t a = 0; a < extents.size(); ++a) linear = linear * extents[a] + coordinates[a];
  return elements[static_cast<std::size_t>(linear)];
}

Tensor tabulate(DType d, const Extents& extents, const std::function<Bits(const Extents&)>& value) {
  Tensor t{d, extents, {}};
  const std::int64_t n = product(extents);
  Extents c(extents.size());
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t rest = i;
    for (std::size_t a = extents.size(); a-- > 0; rest /= extents[a]) c[a] = rest % extents[a];
    t.elements.push_back(value(c));
  }
  return t;
}

Tensor expected_reshape(const Tensor& x, const Extents& extents) { return {x.dtype, extents, x.elements}; }

Tensor expected_expand(const Tensor& x, const Extents& extents) {
  return tabulate(x.dtype, extents, [&](Extents c) {
    for (std::size_t a = 0; a < c.size(); ++a)
      if (x.extents[a] == 1) c[a] = 0;
    return x.at(c);
  });
}

Tensor expected_permute(const Tensor& x, const std::vector<std::int64_t>& axes) {
  Extents extents;
  for (std::int64_t a : axes) extents.push_back(x.extents[static_cast<std::size_t>(a)]);
  return tabulate(x.dtype, extents, [&](const Extents& c) {
    Extents from(c.size());
    for (std::size_t a = 0; a < c.size(); ++a) from[static_cast<std::size_t>(axes[a])] = c[a];
    return x.at(from);
  });
}

Tensor expected_slice(const Tensor& x, const Extents& begin, const std::vector<std::int64_t>& step, const Extents& extents) {
  return tabulate(x.dtype, extents, [&](Extents c) {
    for (std::size_t a = 0; a < c.size(); ++a) c[a] = begin[a] + c[a] * step[a];
    return x.at(c);
  });
}

Tensor expected_pad(const Tensor& x, Bits value, PadMode mode, const Extents& before, const Extents& extents) {
  return tabulate(x.dtype, extents, [&](Extents c) {
    for (std::size_t a = 0; a < c.size(); ++a) {
      c[a] = padded_source(mode, c[a] - before[a], x.extents[a]);
      if (c[a] < 0) return value;
    }
    return x.at(c);
  });
}

Tensor expected_concat(const std::vector<Tensor>& parts, std::int64_t axis) {
  const auto a = static_cast<std::size_t>(axis);
  Extents extents = parts[0].extents;
  for (std::size_t i = 1; i < parts.size(); ++i) extents[a] += parts[i].extents[a];
  return tabulate(parts[0].dtype, extents, [&](Extents c) {
    std::size_t part = 0;
    for (; c[a] >= parts[part].extents[a]; ++part) c[a] -= parts[part].extents[a];
    return parts[part].at(c);
  });
}

Tensor expected_iota(DType d, std::int64_t extent) {
  return tabulate(d, {extent}, [d](const Extents& c) {
    return is_float(d) ? real_bits(d, static_cast<long double>(c[0])) : static_cast<Bits>(c[0]) & integer_mask(d);
  });
}

Tensor expected_reduce(ReduceKind kind, Tensor x, const std::vector<std::int64_t>& axes) {
  const DType d = x.dtype;
  // Over several axes, f16 and bf16 round only at the end.
  if (axes.size() > 1 && accumulator(d) != d) {
    for (Bits& e : x.elements) e = real_bits(accumulator(d), real_value(d, e));
    x.dtype = accumulator(d);
  }
  const DType result = kind == ReduceKind::argmax || kind == ReduceKind::argmin ? DType::i64 : x.dtype;
  for (std::size_t n = axes.size(); n-- > 0;) {
    const auto axis = static_cast<std::size_t>(axes[n]);
    const std::int64_t length = x.extents[axis];
    const bool last = axis + 1 == x.extents.size();
    Extents kept = x.extents;
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(axis));
    x = tabulate(result, kept, [&](Extents c) {
      c.insert(c.begin() + static_cast<std::ptrdiff_t>(axis), 0);
      std::vector<Bits> line;
      for (; c[axis] < length; ++c[axis]) line.push_back(x.at(c));
      return reduce_line(kind, x.dtype, last, std::move(line));
    });
  }
  if (result != DType::i64 && x.dtype != d) {
    for (Bits& e : x.elements) e = real_bits(d, real_value(x.dtype, e));
    x.dtype = d;
  }
  return x;
}

Tensor expected_scan(ReduceKind kind, const Tensor& x, std::int64_t axis, bool exclusive, bool reversed) {
  const auto a = static_cast<std::size_t>(axis);
  const DType d = x.dtype, wide = accumulator(d);
  const std::int64_t n = x.extents[a];
  std::map<Extents, std::vector<Bits>> lines;  // by coordinates at the begin of the axis
  return tabulate(d, x.extents, [&](Extents c) {
    const std::int64_t place = reversed ? n - 1 - c[a] : c[a];
    c[a] = 0;
    const auto [it, is_new] = lines.try_emplace(c);
    if (is_new) {
      std::vector<Bits> line;
      for (std::int64_t k = 0; k < n; ++k) {
        c[a] = reversed ? n - 1 - k : k;
        line.push_back(wide == d ? x.at(c) : real_bits(wide, real_value(d, x.at(c))));
      }
      it->second = scanned(kind, wide, line);
    }
    const Bits r = !exclusive   ? it->second[static_cast<std::size_t>(place)]
                   : place == 0 ? identity(kind, wide)
                                : it->second[static_cast<std::size_t>(place - 1)];
    return wide == d ? r : real_bits(d, real_value(wide, r));
  });
}

namespace {

// acc + a * b, for a and b of type d.
Bits multiply_add(DType d, Bits a, Bits b, Bits acc) {
  const DType wide = accumulator(d);
  const auto widen = [&](Bits x) { return wide == d ? x : real_bits(wide, real_value(d, x)); };
  return is_float(d) ? expected_element(Op::FMA, wide, wide, {widen(a), widen(b), acc}).exact : (a * b + acc) & integer_mask(d);
}

Bits rounded(DType d, Bits acc) { return accumulator(d) == d ? acc : real_bits(d, real_value(accumulator(d), acc)); }

}  // namespace

Bits expected_chain(DType d, std::int64_t count, const std::function<Bits(std::int64_t)>& a,
                    const std::function<Bits(std::int64_t)>& b) {
  Bits acc = 0;
  for (std::int64_t k = 0; k < count; ++k) acc = multiply_add(d, a(k), b(k), acc);
  return rounded(d, acc);
}

Bits expected_dot(DType d, std::int64_t count, const std::function<Bits(std::int64_t)>& a,
                  const std::function<Bits(std::int64_t)>& b) {
  const DType wide = accumulator(d);
  std::vector<Bits> blocks;
  for (std::int64_t begin = 0; begin < count; begin += 65536) {
    std::array<Bits, 32> acc{};
    for (std::int64_t k = begin; k < std::min<std::int64_t>(begin + 65536, count); ++k) {
      Bits& stripe = acc[static_cast<std::size_t>(k % 32)];
      stripe = multiply_add(d, a(k), b(k), stripe);
    }
    for (std::size_t half : {16u, 8u, 4u, 2u, 1u})
      for (std::size_t j = 0; j < half; ++j) acc[j] = combine(ReduceKind::sum, wide, acc[j], acc[j + half]);
    blocks.push_back(acc[0]);
  }
  return rounded(d, striped(ReduceKind::sum, wide, std::move(blocks)));
}

}  // namespace kiln::compiler::testing
