// Twins: forward mode through loops and kernels. Everything that carries a derivative gets a twin.
//
// A scope between x and y is built again, with RANGEs of its own. It carries tangents behind its values. Each write of a value
// has a write of its tangent beside it, each read a read. Bounds, gates, conditions and indices come from values, not from
// tangents. A value may have several tangents ("parts"), each perhaps with one more leading axis, of directions. The twin of a
// memory with directions is one memory with this axis, which is accessed once for each direction.
//
// The caller may put the new scope in the place of the old one, because its first slots are the old slots: Rules::rebuilt.
#pragma once

#include <functional>

#include "compiler/autodiff/activity.h"

namespace kiln::compiler::autodiff {

class Twins {
 public:
  // leads: for each part the extent of its axis of directions; no_id: it has no such axis.
  Twins(Rules& rules, Id derivative, std::vector<Id> leads);
  virtual ~Twins() = default;
  Twins(const Twins&) = delete;
  Twins& operator=(const Twins&) = delete;

  void run(Id y, std::span<const Id> xs);
  // The tangent of a node of y; no_id: it has none.
  Id part(std::size_t k, Id node) const;

 protected:
  // Adds the directions of x to the tangents that x has already.
  virtual void begin(Id x) = 0;
  // Makes all parts of a node that is no part of a scope. node and edges: over the copied nodes. in_kernel: see Activity.
  virtual void visit(Id node, const std::vector<Edge>& edges, bool in_kernel) = 0;

  Rules& rules_;
  Emit& e_;
  Graph& g_;
  Id derivative_;
  std::vector<std::unordered_map<Id, Id>> parts_;  // by node

 private:
  Id copied(Id node);
  std::vector<Edge> copied(std::vector<Edge> edges) const;
  void give_parts(Id node);
  void carry(Id node);
  void result(Id node);
  void update(Id node);
  void atomic(Id node);
  void old(Id node);
  Id scope(Id node);
  Id made_again(Id scope, std::span<const Id> more_inits, std::span<const Id> more_next);

  std::int64_t directions(std::size_t k) const;
  bool has_few_directions(std::size_t k) const;
  Extents with_lead(std::size_t k, Extents shape) const;
  Id part_or_zero(std::size_t k, Id copy);
  Id zero(std::size_t k, Id copy);
  using Write = std::function<Id(Id state, Id value, const std::vector<Id>& index)>;
  Id written(std::size_t k, Id state, Id value, std::span<const Id> index, const Write& write);
  Id chosen(Id update, Id state, Id value);
  [[noreturn]] void refuse(Id node, const std::string& why) const;

  std::vector<Id> leads_;
  const Activity* activity_ = nullptr;
  std::unordered_map<Id, Id> copies_, scopes_;   // by old node; scopes_: the new scopes
  std::unordered_set<Id> read_atomics_;          // copied ATOMICs whose OLD has a tangent
  std::unordered_map<Id, std::vector<Id>> old_;  // by copied ATOMIC: the tangents of its OLD
  std::unordered_map<Id, std::vector<Id>> locals_;
};

// The number of directions, at most 64: each read or write of an element is written out. E-grad if there are more.
std::int64_t few_directions(const Rules& rules, Id derivative, Id lead);
// Element n of the axis of directions of a tangent, and a tangent of such elements.
Id direction_of(Emit& e, Id tangent, std::int64_t n);
Id joined_directions(Emit& e, std::span<const Id> tangents);

}  // namespace kiln::compiler::autodiff
