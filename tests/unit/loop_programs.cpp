#include "tests/unit/loop_programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/layout.h"
#include "compiler/ir/verify.h"
#include "compiler/schedule/dependencies.h"
#include "compiler/schedule/ping_pong.h"

namespace kiln::compiler::testing {
namespace {

constexpr std::int64_t rows_range = 0, array_number = 1, far_stride = 1000;

std::size_t at_slot(int i) { return static_cast<std::size_t>(i); }

bool meet(const std::vector<int>& a, const std::vector<int>& b) {
  return std::ranges::any_of(a, [&](int x) { return std::ranges::find(b, x) != b.end(); });
}

}  // namespace

int LoopProgram::parameter(const std::string& name, DType d, std::int64_t size) {
  const int b = temporary(name, d, size);
  s.buffers.back().param = b;
  s.program.params.push_back({name, Direction::inout, d, {g.index(size)}, {}});
  return b;
}

int LoopProgram::temporary(const std::string& name, DType d, std::int64_t size) {
  names_.push_back(name);
  s.buffers.push_back({d, g.index(size)});
  return static_cast<int>(s.buffers.size()) - 1;
}

void LoopProgram::make_pitched_row(int parameter) {
  Parameter& p = s.program.params[at_slot(parameter)];
  p.extents.insert(p.extents.begin(), g.index(1));
  p.free_strides = 1;
  declare_strides(s.program);
}

Id LoopProgram::number(int buffer) {
  const std::string name = "number" + std::to_string(buffer);
  s.program.symbols.push_back({.name = name, .kind = Symbol::Kind::element, .buffer = buffer});
  return g.sym(name);
}

int LoopProgram::loop(const std::function<void()>& body, Id end, std::int64_t step) {
  const int number = static_cast<int>(s.loops.size());
  const std::string iterations = "n" + std::to_string(number);
  if (end == no_id) s.program.symbols.push_back({.name = iterations});
  s.loops.push_back({.parent = around_, .begin = g.index(0), .end = end == no_id ? g.sym(iterations) : end, .step = step});
  const int before = std::exchange(around_, number);
  body();
  around_ = before;
  return number;
}

std::int64_t LoopProgram::size_of(int b) const { return index_value(g, s.buffers[at_slot(b)].size).value(); }

std::size_t LoopProgram::slot_of(int b) {
  const auto known = std::ranges::find(open_.buffers, b) - open_.buffers.begin();
  if (known == std::ssize(open_.buffers)) open_.buffers.push_back(b);
  return static_cast<std::size_t>(known);
}

Id LoopProgram::memory(int b) {
  return g.make(Op::BUFFER, s.buffers[at_slot(b)].dtype, {}, {static_cast<std::int64_t>(slot_of(b))});
}

Id LoopProgram::range(std::int64_t extent, std::int64_t id) {
  return g.make(Op::RANGE, DType::index, {g.index(extent)}, {id, static_cast<std::int64_t>(RangeKind::loop)});
}

Id LoopProgram::load(int b, Id state, Id position) { return g.make(Op::LOAD, s.buffers[at_slot(b)].dtype, {state, position}); }

LoopProgram::Value LoopProgram::at(int from) {
  return [this, from](Id i) {
    const Id m = memory(from);
    const bool has_states = open_.is_explicit && slot_of(from) < states_.size();
    return load(from, has_states ? g.make(Op::ENTRY, DType::none, {m, range_}) : m, i);
  };
}

LoopProgram::Value LoopProgram::now(int from) {
  return [this, from](Id i) { return load(from, states_.at(slot_of(from)), i); };
}

LoopProgram::Value LoopProgram::fetched(int from) {
  return [this, from](Id i) {
    const DType d = s.buffers[at_slot(from)].dtype;
    Id& state = states_.at(slot_of(from));
    state = g.make(Op::ATOMIC, DType::none, {state, constant(DType::boolean, 1), constant(d, 1), i},
                   {static_cast<std::int64_t>(AtomicKind::add)});
    return g.make(Op::OLD, d, {state});
  };
}

LoopProgram::Value LoopProgram::doubled(int from) {
  return [this, from](Id i) {
    const Id x = at(from)(i);
    return g.make(Op::ADD, g.dtype(x), {x, x});
  };
}

LoopProgram::Value LoopProgram::mixed(std::vector<int> of) {
  return [this, of](Id i) {
    Id sum = no_id;
    for (const int b : of) {
      const Id x = at(b)(index_floormod(g, index_add(g, i, g.index(1)), s.buffers[at_slot(b)].size));
      const Id tripled = g.make(Op::MUL, g.dtype(x), {x, constant(g.dtype(x), 3)});
      sum = sum == no_id ? tripled : g.make(Op::SUB, g.dtype(x), {tripled, sum});
    }
    return sum;
  };
}

LoopProgram::Value LoopProgram::below(int from, std::int64_t v) {
  return [this, from, v](Id i) {
    const Id x = at(from)(i);
    return g.make(Op::LT, DType::boolean, {x, constant(g.dtype(x), v)});
  };
}

LoopProgram::Value LoopProgram::zero() {
  return [this](Id i) {
    const Id array = g.make(Op::LOCAL, DType::i32, {range_, g.index(elements)}, {array_number});
    return g.make(Op::LOAD, DType::i32, {g.make(Op::ENTRY, DType::none, {array, range_}), i});
  };
}

void LoopProgram::add(const std::vector<Stored>& stored, Kind kind, std::int64_t positions) {
  open_ = {};
  open_.is_explicit = kind == Kind::explicit_kernel;
  open_.loop = around_;
  open_.at_entry.emplace();
  range_ = range(positions, rows_range);
  states_.clear();
  for (const Stored& e : stored) {
    const Id m = memory(e.to);
    if (slot_of(e.to) == states_.size()) states_.push_back(open_.is_explicit ? g.make(Op::ENTRY, DType::none, {m, range_}) : m);
  }
  for (const Stored& e : stored) {
    const Id value = e.value(range_);
    std::vector<Id> store{states_[slot_of(e.to)], e.position ? e.position(range_) : range_, value};
    if (e.gate) store.push_back(e.gate(range_));
    states_[slot_of(e.to)] = g.make(Op::STORE, DType::none, store);
  }
  std::vector<Id> ends;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    std::vector<Id> end{states_[i], range_};
    if (kind == Kind::tile_steps) end.push_back(range(1, static_cast<std::int64_t>(i) + 1));
    ends.push_back(g.make(Op::END, DType::none, end));
  }
  open_.sink = g.make(Op::SINK, DType::none, ends);
  add_dependencies();
  open_.name = "_k" + std::to_string(s.kernels.size());
  s.kernels.push_back(open_);
}

