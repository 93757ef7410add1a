#include "compiler/lower/cache_traffic.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/ir/nth.h"
#include "compiler/ir/state.h"
#include "compiler/lower/access.h"

namespace kiln::compiler {
namespace {

constexpr double usable = 1, most_usable = 2.5;  // of a cache, until lines are lost, and until all are
constexpr double far_lane = 4096;                // bytes between lanes whose elements can be anywhere
constexpr double long_run = 3;                   // lines side by side that the hardware loads ahead
constexpr double stored_line = 1.5;              // it is loaded first, and leaves the cache later
constexpr double stored_apart = 2;               // lines without neighbours

// A piece of memory that is `count` times present at distances that no longer matter.
struct Piece {
  double begin, length, count;
};

// Joins pieces that touch the same lines or neighbouring ones.
std::vector<Piece> joined(std::vector<Piece> pieces, double gap) {
  std::ranges::sort(pieces, {}, &Piece::begin);
  std::vector<Piece> out;
  for (const Piece& p : pieces) {
    if (!out.empty() && p.begin <= out.back().begin + out.back().length + gap) {
      out.back().length = std::max(out.back().length, p.begin + p.length - out.back().begin);
      out.back().count = std::max(out.back().count, p.count);
    } else {
      out.push_back(p);
    }
  }
  return out;
}

// The pieces of `turns` iterations that are `stride` apart. Pieces whose distance is a multiple of the stride overlap in part.
std::vector<Piece> repeated(std::vector<Piece> pieces, double stride, double turns, double line) {
  std::map<double, std::vector<double>> by_rest;  // places in strides
  std::map<double, Piece> first;
  for (const Piece& p : pieces) {
    const double place = std::floor((p.begin + line / 2) / stride),
                 rest = std::max(0.0, std::round((p.begin - place * stride) / line) * line);
    by_rest[rest].push_back(place);
    first.try_emplace(rest, p);
  }
  std::vector<Piece> out;
  for (auto& [rest, places] : by_rest) {
    std::ranges::sort(places);
    double distinct = turns;
    for (std::size_t i = 1; i < places.size(); ++i) distinct += std::min(turns, places[i] - places[i - 1]);
    const Piece& p = first.at(rest);
    out.push_back({rest, p.length, p.count * distinct});
  }
  return out;
}

double gcd_of(double a, double b) {
  return static_cast<double>(std::gcd(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)));
}

}  // namespace

CacheTraffic::CacheTraffic(const Graph& g, const Scopes& scopes, const LoopCounts& counts)
    : g_(g), scopes_(scopes), counts_(counts) {
  for (const Id id : scopes.nodes)
    if (g.op(id) == Op::LOAD || g.op(id) == Op::STORE) add(id);
}

void CacheTraffic::add(Id access) {
  if (g_.op(memory_of(g_, g_.state(access))) == Op::LOCAL) return;
  const bool is_load = g_.op(access) == Op::LOAD;
  Group group;
  group.loop = nth(scopes_.of, access);
  if (counts_.of(group.loop).turns == 0) return;
  group.size = bytes(is_load ? g_.dtype(access) : g_.dtype(value_of(g_, access)));
  const Id index = index_of(g_, access);
  group.lanes = g_.lanes(index);
  const Access how = access_of(g_, access);
  group.lane_stride = how == Access::same || how == Access::scalar ? 0
                      : g_.op(index) == Op::RAMP                   ? static_cast<double>(g_.stride(index)) * group.size
                      : g_.op(index) == Op::BROADCAST              ? 0
                                                                   : far_lane;
  group.is_stored = !is_load;
  group.is_past_caches = !is_load && !g_.args(access).empty();
  group.strides.assign(scopes_.loops.size(), 0);
  for (std::int32_t l = group.loop; l > 0; l = nth(scopes_.loops, l).parent)
    nth(group.strides, l) = counts_.stride(access, l) * group.size;
  const double offset = counts_.index(access) * group.size;
  const auto [at, fresh] = numbers_.try_emplace(
      std::tuple(memory_of(g_, g_.state(access)), group.loop, group.lanes, group.lane_stride, group.strides), groups_.size());
  if (fresh) groups_.push_back(group);
  Group& same = groups_[at->second];
  same.is_stored = same.is_stored || group.is_stored;
  same.is_past_caches = same.is_past_caches || group.is_past_caches;
  same.offsets.push_back(offset);
}

