// The hash-consed graph. A node (UOp) is immutable and has a 32-bit id. Nodes with equal op, dtype, lanes, src, args and name
// are one node. Sources have smaller ids than their users, so ascending id is a topological order, and no walk needs recursion.
#pragma once

#include <array>
#include <cassert>
#include <concepts>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "compiler/index/id.h"
#include "compiler/ir/dtype.h"
#include "compiler/ir/op.h"

namespace kiln::compiler {

// Place in the user's source. Not part of a node's identity: a node keeps the location of its first creation.
struct SourceLoc {
  std::uint32_t file = 0;  // interned string; 0 is none
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  bool operator==(const SourceLoc&) const = default;
};

// An arg of a new node: any integer, or an enumerator such as ReduceKind::sum.
struct Arg {
  template <class T>
    requires std::integral<T> || std::is_enum_v<T>
  constexpr Arg(T v) : value(static_cast<std::int64_t>(v)) {}
  std::int64_t value;
};

struct UOp {
  Op op;
  DType dtype;
  std::uint16_t lanes;  // 1: scalar (per element)
  std::uint32_t name;   // interned string; 0 is none
  std::uint32_t src_begin, src_count;
  std::uint32_t arg_begin, arg_count;
  Id memory;           // the memory of a state (state.h); no_id for other nodes
  std::uint64_t hash;  // structural: from op name, dtype, lanes, name text, args and source hashes; no ids, no addresses
  SourceLoc loc;
};

class Remarks;

class Graph {
 public:
  Graph();
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;
  Graph(const Graph&) = delete;  // names point into strings_

  // The node with these parts; creates it if it is new. Checks no types: builder.h and verify.h do.
  Id make(Op op, DType dtype, std::span<const Id> src, std::span<const std::int64_t> args = {}, std::string_view name = {},
          int lanes = 1);
  Id make(Op op, DType dtype, std::span<const Id> src, std::initializer_list<Arg> args, std::string_view name = {},
          int lanes = 1);
  Id make(Op op, DType dtype, std::initializer_list<Id> src, std::initializer_list<Arg> args = {}, std::string_view name = {},
          int lanes = 1);

  const UOp& operator[](Id id) const { return nodes_[id]; }
  std::size_t size() const { return nodes_.size(); }
  // The span is valid until the next make(): copy it before creating nodes.
  std::span<const Id> src(Id id) const { return {src_.data() + nodes_[id].src_begin, nodes_[id].src_count}; }
  std::span<const std::int64_t> args(Id id) const { return {args_.data() + nodes_[id].arg_begin, nodes_[id].arg_count}; }
  Id src(Id id, std::size_t i) const { return src_[nodes_[id].src_begin + i]; }
  std::int64_t arg(Id id, std::size_t i) const { return args_[nodes_[id].arg_begin + i]; }
  // An arg that is a slot, an axis or a number of operands.
  std::size_t slot(Id id, std::size_t i = 0) const { return static_cast<std::size_t>(arg(id, i)); }
  Op op(Id id) const { return nodes_[id].op; }
  DType dtype(Id id) const { return nodes_[id].dtype; }
  int lanes(Id id) const { return nodes_[id].lanes; }
  std::string_view name(Id id) const { return string(nodes_[id].name); }

  // Sources and args by name. op.h lists them for each operation; scopes.h has the parts of loops, kernels and writes.
  Id operand(Id id) const {  // the only source
    assert(nodes_[id].src_count == 1);
    return src(id, 0);
  }
  template <std::size_t N>
  std::array<Id, N> operands(Id id) const {  // all N sources: const auto [a, b] = g.operands<2>(sum);
    assert(nodes_[id].src_count == N);
    std::array<Id, N> out;
    for (std::size_t i = 0; i < N; ++i) out[i] = src(id, i);
    return out;
  }
  Id end(Id range) const { return src_of(Op::RANGE, range); }
  std::int64_t range_number(Id range) const { return arg_of(Op::RANGE, range, 0); }
  RangeKind range_kind(Id range) const { return enum_of<RangeKind>(Op::RANGE, range, 1); }
  std::int64_t value(Id constant) const { return arg_of(Op::CONST, constant, 0); }  // bits, or the integer of an index constant
  ReduceKind reduce_kind(Id reduce) const { return enum_of<ReduceKind>(Op::REDUCE, reduce, 0); }
  ReduceKind scan_kind(Id scan) const { return enum_of<ReduceKind>(Op::SCAN, scan, 0); }
  ReduceOrder reduce_order(Id reduce) const { return enum_of<ReduceOrder>(Op::REDUCE, reduce, 1); }
  PadMode pad_mode(Id pad) const { return enum_of<PadMode>(Op::PAD, pad, 0); }
  MarkKind mark_kind(Id mark) const { return enum_of<MarkKind>(Op::MARK, mark, 0); }
  Id data(Id id) const {  // the tensor that a movement, GATHER, STAGE, INDEX, SCAN or single-operand REDUCE reads
    assert(is_movement(op(id)) || op(id) == Op::GATHER || op(id) == Op::STAGE || op(id) == Op::INDEX || op(id) == Op::REDUCE ||
           op(id) == Op::SCAN);
    return src(id, 0);
  }
  Id state(Id access) const {  // the memory that a LOAD, STORE, UPDATE or ATOMIC accesses: a state, a BUFFER or a PARAM
    assert(op(access) == Op::LOAD || op(access) == Op::STORE || op(access) == Op::UPDATE || op(access) == Op::ATOMIC);
    return src(access, 0);
  }
  Id scope(Id get) const { return src_of(Op::GET, get); }  // the FOR or KERNEL whose result it is
  Id range_of(Id id) const {                               // the RANGE of a FOR, CARRY or LOCAL
    assert(op(id) == Op::FOR || op(id) == Op::CARRY || op(id) == Op::LOCAL);
    return src(id, 0);
  }
  Id store(Id end) const { return src_of(Op::END, end); }
  std::int64_t stride(Id ramp) const { return arg_of(Op::RAMP, ramp, 0); }
  Id init(Id carry) const {  // the value at entry of the loop
    assert(op(carry) == Op::CARRY);
    return src(carry, 1);
  }
  AtomicKind atomic_kind(Id atomic) const { return enum_of<AtomicKind>(Op::ATOMIC, atomic, 0); }
  Id condition(Id where) const { return src_of(Op::WHERE, where); }

