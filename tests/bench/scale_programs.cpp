#include "tests/bench/scale_programs.h"

#include <utility>
#include <vector>

namespace kiln::compiler::testing {
namespace {

using std::to_string;

// A program under construction. Values are node numbers.
class Text {
 public:
  std::size_t size() const { return next_; }
  int input(const std::string& name, const std::string& type) {
    head_ += "in " + type + " " + name + "\n";
    return node("param " + name);
  }
  int inout(const std::string& name, const std::string& type) {
    head_ += "inout " + type + " " + name + "\n";
    return node("param " + name);
  }
  void store(const std::string& name, int value) { stores_ += "store " + name + ", %" + to_string(value) + "\n"; }
  void output(const std::string& type, int value) {
    const std::string name = "y" + to_string(outputs_++);
    head_ += "out " + type + " " + name + "\n";
    store(name, value);
  }
  int node(const std::string& statement) {
    body_ += "%" + to_string(next_) + " = " + statement + "\n";
    return static_cast<int>(next_++);
  }
  int op(const std::string& operation, int a) { return node(operation + " %" + to_string(a)); }
  int op(const std::string& operation, int a, int b) { return node(operation + " %" + to_string(a) + ", %" + to_string(b)); }
  int reduce(const std::string& kind, int a, int axis) {
    return node("reduce %" + to_string(a) + ", " + kind + ", axes [" + to_string(axis) + "]");
  }
  int products(int a, int b, int axis) {
    return node("reduce %" + to_string(a) + ", %" + to_string(b) + ", fma, axes [" + to_string(axis) + "]");
  }
  std::string text() const { return "program scale\n" + head_ + body_ + stores_; }

