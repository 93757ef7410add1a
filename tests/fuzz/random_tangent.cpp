#include "tests/fuzz/random_tangent.h"

#include <array>
#include <cstring>

#include "compiler/ir/builder.h"
#include "tests/fuzz/random_program.h"

namespace kiln::compiler::testing {
namespace {

using Ids = std::vector<Id>;

// Every float is bounded, so that differences tell a wrong derivative from rounding.
class Maker3 {
 public:
  Maker3(Graph& g, std::uint64_t seed) : g_(g), b_(g), draw_(seed * 2 + 5), n_(draw_.between(3, 6)) { b_.trust_bounds(); }

  TangentProgram make() {
    TangentProgram out;
    Program& p = out.program;
    p.name = "random";
    const Id n = g_.index(n_), two = g_.index(2);
    const auto input = [&](const char* name, DType d, Ids extents) {
      Parameter q{name, Direction::in, d, std::move(extents), {}};
      const Id x = b_.param(p.params.size(), q);
      p.params.push_back(std::move(q));
      return x;
    };
    const Id parameter = input("x", DType::f64, {n}), u = input("u", DType::f64, {n}), v = input("v", DType::f64, {n});
    const Id both = input("both", DType::f64, {two, n});
    places_ = input("places", DType::i32, {n});
    const Id x = draw_.one_in(2) ? parameter : same(parameter);
    Ids tensors{x, input("c", DType::f64, {n})};
    const int steps = draw_.between(2, 6);
    for (int i = 0; i < steps; ++i) statement(tensors, 2);
    const Id y = tensors.back();
    Ids stores;
    const auto output = [&](const char* name, Id value) {
      const auto slot = static_cast<int>(p.params.size());
      Parameter q{name, Direction::out, DType::f64, b_.shape_of(value), {}};
      stores.push_back(b_.store(b_.param(slot, q), q, value));
      p.params.push_back(std::move(q));
      return slot;
    };
    const Id xu[] = {x, u}, xv[] = {x, v}, xb[] = {x, both};
    const Id du = b_.tangent(y, xu, true);
    out.y = y;
    out.by = x;
    out.value = output("y", y);
    out.along_u = output("du", du);
    out.along_v = output("dv", b_.tangent(y, xv, true));
    out.along_both = output("dboth", b_.tangent(y, xb, true));
    out.second = output("duv", b_.tangent(du, xv, true));
    p.sink = g_.make(Op::SINK, DType::none, stores);
    return out;
  }

 private:
  Id real(double v) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &v, sizeof v);
    return b_.constant(DType::f64, bits);
  }
  Id op(Op o, Id a) { return b_.elementwise(o, {a}); }
  Id op(Op o, Id a, Id b) { return b_.elementwise(o, {a, b}); }
  Id any(const Ids& list) { return draw_.one_in(2) ? list.back() : draw_.of(list); }

  // A bounded function of values of one shape.
  Id function(const Ids& from) {
    const Id a = any(from), b = any(from);
    switch (draw_.below(7)) {
      case 0: return op(Op::SIN, op(Op::ADD, a, b));
      case 1: return op(Op::TANH, op(Op::MUL, a, b));
      case 2: {
        const Id c = op(Op::COS, a), t = op(Op::TANH, b);
        return op(Op::MUL, c, t);
      }
      case 3: {
        const Id c = op(Op::LT, a, b), s = op(Op::SIN, a), t = op(Op::TANH, b);
        return b_.elementwise(Op::WHERE, {c, s, t});
      }
      case 4: {
        const Id s = op(Op::SIN, a), half = op(Op::MUL, b, real(0.5));
        return op(Op::MAX, s, half);
      }
      case 5: return op(Op::TANH, b_.elementwise(Op::FMA, {a, b, real(0.25)}));
      default: {
        const Id t = op(Op::TANH, a), quarter = op(Op::MUL, b, real(0.25));
        return op(Op::SUB, t, quarter);
      }
    }
  }

  // Another value with the elements of x.
  Id same(Id x) {
    const Ids n{g_.index(n_)}, first{g_.index(0)}, one{g_.index(n_), g_.index(1)};
    switch (draw_.below(5)) {
      case 0: return b_.reshape(x, n);
      case 1: return b_.reshape(b_.reshape(x, one), n);
      case 2: return b_.update(x, no_id, b_.element(x, first), first);
      case 3: return op(Op::NEG, op(Op::NEG, x));
      default: {
        const Id range = b_.range(n[0], numbers_++), state = b_.carry(range, x, 0), at[] = {range};
        const Id final = b_.update(state, no_id, b_.element(x, at), at);
        return b_.get(b_.kernel(std::span(&range, 1), std::span(&x, 1), std::span(&final, 1)), 0);
      }
    }
  }

