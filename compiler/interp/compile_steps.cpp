#include "compiler/interp/compile_steps.h"

#include <algorithm>
#include <cstring>

#include "compiler/interp/last_uses.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/shapes.h"

namespace kiln::compiler {
namespace {

class StepCompiler {
 public:
  StepCompiler(Graph& g, Id sink, const std::map<std::string, std::int64_t>& symbols, MathEvaluator& math)
      : g_(g),
        root_{sink},
        reached_(g.reachable(root_)),
        regions_(find_regions(g, root_)),
        uses_(g, reached_, regions_),
        symbols_(symbols),
        math_(math) {}

  StepProgram compile() {
    place_values();
    find_releases();
    find_promises();
    for (std::uint32_t r = 0; r < regions_.list.size(); ++r) {
      out_.blocks.emplace_back();
      for (Id id : regions_.list[r].nodes) {
        steps_ = &out_.blocks[r].steps;
        const std::size_t first = steps_->size();
        compile_node(id);
        if (steps_->size() > first) steps_->back().released = std::move(released_[id]);
      }
    }
    return std::move(out_);
  }

 private:
  Place new_place(bool array) {
    if (array) return {out_.arrays++, true};
    out_.scalars.emplace_back();
    return {static_cast<std::uint32_t>(out_.scalars.size() - 1), false};
  }
  std::uint32_t preset(std::int64_t bits) {  // for little-endian hosts only
    const auto [it, made] = presets_.emplace(bits, 0);
    if (made) {
      it->second = new_place(false).slot;
      std::memcpy(out_.scalars[it->second].bytes, &bits, sizeof bits);
    }
    return it->second;
  }

  void place_values() {
    Shapes shapes(g_);
    std::vector<bool> is_array(g_.size(), false);
    for (Id id : reached_) is_array[id] = shapes.rank(id) > 0;
    places_.resize(g_.size());
    std::vector<std::uint32_t> scope_of(g_.size(), 0);  // by RANGE or scope
    for (Id id : reached_) {
      if (!is_scope(g_.op(id))) continue;
      const auto number = static_cast<std::uint32_t>(out_.scopes.size());
      Scope& s = out_.scopes.emplace_back();
      scope_of[id] = number;
      for (Id r : scope_ranges(g_, id)) scope_of[r] = number;
      for (Id init : scope_inits(g_, id)) s.carried.push_back(new_place(is_array[init]));
    }
    scope_of_ = std::move(scope_of);
    for (Id id : reached_) places_[id] = place_of(id, is_array[id]);
  }

  Place place_of(Id id, bool array) {
    const auto carried = [&](Id scope) { return nth(out_.scopes[scope_of_[scope]].carried, g_.slot(id)); };
    switch (g_.op(id)) {
      case Op::CONST: return {preset(g_.value(id)), false};
      case Op::SYM: return {preset(symbols_.at(std::string(g_.name(id)))), false};
      case Op::CARRY: return carried(g_.range_of(id));
      case Op::GET: return carried(g_.scope(id));
      case Op::ATOMIC: old_[id] = new_place(false); return new_place(array);
      case Op::OLD: return old_.at(g_.operand(id));
      case Op::STORE:
      case Op::SINK:
      case Op::FOR:
      case Op::KERNEL:
      case Op::INVALID: return {};
      default: return new_place(array);
    }
  }

  std::uint32_t slot(Id id) const { return places_[id].slot; }
  Use use(Id s, Id user) const { return {places_[s], places_[s].array && uses_.takes(s, user)}; }

  Step& add(Step::Kind kind, Id id, std::size_t detail = 0) {
    Step& s = steps_->emplace_back();
    s.kind = kind;
    s.out = places_[id];
    s.detail = static_cast<std::uint32_t>(detail);
    return s;
  }

