#include "compiler/interp/movement.h"

#include <algorithm>
#include <cstring>

#include "compiler/interp/elementwise.h"
#include "compiler/interp/scalar.h"
#include "compiler/ir/nth.h"

namespace kiln::compiler {
namespace {

// tables[axis][i]: the amount that index i of the axis adds to the element offset in the source; outside: read the fill value.
using Tables = std::vector<std::vector<std::int64_t>>;
constexpr std::int64_t outside = -1;

std::vector<std::int64_t> strides(const Array& x) {
  std::vector<std::int64_t> s(x.extents.size(), 1);
  for (std::size_t i = s.size(); i-- > 1;) s[i - 1] = s[i] * x.extents[i];
  return s;
}

Array gather(const Array& x, const Tables& tables, std::vector<std::int64_t> extents, const std::byte* fill = nullptr) {
  Array out = Array::zeros(x.dtype, std::move(extents));
  const std::size_t size = size_of(x.dtype);
  std::vector<std::int64_t> index(out.extents.size(), 0);
  for (std::size_t e = 0, n = out.elements(); e < n; ++e) {
    std::int64_t offset = 0;
    bool inside = true;
    for (std::size_t a = 0; a < index.size(); ++a) {
      const std::int64_t t = nth(tables[a], index[a]);
      inside = inside && t != outside;
      offset += t;
    }
    std::memcpy(out.data.data() + e * size, inside ? x.at(offset) : fill, size);
    for (std::size_t a = index.size(); a-- > 0 && ++index[a] == out.extents[a];) index[a] = 0;
  }
  return out;
}

std::int64_t source_of(PadMode mode, std::int64_t i, std::int64_t n) {
  switch (mode) {
    case PadMode::constant: return i >= 0 && i < n ? i : outside;
    case PadMode::edge: return i < 0 ? 0 : i >= n ? n - 1 : i;
    case PadMode::wrap: return scalar::floormod(i, n);
    case PadMode::reflect: {
      if (n == 1) return 0;
      const std::int64_t m = scalar::floormod(i, 2 * n - 2);
      return m < n ? m : 2 * n - 2 - m;
    }
  }
  return outside;
}

// Element e of an integer array as an index of an axis of extent n: the nearest index if it is outside.
std::int64_t clamped(const Array& index, std::size_t e, std::int64_t n) {
  const std::size_t size = size_of(index.dtype);
  const Operand from{index.data.data() + e * size, true};
  std::int64_t i = 0;
  apply_elementwise(Op::CAST, DType::i64, index.dtype, {&from, 1}, reinterpret_cast<std::byte*>(&i), 1);
  if (index.dtype == DType::u64 && i < 0) i = n;  // the value exceeds i64
  return std::clamp<std::int64_t>(i, 0, n - 1);
}

}  // namespace

Array permute_array(const Array& x, std::span<const std::int64_t> axes) {
  const auto s = strides(x);
  Tables tables;
  std::vector<std::int64_t> extents;
  for (std::int64_t a : axes) {
    const std::int64_t extent = nth(x.extents, a), stride = nth(s, a);
    extents.push_back(extent);
    auto& t = tables.emplace_back();
    for (std::int64_t i = 0; i < extent; ++i) t.push_back(i * stride);
  }
  return gather(x, tables, std::move(extents));
}

Array expand_array(const Array& x, std::vector<std::int64_t> extents) {
  const auto s = strides(x);
  Tables tables;
  for (std::size_t a = 0; a < extents.size(); ++a) {
    auto& t = tables.emplace_back();
    for (std::int64_t i = 0; i < extents[a]; ++i) t.push_back(x.extents[a] == 1 ? 0 : i * s[a]);
  }
  return gather(x, tables, std::move(extents));
}

Array slice_array(const Array& x, std::span<const std::int64_t> begin, std::span<const std::int64_t> step,
                  std::vector<std::int64_t> extents) {
  const auto s = strides(x);
  Tables tables;
  for (std::size_t a = 0; a < extents.size(); ++a) {
    auto& t = tables.emplace_back();
    for (std::int64_t i = 0; i < extents[a]; ++i) t.push_back((begin[a] + i * step[a]) * s[a]);
  }
  return gather(x, tables, std::move(extents));
}

Array pad_array(const Array& x, const Array& value, PadMode mode, std::span<const std::int64_t> before,
                std::vector<std::int64_t> extents) {
  const auto s = strides(x);
  Tables tables;
  for (std::size_t a = 0; a < extents.size(); ++a) {
    auto& t = tables.emplace_back();
    for (std::int64_t i = 0; i < extents[a]; ++i) {
      const std::int64_t from = source_of(mode, i - before[a], x.extents[a]);
      t.push_back(from == outside ? outside : from * s[a]);
    }
  }
  return gather(x, tables, std::move(extents), value.data.data());
}

namespace {

// Copies element (k, o) of one array and element (k, o * stride + k * dilation) of the other, for every element of `windows`.
template <class Copy>
void for_each_window(const std::vector<std::int64_t>& windows, const Array& elements, std::span<const std::int64_t> axes,
                     std::span<const std::int64_t> step, Copy&& copy) {
  std::vector<std::int64_t> index(windows.size(), 0);
  const auto s = strides(elements);
  std::size_t n = 1;
  for (const std::int64_t e : windows) n *= narrow<std::size_t>(e);
  for (std::size_t e = 0; e < n; ++e) {
    std::int64_t at = 0;
    for (std::size_t a = 0; a < index.size(); ++a) {
      const bool is_o = std::cmp_equal(a, axes[1]);
      at += s[a] * (is_o ? index[a] * step[0] + nth(index, axes[0]) * step[1] : index[a]);
    }
    copy(e, narrow<std::size_t>(at));
    for (std::size_t a = index.size(); a-- > 0 && ++index[a] == windows[a];) index[a] = 0;
  }
}

}  // namespace

Array shear_array(const Array& x, std::span<const std::int64_t> axes, std::span<const std::int64_t> step,
                  std::vector<std::int64_t> extents) {
  Array out = Array::zeros(x.dtype, extents);
  const std::size_t size = size_of(x.dtype);
  for_each_window(extents, x, axes, step, [&](std::size_t window, std::size_t element) {
    std::memcpy(out.data.data() + window * size, x.data.data() + element * size, size);
  });
  return out;
}

Array unshear_array(const Array& x, std::span<const std::int64_t> axes, std::span<const std::int64_t> step,
                    std::vector<std::int64_t> extents) {
  Array out = Array::zeros(x.dtype, std::move(extents));
  const std::size_t size = size_of(x.dtype);
  for_each_window(x.extents, out, axes, step, [&](std::size_t window, std::size_t element) {
    std::memcpy(out.data.data() + element * size, x.data.data() + window * size, size);
  });
  return out;
}

Array gather_array(const Array& x, std::span<const Array* const> index, std::vector<std::int64_t> extents) {
  Array out = Array::zeros(x.dtype, std::move(extents));
  if (out.data.empty() || x.data.empty()) return out;
  const std::size_t row = x.elements(index.size(), x.extents.size()) * size_of(x.dtype);
  for (std::size_t e = 0; e * row < out.data.size(); ++e) {
    std::int64_t at = 0;
    for (std::size_t a = 0; a < index.size(); ++a)
      at = at * x.extents[a] + clamped(*index[a], index[a]->extents.empty() ? 0 : e, x.extents[a]);
    std::memcpy(out.data.data() + e * row, x.data.data() + static_cast<std::size_t>(at) * row, row);
  }
  return out;
}

Array concat_arrays(std::span<const Array* const> parts, std::size_t axis) {
  auto extents = parts[0]->extents;
  extents[axis] = 0;
  for (const Array* p : parts) extents[axis] += p->extents[axis];
  Array out = Array::zeros(parts[0]->dtype, extents);
  const std::size_t outer = out.elements(0, axis), inner = out.elements(axis + 1, extents.size()) * size_of(out.dtype);
  std::byte* to = out.data.data();
  for (std::size_t o = 0; o < outer; ++o)
    for (const Array* p : parts) {
      const std::size_t run = p->extent(axis) * inner;
      if (run != 0) std::memcpy(to, p->data.data() + o * run, run);
      to += run;
    }
  return out;
}

}  // namespace kiln::compiler
