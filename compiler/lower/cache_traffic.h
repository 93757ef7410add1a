// cache_traffic: estimates how many lines of memory a kernel moves into a cache.
//
// Before: the loops of a kernel at P level, and their counts (loop_counts.h).
// After: a number of lines. All iterations of a loop together touch a box of each array. An array whose boxes stay in the cache
//   while a loop runs comes into the cache once for each turn of the loops around it that moves its boxes. A kernel whose boxes
//   all fit finds them in the cache.
// Example: c[i, j] += a[i, k] * b[k, j], where b does not fit the cache, with blocks of 6 rows  ->  b once for each block
// Compare: Wolf and Lam, A Data Locality Optimizing Algorithm, 1991.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "compiler/lower/loop_counts.h"

namespace kiln::compiler {

// A cache, or a table of pages: its lines have `line` bytes.
struct CacheLevel {
  double line = 64;
  double lines = 512;
  double sets = 64;
  bool is_last = false;  // stores past the caches leave it
};

class CacheTraffic {
 public:
  CacheTraffic(const Graph& g, const Scopes& scopes, const LoopCounts& counts);

  // Lines that come into the cache. A stored line counts twice, because it leaves the cache again. A line counts `apart` times
  // if its neighbours are not used together with it.
  double lines_into(const CacheLevel& cache, double apart) const;

 private:
  // The accesses of one array in one loop whose elements move alike from turn to turn. They differ by constant distances.
  struct Group {
    std::int32_t loop = 0;        // the loop that they are in
    std::vector<double> strides;  // bytes, by loop: from one turn to the next
    double lane_stride = 0;       // bytes
    int lanes = 1, size = 4;
    bool is_stored = false, is_past_caches = false;
    std::vector<double> offsets;  // bytes
  };
  struct Box {
    double lines = 0;     // distinct lines
    double capacity = 0;  // lines of the cache that they need; more than `lines` if they map to few sets
    double run = 0;       // bytes that stand side by side
  };

  void add(Id access);
  Box box(const Group& group, std::int32_t around, const CacheLevel& cache) const;
  double lines_around(const Group& group, std::int32_t around, const CacheLevel& cache, double apart) const;
  double moved(const Group& group, const std::vector<double>& needed, const CacheLevel& cache, double apart) const;

  const Graph& g_;
  const Scopes& scopes_;
  const LoopCounts& counts_;
  std::vector<Group> groups_;
  // By memory, loop, lanes and strides: the index of the group.
  std::map<std::tuple<Id, std::int32_t, int, double, std::vector<double>>, std::size_t> numbers_;
};

}  // namespace kiln::compiler
