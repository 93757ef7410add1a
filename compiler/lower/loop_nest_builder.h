// LoopNestBuilder: the recursion of loop_nest through the levels of a plan.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "compiler/ir/state.h"
#include "compiler/lower/expand.h"
#include "compiler/lower/interior.h"
#include "compiler/lower/loop_nest.h"
#include "compiler/lower/memory_accumulators.h"
#include "compiler/lower/range_parts.h"
#include "compiler/lower/rows_side_by_side.h"

namespace kiln::compiler {

// How one iteration of a loop runs. whole: `step` iterations of the range, all active. past_caches: the same, and the first
// store goes past the caches. masked: lanes under a mask. one: one
// iteration of the range.
enum class Iteration : std::uint8_t { whole, past_caches, masked, one };

// The loops around rows may have two versions. One version is for rows of at least `long_version` vectors, the other one for
// shorter rows.
enum class Rows : std::uint8_t { any, long_ones, short_ones };

// Iterations of a range. In a block, the loops end at the block's end, or where they end in the whole range.
struct LoopPart {
  Id begin, end;
  Id block_end = no_id;
  std::vector<Id> ends = {};  // where each loop but the last ends in the whole range
};

class LoopNestBuilder {
 public:
  LoopNestBuilder(Graph& g, RangeIds& loops, std::span<const Id> stores, std::span<const LoopPlan> plan, const Facts& facts,
                  bool outermost, Borders borders, LastVector last);

  // Emits the loop of this level. The recursion is as deep as the kernel's rank.
  std::vector<Id> emit(std::size_t level, const std::vector<Copy>& copies);

 private:
  static constexpr int long_row = 8;       // vectors from which alignment pays
  static constexpr int long_version = 16;  // the same where rows that are not aligned have loops of their own
  static constexpr int most_cuts = 4;      // further ones only between parts that share nothing

  // Loops that occur only in these stores get new RANGEs, because two loops of one kernel must not share a RANGE. Loops that
  // depend on the range of the lanes get new RANGEs later.
  void own_loops(std::vector<Id>& stores, Id lanes);

  // The parts of a level's range whose stores differ.
  std::vector<RangePart> parts_of(std::size_t level, const std::vector<Copy>& copies);

  // Rows that share loads: the blocks at the borders of a constant extent, and the blocks between them, whose stores have no
  // conditions of the borders. None if there are no such conditions.
  std::vector<RangePart> blocks_of_rows(std::size_t level);

  // A level without lanes around lanes: the iterations at the borders, and the ones between them, whose stores have no
  // conditions of the borders. None if there are no such conditions, the borders are wide or the body is long. A load under a
  // mask costs about twice as much as one without, if the data are not in the caches. Only the part inside is cut again at
  // inner levels, so the code grows with the number of levels, not with its power.
  std::vector<RangePart> interior_rows(std::size_t level);

  // Whether no value is computed in two parts, as in the pieces of a concatenation. Then a loop for each is hardly more code.
  bool share_nothing(std::span<const RangePart> parts) const;

  // Emits the loops of this level for one part after the other.
  std::vector<Id> one_by_one(std::size_t level, const std::vector<Copy>& copies, std::span<const RangePart> parts);

  bool is_chunk(std::size_t level) const { return outermost_ && level == 0; }

  // Whether the range is a part of the range whose iterations the runtime cuts into chunks.
  bool is_part_of_chunk(std::size_t level) const { return is_chunk(level) && chunk_first_ != no_id; }

  // The iteration of a part at which a chunk begins or ends.
  Id in_part(Id iteration, Id range);

  // Whether the rows inside of this level have lanes whose stores are worth aligning in long rows, and only the call knows how
  // long they are. row_versions: emits the loop of this level for long rows, and for short ones. In a call one of them has no
  // iterations. So short rows do not pay for the alignment, nor long rows for ends that are shorter than a vector.
  bool has_row_versions(std::size_t level, const std::vector<Copy>& copies) const;
  std::vector<Id> row_versions(std::size_t level, const std::vector<Copy>& copies);

  // The iterations that the loop of a level covers: one block inside a loop over blocks, one chunk at the outermost level, else
  // the whole range.
  LoopPart bounds(std::size_t level);

  // Of a kernel of the program: whether the loops over rows run around those over columns.
  bool is_row_loops() const { return in_memory_ && (g_.op(stores_[0]) != Op::STORE || !names_memory(g_, stores_[0])); }

  // The loops over blocks. If there are too few columns for loops over rows, lanes run through the rows in registers.
  // Rows of reductions that are many need loops over rows in any case.
  std::vector<Id> blocks(std::size_t level, const std::vector<Copy>& copies, Id begin, Id end);

  // 1 if a reduction has many rows, or a number that differs from iteration to iteration; else 0.
  Id has_many_rows() const;

