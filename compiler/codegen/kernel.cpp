#include "compiler/codegen/kernel.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/codegen/chain_order.h"
#include "compiler/codegen/elementwise.h"
#include "compiler/codegen/extremum.h"
#include "compiler/codegen/extremum_networks.h"
#include "compiler/codegen/float_values.h"
#include "compiler/codegen/memory.h"
#include "compiler/codegen/reciprocal_division.h"
#include "compiler/codegen/target_machine.h"
#include "compiler/ir/loop_scopes.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/state.h"

namespace kiln::compiler {
namespace {

using llvm::BasicBlock;
using llvm::Value;

// A loop under construction; the root is the kernel itself. `tail` is the open end of the body, where code of that scope is
// appended. A loop is connected to its parent when it is closed. Until then values can be placed in front of it.
struct LoopBlocks {
  BasicBlock* header = nullptr;
  BasicBlock* tail = nullptr;
  llvm::PHINode* induction = nullptr;
  std::vector<llvm::PHINode*> carried;
  std::vector<Value*> results;
  bool closed = false;
};

struct Task {
  enum Kind { need, emit, open, close } kind;
  Id node;
  std::int32_t scope;  // need: the scope of the use; emit: the scope in which to place it
};

class KernelEmitter {
 public:
  KernelEmitter(llvm::Function& f, const Graph& g, const SymbolIndex& symbols, const Kernel& kernel,
                const std::vector<bool>& inout, Id sink, Id trip_count)
      : g_(g),
        symbols_(symbols),
        scopes_(find_scopes(g, sink)),
        zero_signs_(g, scopes_),
        networks_(g, scopes_, zero_signs_, vector_bits(f)),
        reciprocal_divisions_(g, scopes_, vector_bits(f)),
        entry_loads_(loads_of_entry_values(inout)),
        function_(f),
        b_(f.getContext()),
        loops_(scopes_.loops.size()),
        values_(scopes_.of.size()) {
    for (const Id id : scopes_.nodes)
      if (g.op(id) == Op::LOAD && has_state(id)) readers_[g.state(id)].push_back(id);
    blocks(root_scope).tail = new_block("entry");
    b_.SetInsertPoint(blocks(root_scope).tail);
    memory_.emplace(b_, g, kernel, scopes_.nodes, f.getArg(0));
    if (has_atomics(g, sink)) alone_ = runs_all(trip_count);
    push_effects(g.src(sink), {}, root_scope);
  }

  void run() {
    while (!tasks_.empty()) {
      const Task t = tasks_.back();
      tasks_.pop_back();
      switch (t.kind) {
        case Task::need: need(t); break;
        case Task::emit: emit(t); break;
        case Task::open: open_loop(t.node); break;
        case Task::close: close_loop(t.node); break;
      }
    }
    b_.SetInsertPoint(blocks(root_scope).tail);
    // Stores past the caches may reach memory after later ones of the same thread.
    const auto is_past_caches = [&](Id id) { return g_.op(id) == Op::STORE && !g_.args(id).empty(); };
    if (std::ranges::any_of(scopes_.nodes, is_past_caches)) b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
    b_.CreateRetVoid();
  }

 private:
  LoopBlocks& blocks(std::int32_t scope) { return nth(loops_, scope); }
  BasicBlock* new_block(const char* name) { return BasicBlock::Create(function_.getContext(), name, &function_); }
  void push(Task::Kind kind, Id node, std::int32_t scope) { tasks_.push_back({kind, node, scope}); }

  static std::uint64_t key(Id node, std::int32_t scope) {
    return std::uint64_t{node} << 32 | static_cast<std::uint32_t>(scope);
  }

  // The node's value if code in `scope` can use it already, else null.
  Value* find(Id node, std::int32_t scope) const {
    if (values_[node] != nullptr) return values_[node];
    if (!scopes_.reads_memory[node]) return nullptr;
    for (const std::int32_t own = scopes_.of[node]; scope != own; scope = nth(scopes_.loops, scope).parent)
      if (const auto hit = local_.find(key(node, scope)); hit != local_.end()) return hit->second;
    return nullptr;
  }

  void define(Id node, std::int32_t scope, Value* v) {
    if (scope == scopes_.of[node])
      values_[node] = v;
    else
      local_[key(node, scope)] = v;
  }

  Value* get(Id node, std::int32_t scope) const {
    Value* v = find(node, scope);
    if (v == nullptr) throw std::logic_error("codegen: value used outside its loop: " + std::string(name(g_.op(node))));
    return v;
  }

  bool has_state(Id access) const { return !names_memory(g_, access); }
  bool is_token(Id node) const { return g_.dtype(node) == DType::none && g_.op(node) != Op::FOR && is_state(g_, node); }

