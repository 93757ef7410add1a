// Scopes of a captured body become values: conditions are masks, loops and kernels are FOR and KERNEL nodes, a tensor that is
// written is a chain of states.
//
// before: record nodes in program order between the nodes that open and close scopes.
// after: pure nodes. Where a condition holds only for some turns, a variable becomes WHERE(mask, new, old) and a write is gated
// by the mask. A loop carries what its body assigns; with a break, or under a mask, it carries first whether it goes on (FOR
// with the while flag), so that a masked loop makes no turn. Outside of kernels, what is under a condition is a loop of one
// turn, and so is what follows a break, so that nothing is computed in vain.
#pragma once

#include <span>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/program.h"
#include "generator/record_reader.h"

namespace kiln::generator {

class ScopeImporter {
 public:
  using Id = compiler::Id;
  ScopeImporter(compiler::Graph& g, compiler::Builder& build, RecordReader& read, const record::program& in,
                compiler::Program& out)
      : g_(g), build_(build), read_(read), in_(in), out_(out) {}
  void begin();  // the parameters are known

  static bool handles(record::op o) { return o >= record::op::kernel; }
  // The value of the node at this position, no_id for those without.
  Id node(int position, std::span<const Id> src);

  // Contents of a parameter now; no_id: never assigned, as at entry.
  Id assigned(std::size_t slot) const { return params_[slot]; }
  void assign(std::size_t slot, Id value);

 private:
  // A tensor or a variable that a loop or kernel changes.
  struct Changed {
    bool is_variable;
    std::uint64_t number;
    Id before;
    bool operator==(const Changed& o) const { return is_variable == o.is_variable && number == o.number; }
  };
  struct Contents {
    std::vector<Changed> changed;
    bool breaks = false;  // the loop that opens here
    bool leaves = false;  // a turn of a loop around
    bool works = false;   // kernels, loops, values of whole tensors
  };
  struct Scope {
    record::op kind;
    Id cond, live, entered;       // outside, to go back to
    Id rest = compiler::no_id;    // when: where an otherwise holds
    bool is_turn = false;         // a loop of one turn or none
    bool is_rest = false;         // one that began at a break
    std::vector<Id> exits;        // is_turn: whether the loop around is left, whether its turn is, before
    Id broken = compiler::no_id;  // loop: left in this turn
    Id going = compiler::no_id;   // loop: carried value 0 of the while form, before the loop
    Id end = compiler::no_id;     // loop: number of turns
    Id begin = compiler::no_id, step = compiler::no_id;
    std::vector<Id> ranges;
    std::vector<Changed> changed;
  };
  struct Tensor {
    compiler::DType dtype;
    std::vector<Id> extents;
  };
  struct Place {
    std::vector<Id> index;
    Id gate = compiler::no_id;  // always
  };

  // Masks; no_id is true everywhere.
  Id both(Id a, Id b);
  Id negated(Id a);
  Id mask_or_true(Id a);
  Id active() { return both(cond_, live_); }
  Id masked(Id value, Id old);

  Id& bound(const Changed& c);
  Id value_now(const Changed& c);
  bool is_bound(const Changed& c) const;
  Contents contents(int position, int depth = 0) const;
  Id limit(const record::node& n, int which, std::span<const Id> src, std::size_t& used);
  void cap_symbols(Id extent);
  bool is_symbolic(Id extent) const;
  void carry(std::vector<Changed> changed, std::int64_t first);

  void open_kernel(int position, std::span<const Id> src);
  void close_kernel();
  void open_loop(int position, std::span<const Id> src);
  void close_loop();
  void open_when(int position, Id condition, Id where);
  void close_when(int position);
  void leave_turn(int position, Id condition, bool ends_loop);
  void open_turn(Id mask, const Contents& inside);
  void open_rest(int position);
  void close_rest();
  Scope* loop_around();
  void enter(record::op kind);
  Scope leave();
  Id position_value(const record::node& n);
  Id local(const record::node& n);

  static std::uint64_t tensor_of(const record::node& n) { return n.imm & 0xffffffffu; }
  Tensor tensor(std::uint64_t number);
  bool in_kernel() const;
  Id to_index(Id integer);
  bool never_empty(Id extent, Id integer);
  Place place(record::index_mode mode, const Tensor& t, std::span<const Id> indices);
  Id element(const record::node& n, std::span<const Id> src);
  void put(const record::node& n, std::span<const Id> src);
  Id atomic(const record::node& n, std::span<const Id> src);

  compiler::Graph& g_;
  compiler::Builder& build_;
  RecordReader& read_;
  const record::program& in_;
  compiler::Program& out_;
  std::vector<Id> params_, locals_, variables_;
  std::vector<const record::node*> local_nodes_;
  std::vector<compiler::SymbolFacts> facts_;
  std::vector<Scope> scopes_;
  Id cond_ = compiler::no_id;     // the conditions around, within the innermost loop or kernel
  Id live_ = compiler::no_id;     // not left by break or continue in this turn
  Id entered_ = compiler::no_id;  // the loops and kernels around make a turn at all
  Id rest_ = compiler::no_id;     // where the otherwise of the last when holds
  std::int64_t ids_ = 0;          // of ranges and local arrays
};

}  // namespace kiln::generator