  // A loop over blocks of the range, around the loops of the later levels.
  Id block(std::size_t level, const std::vector<Copy>& copies, Id begin, Id end);

  // Whether a shorter vector behind the main loop leaves half of the registers of the copies' accumulators free, and they wait
  // for each other. The copies inside then come first in a loop with twice as many. Returns where that loop ends.
  bool leaves_registers(std::size_t level, int lanes) const;
  Id twice_as_many(std::size_t level, const std::vector<Copy>& copies, const LoopPart& all, std::vector<Id>& effects);

  // Whether the main loop leaves so few copies over that their accumulators would wait for each other. balanced_rest: the last
  // iteration of the main loop and these copies become two groups of nearly equal size. Example: 6 + 2 copies become 4 + 4.
  bool waits_in_rest(std::size_t level, Id begin, Id end) const;
  void balanced_rest(std::size_t level, const std::vector<Copy>& copies, Id begin, Id end, std::vector<Id>& effects);

  // The reductions of a block, row by row, and then the STOREs of their results.
  std::vector<Id> rows(std::size_t level, const std::vector<Copy>& copies);

  // The reductions of a block of rows, some terms after the other, and then the STOREs of their results.
  std::vector<Id> chain(std::size_t level, const std::vector<Copy>& copies);
  std::vector<Id> terms(std::size_t level, const std::vector<Copy>& copies, MemoryAccumulators& m, std::span<const Id> nest);

  // Emits the later levels with other stores, behind the effects.
  void add_inner(std::size_t level, const std::vector<Copy>& copies, std::span<const Id> stores, std::vector<Id>& effects);

  // begin + the largest multiple of `step` that fits. Rows of a load: begin if they fit the caches.
  Id end_of_whole(Id begin, Id end, int step, Id load = no_id);

  // The loops behind the main loop. Of a constant extent, one iteration takes the rest: chunks and blocks begin at multiples of
  // the step.
  std::vector<Tail> constant_rest(const LoopPlan& p) const;
  // The same, but one vector takes the whole rest if loops are inside: it walks through them once. In a block, where the ends
  // of loops are fixed before, constant_rest applies.
  std::vector<Tail> rest_outside_of_blocks(const LoopPlan& p) const;
  bool has_loops() const;  // inside of the iterations
  static std::vector<Tail> tails_of(const LoopPlan& p, std::int64_t iterations);

  // Whether the kernel may store elements twice: its effects are plain stores to memory that it does not load.
  bool may_store_twice() const;

  // Where a masked vector can begin so that all its lanes are active and it ends at `end`; no_id: nowhere.
  Id shifted(Id begin, Id end, int step) const;

  // The place of a loop among the loops over the same range. In a tile step the loop of the masked vector is the first one. A
  // load of elements that a masked vector has stored waits for the cache. The next tile step loads these elements last, so the
  // wait is over by then.
  std::vector<Id>::iterator place(std::vector<Id>& effects, Iteration iteration) const;

  // Whether a loop has one iteration, and whether its code is shorter without the loop: conditions of its lanes are constant,
  // or loops are inside.
  bool is_one_step(Id begin, Id end, int step) const;
  bool gains_from_constants() const;

  // The same if only the call knows `end`. may_shift: whether the last vector of a loop may begin earlier. shifted_or_empty:
  // emits a loop of one such vector, or of none if the range is shorter than a vector. Returns where a masked vector begins: at
  // the end if nothing is left.
  bool may_shift(std::size_t level, const LoopPart& all, Id end) const;
  // is_light: less than one vector of elements is faster element by element.
  bool is_light() const;
  Id shifted_or_empty(std::size_t level, const std::vector<Copy>& copies, const LoopPart& all, const LoopPart& rest, int step,
                      std::vector<Id>& effects);

  // Of copies: the last block begins earlier, so that it is whole, if at least half of one is left: a smaller block hardly
  // takes less time. with_last_moved: emits the main loop over `all`, in which `whole` is the end of the blocks that do not
  // move. Returns where the rest begins.
  bool may_move_last(std::size_t level) const;
  Id with_last_moved(std::size_t level, const std::vector<Copy>& copies, const LoopPart& all, Id whole, int step,
                     std::vector<Id>& effects);

  // Emits a row that is not long: vectors that overlap, down to four lanes, where its end is no multiple of them.
  bool is_short_row(std::size_t level) const;
  std::vector<Id> short_row(std::size_t level, const std::vector<Copy>& copies);

  // Emits a loop of two vectors, at the begin and at the end of the range, which may overlap. A third one begins at `between`,
  // unless that is no_id or the last one covers all that is behind it. No iterations if the range is shorter than a vector.
  // Returns 0 in this case, else 1.
  Id at_both_ends(std::size_t level, const std::vector<Copy>& copies, const LoopPart& all, int lanes, Id between,
                  std::vector<Id>& effects);

