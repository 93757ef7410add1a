// ScopeImporter: translates the scopes of a captured body into values.
//
// Before: record nodes in program order, with nodes that open and close scopes.
// After: pure nodes. Loops and kernels are FOR and KERNEL nodes. A tensor that is written is a chain of states.
//   - A condition becomes a mask: a variable becomes WHERE(mask, new, old), and a write is gated by the mask.
//     Example: when(p) { v = a; y(i) = b; }  ->  v: WHERE(p, a, v), y: UPDATE of y(i) by b with the gate p
//   - A loop carries the tensors and variables that its body assigns. If it has a break, or is under a mask, its first
//     carried value says whether it continues (FOR with the while flag). So a loop whose mask is false has no iterations.
//   - Outside of kernels, code under a condition or after a break becomes a loop of at most one iteration, so that it is not
//     computed in vain. Inside a kernel, the same is done for costly code under a condition that all work items share.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/program.h"
#include "generator/record_reader.h"
#include "generator/record_variables.h"
#include "generator/workgroup_plan.h"

namespace kiln::generator {

class ScopeImporter {
 public:
  using Id = compiler::Id;
  ScopeImporter(compiler::Graph& g, compiler::Builder& build, RecordReader& read, const record::program& in,
                compiler::Program& out)
      : g_(g), build_(build), read_(read), in_(in), out_(out) {}
  void begin();  // call it when the parameters are known

  static bool handles(record::op o) { return o >= record::op::kernel; }
  // The value of the record with this number; no_id: the record has no value.
  Id node(int position, std::span<const Id> src, bool is_used);

  // For kernels with workgroups. is_elsewhere(): whether another barrier interval computes the record's value. This interval
  // then computes it again (is_cheap()) or loads it (saved()). brought(): the result. made(): stores a saved value.
  bool is_elsewhere(int position) const;
  bool is_cheap(int position) const { return workgroup_->is_cheap(position); }
  Id saved(int position);
  Id brought(int position) const { return here_.contains(position) ? here_.at(position) : compiler::no_id; }
  void brought(int position, Id again) { here_[position] = again; }
  void made(int position, Id value);

  // The value of a parameter that is read as a whole.
  Id whole(std::size_t slot) {
    const Changed place{false, slot, compiler::no_id};
    return whole(value_now(place), place);
  }

  // Contents of a parameter now; no_id: not assigned, so its contents are those at entry.
  Id assigned(std::size_t slot) const { return params_[slot]; }
  void assign(std::size_t slot, Id value);

 private:
  // A tensor or variable that a loop or kernel changes.
  struct Changed {
    bool is_variable;
    std::uint64_t number;
    Id before;
    bool operator==(const Changed& o) const { return is_variable == o.is_variable && number == o.number; }
  };
  struct Contents {
    std::vector<Changed> changed;
    bool breaks = false;   // a break leaves the loop that opens here
    bool leaves = false;   // a break or continue leaves an iteration of a loop around
    bool works = false;    // contains kernels, loops, or values of whole tensors
    bool derives = false;  // contains derivatives
    int operations = 0;    // estimated number
  };
  struct Scope {
    record::op kind;
    Id cond, live, entered;       // masks outside of the scope, restored at its end
    Id rest = compiler::no_id;    // when: the mask of a following otherwise
    bool is_single = false;       // a loop of at most one iteration
    bool is_rest = false;         // is_single: it began at a break
    std::vector<Id> exits;        // is_single: at its begin, whether the loop around it is left, whether its iteration is
    Id broken = compiler::no_id;  // loop: whether this iteration leaves it
    Id going = compiler::no_id;   // loop in the while form: initial carried value 0
    Id end = compiler::no_id;     // loop: number of iterations
    Id begin = compiler::no_id, step = compiler::no_id;
    std::vector<Id> ranges;
    std::vector<Changed> changed;
    std::vector<Changed> held;  // kernel of once(): variables from outside, with their memory
  };
  // A tensor whose elements are accessed.
  struct Tensor {
    Changed place;
    Id computed = compiler::no_id;  // the tensor itself, if it is not in a Changed
    bool is_small = false;          // a few values of one work item, which are not in memory
    std::vector<Id> extents;
  };
  struct Place {
    std::vector<Id> index;
    Id gate = compiler::no_id;  // no_id: always
  };

  // Masks. no_id means true.
  Id both(Id a, Id b);
  Id negated(Id a);
  Id mask_or_true(Id a);
  Id active() { return both(cond_, live_); }
  Id masked(Id value, Id old);

  Id& bound(const Changed& c);
  Id whole(Id tensor, const Changed& place);
  Id value_now(const Changed& c);
  bool is_bound(const Changed& c) const;
  std::vector<Changed> changes(int position) const;
  Contents contents(int position, int depth = 0) const;
  Id limit(const record::node& n, int which, std::span<const Id> src, std::size_t& used);
  void cap_symbols(Id extent);
  bool is_symbolic(Id extent) const;
  void carry(std::vector<Changed> changed, std::int64_t first);

  void open_kernel(int position, std::span<const Id> src);
  void close_kernel();
  void hold_variables(int position);
  void give_back_variables();
  void open_loop(int position, std::span<const Id> src);
  void close_loop();
  void open_when(int position, Id condition, Id where);
  void close_when(int position);
  void leave_iteration(int position, Id condition, bool ends_loop);
  void open_single(Id mask, const Contents& inside);
  void open_rest(int position);
  void close_rest();
  Scope* loop_around();
  void enter(record::op kind);
  Scope leave();
  Id position_value(const record::node& n);
  Id local(int position);
  Id scoped(int position, std::span<const Id> src, bool is_used);