  void compile_node(Id id) {
    const Op op = g_.op(id);
    if (is_elementwise(op) && !places_[id].array) return scalar(id);
    switch (op) {
      case Op::CONST:
      case Op::SYM:
      case Op::INVALID:
      case Op::RANGE:
      case Op::CARRY:
      case Op::GET:
      case Op::OLD:
      case Op::SINK: return;  // they need no step
      case Op::INDEX: return read(id);
      case Op::UPDATE:
      case Op::ATOMIC: return write(id);
      case Op::FOR:
      case Op::KERNEL: return scope(id);
      case Op::LOCAL: add(Step::Kind::fresh, id, id); return;
      case Op::STORE: add(Step::Kind::store, id, id).tensor = use(g_.src(id, 1), id); return;
      default: whole(id);
    }
  }

  void whole(Id id) {
    Step& s = add(Step::Kind::whole, id, id);
    const bool elementwise = is_elementwise(g_.op(id));
    for (Id source : g_.src(id))
      if (elementwise || g_.dtype(source) != DType::index) s.sources.push_back({places_[source], g_.dtype(source)});
  }

  void scalar(Id id) {
    const Op op = g_.op(id);
    if (op == Op::WHERE && g_.op(g_.src(id, 2)) == Op::INVALID) return;  // INDEX evaluates its gate
    std::vector<std::uint32_t> in;
    for (Id s : g_.src(id)) in.push_back(slot(s));
    const DType type = operand_type(g_, id);
    if (!is_math(op)) return scalar_step(op, g_.dtype(id), type, in, slot(id));
    if (bits(type) != 16) return expansion(op, type, in, slot(id));
    for (std::uint32_t& s : in) {  // widens to f32; the result rounds once
      const std::uint32_t wide = new_place(false).slot;
      scalar_step(Op::CAST, DType::f32, type, {&s, 1}, wide);
      s = wide;
    }
    const std::uint32_t wide = new_place(false).slot;
    expansion(op, DType::f32, in, wide);
    scalar_step(Op::CAST, type, DType::f32, {&wide, 1}, slot(id));
  }

  void scalar_step(Op op, DType result, DType type, std::span<const std::uint32_t> in, std::uint32_t to) {
    Step& s = steps_->emplace_back();
    s.op = op;
    s.dtype = result;
    s.type = type;
    s.operands = static_cast<std::uint8_t>(in.size());
    s.out = {to, false};
    std::ranges::copy(in, s.in);
  }

  void expansion(Op op, DType type, std::span<const std::uint32_t> in, std::uint32_t to) {
    const MathEvaluator::Expansion& e = math_.expansion(op, type);
    std::vector<std::uint32_t> slots(e.graph.size(), 0), operands;
    for (std::size_t i = 0; i < in.size(); ++i) slots[e.inputs[i]] = in[i];
    for (Id id : e.order) {
      const Op o = e.graph.op(id);
      if (o == Op::CONST) slots[id] = preset(e.graph.value(id));
      if (!is_elementwise(o)) continue;
      slots[id] = id == e.order.back() ? to : new_place(false).slot;
      operands.clear();
      for (Id s : e.graph.src(id)) operands.push_back(slots[s]);
      scalar_step(o, e.graph.dtype(id), operand_type(e.graph, id), operands, slots[id]);
    }
  }

  void read(Id id) {
    Access a;
    a.node = id;
    const IndexGate first = index_gate(g_, id);
    a.gated = first.gate != no_id;
    if (a.gated) a.gate = slot(first.gate);
    for (Id s : g_.src(id).subspan(1)) a.index.push_back(slot(s));
    if (a.gated) a.index[0] = slot(first.first);
    add(Step::Kind::read, id, out_.accesses.size()).tensor = use(g_.data(id), id);
    out_.accesses.push_back(std::move(a));
  }