  // Emits loops one after the other. The last one takes all that is left.
  void in_parts(std::size_t level, const std::vector<Copy>& copies, const LoopPart& all, std::span<const Tail> loops,
                std::vector<Id>& effects);

  // Emits the low border, whole vectors in the interior and its rest, and the high border. In long rows whole vectors begin at
  // a multiple of their lanes, behind a masked vector, so that no store touches two cache lines if the rows are aligned.
  std::vector<Id> with_borders(std::size_t level, const std::vector<Copy>& copies, Id begin, Id end);

  // Whether the vectors at the borders keep their conditions, so that all iterations are lanes. Gates become masks, and indices
  // stay linear. In a long row, the stores of vectors should be aligned instead.
  bool borders_are_lanes(std::size_t level, Id begin, Id end) const;
  std::vector<Id> with_lanes_of_borders(std::size_t level, const std::vector<Copy>& copies);

  // The same for a row whose length only the call knows: vectors with conditions at both ends, and whole ones between them.
  bool ends_are_lanes(std::size_t level, const std::vector<Copy>& copies, Id begin, Id end) const;
  std::vector<Id> with_lanes_at_ends(std::size_t level, const std::vector<Copy>& copies);

  // Emits a masked vector, behind which the stores of whole vectors are aligned, and the whole vectors that go past the caches.
  // Returns the first iteration behind them. Large arrays of glibc's malloc begin 16 bytes behind a cache line. Without the
  // masked vector each store of 64 bytes would touch two lines.
  Id aligned(std::size_t level, const std::vector<Copy>& copies, Id begin, Id end, std::vector<Id>& effects);

  // Whether this range and the short range inside it form one contiguous range of lanes.
  bool is_flat(std::size_t level) const;

  void flat(std::size_t level, const std::vector<Copy>& copies, Id first, Id last, std::vector<Id>& effects);

  bool divides(Id extent, int step);

  // A bound of the level's range: tighter than the computed end of its loop.
  Id limit(std::size_t level) const;

  // last: no iteration begins behind it; one that would do so begins there.
  Id loop(std::size_t level, const std::vector<Copy>& copies, Id begin, Id end, int step, Iteration iteration, Id last = no_id);

  // Whether loops of a plain kernel have the same results in all iterations of the later ranges. The main loop of a later range
  // and its tails then share these results.
  bool once(std::size_t level, const std::vector<Copy>& copies) const;

  // Emits the later levels for one iteration of this loop and of the loops around it.
  std::vector<Id> emit_once(std::size_t level, Copy here, Id range);

  // Emits the later levels. `stores` take the place of stores_, and `inside` that of the interior and its borders.
  std::vector<Id> emit_others(std::size_t level, const std::vector<Copy>& copies, const std::vector<Id>& stores,
                              Interior inside);

  // Emits the later levels for STOREs of `step` iterations. Simplified, equal indices are equal nodes, and so are the loads.
  std::vector<Id> emit_rows(std::size_t level, int step, const std::vector<Copy>& copies, Id range);

  // Copies for all iterations of the range, without a loop.
  std::vector<Copy> written_out(const LoopPlan& p, const std::vector<Copy>& copies);

  std::vector<Copy> iterated(const LoopPlan& p, int step, const std::vector<Copy>& copies, Id range, Id end,
                             Iteration iteration);

  // Loads whole tiles along the copies, which are neighbouring iterations of this range and no other. Does nothing in tails,
  // which have fewer copies or a mask.
  void transpose(const LoopPlan& p, std::vector<Copy>& copies);

  std::span<const Id> stores() const { return part_ != nullptr ? std::span<const Id>(*part_) : stores_; }

  std::vector<Id> body(const std::vector<Copy>& copies);

  Graph& g_;
  RangeIds& loops_;
  std::span<const Id> stores_;
  std::span<const LoopPlan> plan_;
  const Facts& facts_;
  bool outermost_;  // whether the first range runs over a chunk
  Borders borders_;
  const LastVector last_;
  int cuts_left_ = most_cuts;                  // of a range into parts, inside of each other
  Id chunk_first_ = no_id;                     // of a part of the first range: its first iteration in the whole range
  std::optional<Interior> interior_;           // interior of the range that becomes lanes
  std::unordered_map<Id, LoopPart> block_of_;  // while the loops inside a block are built
  Rows rows_ = Rows::any;                      // which rows the loops are for
  LoopPart version_ = {};                      // unless rows_ is `any`: the iterations of the level around the rows
  bool is_narrow_ = false;                     // while the loops inside such a shorter vector are built
  bool in_memory_ = false;                     // whether carried values are in arrays, which all lanes share
  const std::vector<Id>* part_ = nullptr;      // the stores of the interior or a border, while their loops are built
};

}  // namespace kiln::compiler
