// The hash-consed graph. A node (UOp) is immutable and named by a 32-bit id; equal (op, dtype, lanes, src, args, name) is one
// node. Sources always have smaller ids, so ascending id is a topological order and no walk needs recursion.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/ir/dtype.h"
#include "compiler/ir/op.h"

namespace kiln::compiler {

using Id = std::uint32_t;
inline constexpr Id no_id = 0xffffffffu;

// Where the user wrote it. Not part of identity: the first creator's location is kept.
struct SourceLoc {
  std::uint32_t file = 0;  // interned string; 0 is none
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

struct UOp {
  Op op;
  DType dtype;
  std::uint16_t lanes;  // 1: scalar (per element)
  std::uint32_t name;   // interned string; 0 is none
  std::uint32_t src_begin, src_count;
  std::uint32_t arg_begin, arg_count;
  Id memory;           // of a state, see state.h; no_id of other nodes
  std::uint64_t hash;  // structural: from op, dtype, lanes, name text, args and source hashes; no ids, no addresses
  SourceLoc loc;
};

class Graph {
 public:
  Graph();
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;
  Graph(const Graph&) = delete;  // names point into strings_

  // The node with these parts; made when new. Does not check types: see builder.h (checked) and verify.h.
  Id make(Op op, DType dtype, std::span<const Id> src, std::span<const std::int64_t> args = {}, std::string_view name = {},
          int lanes = 1);
  Id make(Op op, DType dtype, std::initializer_list<Id> src, std::initializer_list<std::int64_t> args = {},
          std::string_view name = {}, int lanes = 1);

  const UOp& operator[](Id id) const { return nodes_[id]; }
  std::size_t size() const { return nodes_.size(); }
  // Valid until the next make(): copy before creating nodes.
  std::span<const Id> src(Id id) const { return {src_.data() + nodes_[id].src_begin, nodes_[id].src_count}; }
  std::span<const std::int64_t> args(Id id) const { return {args_.data() + nodes_[id].arg_begin, nodes_[id].arg_count}; }
  Id src(Id id, std::size_t i) const { return src_[nodes_[id].src_begin + i]; }
  std::int64_t arg(Id id, std::size_t i) const { return args_[nodes_[id].arg_begin + i]; }
  Op op(Id id) const { return nodes_[id].op; }
  DType dtype(Id id) const { return nodes_[id].dtype; }
  int lanes(Id id) const { return nodes_[id].lanes; }
  std::string_view name(Id id) const { return string(nodes_[id].name); }

  // Same node with other sources (dtype, args, name, lanes and location kept).
  Id with_src(Id id, std::span<const Id> src);

  // Nodes created from here on that are new get this location.
  void set_loc(SourceLoc loc) { loc_ = loc; }
  SourceLoc loc() const { return loc_; }
  SourceLoc loc(Id id) const { return nodes_[id].loc; }

  std::uint32_t intern(std::string_view s);
  std::string_view string(std::uint32_t i) const { return strings_[i]; }

  // Shorthands. constant(): bits as CONST documents. index(): an index constant.
  Id constant(DType d, std::uint64_t value_bits, int lanes = 1);
  Id index(std::int64_t v);
  Id sym(std::string_view name);
  bool is_const(Id id) const { return nodes_[id].op == Op::CONST; }
  bool is_index_const(Id id, std::int64_t v) const;

  // Ascending ids of everything reachable from the roots (sources before users). The cost follows what is found; no recursion.
  std::vector<Id> reachable(std::span<const Id> roots) const;
  // The same nodes, each after its sources and those in their order: the same whatever the order in which nodes were made.
  std::vector<Id> in_order(std::span<const Id> roots) const;

 private:
  std::uint64_t hash_of(const UOp& n, std::span<const Id> src, std::span<const std::int64_t> args) const;
  Id memory_of(Op op, std::span<const Id> src, std::span<const std::int64_t> args) const;
  void grow_table();
  std::vector<Id> reachable_by_sweep(std::span<const Id> roots) const;

  std::vector<UOp> nodes_;
  std::vector<Id> src_;
  std::vector<std::int64_t> args_;
  std::vector<Id> table_;  // open addressing on hash, no_id is free
  static constexpr std::int64_t least_kept = -8;
  std::array<Id, 64> kept_;  // index constants from least_kept on, which are asked for all the time
  std::deque<std::string> strings_;
  std::unordered_map<std::string_view, std::uint32_t> string_ids_;
  SourceLoc loc_;
};

// Copy of `root` with every id in `map` replaced (map given as pairs; replacement is not searched again).
Id substitute(Graph& g, Id root, const std::unordered_map<Id, Id>& map);

}  // namespace kiln::compiler