  // The node or, if it is in a loop inside `scope`, that loop.
  Id lifted(Id node, std::int32_t scope) const {
    std::int32_t at = scopes_.of[node];
    Id seen = node;
    while (at != scope && at != root_scope) {
      seen = nth(scopes_.loops, at).loop;
      at = nth(scopes_.loops, at).parent;
    }
    return seen;
  }

  // Before a state is overwritten, the state itself and all its readers must be emitted.
  void need_before_write(Id state, std::int32_t scope) {
    if (const auto it = readers_.find(state); it != readers_.end())
      for (const Id reader : it->second) push(Task::need, lifted(reader, scope), scope);
    push(Task::need, state, scope);
  }

  // Sources that must have values before the node can be emitted.
  std::vector<Id> operands(Id node) const {
    switch (g_.op(node)) {
      case Op::RANGE:
      case Op::CARRY:
      case Op::ENTRY:
      case Op::LOCAL:
      case Op::BUFFER: return {};
      case Op::ATOMIC: return g_.sources(node, 1);
      case Op::LOAD:
      case Op::STORE: return access_operands(g_, node);
      default: break;
    }
    const std::span<const Id> inputs = networks_.inputs(node);
    return inputs.empty() ? g_.sources(node) : std::vector<Id>(inputs.begin(), inputs.end());
  }

  void need(const Task& t) {
    if (g_.op(t.node) == Op::FOR) return need_loop(t.node);
    const bool effect = is_plain_store(t.node);
    if (!effect && find(t.node, t.scope) != nullptr) return;
    const std::int32_t place = effect ? t.scope : is_token(t.node) ? scopes_.of[t.node] : scopes_.place(t.node, t.scope);
    push(Task::emit, t.node, place);
    for (const Id src : operands(t.node) | std::views::reverse) push(Task::need, src, place);
    const Op op = g_.op(t.node);
    if ((op == Op::STORE && !effect) || op == Op::ATOMIC) need_before_write(g_.state(t.node), place);
    if (op == Op::LOAD && has_state(t.node)) push(Task::need, g_.state(t.node), place);
  }
  bool is_plain_store(Id node) const { return g_.op(node) == Op::STORE && !has_state(node); }

  void need_loop(Id loop) {
    if (blocks(scopes_.loop_of[loop]).header != nullptr) return;
    const std::int32_t parent = scopes_.of[loop];
    const ForParts f = for_parts(g_, loop);
    push(Task::open, loop, parent);
    for (const Id init : f.init | std::views::reverse) {
      if (is_token(init))
        need_before_write(init, parent);
      else
        push(Task::need, init, parent);
    }
    push(Task::need, f.end, parent);
    push(Task::need, f.begin, parent);
  }

  // LOADs that read a value on entry: of parameters that this kernel overwrites, and of arrays without states that the same
  // scope stores. A LOAD of any other buffer that the kernel stores reads the stored values, in the order of effects.
  std::vector<Id> loads_of_entry_values(const std::vector<bool>& inout) const {
    std::vector<bool> stored(inout.size(), false);
    const auto slot_of = [&](Id access) { return g_.slot(g_.state(access)); };
    const auto is_buffer = [&](Id access) { return g_.op(g_.state(access)) == Op::BUFFER; };
    std::set<std::pair<Id, std::int32_t>> stored_arrays;  // and the scope
    const auto array_of = [&](Id access) { return std::pair(g_.state(access), scopes_.of[access]); };
    for (const Id id : scopes_.nodes) {
      if (g_.op(id) != Op::STORE) continue;
      if (is_buffer(id)) stored[slot_of(id)] = true;
      if (g_.op(g_.state(id)) == Op::LOCAL) stored_arrays.insert(array_of(id));
    }
    std::vector<Id> out;
    for (const Id id : scopes_.nodes) {
      if (g_.op(id) != Op::LOAD) continue;
      if ((is_buffer(id) && stored[slot_of(id)] && inout[slot_of(id)]) || stored_arrays.contains(array_of(id)))
        out.push_back(id);
    }
    return out;
  }

  // LOADs of values on entry come before the scope's own stores.
  void push_effects(std::span<const Id> effects, std::span<const Id> yields, std::int32_t scope) {
    for (const Id y : yields | std::views::reverse) push(Task::need, y, scope);
    for (const Id e : chain_order(g_, scopes_, effects, scope) | std::views::reverse) push(Task::need, e, scope);
    for (const Id load : entry_loads_ | std::views::reverse)
      if (scopes_.of[load] == scope) push(Task::need, load, scope);
  }