// What the group touches while one entry of the loop `around` runs; around == -1: in one turn of its own loop.
CacheTraffic::Box CacheTraffic::box(const Group& group, std::int32_t around, const CacheLevel& cache) const {
  std::vector<std::pair<double, double>> dims;  // bytes, turns
  if (group.lane_stride != 0 && group.lanes > 1) dims.emplace_back(std::abs(group.lane_stride), group.lanes);
  if (around >= 0)
    for (std::int32_t l = group.loop; l > 0; l = nth(scopes_.loops, l).parent) {
      if (nth(group.strides, l) != 0 && counts_.turns_of_entry(l) > 1)
        dims.emplace_back(std::abs(nth(group.strides, l)), counts_.turns_of_entry(l));
      if (l == around) break;
    }
  std::ranges::sort(dims);
  std::vector<Piece> pieces;
  const double least = *std::ranges::min_element(group.offsets);
  for (const double o : group.offsets) pieces.push_back({o - least, static_cast<double>(group.size), 1});
  double crowded = 1;  // lines of one set
  for (const auto& [stride, turns] : dims) {
    pieces = joined(std::move(pieces), cache.line);
    if (stride <= pieces[0].length + cache.line) {
      for (Piece& p : pieces) p.length += stride * (turns - 1);
      continue;
    }
    pieces = repeated(std::move(pieces), stride, turns, cache.line);
    const double lines = stride / cache.line;
    if (lines == std::floor(lines)) crowded *= std::max(1.0, turns * gcd_of(lines, cache.sets) / cache.sets);
  }
  pieces = joined(std::move(pieces), cache.line);
  Box b;
  b.run = 0;
  for (const Piece& p : pieces) {
    b.lines += p.count *
               (p.length <= cache.line ? 1 + (p.length - group.size) / cache.line : (p.length - group.size) / cache.line + 1);
    b.run = std::max(b.run, p.length);
  }
  const double full = crowded * cache.sets / cache.lines;
  b.capacity = crowded > 1 ? std::max(b.lines, cache.lines * full * full) : b.lines;
  return b;
}

double CacheTraffic::lines_into(const CacheLevel& cache, double apart) const {
  std::vector<double> needed(scopes_.loops.size(), 0);  // by loop: lines that stay while an entry of the loop runs
  for (const Group& group : groups_)
    for (std::int32_t l = group.loop; l >= 0; l = nth(scopes_.loops, l).parent) nth(needed, l) += box(group, l, cache).capacity;
  double lines = 0;
  for (const Group& group : groups_) lines += moved(group, needed, cache, apart);
  return lines;
}

// A cache that is nearly full loses some of the lines.
static double share_that_stays(double needed, const CacheLevel& cache) {
  return std::clamp((most_usable - needed / cache.lines) / (most_usable - usable), 0.0, 1.0);
}

double CacheTraffic::moved(const Group& group, const std::vector<double>& needed, const CacheLevel& cache, double apart) const {
  if (group.is_past_caches) return cache.is_last ? lines_around(group, group.loop, cache, apart) : 0;
  std::vector<std::int32_t> loops;  // outermost first
  for (std::int32_t l = group.loop; l >= 0; l = nth(scopes_.loops, l).parent) loops.insert(loops.begin(), l);
  double rest = 1 - share_that_stays(needed[0], cache), lines = 0;
  for (std::size_t i = 1; i < loops.size() && rest > 0; ++i) {
    const double stays = i + 1 == loops.size() ? 1 : share_that_stays(nth(needed, loops[i]), cache);
    lines += rest * stays * lines_around(group, nth(scopes_.loops, loops[i]).parent, cache, apart);
    rest *= 1 - stays;
  }
  return lines * (group.is_stored ? stored_line : 1);
}

// The lines of one entry of the loop, for all entries. A loop that does not move the group's boxes needs them once.
double CacheTraffic::lines_around(const Group& group, std::int32_t around, const CacheLevel& cache, double apart) const {
  while (around > 0 && nth(group.strides, around) == 0) around = nth(scopes_.loops, around).parent;
  const bool is_apart = box(group, group.loop, cache).run < long_run * cache.line;
  return box(group, around, cache).lines * counts_.of(around).entries *
         (!is_apart         ? 1
          : group.is_stored ? std::min(apart, stored_apart)
                            : apart);
}

}  // namespace kiln::compiler
