// RowClusters: decides for fuse_rows which kernels are worth fusing row by row. It rewrites nothing.
//
// A row is one iteration of the outer ranges that the kernels share. A tile is a number of neighbouring rows. A buffer that
// only the kernels of one cluster use is stored for one tile at a time. If a reader loads a halo (the second of two stencils),
// each tile computes its halo again, provided that this costs less than storing the whole buffer. The number of rows is that of
// the last kernel. An earlier kernel may have up to 16 rows more: a stencil without padding has fewer rows than its operand.
//
// A kernel that sums over the rows (row_sums.cpp) may join too. Each tile adds its rows' terms to the sums, in order.
// docs/explanation/rows.md lists the limits.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "compiler/ir/nth.h"
#include "compiler/ir/schedule.h"
#include "compiler/rangeify/staging.h"
#include "compiler/schedule/dependencies.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {

inline constexpr std::size_t most_tile_steps = 16;  // of one kernel, to limit the time to compile it
inline constexpr std::int64_t farthest_row = 16;    // of a halo

// Offsets lo .. hi of rows, relative to a row or a tile: a halo. 0 .. 0: no halo.
struct RowOffsets {
  std::int64_t lo = 0, hi = 0;
  bool none() const { return lo == 0 && hi == 0; }
};

// One kernel before fusion. `loops` are its LOOP ranges, outermost first. LOOP ranges with one iteration are left out.
struct TileStep {
  std::vector<Id> loops, extents;
  std::vector<std::array<bool, 2>> operands;  // by loop: whether the left and the right operand of a product depend on it
  std::vector<Id> loads;                      // LOAD nodes
  KernelAccess access;
  double operations = 0;  // estimate, for one element
  bool has_reduce = false, has_product = false;
  bool has_chain = false, has_stripes = false;  // long reductions without products: in order, striped
  bool copies = false;                          // it only copies, perhaps with padding
  bool joins = true;                            // it only copies, perhaps from several buffers: each element from one of them
  Id sum = no_id;          // the REDUCE over rows of a kernel that sums over the rows of its cluster; else no_id
  std::string_view alone;  // why the kernel stays alone; empty: it may join others
};

struct RowCluster {
  std::vector<std::size_t> kernels;  // ascending; empty: the cluster has joined another one
  std::size_t depth = 0;             // number of outer ranges that count the rows
  std::int64_t rows = 1;             // rows of a tile
  bool fits_cache = true;            // the local buffers of a tile
  std::vector<RowOffsets> halos;     // by kernel: the halo that it computes in each tile
  std::vector<int> local;            // buffers that no other kernel uses
  std::vector<Id> order;             // the loops of the reader that has joined last; empty: they stay in their order
};

// The row that a load reads, and the element in that row.
struct RowElement {
  Id row = no_id, element = no_id;
  RowOffsets halo;  // bounds of the row relative to the reader's own row
};

class RowClusters {
 public:
  RowClusters(Graph& g, const Schedule& s);

  std::vector<RowCluster> find();  // in a valid order of execution

  const TileStep& tile_step(std::size_t kernel) const { return tile_steps_[kernel]; }
  // The last kernel that stores to the buffer; the number of kernels if no kernel does, or if loads read the value on entry.
  std::size_t writer(int buffer) const { return nth(uses_, buffer).writer; }
  Id row_size(std::size_t kernel, std::size_t depth);
  std::optional<RowElement> locate(std::size_t from, std::size_t reader, Id load, std::size_t depth);
  int buffer_of(std::size_t kernel, Id access) const;
  Simplifier& simplify() { return simplify_; }

 private:
  struct BufferUse {
    std::size_t writer = 0;            // see writer()
    std::vector<std::size_t> readers;  // the kernels that load it
    bool is_continued = false;         // another buffer reuses its memory (Buffer::after)
  };
  struct Neighbours {
    std::vector<std::size_t> needs, feeds;  // the kernels directly before and after a kernel
  };

  TileStep make_tile_step(const Kernel& k);
  bool is_long(Id reduce);
  void find_order(const std::vector<std::vector<std::size_t>>& writers);
  bool is_row_major(std::size_t kernel, int buffer);
  std::vector<RowCluster> in_order();
  std::optional<RowCluster> together(std::size_t reader, int buffer);
  void try_join(std::size_t reader, int buffer);
  std::optional<TileStep> summing_step(std::size_t kernel, std::size_t depth);
  bool may_sum(const RowCluster& c, std::size_t kernel);
  std::int64_t rows_with_sums(const RowCluster& c, std::int64_t rows);
  std::string_view why_no_sums(const RowCluster& c, const std::vector<std::size_t>& sums, std::int64_t rows_of_tile);
  void join_sums(std::size_t cluster);
  void join_sum(std::size_t cluster, std::size_t kernel);
  bool only_reduces(const RowCluster& c);
  bool is_reduced(const TileStep& p, Id load) const;
  void part(std::size_t cluster);
  void explain();
  Id store_of(std::size_t kernel) const;
  std::string place_of(std::size_t kernel) const;
  bool no(std::string_view why) {
    why_ = why;
    return false;
  }
  bool lies_between(const RowCluster& a, const RowCluster& b) const;
  void raise_reach(std::size_t cluster, std::size_t last);
  std::optional<RowCluster> best_shape(std::vector<std::size_t> kernels);
  std::vector<Id> rows_first(std::size_t reader, int buffer);
  void set_order(std::size_t kernel, const std::vector<Id>& loops);
  bool shape(RowCluster& c);
  bool shares_rows(const RowCluster& c);
  bool has_border(std::size_t kernel, const RowCluster& c);
  bool find_halos(RowCluster& c);
  void find_operands(Id product, TileStep& p);
  std::vector<Id> different_in_neighbours(Id value) const;
  bool needs_rows(const TileStep& p, std::size_t depth) const;
  bool only_prepares_operand(const RowCluster& c) const;
  bool is_few(Id extent) const;
  bool is_short_row(std::size_t kernel, std::size_t depth);
  bool has_lanes_of_rows(const RowCluster& c);
  bool choose_rows(RowCluster& c);
  std::optional<RowOffsets> offsets(std::size_t from, int buffer, std::size_t reader, std::size_t depth);
  std::optional<RowOffsets> compute_offsets(std::size_t from, int buffer, std::size_t reader, std::size_t depth);
  RowOffsets halo(Id row, Id own);
  double row_bytes(const RowCluster& c);

  Graph& g_;
  const Schedule& s_;
  const Facts facts_;
  Simplifier simplify_;
  StagingModel model_;
  std::vector<TileStep> tile_steps_;
  std::vector<BufferUse> uses_;         // by buffer
  std::vector<Neighbours> neighbours_;  // by kernel
  std::vector<RowCluster> clusters_;
  std::vector<std::size_t> cluster_of_;            // by kernel: its cluster
  std::vector<std::size_t> reach_;                 // by cluster: the last kernel in it or in a cluster that it waits for
  std::string_view why_;                           // why the last two clusters stay apart
  std::map<std::size_t, std::string_view> apart_;  // by kernel that sums over rows, or was parted: why it is apart
  std::map<std::tuple<std::size_t, int, std::size_t, std::size_t>, std::optional<RowOffsets>> offsets_;
};

}  // namespace kiln::compiler