 private:
  std::string head_, body_, stores_;
  std::size_t next_ = 0;
  int outputs_ = 0;
};

std::string elementwise(std::size_t nodes) {
  Text t;
  const int x = t.input("x", "f32 [N]"), half = t.node("const f32 0.5");
  int v = x;
  while (t.size() < nodes) v = t.op("add", t.op("mul", v, half), x);
  t.output("f32 [N]", v);
  return t.text();
}

// Each step needs the row sums of the previous step.
std::string reductions(std::size_t nodes) {
  Text t;
  int v = t.input("x", "f32 [64, 64]");
  while (t.size() < nodes) v = t.op("sub", v, t.op("expand [64, 64]", t.op("reshape [64, 1]", t.reduce("sum", v, 1))));
  t.output("f32 [64, 64]", v);
  return t.text();
}

// The product of value [rows, k] and weights [k, m] of one layer of w [layers, k, m].
int product(Text& t, int value, int w, std::size_t layer, int rows, int k, int m) {
  const std::string s = to_string(rows), a = to_string(k), b = to_string(m), whole = "[" + s + ", " + b + ", " + a + "]";
  const int part = t.node("slice [1, " + a + ", " + b + "] %" + to_string(w) + ", begin [" + to_string(layer) + ", 0, 0]");
  const int columns = t.op("expand " + whole, t.node("permute %" + to_string(part) + ", axes [0, 2, 1]"));
  return t.products(t.op("expand " + whole, t.op("reshape [" + s + ", 1, " + a + "]", value)), columns, 2);
}

std::string matmuls(std::size_t nodes) {
  Text t;
  const std::size_t layers = nodes / 6;
  const int w = t.input("w", "f32 [" + to_string(layers) + ", 64, 64]");
  int v = t.input("x", "f32 [32, 64]");
  for (std::size_t i = 0; i < layers; ++i) v = product(t, v, w, i, 32, 64, 64);
  t.output("f32 [32, 64]", v);
  return t.text();
}

std::string movement(std::size_t nodes) {
  Text t;
  int v = t.input("x", "f32 [48, 64]");
  while (t.size() < nodes) {
    v = t.op("reshape [48, 64]", t.node("permute %" + to_string(v) + ", axes [1, 0]"));
    v = t.node("pad [50, 66] %" + to_string(v) + ", before [1, 1]");
    v = t.node("slice [48, 64] %" + to_string(v) + ", begin [2, 0]");
  }
  t.output("f32 [48, 64]", v);
  return t.text();
}

// Every output is a different function of the input, and every eighth has a reduction of its own. An output is a chain of
// twelve nodes, so that 3,000 nodes need fewer than the 256 parameters that a program may have.
std::string outputs(std::size_t nodes) {
  Text t;
  const int x = t.input("x", "f32 [N, 16]");
  for (int i = 0; t.size() < nodes; ++i) {
    int v = t.op("mul", x, t.node("const f32 " + to_string(i) + ".5"));
    for (int link = 0; link < 5; ++link) v = t.op("add", t.op("mul", v, x), x);
    if (i % 8 == 0)
      t.output("f32 [N]", t.reduce("sum", v, 1));
    else
      t.output("f32 [N, 16]", v);
  }
  return t.text();
}

constexpr int tokens = 48, width = 64, inner = 128;

int normalised(Text& t, int x) {
  const int scale = t.node("const f32 0.015625");
  const int mean = t.op("reshape [48, 1]", t.op("mul", t.reduce("sum", x, 1), scale));
  const int apart = t.op("sub", x, mean);
  const int variance = t.op("mul", t.reduce("sum", t.op("mul", apart, apart), 1), scale);
  const int factor = t.op("rsqrt", t.op("add", variance, t.node("const f32 0.00001")));
  return t.op("mul", apart, t.op("reshape [48, 1]", factor));
}

int affine(Text& t, int x, int gains, int shifts, std::size_t layer) {
  const std::string at = ", begin [" + to_string(layer) + ", 0]";
  const int gain = t.node("slice [1, 64] %" + to_string(gains) + at),
            shift = t.node("slice [1, 64] %" + to_string(shifts) + at);
  return t.op("add", t.op("mul", x, gain), shift);
}

int split_heads(Text& t, int x) { return t.node("permute %" + to_string(t.op("reshape [48, 4, 16]", x)) + ", axes [1, 0, 2]"); }

int attention(Text& t, int q, int k, int v) {
  const std::string scores = "[4, 48, 48, 16]";
  const int dots = t.products(t.op("expand " + scores, t.op("reshape [4, 48, 1, 16]", split_heads(t, q))),
                              t.op("expand " + scores, t.op("reshape [4, 1, 48, 16]", split_heads(t, k))), 3);
  const int scaled = t.op("mul", dots, t.node("const f32 0.25"));
  const int shifted = t.op("exp", t.op("sub", scaled, t.op("reshape [4, 48, 1]", t.reduce("max", scaled, 2))));
  const int shares = t.op("fdiv", shifted, t.op("reshape [4, 48, 1]", t.reduce("sum", shifted, 2)));
  const int mixed = t.products(t.op("expand " + scores, t.op("reshape [4, 48, 48, 1]", shares)),
                               t.op("expand " + scores, t.op("reshape [4, 1, 48, 16]", split_heads(t, v))), 2);
  return t.op("reshape [48, 64]", t.node("permute %" + to_string(mixed) + ", axes [1, 0, 2]"));
}

int gelu(Text& t, int x) {
  const int e = t.op("erf", t.op("mul", x, t.node("const f32 0.70710677")));
  return t.op("mul", t.op("mul", x, t.node("const f32 0.5")), t.op("add", e, t.node("const f32 1")));
}

struct Transformer {
  int result;                                           // f32 [48, 64]
  std::vector<std::pair<int, std::string>> parameters;  // with their shapes
};

// Layers of 100 nodes each. All weights are in tensors with one axis for the layers.
Transformer transformer(Text& t, std::size_t layers) {
  Transformer net;
  const auto parameter = [&](const std::string& name, const std::string& shape) {
    net.parameters.emplace_back(t.input(name, "f32 " + shape), shape);
    return net.parameters.back().first;
  };
  const std::string l = "[" + to_string(layers);
  const int gains = parameter("gains", l + ", 64]"), shifts = parameter("shifts", l + ", 64]");
  int square[4];
  for (int i = 0; i < 4; ++i) square[i] = parameter("w" + to_string(i), l + ", 64, 64]");
  const int up = parameter("up", l + ", 64, 128]"), down = parameter("down", l + ", 128, 64]");
  int x = parameter("x", "[48, 64]");
  for (std::size_t i = 0; i < layers; ++i) {
    const int n = affine(t, normalised(t, x), gains, shifts, i);
    int qkv[3];
    for (int p = 0; p < 3; ++p) qkv[p] = product(t, n, square[p], i, tokens, width, width);
    x = t.op("add", x, product(t, attention(t, qkv[0], qkv[1], qkv[2]), square[3], i, tokens, width, width));
    const int wide = gelu(t, product(t, normalised(t, x), up, i, tokens, width, inner));
    x = t.op("add", x, product(t, wide, down, i, tokens, inner, width));
  }
  net.result = x;
  return net;
}

std::string transformers(std::size_t nodes) { return transformer_text(nodes / 100); }

// A loss, which is the sum of squares of a transformer's result, and the gradients of the loss by all parameters. nodes: the
// size of the transformer alone.
std::string training(std::size_t nodes) {
  Text t;
  const Transformer net = transformer(t, nodes / 100);
  const int loss = t.node("reduce %" + to_string(t.op("mul", net.result, net.result)) + ", sum, axes [0, 1]");
  t.output("f32 []", loss);
  const int one = t.node("const f32 1");
  for (const auto& [parameter, shape] : net.parameters)
    t.output("f32 " + shape, t.node("gradient %" + to_string(loss) + ", %" + to_string(one) + ", %" + to_string(parameter)));
  return t.text();
}

std::string at(int v) { return "%" + to_string(v); }

// A region over `extent` with one state: body(range, carried) gives the state at its end.
template <class Body>
int region(Text& t, int state, const std::string& extent, bool is_kernel, Body body) {
  const int range = t.node("range (" + extent + "), id " + to_string(t.size()));
  const int carried = t.node("carry " + at(range) + ", " + at(state) + ", slot 0"), end = body(range, carried);
  const std::string states = at(state) + ", " + at(end);
  const int whole =
      t.node(is_kernel ? "kernel " + at(range) + ", " + states : "for " + at(range) + ", (0), (" + extent + "), " + states);
  return t.node("get " + at(whole) + ", slot 0");
}
// y(i) += x(k), where the gate `always` is true.
int update(Text& t, int state, int x, int always, int i, int k) {
  const int sum = t.op("add", t.op("index", state, i), t.op("index", x, k));
  return t.node("update " + at(state) + ", " + at(always) + ", " + at(sum) + ", " + at(i));
}

template <class Step>
std::string changed(std::size_t nodes, Step step) {
  Text t;
  const int x = t.input("x", "f32 [N]"), always = t.node("const bool true");
  int y = t.inout("y", "f32 [N]");
  while (t.size() < nodes) y = step(t, y, x, always);
  t.store("y", y);
  return t.text();
}

// Kernels one after another, with one update each.
std::string kernels(std::size_t nodes) {
  return changed(nodes, [](Text& t, int y, int x, int always) {
    return region(t, y, "N", true, [&](int i, int state) { return update(t, state, x, always, i, i); });
  });
}
// One kernel with many updates.
std::string updates(std::size_t nodes) {
  return changed(nodes, [nodes](Text& t, int y, int x, int always) {
    return region(t, y, "N", true, [&](int i, int state) {
      while (t.size() < nodes) state = update(t, state, x, always, i, i);
      return state;
    });
  });
}
// One kernel with as many updates, each of another element.
std::string places(std::size_t nodes) {
  Text t;
  const int x = t.input("x", "f32 [N]"), always = t.node("const bool true");
  const int y = t.inout("y", "f32 [" + to_string(nodes) + ", N]");
  t.store("y", region(t, y, "N", true, [&](int i, int state) {
            const int factor = t.op("index", x, i);
            for (int place = 0; t.size() < nodes; ++place) {
              const std::string element = ", (" + to_string(place) + "), " + at(i);
              const int now = t.node("index " + at(state) + element);
              state = t.node("update " + at(state) + ", " + at(always) + ", " + at(t.op("mul", now, factor)) + element);
            }
            return state;
          }));
  return t.text();
}
// One kernel with many loops.
std::string loops(std::size_t nodes) {
  return changed(nodes, [nodes](Text& t, int y, int x, int always) {
    return region(t, y, "N", true, [&](int i, int state) {
      while (t.size() < nodes)
        state = region(t, state, "N", false, [&](int k, int iteration) { return update(t, iteration, x, always, i, k); });
      return state;
    });
  });
}
// Host loops around kernels, one after another.
std::string host_loops(std::size_t nodes) {
  return changed(nodes, [](Text& t, int y, int x, int always) {
    return region(t, y, "7", false, [&](int k, int iteration) {
      return region(t, iteration, "N", true, [&](int i, int state) { return update(t, state, x, always, i, k); });
    });
  });
}

// The same, but each loop has its own tensor, and all tensors are needed at the end.
std::string host_tensors(std::size_t nodes) {
  Text t;
  const int x = t.input("x", "f32 [N]"), always = t.node("const bool true");
  std::vector<int> made;
  for (int i = 0; t.size() < nodes; ++i) {
    const int begin = t.op("mul", x, t.node("const f32 " + to_string(i) + ".5"));
    made.push_back(region(t, begin, "7", false, [&](int k, int iteration) {
      return region(t, iteration, "N", true, [&](int p, int state) { return update(t, state, x, always, p, k); });
    }));
  }
  int sum = made[0];
  for (std::size_t i = 1; i < made.size(); ++i) sum = t.op("add", sum, made[i]);
  t.output("f32 [N]", sum);
  return t.text();
}

constexpr ScaleFamily families[] = {{"elementwise", elementwise},
                                    {"reductions", reductions},
                                    {"matmuls", matmuls},
                                    {"movement", movement},
                                    {"outputs", outputs, 3000},
                                    {"transformer", transformers},
                                    {"training", training},
                                    {"kernels", kernels},
                                    {"updates", updates},
                                    {"places", places},
                                    {"loops", loops, 30000},
                                    {"host_loops", host_loops, 10000},
                                    {"host_tensors", host_tensors, 10000}};

}  // namespace

std::span<const ScaleFamily> scale_families() { return families; }

std::string transformer_text(std::size_t layers) {
  Text t;
  t.output("f32 [48, 64]", transformer(t, layers).result);
  return t.text();
}

}  // namespace kiln::compiler::testing