  void open_loop(Id loop) {
    const std::int32_t scope = scopes_.loop_of[loop];
    LoopBlocks& l = blocks(scope);
    if (l.header != nullptr) return;
    const ForParts f = for_parts(g_, loop);
    l.header = l.tail = new_block("loop");
    b_.SetInsertPoint(l.header);
    l.induction = b_.CreatePHI(b_.getInt64Ty(), 2);
    for (const Id init : f.init)
      l.carried.push_back(is_token(init) ? nullptr : b_.CreatePHI(get(init, scopes_.of[loop])->getType(), 2));
    values_[f.range] = l.induction;
    push(Task::close, loop, scope);
    push_effects(f.effects, f.yield, scope);
  }

  void close_loop(Id loop) {
    const std::int32_t scope = scopes_.loop_of[loop];
    const LoopScope& s = nth(scopes_.loops, scope);
    LoopBlocks& l = blocks(scope);
    LoopBlocks& outer = blocks(s.parent);
    const ForParts f = for_parts(g_, loop);
    Value* begin = get(f.begin, s.parent);
    Value* end = get(f.end, s.parent);
    BasicBlock* exit = new_block("done");

    b_.SetInsertPoint(outer.tail);
    if (s.certain)
      b_.CreateBr(l.header);
    else
      b_.CreateCondBr(goes_on(f, b_.CreateICmpSLT(begin, end), f.init, s.parent), l.header, exit);
    b_.SetInsertPoint(l.tail);
    const bool repeats = !runs_at_most_once(g_, f);
    l.induction->addIncoming(begin, outer.tail);
    if (repeats) {
      Value* next = b_.CreateAdd(l.induction, b_.getInt64(static_cast<std::uint64_t>(f.step)));
      b_.CreateCondBr(goes_on(f, b_.CreateICmpSLT(next, end), f.yield, scope), l.header, exit);
      l.induction->addIncoming(next, l.tail);
    } else {
      b_.CreateBr(exit);
    }

    b_.SetInsertPoint(exit);
    for (std::size_t i = 0; i < f.init.size(); ++i) {
      if (l.carried[i] == nullptr) {
        l.results.push_back(nullptr);
        continue;
      }
      Value* init = get(f.init[i], s.parent);
      Value* yield = get(f.yield[i], scope);
      l.carried[i]->addIncoming(init, outer.tail);
      if (repeats) l.carried[i]->addIncoming(yield, l.tail);
      llvm::PHINode* result = b_.CreatePHI(yield->getType(), 2);
      if (!s.certain) result->addIncoming(init, outer.tail);
      result->addIncoming(yield, l.tail);
      l.results.push_back(result);
    }
    l.closed = true;
    outer.tail = exit;
  }

  // Whether the bounds and some lane's condition permit another iteration.
  Value* goes_on(const ForParts& f, Value* in_bounds, std::span<const Id> carried, std::int32_t scope) {
    if (!f.has_condition) return in_bounds;
    Value* active = get(carried[0], scope);
    if (active->getType()->isVectorTy()) active = b_.CreateOrReduce(active);
    constexpr std::int64_t forever = std::int64_t{1} << 62;  // iterations that no machine completes
    return g_.is_const(f.end) && g_.value(f.end) >= forever ? active : b_.CreateAnd(in_bounds, active);
  }

  void emit(const Task& t) {
    if (!is_plain_store(t.node) && find(t.node, t.scope) != nullptr) return;
    b_.SetInsertPoint(blocks(t.scope).tail);
    if (is_token(t.node)) {
      change_memory(t);
      define(t.node, t.scope, b_.getTrue());
    } else if (g_.op(t.node) == Op::STORE) {
      memory_->store(t.node, operand_values(t));
    } else {
      define(t.node, t.scope, value(t));
    }
    blocks(t.scope).tail = b_.GetInsertBlock();
  }

  void change_memory(const Task& t) {
    const Op op = g_.op(t.node);
    if (op == Op::STORE) memory_->store(t.node, operand_values(t));
    if (op == Op::ATOMIC) memory_->atomic(t.node, operand_values(t), alone_);
    if (op == Op::ENTRY && g_.op(memory_of(g_, t.node)) == Op::LOCAL) memory_->clear(memory_of(g_, t.node));
  }

  std::vector<Value*> operand_values(const Task& t) const {
    std::vector<Value*> x;
    for (const Id src : operands(t.node)) x.push_back(get(src, t.scope));
    return x;
  }