  // ---- outside of kernels: tensors [n]
  void statement(Ids& tensors, int depth) {
    switch (draw_.below(depth > 0 ? 11 : 5)) {
      case 0:
      case 1: tensors.push_back(function(tensors)); break;
      case 9: derivative(tensors, depth); break;
      case 2: tensors.push_back(mixed(tensors)); break;
      case 3: kernel(tensors); break;
      case 4: write(tensors); break;
      case 5:
      case 6: kernel(tensors); break;
      default: host_loop(tensors, depth); break;
    }
  }
  Id mixed(Ids& tensors) {
    const Id x = any(tensors);
    const std::int64_t axes[] = {0};
    switch (draw_.below(4)) {
      case 0: {
        const Id total = op(Op::TANH, b_.reduce(ReduceKind::sum, x, axes));
        return op(Op::MUL, total, any(tensors));
      }
      case 1: {
        const Id index = draw_.one_in(2) ? places_ : b_.iota(DType::i64, g_.index(n_));
        const Ids at{index};
        const Id taken = b_.gather(x, at);
        return op(Op::MUL, taken, real(0.75));
      }
      case 2: {
        const ReduceKind kind = draw_.one_in(2) ? ReduceKind::sum : ReduceKind::max;
        const bool exclusive = draw_.one_in(3);
        return op(Op::TANH, b_.scan(kind, x, 0, exclusive));
      }
      default: {
        const Ids begin{g_.index(n_ - 1)}, to{g_.index(n_)};
        const std::int64_t step[] = {-1};
        return b_.slice(x, begin, step, to);
      }
    }
  }
  // A derivative of statements, by a value that belongs to the loop around.
  void derivative(Ids& tensors, int depth) {
    const Id x = b_.mark(op(Op::TANH, tensors[0]), MarkKind::independent, numbers_++);
    Ids inner{x, any(tensors)};
    const bool backward = draw_.one_in(2);
    const int steps = draw_.between(1, 3);
    for (int i = 0; i < steps; ++i) {
      if (!backward)
        statement(inner, depth - 1);
      else
        inner.push_back(draw_.one_in(2) ? function(inner) : mixed(inner));
    }
    const Id v = any(tensors), along[] = {x, v};
    const Id made = backward ? b_.gradient(inner.back(), v, x, true) : b_.tangent(inner.back(), along, true);
    tensors.push_back(op(Op::TANH, made));
  }
  void write(Ids& tensors) {
    const Id x = any(tensors);
    const Ids at{g_.index(draw_.below(n_))}, from{g_.index(draw_.below(n_))};
    const Id read = b_.element(any(tensors), from);
    const Id value = op(Op::SIN, read);
    const Id gate = draw_.one_in(2) ? no_id : op(Op::LT, value, real(0.3));
    tensors.push_back(b_.update(x, gate, value, at));
  }
  void host_loop(Ids& tensors, int depth) {
    const Id range = b_.range(g_.index(8), numbers_++), zero = g_.index(0);
    const bool conditional = draw_.one_in(2);
    Ids init, carried, inner;
    if (conditional) init.push_back(b_.constant(DType::boolean, 1));
    const int count = draw_.between(1, 2);
    for (int i = 0; i < count; ++i) init.push_back(any(tensors));
    if (draw_.one_in(2)) init.push_back(real(0.5));  // a number, at first without a derivative
    for (std::size_t i = 0; i < init.size(); ++i) carried.push_back(b_.carry(range, init[i], i));
    for (const Id c : carried)
      if (b_.shape_of(c).size() == 1) inner.push_back(c);
    inner.push_back(tensors[0]);
    const int steps = draw_.between(1, 3);
    for (int i = 0; i < steps; ++i) statement(inner, depth - 1);
    Ids yield;
    const std::int64_t axes[] = {0};
    for (std::size_t i = 0; i < carried.size(); ++i) {
      if (g_.dtype(carried[i]) == DType::boolean) {
        const Id total = b_.reduce(ReduceKind::sum, inner.back(), axes);
        yield.push_back(op(Op::LT, total, real(1)));
      } else if (b_.shape_of(carried[i]).empty()) {
        const Id total = b_.reduce(ReduceKind::sum, inner.back(), axes);
        yield.push_back(op(Op::TANH, op(Op::ADD, carried[i], total)));
      } else {
        yield.push_back(i + 1 < carried.size() && draw_.one_in(4) ? carried[i] : any(inner));
      }
    }
    const Id loop = b_.loop(range, zero, g_.index(draw_.between(0, 4)), init, yield, 1, conditional);
    for (std::size_t i = 0; i < init.size(); ++i) {
      const Id result = b_.get(loop, i);
      if (g_.dtype(result) == DType::boolean) continue;
      tensors.push_back(b_.shape_of(result).empty() ? op(Op::MUL, result, tensors.back()) : result);
    }
  }

  // ---- kernels: numbers
  struct Body {
    Id first;          // the first RANGE of the kernel
    Ids ranges;        // of the kernel and of the loops around, outermost first
    Ids numbers;       // values
    Ids places;        // index values below n
    Ids outside;       // tensors
    Id array = no_id;  // the present state of a local array of 4 elements
    Id gate = no_id;
  };