void LoopProgram::add_dependencies() {
  const KernelAccess now = access_of(g, open_);
  for (std::size_t k = 0; k < s.kernels.size(); ++k) {
    const KernelAccess then = access_of(g, s.kernels[k]);
    const bool waits = meet(now.stores, then.stores) || meet(now.stores, then.loads) || meet(now.loads, then.stores);
    if (waits && s.kernels[k].loop == around_) open_.depends_on.push_back(k);
  }
  std::ranges::set_intersection(now.loads, now.stores, std::back_inserter(*open_.at_entry));
}

void LoopProgram::rotate() {
  verify(g, s, Form::ordered);
  const Schedule before = s;
  ping_pong(g, s);
  verify(g, s, Form::ordered);
  std::vector<std::string> extents;
  for (const Symbol& y : before.program.symbols)
    if (y.kind == Symbol::Kind::extent) extents.push_back(y.name);
  const std::int64_t most = extents.size() < 3 ? 8 : 3;
  std::int64_t cases = 1;
  for (std::size_t e = 0; e < extents.size(); ++e) cases *= most;
  for (std::int64_t c = 0; c < cases; ++c) {
    Symbols iterations;
    std::int64_t rest = c;
    for (const Symbol& y : before.program.symbols)
      if (y.kind == Symbol::Kind::stride) iterations[y.name] = far_stride;
    for (const std::string& e : extents) iterations[e] = std::exchange(rest, rest / most) % most;
    const std::vector<Data> want = run_loops(g, before, iterations), got = run_loops(g, s, iterations);
    for (std::size_t p = 0; p < want.size(); ++p)
      for (std::size_t i = 0; i < want[p].size(); ++i)
        ASSERT_EQ(want[p][i].i, got[p][i].i) << names_[p] << "[" << i << "], case " << c;
  }
}

std::string LoopProgram::name(int buffer) const {
  std::string out;
  for (const int one : s.buffers[at_slot(buffer)].among) out += (out.empty() ? "" : "/") + names_[at_slot(one)];
  return out.empty() ? names_[at_slot(buffer)] : out;
}

std::string LoopProgram::list(const std::vector<int>& buffers) const {
  std::string out;
  for (const int b : buffers) out += (out.empty() ? "" : ", ") + name(b);
  return out;
}

std::string LoopProgram::indent(int loop) const {
  std::string out;
  for (; loop >= 0; loop = s.loops[at_slot(loop)].parent) out += "  ";
  return out;
}

std::string LoopProgram::line(const HostLoop& l) const {
  const std::string begin = indent(l.parent), explicit_kernel = l.count == no_id ? "" : ", " + std::string(g.name(l.count));
  std::string counted, iterations;
  for (const Id id : g.reachable(std::vector<Id>{l.begin, l.end}))
    if (g.op(id) == Op::SYM && g.name(id).starts_with("count")) counted = g.name(id);
  if (counted.empty())
    return begin + "loop " + index_text_or_id(g, l.begin) + " .. " + index_text_or_id(g, l.end) + explicit_kernel + "\n";
  for (std::int64_t n = 0; n < 6; ++n) {
    const Symbols symbols{{counted, n}};
    if (index_at(g, l.begin, symbols) < index_at(g, l.end, symbols))
      iterations += (iterations.empty() ? "" : ", ") + std::to_string(n);
  }
  return begin + "where " + counted + " is " + iterations + "\n";
}

std::string LoopProgram::text() const {
  std::string out;
  auto next = s.loops.begin();
  for (const Kernel& k : s.kernels) {
    while (next - s.loops.begin() <= k.loop) out += line(*next++);
    const KernelAccess a = access_of(g, k);
    out += indent(k.loop) + list(a.stores) + " <- " + list(a.loads);
    out += (k.at_entry->empty() ? "" : ", at entry " + list(*k.at_entry)) + "\n";
  }
  while (next != s.loops.end()) out += line(*next++);
  return out;
}

}  // namespace kiln::compiler::testing
