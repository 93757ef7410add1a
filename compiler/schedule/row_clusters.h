// Which kernels are worth walking row by row together, for fuse_rows: the decisions, no rewriting.
//
// A row is an iteration of the outer ranges that the kernels share. A turn is a number of neighbouring rows. What one kernel of
// a cluster stores only for the others is kept for the rows of a turn alone; where a reader looks at rows beside its own (the
// second of two stencils), those are computed in each turn that needs them, when that costs less than to store the whole.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/rangeify/staging.h"
#include "compiler/schedule/dependencies.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {

struct RowOffsets {
  std::int64_t lo = 0, hi = 0;
  bool none() const { return lo == 0 && hi == 0; }
};

// One kernel before fusion.
struct RowPhase {
  std::vector<Id> loops, extents;
  std::vector<Id> loads;  // LOAD nodes
  KernelAccess access;
  double operations = 0;  // for one element, about
  bool has_reduce = false, has_product = false;
  bool may_fuse = false;
};

struct RowCluster {
  std::vector<std::size_t> kernels;  // ascending; empty: it joined another
  std::size_t depth = 0;             // how many outer ranges count the rows
  std::int64_t rows = 1;             // of a turn
  std::vector<RowOffsets> windows;   // by kernel: the rows it computes in a turn reach this far beyond those of the turn
  std::vector<int> local;            // buffers that only these kernels use
};

// The row, relative to the reader's, and the element of it that a load names.
struct RowElement {
  Id row = no_id, element = no_id;
  RowOffsets beside;
};

class RowClusters {
 public:
  RowClusters(Graph& g, const Schedule& s);

  std::vector<RowCluster> find();  // in an order in which they can run

  const RowPhase& phase(std::size_t kernel) const { return phases_[kernel]; }
  // The last kernel that stores to the buffer; the number of kernels when none does.
  std::size_t writer(int buffer) const { return writer_[static_cast<std::size_t>(buffer)]; }
  Id row_size(std::size_t kernel, std::size_t depth);
  std::optional<RowElement> locate(std::size_t from, std::size_t reader, Id load, std::size_t depth);
  int buffer_of(std::size_t kernel, Id access) const;
  Simplifier& simplify() { return simplify_; }

 private:
  RowPhase make_phase(const Kernel& k);
  void find_order(const std::vector<std::vector<std::size_t>>& writers);
  bool is_entry_value(int b) const;
  bool is_row_major(std::size_t kernel, int buffer);
  std::vector<RowCluster> in_order();
  void try_join(std::size_t reader, int buffer);
  bool lies_between(const RowCluster& a, const RowCluster& b) const;
  void raise_reach(std::size_t cluster, std::size_t last);
  std::optional<RowCluster> best_shape(std::vector<std::size_t> kernels);
  bool shape(RowCluster& c);
  bool shares_rows(const RowCluster& c);
  bool find_windows(RowCluster& c);
  bool choose_rows(RowCluster& c);
  std::optional<RowOffsets> offsets(std::size_t from, int buffer, std::size_t reader, std::size_t depth);
  std::optional<RowOffsets> compute_offsets(std::size_t from, int buffer, std::size_t reader, std::size_t depth);
  RowOffsets beside(Id row, Id own);
  double row_bytes(const RowCluster& c);

  Graph& g_;
  const Schedule& s_;
  const Facts facts_;
  Simplifier simplify_;
  StagingModel model_;
  std::vector<RowPhase> phases_;
  std::vector<std::size_t> writer_;                      // by buffer
  std::vector<std::vector<std::size_t>> readers_;        // by buffer
  std::vector<bool> goes_on_;                            // by buffer: as another one
  std::vector<std::vector<std::size_t>> needs_, feeds_;  // by kernel: which come before, which behind
  std::vector<RowCluster> clusters_;
  std::vector<std::size_t> cluster_of_;  // by kernel
  std::vector<std::size_t> reach_;       // by cluster: the last kernel in it or in any cluster that it waits for
  std::map<std::tuple<std::size_t, int, std::size_t, std::size_t>, std::optional<RowOffsets>> offsets_;
};

}  // namespace kiln::compiler