  void write(Id id) {
    const WriteParts parts = write_parts(g_, id);
    Write w;
    w.at.node = id;
    w.at.gated = true;
    w.at.gate = slot(parts.gate);
    for (Id s : parts.index) w.at.index.push_back(slot(s));
    w.state = use(parts.state, id);
    w.result = places_[id];
    w.dtype = g_.dtype(id);
    w.value = slot(parts.value);
    if (parts.expected != no_id) w.expected = slot(parts.expected);
    w.atomic = g_.op(id) == Op::ATOMIC;
    if (w.atomic) {
      w.kind = g_.atomic_kind(id);
      w.old = old_.at(id).slot;
    }
    w.unique = is_unique(g_, id);
    if (const auto p = origins_.empty() ? promised_.end() : promised_.find(origins_[id]); p != promised_.end())
      w.promised = p->second, w.of_kernel = g_.op(p->first) == Op::CARRY;
    add(Step::Kind::write, id, out_.writes.size());
    out_.writes.push_back(std::move(w));
  }

  void scope(Id id) {
    Scope& s = out_.scopes[scope_of_[id]];
    s.body = regions_.owned[id];
    s.kernel = g_.op(id) == Op::KERNEL;
    for (Id r : scope_ranges(g_, id)) {
      s.ranges.push_back(slot(r));
      s.ends.push_back(slot(g_.end(r)));
    }
    std::span<const Id> next;
    if (s.kernel) {
      next = kernel_parts(g_, id).final;
    } else {
      const LoopParts l = loop_parts(g_, id);
      s.begin = slot(l.begin);
      s.ends = {slot(l.end)};
      s.step = l.step;
      s.conditional = l.conditional;
      s.workgroup = is_workgroup_loop(g_, id);
      next = l.yield;
    }
    const auto init = scope_inits(g_, id);
    for (std::size_t i = 0; i < init.size(); ++i) {
      s.init.push_back(use(init[i], id));
      if (std::ranges::find(init.subspan(i + 1), init[i]) != init.end()) s.init.back().last = false;
      const bool again = std::ranges::find(next.subspan(i + 1), next[i]) != next.end();
      s.next.push_back({places_[next[i]], places_[next[i]].array && !again && regions_.of[next[i]] == s.body});
      for (std::size_t j = 0; j < i; ++j)
        s.parallel = s.parallel || (s.next[i].place.slot == s.carried[j].slot && s.next[i].place.array == s.carried[j].array);
    }
    add(Step::Kind::scope, id, scope_of_[id]);
  }

  // Whether the memory is shared. False for an array that each work item of a workgroup has for itself.
  bool is_shared(Id memory) const {
    if (g_.op(memory) == Op::CARRY) return true;
    for (std::uint32_t r = regions_.of[memory]; r != 0; r = regions_.list[r].parent)
      if (is_workgroup_loop(g_, regions_.list[r].owner)) return false;
    return true;
  }

  // Numbers the memories that some write with the promise `unique` changes.
  void find_promises() {
    if (std::ranges::none_of(reached_, [&](Id id) { return is_unique(g_, id); })) return;
    origins_ = state_origins(g_, root_);
    for (Id id : reached_)
      if (is_unique(g_, id) && is_shared(origins_[id])) promised_.emplace(origins_[id], promised_.size());
    out_.promised = promised_.size();
  }

  void find_releases() {
    released_.resize(g_.size());
    for (Id id : reached_)
      if (const Id user = uses_.last_user(id); user != no_id && places_[id].array) released_[user].push_back(slot(id));
  }

  Graph& g_;
  const Id root_[1];
  std::vector<Id> reached_;
  Regions regions_;
  LastUses uses_;
  const std::map<std::string, std::int64_t>& symbols_;
  MathEvaluator& math_;
  StepProgram out_;
  std::vector<Step>* steps_ = nullptr;
  std::vector<Place> places_;
  std::vector<std::uint32_t> scope_of_;
  std::vector<std::vector<std::uint32_t>> released_;
  std::map<std::int64_t, std::uint32_t> presets_;
  std::map<Id, Place> old_;
  std::vector<Id> origins_;             // by node: origin of its memory; empty if there are no promises
  std::map<Id, std::size_t> promised_;  // by origin: number of the memory
};

}  // namespace

StepProgram compile_steps(Graph& g, Id sink, const std::map<std::string, std::int64_t>& symbols, MathEvaluator& math) {
  return StepCompiler(g, sink, symbols, math).compile();
}

}  // namespace kiln::compiler
