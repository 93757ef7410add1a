#include "tests/bench/memory_graphs.h"

#include "compiler/ir/builder.h"

namespace kiln::compiler::testing {
namespace {

using Extents = std::vector<Id>;

class Net {
 public:
  explicit Net(Graph& graph) : g(graph), b(graph) { program_.name = "net"; }

  Id input(const Extents& e) {
    Parameter p{"p" + std::to_string(program_.params.size()), Direction::in, DType::f32, e, {}};
    program_.params.push_back(p);
    return b.param(static_cast<int>(program_.params.size()) - 1, p);
  }
  void output(Id x) {
    Parameter p{"y" + std::to_string(program_.params.size()), Direction::out, DType::f32, b.shape_of(x), {}};
    program_.params.push_back(p);
    stores_.push_back(b.store(b.param(static_cast<int>(program_.params.size()) - 1, p), p, x));
  }
  Program finish() {
    program_.sink = g.make(Op::SINK, DType::none, stores_);
    return program_;
  }
  void symbol(const std::string& name) { program_.symbols.push_back({name, 1, 4096, 1}); }

  Id i(std::int64_t v) { return g.index(v); }
  Id number(float v) { return b.constant(DType::f32, __builtin_bit_cast(std::uint32_t, v)); }
  Id op(Op o, std::initializer_list<Id> x) { return b.elementwise(o, x); }
  Id relu(Id x) { return op(Op::MAX, {x, number(0)}); }
  Id add(Id x, Id y) { return op(Op::ADD, {x, y}); }

  // [..., K] times [K, n]
  Id linear(Id x, Id n) {
    Extents e = b.shape_of(x);
    const Id w = input({n, e.back()});
    return contract(x, w, n);
  }
  Id contract(Id x, Id w, Id n) {
    Extents left = b.shape_of(x), whole = left;
    left.insert(left.end() - 1, i(1));
    whole.insert(whole.end() - 1, n);
    const std::int64_t axes[] = {static_cast<std::int64_t>(whole.size()) - 1};
    return b.reduce_fma(b.expand(b.reshape(x, left), whole), b.broadcast_to(w, whole), axes);
  }
  Id row(ReduceKind k, Id x) {  // reduces the last axis and keeps it as 1
    Extents e = b.shape_of(x);
    const std::int64_t axes[] = {static_cast<std::int64_t>(e.size()) - 1};
    const Id r = b.reduce(k, x, axes);
    e.back() = i(1);
    return b.reshape(r, e);
  }
  Id softmax(Id x) {
    const Id e = op(Op::EXP, {op(Op::SUB, {x, row(ReduceKind::max, x)})});
    return op(Op::FDIV, {e, row(ReduceKind::sum, e)});
  }
  Id norm(Id x) {
    const Id n = b.extent_value(DType::f32, b.shape_of(x).back());
    const Id off = op(Op::SUB, {x, op(Op::FDIV, {row(ReduceKind::sum, x), n})});
    return op(Op::MUL, {off, op(Op::RSQRT, {op(Op::FDIV, {row(ReduceKind::sum, op(Op::MUL, {off, off})), n})})});
  }
  Id transpose(Id x) {
    const std::int64_t axes[] = {1, 0};
    return b.permute(x, axes);
  }
  // 3 neighbours along rows and columns of [H, W, C], then channels.
  Id convolution(Id x, std::int64_t channels) { return relu(linear(neighbours(neighbours(x, 0), 1), i(channels))); }
  Id neighbours(Id x, std::size_t axis) {
    const Extents e = b.shape_of(x);
    Extents before(e.size(), i(0)), wide = e;
    before[axis] = i(1);
    wide[axis] = index_add(g, e[axis], i(2));
    const Id p = b.pad(x, number(0), PadMode::constant, before, wide);
    const std::vector<std::int64_t> ones(e.size(), 1);
    Id sum = no_id;
    for (int k = 0; k < 3; ++k) {
      before[axis] = i(k);
      const Id part = op(Op::MUL, {b.slice(p, before, ones, e), number(static_cast<float>(k + 1))});
      sum = k == 0 ? part : add(sum, part);
    }
    return sum;
  }
  Id half(Id x) {
    const Extents e = b.shape_of(x);
    const std::vector<Id> begin(e.size(), i(0));
    return b.slice(x, begin, std::vector<std::int64_t>{2, 2, 1},
                   std::vector{index_floordiv(g, e[0], i(2)), index_floordiv(g, e[1], i(2)), e[2]});
  }
  Id twice(Id x) {
    const Extents e = b.shape_of(x);
    const Id apart = b.reshape(x, std::vector{e[0], i(1), e[1], i(1), e[2]});
    const Id more = b.expand(apart, std::vector{e[0], i(2), e[1], i(2), e[2]});
    return b.reshape(more, std::vector{index_mul(g, e[0], i(2)), index_mul(g, e[1], i(2)), e[2]});
  }
  Id beside(Id x, Id y, std::int64_t axis) {
    const Id parts[] = {x, y};
    return b.concat(parts, axis);
  }

