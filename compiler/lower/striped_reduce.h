// Builds the loops of a reduction over one range in striped order. docs/reference/numbers.md defines the order.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/index/interval.h"
#include "compiler/lower/rewrite.h"

namespace kiln::compiler {

enum class Stripes : std::uint8_t {
  vector,   // 32 positions at once: the accumulators are the lanes of one vector, and so are the values
  pairs,    // products of two i32 that fit i16, summed in any order: 64 positions at once, at the end 32
  element,  // one position at a time: its value is combined with the accumulator in lane `position % 32`
  scalars,  // 32 positions at once, with 32 scalar accumulators, so that an outer range can become lanes
  chains,  // like scalars, but one accumulator after the other: 32 loops, each over every 32nd position. For values that are in
           // a cache. One accumulator at a time leaves registers for more lanes.
};

// One reduction whose values are scalars over `range`.
struct Striped {
  Op op;        // ADD, MUL, MIN, MAX, AND, OR: combines two accumulators and, if there is one value, accumulator and value
  DType dtype;  // type of the accumulators
  Id identity;  // CONST
  std::vector<Id> values;  // of type dtype. One: the element to reduce. Two: an accumulator becomes FMA(first, second, itself)
  Id range;                // the position of the element, 0..extent-1
  Id extent;
  Stripes stripes;
  bool often_short;  // a test at run time for an extent of at most one block pays; no effect if levels is 1
  int most_apart;    // a symbolic extent up to this is written out in a branch; a power of two up to 32, or 0: no branch
  int levels;        // 1: at most 65536 elements, or the order is free; 2: at most 65536 blocks of 65536; 3: any extent
  std::int64_t least = 0, most = unbounded;  // bounds of the extent
  bool one_each = false;        // the extent is a symbol, stripes are scalars or chains, and no stripe has several elements
  std::vector<Id> stores = {};  // STOREs over the range, which the loop makes too. Only for Stripes::vector
};

Id lower_striped(Graph& g, RangeIds& loops, const Striped& r);

// The same for a small constant extent, written out without a loop.
Id lower_striped_unrolled(Graph& g, RangeIds& loops, const Striped& r);

}  // namespace kiln::compiler
