#include "tests/run/operations/operations.h"

namespace kiln::compiler::testing {
namespace {

using Move = std::function<Tensor(const Call&)>;
Reference moved(Move m) {
  return [m = std::move(m)](const Call& c) { return exactly(m(c)); };
}
// The output's element at coordinate c is x at source(c).
Reference from(const char* input, std::function<Extents(const Call&, Extents)> source) {
  return moved([input, source = std::move(source)](const Call& call) {
    return tabulate(call.result, call.extents, [&](const Extents& c) { return call[input].at(source(call, c)); });
  });
}
Reference reshaped(const char* input) {
  return moved([input](const Call& c) { return expected_reshape(c[input], c.extents); });
}
Reference permuted(Extents axes) {
  return moved([axes](const Call& c) { return expected_permute(c["x"], axes); });
}
// Along one axis: the output's element i is the input's element source(i, n), where n is the input's extent.
Reference along(const char* input, std::size_t axis, std::function<std::int64_t(std::int64_t, std::int64_t)> source) {
  return from(input, [input, axis, source = std::move(source)](const Call& call, Extents c) {
    c[axis] = source(c[axis], call[input].extents[axis]);
    return c;
  });
}
Reference rolled(std::size_t axis, std::int64_t shift) {
  return along("x", axis, [shift](std::int64_t i, std::int64_t n) { return ((i - shift) % n + n) % n; });
}
Reference padded(PadMode mode, std::size_t axis, std::int64_t before, std::function<Bits(const Call&)> value) {
  return moved([mode, axis, before, value = std::move(value)](const Call& c) {
    Extents offset(c.extents.size());
    offset[axis] = before;
    return expected_pad(c["x"], value(c), mode, offset, c.extents);
  });
}
Reference padded(PadMode mode, std::size_t axis, std::int64_t before) {
  return padded(mode, axis, before, [](const Call&) { return Bits{0}; });
}
Bits number(DType d, std::int64_t v) {
  if (is_float(d)) return real_bits(d, static_cast<long double>(v));
  return expected_element(Op::CAST, DType::i64, d, {static_cast<Bits>(v)}).exact;
}
Reference position(std::size_t axis) {
  return moved([axis](const Call& call) {
    return tabulate(call.result, call.extents, [&](const Extents& c) { return number(call.result, c[axis]); });
  });
}
Reference constant(std::function<std::int64_t(const Extents&)> of_x) {
  return moved([of_x = std::move(of_x)](const Call& call) {
    return tabulate(call.result, call.extents, [&](const Extents&) { return number(call.result, of_x(call["x"].extents)); });
  });
}
Reference joined(std::vector<std::string> parts, std::int64_t axis) {
  return moved([parts = std::move(parts), axis](const Call& c) {
    std::vector<Tensor> tensors;
    for (const auto& p : parts) tensors.push_back(c[p]);
    return expected_concat(tensors, axis);
  });
}
Reference stacked(std::vector<std::string> parts, std::size_t axis) {
  return moved([parts = std::move(parts), axis](const Call& call) {
    return tabulate(call.result, call.extents, [&](Extents c) {
      const auto part = static_cast<std::size_t>(c[axis]);
      c.erase(c.begin() + static_cast<std::ptrdiff_t>(axis));
      return call[parts[part]].at(c);
    });
  });
}
// Part `number` of the input's rows along the axis. Each part is as long as the output.
Reference part(const char* input, std::size_t axis, std::int64_t number) {
  return from(input, [axis, number](const Call& call, Extents c) {
    c[axis] += number * call.extents[axis];
    return c;
  });
}
Reference offset(const char* input, std::size_t axis, std::int64_t by) {
  return along(input, axis, [by](std::int64_t i, std::int64_t) { return i + by; });
}

Family shapes() {
  return {"shapes",
          Fill::random,
          {{"reshaped", "reshape<E...>(x)", reshaped("x")},
           {"inferred", "reshape<E...>(x)", reshaped("x")},
           {"flat", "flatten(x)", reshaped("x")},
           {"permuted", "permute<A...>(x)", permuted({2, 0, 1})},
           {"transposed", "transpose(x)", permuted({0, 2, 1})},
           {"exchanged", "transpose<A, B>(x)", permuted({2, 1, 0})},
           {"expanded", "expand<E...>(x)", from("one", [](const Call&, const Extents& c) { return Extents{0, c[1], 0}; })},
           {"spread", "expand<E...>(x)", from("scalar", [](const Call&, const Extents&) { return Extents{}; })},
           {"squeezed", "squeeze<A...>(x)", reshaped("one")},
           {"unsqueezed", "unsqueeze<A...>(x)", reshaped("x")},
           {"broadcast_min", "min(x, y)",
            moved([](const Call& call) {  // x[:, 2:3, :] combined with one[0, :, 0]
              const Tensor &x = call["x"], &one = call["one"];
              return tabulate(call.result, call.extents, [&](const Extents& c) {
                return expected_element(Op::MIN, x.dtype, x.dtype, {x.at({c[0], 2, c[2]}), one.at({0, c[1], 0})}).exact;
              });
            })},
           {"broadcast_equal", "x == y", moved([](const Call& call) {
              const Tensor &x = call["x"], &one = call["one"];
              return tabulate(call.result, call.extents, [&](const Extents& c) {
                return expected_element(Op::EQ, x.dtype, DType::boolean, {x.at(c), one.at({0, c[2], 0})}).exact;
              });
            })}}};
}

Family slices() {
  const auto reversed = [](std::int64_t i, std::int64_t n) { return n - 1 - i; };
  const std::string slice = "slice<axis, begin, end, step>(x)";
  return {"slices",
          Fill::random,
          {{"tail", slice, offset("y", 0, 1)},
           {"even", slice, along("y", 0, [](std::int64_t i, std::int64_t) { return 2 * i; })},
           {"backward", slice, along("y", 0, reversed)},
           {"down", slice, along("x", 1, [](std::int64_t i, std::int64_t) { return 5 - 2 * i; })},
           {"inner", slice, offset("x", 2, 1)},
           {"nothing", slice, offset("x", 2, 3)},
           {"flipped", "flip<A...>(x)", along("x", 0, reversed)},
           {"flipped_twice", "flip<A...>(x)",
            from("x",
                 [](const Call& call, const Extents& c) {
                   const Extents& n = call["x"].extents;
                   return Extents{n[0] - 1 - c[0], c[1], n[2] - 1 - c[2]};
                 })},
           {"held", "stored(x)", along("x", 2, reversed)},
           {"rolled", "roll<axis, shift>(x)", rolled(1, 2)},
           {"rolled_back", "roll<axis, shift>(x)", rolled(2, -3)},
           {"rolled_around", "roll<axis, shift>(x)", rolled(1, 9)},
           {"repeated", "repeat<axis, n>(x)", along("x", 0, [](std::int64_t i, std::int64_t) { return i / 3; })},
           {"repeated_last", "repeat<axis, n>(x)", along("x", 2, [](std::int64_t i, std::int64_t) { return i / 2; })},
           {"tiled", "tile<n...>(x)", from("x", [](const Call& call, const Extents& c) {
              const Extents& n = call["x"].extents;
              return Extents{c[0] % n[0], c[1], c[2] % n[2]};
            })}}};
}

Family pads() {
  const std::string edge = "pad<axis, before, after, pad_mode::edge>(x)",
                    reflect = "pad<axis, before, after, pad_mode::reflect>(x)",
                    wrap = "pad<axis, before, after, pad_mode::wrap>(x)";
  return {"pads",
          Fill::random,
          {{"zeros", "pad<axis, before, after>(x)", padded(PadMode::constant, 0, 2)},
           {"literals", "pad<axis, before, after>(x, value)",
            padded(PadMode::constant, 1, 1, [](const Call& c) { return number(c.result, 1); })},
           {"values", "pad<axis, before, after>(x, value)",
            padded(PadMode::constant, 1, 0, [](const Call& c) { return c["fill"].elements[0]; })},
           {"edges", edge, padded(PadMode::edge, 0, 3)},
           {"edge_columns", edge, padded(PadMode::edge, 1, 0)},
           {"reflected", reflect, padded(PadMode::reflect, 0, 2)},
           {"reflect_columns", reflect, padded(PadMode::reflect, 1, 4)},
           {"wrapped", wrap, padded(PadMode::wrap, 0, 4)},
           {"wrap_columns", wrap, padded(PadMode::wrap, 1, 1)}}};
}

Family joins() {
  return {"joins",
          Fill::random,
          {{"middle", "concat<axis>(x, y, ...)", joined({"x", "thin", "y"}, 1)},
           {"first", "concat<axis>(x, y, ...)", joined({"rows", "x"}, 0)},
           {"stacked", "stack<axis>(x, y, ...)", stacked({"x", "y"}, 1)},
           {"stacked_last", "stack<axis>(x, y, ...)", stacked({"x", "y", "x"}, 3)},
           {"part0", "split<axis, n>(x)", part("x", 1, 0)},
           {"part1", "split<axis, n>(x)", part("x", 1, 1)},
           {"part2", "split<axis, n>(x)", part("x", 1, 2)},
           {"half0", "split<axis, n>(x)", part("pairs", 0, 0)},
           {"half1", "split<axis, n>(x)", part("pairs", 0, 1)},
           {"size1", "split_sizes<axis, sizes...>(x)", offset("y", 1, 0)},
           {"size3", "split_sizes<axis, sizes...>(x)", offset("y", 1, 1)},
           {"size2", "split_sizes<axis, sizes...>(x)", offset("y", 1, 4)}}};
}

Family positions() {
  return {"positions",
          Fill::random,
          {{"row", "iota<axis, D>(x)", position(0)},
           {"column", "iota<axis, D>(x)", position(1)},
           {"index_row", "indices<D>(x)", position(0)},
           {"index_column", "indices<D>(x)", position(1)},
           {"ramp", "arange<N, D>()", position(0)}}};
}

Family constants() {
  return {"constants",
          Fill::random,
          {{"filled", "full<D, E...>(v)", constant([](const Extents&) { return 1; })},
           {"extent", "size<N, D>()", constant([](const Extents& x) { return x[0]; })},
           {"product", "size<N, D>()", constant([](const Extents& x) { return x[0] * x[1] + 1; })}}};
}

Family grids() {
  return {"grids",
          Fill::random,
          {{"grid_row", "grid<N, M>()", position(0)},
           {"grid_column", "grid<N, M>()", position(1)},
           {"default_row", "iota<axis, D>(x)", position(0)},
           {"ramp", "arange<N, D>()", position(0)}}};
}

}  // namespace

std::vector<Family> movement_families() { return {shapes(), slices(), pads(), joins(), positions(), constants(), grids()}; }

}  // namespace kiln::compiler::testing
