// Small random tensor programs over f32 and i32: movement, arithmetic, reductions, several outputs, updates in place.
#pragma once

#include <algorithm>
#include <random>

#include "compiler/ir/builder.h"
#include "compiler/ir/diagnostic.h"
#include "tests/unit/schedule_harness.h"

namespace kiln::compiler::testing {

class RandomProgram {
 public:
  RandomProgram(Graph& g, unsigned seed, bool symbolic) : g_(g), b_(g), random_(seed), symbolic_(symbolic) {}

  Program make() {
    Program p;
    p.name = "random";
    if (symbolic_) {
      p.symbols = {{"N", 2, 9, 1}, {"M", 2, 9, 1}};
      for (const Symbol& s : p.symbols) b_.declare(s);
    }
    const int inputs = 1 + pick(3);
    for (int i = 0; i < inputs; ++i) add_input(p);
    const int steps = 3 + pick(14);
    for (int i = 0; i < steps; ++i) step();
    std::vector<Id> stores;
    assign_inouts(p, stores);
    const int outputs = 1 + pick(3);
    for (int i = 0; i < outputs; ++i) add_output(p, stores);
    p.sink = g_.make(Op::SINK, DType::none, stores);
    return p;
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  Id any() { return values_[values_.size() - 1 - static_cast<std::size_t>(pick(static_cast<int>(std::min<std::size_t>(values_.size(), 5))))]; }
  Id extent() {
    if (symbolic_ && pick(3) == 0) return g_.sym(pick(2) == 0 ? "N" : "M");
    return g_.index(1 + pick(5));
  }

  void add_input(Program& p) {
    Parameter q;
    const bool inout = pick(3) == 0;
    q.name = "p" + std::to_string(p.params.size());
    q.direction = inout ? Direction::inout : Direction::in;
    q.dtype = pick(4) == 0 ? DType::i32 : DType::f32;
    const int rank = pick(4);
    for (int k = 0; k < rank; ++k) q.extents.push_back(extent());
    if (!p.params.empty() && pick(2) == 0) q.extents = p.params[0].extents;
    values_.push_back(b_.param(static_cast<int>(p.params.size()), q));
    p.params.push_back(q);
  }

  void add_output(Program& p, std::vector<Id>& stores) {
    const Id value = any();
    Parameter q{"o" + std::to_string(p.params.size()), Direction::out, g_.dtype(value), b_.shape_of(value), {}};
    const Id param = b_.param(static_cast<int>(p.params.size()), q);
    p.params.push_back(q);
    stores.push_back(b_.store(param, q, value));
  }

  void assign_inouts(const Program& p, std::vector<Id>& stores) {
    for (std::size_t i = 0; i < p.params.size(); ++i) {
      if (p.params[i].direction != Direction::inout) continue;
      const Id old = b_.param(static_cast<int>(i), p.params[i]);
      for (std::size_t k = values_.size(); k-- > 0;) {
        const Id v = values_[k];
        if (v == old || g_.dtype(v) != p.params[i].dtype || b_.shape_of(v) != p.params[i].extents) continue;
        stores.push_back(b_.store(old, p.params[i], v));
        break;
      }
    }
  }

  Id as(Id x, DType d) { return g_.dtype(x) == d ? x : b_.cast(x, d); }

  void step() {
    try {
      values_.push_back(made(any()));
    } catch (const Diagnostic&) {  // this operation does not fit these shapes
    }
  }

  Id made(Id x) {
    const std::vector<Id> shape = b_.shape_of(x);
    const auto rank = static_cast<int>(shape.size());
    switch (pick(13)) {
      case 0: case 1: case 2: return binary(x, any());
      case 3: return b_.elementwise(pick(2) == 0 ? Op::NEG : Op::ABS, {x});
      case 4: return reshape(x, shape);
      case 5: return permute(x, rank);
      case 6: return slice(x, shape);
      case 7: case 8: return pad(x, shape);
      case 9: return concat(x, rank);
      case 10: return expand(x, shape);
      case 11: return reduce(x, rank);
      default: return rank > 0 && pick(2) == 0 ? iota(x, shape) : contract(x, rank);
    }
  }

  Id binary(Id x, Id y) {
    const Op ops[] = {Op::ADD, Op::SUB, Op::MUL, Op::MAX, Op::MIN};
    y = as(y, g_.dtype(x));
    if (pick(6) == 0) return b_.elementwise(Op::WHERE, {b_.elementwise(Op::LT, {x, y}), x, y});
    if (pick(6) == 0 && g_.dtype(x) == DType::f32) return b_.elementwise(Op::EXP, {b_.elementwise(Op::NEG, {b_.elementwise(Op::ABS, {x})})});
    return b_.elementwise(ops[pick(5)], {x, y});
  }
  Id reshape(Id x, std::vector<Id> shape) {
    if (pick(3) == 0) {
      const Id all[] = {index_product(g_, shape)};
      return b_.reshape(x, all);
    }
    if (pick(2) == 0 && shape.size() > 1) {
      const auto k = static_cast<std::size_t>(pick(static_cast<int>(shape.size()) - 1));
      shape[k] = index_mul(g_, shape[k], shape[k + 1]);
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(k) + 1);
    } else if (shape.size() < 4) {
      for (std::size_t k = 0; k < shape.size(); ++k) {
        const auto v = index_value(g_, shape[k]);
        for (std::int64_t f : {2, 3})
          if (v && *v > f && *v % f == 0) {
            shape[k] = g_.index(*v / f);
            shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(k) + pick(2), g_.index(f));
            return b_.reshape(x, shape);
          }
      }
      shape.insert(shape.begin() + pick(static_cast<int>(shape.size()) + 1), g_.index(1));
    }
    return b_.reshape(x, shape);
  }
  Id permute(Id x, int rank) {
    std::vector<std::int64_t> axes;
    for (int i = 0; i < rank; ++i) axes.push_back(i);
    std::shuffle(axes.begin(), axes.end(), random_);
    return b_.permute(x, axes);
  }
  Id slice(Id x, const std::vector<Id>& shape) {
    std::vector<Id> begin, extents;
    std::vector<std::int64_t> step;
    for (Id e : shape) {
      const auto v = index_value(g_, e);
      if (!v) {
        const bool flip = pick(2) == 0, cut = pick(2) == 0;
        begin.push_back(flip ? index_sub(g_, e, g_.index(1)) : g_.index(cut ? 1 : 0));
        extents.push_back(cut ? index_sub(g_, e, g_.index(1)) : e);
        step.push_back(flip ? -1 : 1);
        continue;
      }
      const auto n = static_cast<int>(*v);
      const int first = pick(n), s = 1 + pick(2);
      const bool down = pick(2) == 0;
      const int most = down ? first / s + 1 : (n - 1 - first) / s + 1;
      begin.push_back(g_.index(first));
      step.push_back(down ? -s : s);
      extents.push_back(g_.index(1 + pick(most)));
    }
    return b_.slice(x, begin, step, extents);
  }
  Id pad(Id x, const std::vector<Id>& shape) {
    std::vector<Id> before, extents;
    for (Id e : shape) {
      before.push_back(g_.index(pick(3)));
      extents.push_back(index_add(g_, index_add(g_, e, before.back()), g_.index(pick(3))));
    }
    const Id value = as(b_.constant(DType::i32, 7), g_.dtype(x));
    return b_.pad(x, value, static_cast<PadMode>(pick(4)), before, extents);
  }
  Id concat(Id x, int rank) {
    if (rank == 0) return x;
    std::vector<Id> parts{x, as(any(), g_.dtype(x))};
    if (pick(2) == 0) parts[1] = b_.elementwise(Op::NEG, {x});
    if (pick(3) == 0) parts.push_back(x);
    return b_.concat(parts, pick(rank));
  }
  Id expand(Id x, std::vector<Id> shape) {
    shape.insert(shape.begin() + pick(static_cast<int>(shape.size()) + 1), g_.index(1));
    if (shape.size() > 4) return x;
    x = b_.reshape(x, shape);
    for (Id& e : shape)
      if (g_.is_index_const(e, 1)) e = extent();
    return b_.expand(x, shape);
  }
  Id reduce(Id x, int rank) {
    const ReduceKind kinds[] = {ReduceKind::sum, ReduceKind::sum, ReduceKind::prod, ReduceKind::max, ReduceKind::min, ReduceKind::argmax, ReduceKind::argmin};
    const ReduceKind kind = kinds[pick(7)];
    std::vector<std::int64_t> axes;
    for (int a = 0; a < rank; ++a)
      if (pick(2) == 0) axes.push_back(a);
    if (rank == 0 || axes.empty()) return x;
    if (kind == ReduceKind::argmax || kind == ReduceKind::argmin) {
      axes.resize(1);
      return as(b_.reduce(kind, x, axes), g_.dtype(x));
    }
    return b_.reduce(kind, x, axes);
  }
  Id contract(Id x, int rank) {
    if (rank == 0) return x;
    std::vector<std::int64_t> axes;
    for (int a = 0; a < rank; ++a)
      if (pick(2) == 0) axes.push_back(a);
    if (axes.empty()) axes.push_back(rank - 1);
    return b_.reduce_fma(x, b_.elementwise(Op::ADD, {x, as(b_.constant(DType::i32, 1), g_.dtype(x))}), axes);
  }
  Id iota(Id x, const std::vector<Id>& shape) {
    return b_.elementwise(Op::ADD, {x, b_.iota(g_.dtype(x), shape.back())});
  }

  Graph& g_;
  Builder b_;
  std::mt19937 random_;
  bool symbolic_;
  std::vector<Id> values_;
};

// Repeated pads and concatenations grow: keep the test short.
inline bool unfit(Graph& g, const Program& p, const Symbols& symbols) {
  Shapes shapes(g);
  const Id roots[] = {p.sink};
  for (Id id : g.reachable(roots)) {
    double n = 1;
    for (Id e : shapes.of(id)) {
      const std::int64_t v = index_at(g, e, symbols);
      if (v < 0) return true;  // a slice of a slice that these symbols are too small for
      n *= static_cast<double>(v);
    }
    if (n > 20000) return true;
  }
  return false;
}

}  // namespace kiln::compiler::testing
