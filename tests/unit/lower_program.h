// Builds one kernel at K level by hand, lowers it, and compares both levels on data.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "compiler/ir/text.h"
#include "compiler/pipeline/run_passes.h"
#include "tests/unit/lower_harness.h"

namespace kiln::compiler::testing {

class OneKernel {
 public:
  // seed: of the first comparison's data.
  explicit OneKernel(std::uint32_t seed = 1) : seed_(seed) {
    schedule.program.name = "p";
    schedule.workspace_bytes = g.index(0);
  }

  Id symbol(const std::string& name, std::int64_t max = std::int64_t{1} << 40, std::int64_t multiple_of = 1) {
    schedule.program.symbols.push_back({name, 0, max, multiple_of});
    return g.sym(name);
  }
  int buffer(DType d, Id size) {
    const int slot = static_cast<int>(schedule.buffers.size());
    schedule.program.params.push_back({"b" + std::to_string(slot), Direction::inout, d, {size}, {}});
    schedule.buffers.push_back({d, size, slot, no_id});
    return slot;
  }
  Id range(Id end, RangeKind kind = RangeKind::loop) {
    return g.make(Op::RANGE, DType::index, {end}, {next_++, static_cast<std::int64_t>(kind)});
  }
  Id reduce_range(Id end) { return range(end, RangeKind::reduce); }
  Id node(int slot) { return g.make(Op::BUFFER, type(slot), {}, {slot}); }
  Id load(int slot, Id at) { return g.make(Op::LOAD, type(slot), {node(slot), at}); }
  Id load(int slot, Id at, Id alt, Id gate) { return g.make(Op::LOAD, type(slot), {node(slot), at, alt, gate}); }
  Id op(Op o, DType d, std::initializer_list<Id> x) { return g.make(o, d, x); }
  Id index(Op o, Id a, Id b) { return g.make(o, DType::index, {a, b}); }
  Id at(Id i, Id extent, Id j) { return index(Op::ADD, index(Op::MUL, i, extent), j); }
  Id f32(float v) { return g.constant(DType::f32, __builtin_bit_cast(std::uint32_t, v)); }
  Id reduce(ReduceKind k, ReduceOrder o, DType d, std::vector<Id> src) {
    const std::int64_t args[] = {static_cast<std::int64_t>(k), static_cast<std::int64_t>(o)};
    return g.make(Op::REDUCE, d, src, args);
  }
  void store(int slot, Id at_index, Id value, const std::vector<Id>& loops) {
    std::vector<Id> s = {g.make(Op::STORE, DType::none, {node(slot), at_index, value})};
    s.insert(s.end(), loops.begin(), loops.end());
    ends.push_back(g.make(Op::END, DType::none, s));
  }

  const LoweredKernel& lower() {
    Kernel k;
    k.name = "p_k0";
    k.sink = g.make(Op::SINK, DType::none, ends);
    for (std::size_t i = 0; i < schedule.buffers.size(); ++i) k.buffers.push_back(static_cast<int>(i));
    schedule.kernels = {k};
    lowered = lower_kernel(g, schedule, schedule.kernels[0], facts_of(schedule.program), target);
    return lowered;
  }

  std::vector<Data> random_data(const Symbols& symbols, bool special = true) const {
    std::mt19937 random(seed_);
    std::vector<Data> out;
    for (const Buffer& b : schedule.buffers) {
      Data& d = out.emplace_back(static_cast<std::size_t>(index_at(g, b.size, symbols)));
      for (Scalar& s : d) s = random_scalar(b.dtype, random, special);
    }
    return out;
  }

  // Lowers, then compares K and P level bit for bit. A failure prints the kernel with its symbols and the seed of its data.
  // After one the test compares no more, so tests call this with small extents first.
  void expect_same(const Symbols& symbols, std::int64_t chunk = 0, bool special = true) {
    if (::testing::Test::HasFatalFailure()) return;
    if (lowered.sink == no_id) lower();
    ASSERT_EQ(malformed(g, lowered.sink), "") << case_text(symbols, chunk);
    const std::vector<Data> before = random_data(symbols, special);
    const std::vector<Data> expected = run_schedule(g, schedule, symbols, before, false);
    std::vector<Data> got = before;
    run_lowered(g, lowered, symbols, got, chunk);
    for (std::size_t b = 0; b < got.size(); ++b)
      for (std::size_t i = 0; i < got[b].size(); ++i)
        ASSERT_TRUE(same(schedule.buffers[b].dtype, expected[b][i], got[b][i]))
            << "buffer " << b << " element " << i << ": expected " << expected[b][i].f << '/' << expected[b][i].i << ", got "
            << got[b][i].f << '/' << got[b][i].i << '\n'
            << case_text(symbols, chunk);
    ++seed_;
  }

  Graph g;
  Schedule schedule;
  std::vector<Id> ends;
  LoweredKernel lowered;
  Target target;

 private:
  DType type(int slot) const { return schedule.buffers[static_cast<std::size_t>(slot)].dtype; }

  std::string case_text(const Symbols& symbols, std::int64_t chunk) const {
    std::string text = "data of seed " + std::to_string(seed_) + ", chunks of " + std::to_string(chunk);
    for (const auto& [symbol, value] : symbols) text += ", " + symbol + " = " + std::to_string(value);
    return text + '\n' + write_schedule(g, schedule, {.locations = false});
  }

  static Scalar random_scalar(DType d, std::mt19937& random, bool special) {
    const auto r = static_cast<std::int64_t>(random());
    if (d == DType::boolean) return {0, r % 2};
    if (!is_float(d)) return {0, r % 7 == 0 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(r * 977)) : r % 5 - 2};
    static constexpr float specials[] = {0.0f,
                                         -0.0f,
                                         std::numeric_limits<float>::infinity(),
                                         -std::numeric_limits<float>::infinity(),
                                         std::numeric_limits<float>::quiet_NaN(),
                                         1.0f};
    if (special && r % 31 == 0) return {static_cast<double>(specials[(r / 31) % 6]), 0};
    return {static_cast<double>(static_cast<float>(r % 20011 - 10005) / 128.0f), 0};
  }

  std::uint32_t seed_;
  std::int64_t next_ = 0;
};

// The number of nodes below the root with this operation, and with this number of lanes unless it is 0.
inline std::size_t count(const Graph& g, Id root, Op op, int lanes = 0) {
  const Id roots[] = {root};
  const auto nodes = g.reachable(roots);
  return static_cast<std::size_t>(
      std::ranges::count_if(nodes, [&](Id id) { return g.op(id) == op && (lanes == 0 || g.lanes(id) == lanes); }));
}

// y[i] = a * x[i] + y[i]
inline void make_axpy(OneKernel& k, Id n) {
  const int a = k.buffer(DType::f32, k.g.index(1)), x = k.buffer(DType::f32, n), y = k.buffer(DType::f32, n);
  const Id i = k.range(n);
  const Id product = k.op(Op::MUL, DType::f32, {k.load(a, k.g.index(0)), k.load(x, i)});
  k.store(y, i, k.op(Op::ADD, DType::f32, {product, k.load(y, i)}), {i});
}

}  // namespace kiln::compiler::testing
