// ShortRowForm: decides for short_rows whether a kernel gets a version for short rows. It rewrites nothing.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "compiler/ir/nth.h"
#include "compiler/ir/schedule.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {

inline constexpr std::int64_t rows_of_tile = 64;      // one tile has several registers of lanes
inline constexpr std::int64_t longest_row = 64;       // elements of a short row
inline constexpr std::int64_t longest_loop = 32;      // iterations of a loop along a row: one for each stripe of a sum
inline constexpr std::int64_t elements_of_block = 4;  // of a row, in one square of a transposed copy; a copied row has as many

// How many elements a short row, or a loop along it, has.
struct Limits {
  std::int64_t least, most;
};

// An element of the kernel's own row: the access is at row * size + rest, and rest is from 0 to size - 1.
struct RowAccess {
  int buffer;
  Id size, rest;
};

class ShortRowForm {
 public:
  ShortRowForm(Graph& g, const Schedule& s, const Kernel& k, const Facts& facts)
      : g_(g), s_(s), k_(k), facts_(facts), simplify_(g, facts) {}

  // Whether the kernel has the form that short_rows.h describes. Sets the members below.
  bool find();

  Id row = no_id;                              // the range of the rows
  std::unordered_map<Id, RowAccess> accesses;  // by LOAD or STORE
  std::map<Id, Limits> limits;                 // by symbolic number of elements

  // The most elements of a short row or loop.
  std::int64_t most(Id n) const;

 private:
  bool note(Id id);
  bool note_access(Id id);
  bool note_row(Id id, int buffer, Id size);
  bool holds_rows(const Buffer& b, Id size) const;
  bool limit(Id n, Limits here);
  bool never_short();
  bool is_large() const;
  bool uses_row(const Monomial& m) const { return std::ranges::binary_search(g_.reachable(m.atoms), row); }
  bool is_of_row(Id index) const;
  bool may_store_twice() const;
  bool reduces_short_rows() const;
  int buffer_of(Id access) const { return nth(k_.buffers, g_.slot(g_.state(access))); }

  Graph& g_;
  const Schedule& s_;
  const Kernel& k_;
  const Facts& facts_;
  Simplifier simplify_;
  std::set<int> loads_, stores_;  // buffers
};

}  // namespace kiln::compiler