  Graph& g;
  Builder b;

 private:
  Program program_;
  std::vector<Id> stores_;
};

Program transformer(Graph& g, int layers, std::int64_t rows, std::int64_t width) {
  Net n(g);
  if (rows == 0) n.symbol("N");
  const Id length = rows == 0 ? g.sym("N") : n.i(rows);
  Id x = n.input({length, n.i(width)});
  for (int l = 0; l < layers; ++l) {
    const Id h = n.norm(x), q = n.linear(h, n.i(width)), k = n.linear(h, n.i(width)), v = n.linear(h, n.i(width));
    const Id a = n.contract(n.softmax(n.contract(q, k, length)), n.transpose(v), n.i(width));
    x = n.add(x, n.linear(a, n.i(width)));
    x = n.add(x, n.linear(n.relu(n.linear(n.norm(x), n.i(4 * width))), n.i(width)));
  }
  n.output(x);
  return n.finish();
}

Program unet(Graph& g, int depth, std::int64_t size, std::int64_t channels) {
  Net n(g);
  Id x = n.input({n.i(size), n.i(size), n.i(3)});
  std::vector<Id> skips;
  for (int d = 0; d < depth; ++d) {
    x = n.convolution(n.convolution(x, channels << d), channels << d);
    skips.push_back(x);
    x = n.half(x);
  }
  x = n.convolution(x, channels << depth);
  for (int d = depth; d-- > 0;) {
    x = n.beside(n.twice(x), skips[static_cast<std::size_t>(d)], 2);
    x = n.convolution(n.convolution(x, channels << d), channels << d);
  }
  n.output(x);
  return n.finish();
}

Program dense_blocks(Graph& g, int layers, std::int64_t growth) {  // each layer reads all earlier layers
  Net n(g);
  Id x = n.input({n.i(32), n.i(32), n.i(16)});
  for (int l = 0; l < layers; ++l) x = n.beside(x, n.convolution(x, growth), 2);
  n.output(x);
  return n.finish();
}

Program residual(Graph& g, int blocks, std::int64_t width) {
  Net n(g);
  Id x = n.convolution(n.input({n.i(56), n.i(56), n.i(3)}), width);
  for (int l = 0; l < blocks; ++l) {
    x = n.relu(n.add(x, n.convolution(n.convolution(x, width), width)));
    if (l % 3 == 2) x = n.convolution(n.half(x), width *= 2);
  }
  n.output(x);
  return n.finish();
}

Program recurrent(Graph& g, int steps, std::int64_t width) {
  Net n(g);
  Id h = n.input({n.i(8), n.i(width)});
  for (int t = 0; t < steps; ++t) {
    h = n.op(Op::TANH, {n.add(n.linear(h, n.i(width)), n.linear(n.input({n.i(8), n.i(64)}), n.i(width)))});
    if (t % 4 == 3) n.output(h);
  }
  n.output(h);
  return n.finish();
}

Program branches(Graph& g, int count, int blocks) {  // parallel paths of different widths
  Net n(g);
  Id x = n.input({n.i(28), n.i(28), n.i(32)});
  for (int l = 0; l < blocks; ++l) {
    Id all = no_id;
    for (int k = 0; k < count; ++k) {
      Id y = x;
      for (int d = 0; d <= k % 3; ++d) y = n.convolution(y, 8 * (k + 1));
      all = k == 0 ? y : n.beside(all, y, 2);
    }
    x = n.convolution(all, 32);
  }
  n.output(x);
  return n.finish();
}

Program pyramid(Graph& g, int levels, bool symbolic) {  // blends an image over scales
  Net n(g);
  if (symbolic) n.symbol("N");
  const std::int64_t unit = std::int64_t{1} << levels;
  const Id side = symbolic ? index_mul(g, g.sym("N"), n.i(unit)) : n.i(512);
  Id x = n.input({side, side, n.i(3)});
  if (symbolic) n.input({g.sym("N")});
  std::vector<Id> details;
  for (int l = 0; l < levels; ++l) {
    const Id low = n.half(n.linear(n.neighbours(n.neighbours(x, 0), 1), n.i(3)));
    details.push_back(n.op(Op::SUB, {x, n.twice(low)}));
    x = low;
  }
  for (int l = levels; l-- > 0;) x = n.linear(n.add(n.twice(x), details[static_cast<std::size_t>(l)]), n.i(3));
  n.output(x);
  return n.finish();
}

Program filters(Graph& g, int count) {  // a corner detector: blur, gradients, their products, sums of windows
  Net n(g);
  Id x = n.input({n.i(480), n.i(640), n.i(1)});
  Id total = no_id;
  for (int k = 0; k < count; ++k) {
    const Id dx = n.linear(n.neighbours(x, 1), n.i(2)), dy = n.linear(n.neighbours(x, 0), n.i(2));
    const Id s = n.linear(n.neighbours(n.op(Op::MUL, {dx, dy}), k % 2 == 0 ? 0 : 1), n.i(1));
    total = k == 0 ? s : n.add(total, s);
    x = n.linear(n.neighbours(s, 0), n.i(1));
  }
  n.output(total);
  return n.finish();
}

}  // namespace

std::vector<NamedGraph> memory_graphs() {
  return {{"transformer, 12 layers", [](Graph& g) { return transformer(g, 12, 128, 256); }},
          {"transformer, 6 layers, wide", [](Graph& g) { return transformer(g, 6, 32, 512); }},
          {"transformer, 4 layers, long", [](Graph& g) { return transformer(g, 4, 1024, 64); }},
          {"transformer, 12 layers, N rows", [](Graph& g) { return transformer(g, 12, 0, 256); }},
          {"U-net, 3 scales", [](Graph& g) { return unet(g, 3, 64, 16); }},
          {"U-net, 4 scales", [](Graph& g) { return unet(g, 4, 128, 32); }},
          {"U-net, 5 scales", [](Graph& g) { return unet(g, 5, 256, 8); }},
          {"dense block of 8", [](Graph& g) { return dense_blocks(g, 8, 12); }},
          {"dense block of 16", [](Graph& g) { return dense_blocks(g, 16, 32); }},
          {"residual, 6 blocks", [](Graph& g) { return residual(g, 6, 32); }},
          {"residual, 16 blocks", [](Graph& g) { return residual(g, 16, 16); }},
          {"recurrent, 8 steps", [](Graph& g) { return recurrent(g, 8, 256); }},
          {"recurrent, 32 steps", [](Graph& g) { return recurrent(g, 32, 128); }},
          {"4 branches, 3 blocks", [](Graph& g) { return branches(g, 4, 3); }},
          {"7 branches, 5 blocks", [](Graph& g) { return branches(g, 7, 5); }},
          {"pyramid, 4 scales", [](Graph& g) { return pyramid(g, 4, false); }},
          {"pyramid, 6 scales", [](Graph& g) { return pyramid(g, 6, false); }},
          {"pyramid, 4 scales, N", [](Graph& g) { return pyramid(g, 4, true); }},
          {"filters, 3", [](Graph& g) { return filters(g, 3); }},
          {"filters, 8", [](Graph& g) { return filters(g, 8); }}};
}

}  // namespace kiln::compiler::testing
