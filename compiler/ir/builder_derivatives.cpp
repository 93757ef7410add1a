#include "compiler/ir/builder.h"

namespace kiln::compiler {
namespace {

std::span<const std::int64_t> flag(bool set) {
  static constexpr std::int64_t one[] = {1};
  return set ? std::span<const std::int64_t>(one) : std::span<const std::int64_t>();
}

}  // namespace

// Fails unless x has the dtype and the shape of `like`.
void Builder::check_like(std::string_view what, Id x, Id like) {
  const std::string expected = std::string(what) + " expected ";
  if (graph_.dtype(x) != graph_.dtype(like))
    fail("E-dtype", expected + std::string(name(graph_.dtype(like))) + ", got " + std::string(name(graph_.dtype(x))));
  const auto have = shape_of(x), want = shape_of(like);
  if (have != want) fail("E-shape", expected + "shape " + shape_text(want) + ", got " + shape_text(have));
}

Id Builder::gradient(Id y, Id cotangent, Id x, bool or_zero) {
  check_like("`gradient`'s cotangent", cotangent, y);
  for (const Id v : {y, x})
    if (!is_float(graph_.dtype(v))) fail("E-dtype", "`gradient` expected floats, got " + std::string(name(graph_.dtype(v))));
  const Id src[] = {y, cotangent, x};
  return graph_.make(Op::GRADIENT, graph_.dtype(x), src, flag(or_zero));
}

Id Builder::tangent(Id y, std::span<const Id> x_and_v, bool or_zero) {
  if (x_and_v.empty() || x_and_v.size() % 2 != 0)
    fail("E-shape",
         "`tangent` expected pairs of a value and its direction, got " + std::to_string(x_and_v.size()) + " operands");
  std::vector<Id> directions;  // the leading axis of the first direction, if it has one
  for (std::size_t i = 0; i < x_and_v.size(); i += 2) {
    const Id x = x_and_v[i], v = x_and_v[i + 1];
    if (!is_float(graph_.dtype(x)) || graph_.dtype(v) != graph_.dtype(x))
      fail("E-dtype", "`tangent` expected a float and a direction of its type, got " + std::string(name(graph_.dtype(x))) +
                          " and " + std::string(name(graph_.dtype(v))));
    const auto shape = shape_of(x), have = shape_of(v);
    if (i == 0 && have.size() == shape.size() + 1) directions.assign(have.begin(), have.begin() + 1);
    std::vector<Id> want = directions;
    want.insert(want.end(), shape.begin(), shape.end());
    if (have != want)
      fail("E-shape", "`tangent` expected a direction of shape " + shape_text(want) + ", got " + shape_text(have));
  }
  if (!is_float(graph_.dtype(y))) fail("E-dtype", "`tangent` expected a float, got " + std::string(name(graph_.dtype(y))));
  check_rank(shape_of(y).size() + directions.size());
  std::vector<Id> src{y};
  src.insert(src.end(), x_and_v.begin(), x_and_v.end());
  return graph_.make(Op::TANGENT, graph_.dtype(y), src, flag(or_zero));
}

Id Builder::laplacian(Id y, Id x, bool or_zero) {
  for (const Id v : {y, x})
    if (!is_float(graph_.dtype(v))) fail("E-dtype", "`laplacian` expected floats, got " + std::string(name(graph_.dtype(v))));
  const auto outer = shape_of(y), all = shape_of(x);
  if (outer.size() > all.size() || !std::equal(outer.begin(), outer.end(), all.begin()))
    fail("E-shape", "`laplacian` expected y to have the first axes of x, got " + shape_text(outer) + " and " + shape_text(all));
  const Id src[] = {y, x};
  return graph_.make(Op::LAPLACIAN, graph_.dtype(y), src, flag(or_zero));
}

Id Builder::mark(Id x, MarkKind kind, std::int64_t number) {
  if (graph_.dtype(x) >= DType::index) fail("E-dtype", "`mark` expected a tensor, got " + std::string(name(graph_.dtype(x))));
  return graph_.make(Op::MARK, graph_.dtype(x), {x}, {kind, number});
}

Id Builder::straight(Id value, Id x) {
  check_like("`straight`", x, value);
  return graph_.make(Op::STRAIGHT, graph_.dtype(value), {value, x});
}

Id Builder::custom(Id y, std::span<const Id> x, std::span<const Id> d, std::int64_t number) {
  if (x.size() != d.size())
    fail("E-shape",
         "`custom` expected a derivative for each value, got " + std::to_string(d.size()) + " for " + std::to_string(x.size()));
  if (!is_float(graph_.dtype(y))) fail("E-dtype", "`custom` expected a float, got " + std::string(name(graph_.dtype(y))));
  std::vector<Id> src{y};
  for (std::size_t i = 0; i < x.size(); ++i) check_like("`custom`'s derivative", d[i], x[i]);
  src.insert(src.end(), x.begin(), x.end());
  src.insert(src.end(), d.begin(), d.end());
  return graph_.make(Op::CUSTOM, graph_.dtype(y), src, {number});
}

Id Builder::cotangent(DType d, std::span<const Id> extents, std::int64_t number) {
  check_extents(extents);
  if (!is_float(d)) fail("E-dtype", "`cotangent` expected a float type, got " + std::string(name(d)));
  return graph_.make(Op::COTANGENT, d, extents, {number});
}

// windows: the extent of axis o of the sheared tensor. elements: of the other one.
void Builder::check_shear(std::string_view what, Id x, std::int64_t k, std::int64_t o, std::int64_t stride,
                          std::int64_t dilation, Id windows, Id elements) {
  const std::int64_t axes[] = {k, o};
  const auto shape = shape_of(x);
  check_axes(axes, std::ssize(shape), what);
  if (k == o) fail("E-axis", "`" + std::string(what) + "` expected two axes, got " + std::to_string(k) + " twice");
  if (stride < 1 || dilation < 1)
    fail("E-slice", "`" + std::string(what) + "` expected a stride and a dilation above 0, got " + std::to_string(stride) +
                        " and " + std::to_string(dilation));
  const Id taps = shape[static_cast<std::size_t>(k)], one = graph_.index(1);
  if (graph_.is_index_const(taps, 0) || graph_.is_index_const(windows, 0)) return;
  const Id window_steps = index_sub(graph_, windows, one), tap_steps = index_sub(graph_, taps, one);
  const Id window_step = graph_.index(stride), tap_step = graph_.index(dilation);
  const Id by_window = index_mul(graph_, window_steps, window_step);
  const Id by_tap = index_mul(graph_, tap_steps, tap_step);
  const Id last = index_add(graph_, by_window, by_tap);
  if (nonnegative(index_sub(graph_, index_sub(graph_, elements, one), last))) return;
  fail("E-slice", "`" + std::string(what) + "` expected the last element " + index_text_or_id(graph_, last) + " below " +
                      index_text_or_id(graph_, elements) + " (a symbolic extent may need a declared minimum)");
}

Id Builder::shear(Id x, std::int64_t k, std::int64_t o, std::int64_t stride, std::int64_t dilation, Id extent) {
  check_extents(std::span(&extent, 1));
  const auto shape = shape_of(x);
  const Id elements = o >= 0 && o < std::ssize(shape) ? shape[static_cast<std::size_t>(o)] : no_id;
  check_shear("shear", x, k, o, stride, dilation, extent, elements);
  return graph_.make(Op::SHEAR, graph_.dtype(x), {x, extent}, {k, o, stride, dilation});
}

Id Builder::unshear(Id x, std::int64_t k, std::int64_t o, std::int64_t stride, std::int64_t dilation, Id extent) {
  check_extents(std::span(&extent, 1));
  const auto shape = shape_of(x);
  const Id windows = o >= 0 && o < std::ssize(shape) ? shape[static_cast<std::size_t>(o)] : no_id;
  check_shear("unshear", x, k, o, stride, dilation, windows, extent);
  return graph_.make(Op::UNSHEAR, graph_.dtype(x), {x, extent}, {k, o, stride, dilation});
}

}  // namespace kiln::compiler