  void kernel(Ids& tensors) {
    const Id range = b_.range(g_.index(n_), numbers_++);
    const bool adds = draw_.one_in(3);
    const Id eighth = real(0.125);
    const Id init = draw_.one_in(3) ? b_.broadcast_to(eighth, Ids{g_.index(n_)}) : any(tensors);
    const Id state = b_.carry(range, init, 0);
    Body body{range, {range}, {real(0.5)}, {range}, tensors, no_id, no_id};
    const Id at[] = {range};
    body.numbers.push_back(b_.element(adds ? any(tensors) : state, at));
    if (draw_.one_in(2)) {
      const Ids four{g_.index(4)};
      body.array = b_.local(DType::f64, range, four, numbers_++);
    }
    lines(body, 2);
    const Id value = op(Op::TANH, any(body.numbers));
    const Id gate = draw_.one_in(3) ? op(Op::LT, value, real(0.4)) : no_id;
    Id final = no_id;
    if (adds) {
      const Id to[] = {b_.index_of(b_.element(places_, at))};
      static constexpr AtomicKind kinds[] = {AtomicKind::add, AtomicKind::add, AtomicKind::max, AtomicKind::min,
                                             AtomicKind::exchange};
      final = b_.atomic(draw_.of(kinds), state, gate, value, to);
    } else {
      final = b_.update(state, gate, value, at);
      if (draw_.one_in(3)) {
        const Id again = op(Op::SIN, b_.element(final, at));
        final = b_.update(final, no_id, again, at);
      }
    }
    const Id kernel = b_.kernel(std::span(&range, 1), std::span(&init, 1), std::span(&final, 1));
    const Id result = b_.get(kernel, 0);
    tensors.push_back(adds ? op(Op::TANH, result) : result);
  }

  void lines(Body& body, int depth) {
    const int count = draw_.between(1, 4);
    for (int i = 0; i < count; ++i) line(body, depth);
  }
  void line(Body& body, int depth) {
    switch (draw_.below(depth > 0 ? 7 : 5)) {
      case 0:
      case 1: body.numbers.push_back(function(body.numbers)); break;
      case 2: {
        const Id at[] = {any(body.places)};
        body.numbers.push_back(b_.element(any(body.outside), at));
        break;
      }
      case 3:
      case 4: array(body); break;
      default: loop(body, depth);
    }
  }
  Id of_four(const Body& body) {
    const Id four = g_.index(4);
    return g_.make(Op::FLOORMOD, DType::index, {any(body.places), four});
  }
  void array(Body& body) {
    if (body.array == no_id) return;
    const Id to[] = {of_four(body)}, from[] = {of_four(body)};
    body.numbers.push_back(b_.element(body.array, from));
    const Id value = function(body.numbers);
    const Id gate = draw_.one_in(3) ? op(Op::LT, value, real(0.2)) : no_id;
    body.array = b_.update(body.array, gate, value, to);
  }
  void loop(Body& body, int depth) {
    const Id range = b_.range(g_.index(n_), numbers_++);
    const bool conditional = draw_.one_in(2), carries_array = body.array != no_id;
    Ids init;
    if (conditional) init.push_back(b_.constant(DType::boolean, 1));
    const std::size_t first = init.size();
    init.push_back(any(body.numbers));
    init.push_back(draw_.one_in(2) ? real(0.25) : any(body.numbers));
    if (carries_array) init.push_back(body.array);
    Body inner = body;
    inner.ranges.push_back(range);
    inner.places.push_back(range);
    Ids carried;
    for (std::size_t i = 0; i < init.size(); ++i) carried.push_back(b_.carry(range, init[i], i));
    inner.numbers.push_back(carried[first]);
    inner.numbers.push_back(carried[first + 1]);
    if (carries_array) inner.array = carried.back();
    lines(inner, depth - 1);
    Ids yield;
    if (conditional) yield.push_back(op(Op::LT, inner.numbers.back(), real(0.6)));
    yield.push_back(function(inner.numbers));
    yield.push_back(op(Op::TANH, op(Op::ADD, carried[first + 1], any(inner.numbers))));
    if (carries_array) yield.push_back(inner.array);
    const Id begin = g_.index(draw_.below(2)), end = draw_.one_in(2) ? any(body.places) : g_.index(draw_.between(1, n_));
    const Id made = b_.loop(range, begin, end, init, yield, draw_.between(1, 2), conditional);
    body.numbers.push_back(b_.get(made, first));
    body.numbers.push_back(b_.get(made, first + 1));
    if (carries_array) body.array = b_.get(made, init.size() - 1);
  }

  Graph& g_;
  Builder b_;
  Draw draw_;
  int n_;
  Id places_ = no_id;
  std::int64_t numbers_ = 0;
};

}  // namespace

TangentProgram random_tangent(Graph& g, std::uint64_t seed) { return Maker3(g, seed).make(); }

}  // namespace kiln::compiler::testing