  // A copy of the sources from number `first` on, valid also after the next make().
  std::vector<Id> sources(Id id, std::size_t first = 0) const {
    return {src_.begin() + nodes_[id].src_begin + static_cast<std::ptrdiff_t>(first),
            src_.begin() + nodes_[id].src_begin + nodes_[id].src_count};
  }

  // The same node with other sources; dtype, args, name, lanes and location stay.
  Id with_src(Id id, std::span<const Id> src);

  // Sets the location of nodes that are created from here on. LocScope does so for one block.
  void set_loc(SourceLoc loc) { loc_ = loc; }
  SourceLoc loc() const { return loc_; }
  SourceLoc loc(Id id) const { return nodes_[id].loc; }

  // Collects the remarks of passes (remark.h); null: nobody asks for them.
  Remarks* remarks() const { return remarks_; }
  void set_remarks(Remarks* remarks) { remarks_ = remarks; }

  std::uint32_t intern(std::string_view s);
  std::string_view string(std::uint32_t i) const { return strings_[i]; }

  // Shorthands. constant(): bits in the form of CONST in op.h. index(): an index constant.
  Id constant(DType d, std::uint64_t value_bits, int lanes = 1);
  Id index(Arg v);
  Id sym(std::string_view name);
  // Declares that the value of a symbol is a multiple of `divisor`. The functions of index_poly.h use this fact, so it must be
  // declared before extents with the symbol are made. A divisor above 2^16 counts as its greatest common divisor with 2^16,
  // which keeps coefficients small.
  void set_multiple(std::string_view symbol, std::int64_t divisor);
  std::int64_t multiple_of(Id id) const;  // 1 for a symbol without the fact, and for any other node
  const std::unordered_map<std::uint32_t, std::int64_t>& multiples() const { return multiples_; }  // by interned name
  // A RANGE over 0 .. end - 1. Ranges with equal numbers and ends are one range.
  Id range(Id end, std::int64_t number, RangeKind kind) { return make(Op::RANGE, DType::index, {end}, {number, kind}); }
  bool is_const(Id id) const { return nodes_[id].op == Op::CONST; }
  bool is_index_const(Id id, std::int64_t v) const;

  // Ids of all nodes reachable from the roots, ascending (sources before users). The cost depends on their number, not on the
  // graph's size.
  std::vector<Id> reachable(std::span<const Id> roots) const;
  std::vector<Id> reachable(Id root) const { return reachable(std::span(&root, 1)); }
  // The same nodes in the order of operands: each node after its sources, first source first. Does not depend on the order in
  // which nodes were made.
  std::vector<Id> in_order(std::span<const Id> roots) const;
  std::vector<Id> in_order(Id root) const { return in_order(std::span(&root, 1)); }

 private:
  Id src_of([[maybe_unused]] Op expected, Id id) const {
    assert(op(id) == expected);
    return src(id, 0);
  }
  std::int64_t arg_of([[maybe_unused]] Op expected, Id id, std::size_t i) const {
    assert(op(id) == expected);
    return arg(id, i);
  }
  template <class Enum>
  Enum enum_of(Op expected, Id id, std::size_t i) const {
    return static_cast<Enum>(arg_of(expected, id, i));
  }
  std::uint64_t hash_of(const UOp& n, std::span<const Id> src, std::span<const std::int64_t> args) const;
  Id memory_of(Op op, std::span<const Id> src, std::span<const std::int64_t> args) const;
  void grow_table();
  std::vector<Id> reachable_by_sweep(std::span<const Id> roots) const;

  std::vector<UOp> nodes_;
  std::vector<Id> src_;
  std::vector<std::int64_t> args_;
  std::vector<std::int64_t> given_;  // the args of one make(), kept to allocate once
  std::vector<Id> table_;            // open addressing on hash, no_id is free
  static constexpr std::int64_t least_kept = -8;
  std::array<Id, 64> kept_;  // common index constants, from least_kept on
  std::deque<std::string> strings_;
  std::unordered_map<std::string_view, std::uint32_t> string_ids_;
  std::unordered_map<std::uint32_t, std::int64_t> multiples_;
  SourceLoc loc_;
  Remarks* remarks_ = nullptr;
};

// Restores the graph's location at the end of a block. With a SourceLoc: new nodes in the block get this location.
class LocScope {
 public:
  explicit LocScope(Graph& g) : g_(g), saved_(g.loc()) {}
  LocScope(Graph& g, SourceLoc loc) : LocScope(g) { g.set_loc(loc); }
  LocScope(const LocScope&) = delete;
  LocScope& operator=(const LocScope&) = delete;
  ~LocScope() { g_.set_loc(saved_); }

 private:
  Graph& g_;
  SourceLoc saved_;
};

// Copy of `root` in which `map` replaces nodes. Replacements are not searched again.
Id substitute(Graph& g, Id root, const std::unordered_map<Id, Id>& map);

}  // namespace kiln::compiler