  // Kernels with workgroups (import_workgroups.cpp).
  void open_workgroups(int position);
  bool is_multiple(compiler::Id extent, std::int64_t size);
  void open_interval(int position);
  void close_interval();
  void load_variables(int begin, int end);
  std::uint64_t keep(const record::node& n);
  Id array(const record::node& n, bool for_each_work_item, Id range);
  void store_saved(std::uint64_t number, Id value);
  Id load_saved(std::uint64_t number);
  bool is_memory(const Changed& c) const { return !c.is_variable || !is_of_kernel_.at(c.number); }
  std::vector<Id> local_ids() const;
  Id global_id(std::size_t axis) const;
  bool is_inside(Id integer, Id extent) const;
  bool is_of_workgroup(int position) const;
  bool at_workgroup() const { return workgroup_.has_value() && !in_interval_; }

  static Changed place_of(const record::node& n);
  Tensor tensor(const record::node& n, std::span<const Id>& src);
  Id contents_of(const Tensor& t) { return t.computed == compiler::no_id ? value_now(t.place) : t.computed; }
  bool differs_in_kernel(Id x) const;
  bool is_shared(Id condition) const;
  static bool is_unique(const record::node& n) { return (n.imm & record::unique_write) != 0; }
  bool in_kernel() const;
  Id to_index(Id integer);
  bool never_empty(Id extent, Id integer);
  Place place(record::index_mode mode, const Tensor& t, std::span<const Id> indices);
  std::vector<Id> places(const Tensor& t, std::span<const Id> index) const;
  Id read(const Tensor& t, Id state, Id gate, std::span<const Id> index);
  Id updated(const Tensor& t, Id state, Id gate, Id value, std::span<const Id> index, bool unique = false);
  Id atomic_at(const record::node& n, const Tensor& t, Id state, Id gate, std::span<const Id> values, std::span<const Id> index,
               Id* old);
  Id element_of(Id x, std::span<const Id> position);
  Id bits_of(Id x);
  Id is_position(std::span<const Id> index, std::span<const Id> position);
  Id element_at(record::index_mode mode, const Tensor& t, std::span<const Id> indices, Id outside);
  Id element(const record::node& n, std::span<const Id> src);
  void put(const record::node& n, std::span<const Id> src);
  Id atomic(const record::node& n, std::span<const Id> src);
  void check(const record::node& n, Id holds);

  // Accesses to several elements (import_parts.cpp).
  struct Part {
    record::index_mode mode;
    Tensor tensor;
    std::vector<Id> extents, values, index;
  };
  Part part(const record::node& n, const Tensor& t, std::span<const Id> src, std::size_t values);
  Id unbroadcast(Id x);
  Id begin_of_line(Id x);
  Id at_position(Id x, std::span<const Id> position, std::size_t rank);
  std::vector<Id> indices_at(const Part& p, std::span<const Id> position);
  std::vector<std::vector<Id>> positions(std::span<const Id> extents);
  Id joined(compiler::DType d, std::span<const Id> elements, std::span<const Id> extents);
  Id gathered(const Part& p, std::span<const Id> src);
  Id elements(const record::node& n, const Tensor& t, std::span<const Id> src);
  Id written(const record::node& n, const Part& p, Id state, std::span<const Id> position, Id* old = nullptr);
  Id write_small(const record::node& n, const Part& p);
  bool is_injective(const Part& p);
  Id scatter(const record::node& n, const Part& p, bool wants_old);
  void scatter_in_order(const record::node& n, const Part& p);
  Id write_elements(const record::node& n, std::span<const Id> src, bool wants_old);

  compiler::Graph& g_;
  compiler::Builder& build_;
  RecordReader& read_;
  const record::program& in_;
  compiler::Program& out_;
  std::vector<Id> params_, locals_, variables_;
  std::vector<std::vector<Id>> local_extents_;
  std::vector<bool> is_of_kernel_;  // by variable: whether it belongs to the kernel around
  std::vector<compiler::SymbolFacts> facts_;
  std::vector<Scope> scopes_;
  Id cond_ = compiler::no_id;     // conditions around, inside the innermost loop or kernel
  Id live_ = compiler::no_id;     // false after a break or continue in this iteration
  Id entered_ = compiler::no_id;  // the loops and kernels around have an iteration
  Id rest_ = compiler::no_id;     // mask of an otherwise after the last when
  std::int64_t ids_ = 0;          // next number of a range or local array

  std::optional<WorkgroupPlan> workgroup_;  // of the kernel around, if it has workgroups
  std::vector<std::int64_t> workgroup_sizes_;
  std::vector<Id> workgroup_ranges_, workgroup_extents_;  // RANGEs over workgroups; extents of the kernel
  bool in_interval_ = false;
  int interval_ = 0, interval_begin_ = 0, interval_end_ = 0;
  std::map<int, std::uint64_t> saved_values_;  // by record: the array that keeps its value for other barrier intervals
  std::map<std::uint64_t, std::uint64_t> saved_variables_;
  std::map<int, Id> here_;  // by record of another barrier interval: its value in this barrier interval
};

}  // namespace kiln::generator