  Value* value(const Task& t) {
    switch (g_.op(t.node)) {
      case Op::CONST:
        return constant(b_.getContext(), g_.dtype(t.node), static_cast<std::uint64_t>(g_.value(t.node)), g_.lanes(t.node));
      case Op::SYM: return symbol(g_.name(t.node));
      case Op::CARRY: return blocks(scopes_.loop_of[g_.range_of(t.node)]).carried.at(g_.slot(t.node));
      case Op::GET: return blocks(scopes_.loop_of[g_.scope(t.node)]).results.at(g_.slot(t.node));
      case Op::LOAD: return memory_->load(t.node, operand_values(t));
      case Op::BROADCAST:
      case Op::RAMP:
      case Op::LANE:
      case Op::SHUFFLE:
      case Op::PAIRS: return emit_lanes(b_, g_, t.node, operand_values(t));
      default:
        if (!is_elementwise(g_.op(t.node)))
          throw std::logic_error("codegen: " + std::string(name(g_.op(t.node))) + " is not a P-level value");
        if (!networks_.inputs(t.node).empty())
          return networks_.emit(b_, t.node, [&](Id input) { return get(input, t.scope); }, in_networks_[t.scope]);
        if (reciprocal_divisions_.contains(t.node, t.scope))
          return emit_reciprocal_division(b_, get(g_.src(t.node, 0), t.scope), get(g_.src(t.node, 1), t.scope));
        if (is_extremum_of_any_zero(t.node)) return emit_any_zero(t);
        return emit_elementwise(b_, g_, t.node, operand_values(t));
    }
  }

  bool is_extremum_of_any_zero(Id node) const {
    const Op op = g_.op(node);
    const DType d = g_.dtype(node);
    return (op == Op::MIN || op == Op::MAX) && (d == DType::f32 || d == DType::f64) && !zero_signs_.matters(node);
  }

  Value* emit_any_zero(const Task& t) {
    const Id tested = g_.src(t.node, zero_signs_.tested(t.node)), other = g_.src(t.node, 1 - zero_signs_.tested(t.node));
    Value* x = get(tested, t.scope);
    Value* y = get(other, t.scope);
    return emit_extremum_of_any_zero(b_, g_.op(t.node), x, y, !may_be_nan(g_, tested));
  }

  // Whether this call runs all iterations of the kernel.
  Value* runs_all(Id trip_count) {
    std::unordered_map<Id, Value*> known;
    for (const Id id : g_.reachable(trip_count))
      if (g_.op(id) == Op::SYM) known[id] = symbol(g_.name(id));
    Value* all = emit_expression(b_, g_, trip_count, known);
    Value* from_first = b_.CreateIsNull(symbol("$begin"));
    Value* to_last = b_.CreateICmpEQ(symbol("$end"), all);
    return b_.CreateAnd(from_first, to_last);
  }

  Value* symbol(std::string_view name) {
    if (name == "$begin") return function_.getArg(2);
    if (name == "$end") return function_.getArg(3);
    if (name.starts_with(misaligned_prefix))
      return memory_->misalignment(std::stoul(std::string(name.substr(misaligned_prefix.size()))));
    const auto i = symbols_.find(name);
    if (!i) throw std::logic_error("codegen: unknown symbol " + std::string(name));
    llvm::LoadInst* load =
        b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), function_.getArg(1), *i));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b_.getContext(), {}));
    return load;
  }

  const Graph& g_;
  const SymbolIndex& symbols_;
  Scopes scopes_;
  const ZeroSigns zero_signs_;
  const ExtremumNetworks networks_;
  const ReciprocalDivisions reciprocal_divisions_;
  std::vector<Id> entry_loads_;
  llvm::Function& function_;
  LlvmBuilder b_;
  std::optional<Memory> memory_;
  Value* alone_ = nullptr;  // for ATOMICs: whether no other thread runs the kernel
  std::vector<LoopBlocks> loops_;
  std::vector<Value*> values_;                       // by node: value in the node's own scope
  std::unordered_map<std::uint64_t, Value*> local_;  // by (node, scope): value in a deeper scope; never iterated
  std::unordered_map<std::int32_t, ExtremumNetworks::Values> in_networks_;  // by scope; never iterated
  std::unordered_map<Id, std::vector<Id>> readers_;                         // by state: its LOADs
  std::vector<Task> tasks_;
};

}  // namespace

bool has_atomics(const Graph& g, Id sink) {
  return std::ranges::any_of(g.reachable(sink), [&](Id id) { return g.op(id) == Op::ATOMIC; });
}

void emit_kernel(llvm::Function& function, const Graph& g, const SymbolIndex& symbols, const Kernel& kernel,
                 const std::vector<bool>& inout, Id sink, Id trip_count) {
  KernelEmitter(function, g, symbols, kernel, inout, sink, trip_count).run();
}

}  // namespace kiln::compiler
