#include "compiler/lower/scan_lowering.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "compiler/ir/nth.h"
#include "compiler/ir/reduce_identity.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/verify_nodes.h"
#include "compiler/lower/access.h"
#include "compiler/lower/expand.h"
#include "compiler/lower/index_vector.h"
#include "compiler/symbolic/bounds.h"

namespace kiln::compiler {
namespace {

// The loop around a SCAN, taken apart.
struct ScanLoop {
  Id range, end, init, store, scan, value;
  ReduceKind kind;
  bool exclusive;
  DType dtype;
  int step;  // 1 or -1: neighbouring iterations store to neighbouring elements, upward or downward; 0: they do not
};

std::vector<std::int64_t> lanes_by(const auto& lane) {
  std::vector<std::int64_t> out;
  for (int i = 0; i < scan_group; ++i) out.push_back(lane(i));
  return out;
}

class ScanLoops {
 public:
  ScanLoops(Graph& g, RangeIds& loops, const ScanLoop& s, const Facts& facts)
      : g_(g), loops_(loops), s_(s), op_(operation_of(s.kind)), most_(Bounds(g, facts)(s.end).max) {
    in_vectors_ = s.step != 0 && most_ >= scan_group;
    lanes_ = in_vectors_ ? scan_group : 1;
    identity_ = g.constant(s.dtype, reduce_identity(s.kind, s.dtype), lanes_);
  }

  bool in_vectors() const { return in_vectors_; }

  // Returns the state of memory after the scan.
  Id run() {
    const bool order_matters = is_float(s_.dtype) && (s_.kind == ReduceKind::sum || s_.kind == ReduceKind::prod);
    Carried c{identity_, order_matters && most_ > scan_block ? identity_ : no_id, s_.init};
    const Id zero = g_.index(0), size = g_.index(scan_group);
    const Id whole = index_binary(g_, Op::FLOORDIV, s_.end, size);
    if (whole != zero) c = groups(c, zero, whole, no_id);
    if (g_.is_const(s_.end)) {
      const std::int64_t rest = g_.value(s_.end) % scan_group;
      return rest == 0 ? c.state : group(c, whole, s_.end, rest).state;
    }
    const Id all = index_binary(g_, Op::FLOORDIV, add_index(g_, s_.end, g_.index(scan_group - 1)), size);
    return groups(c, whole, all, s_.end).state;
  }

 private:
  // What a loop carries. In vectors, each value is in every lane.
  struct Carried {
    Id total;   // of the groups of this block so far
    Id blocks;  // of the blocks before; no_id: there is one block
    Id state;
  };

  Id combine(Id a, Id b) { return g_.make(op_, s_.dtype, {a, b}, {}, {}, g_.lanes(a)); }

  // Groups first to last - 1. end: of the elements, if the last group may be short; else no_id.
  Carried groups(const Carried& init, Id first, Id last, Id end) {
    const Id range = loops_.range(g_, last, in_vectors_ ? RangeKind::vector : RangeKind::loop);
    std::vector<Id> src{range, first, last};
    const std::vector<Id> before = list(init);
    src.insert(src.end(), before.begin(), before.end());
    std::vector<Id> now;
    for (std::size_t i = 0; i < before.size(); ++i)
      now.push_back(g_.make(Op::CARRY, g_.dtype(before[i]), {range, before[i]}, {i}, {}, g_.lanes(before[i])));
    for (const Id next : list(group(carried(now), range, end, scan_group))) src.push_back(next);
    const Id loop = g_.make(Op::FOR, DType::none, src, {before.size(), 1});
    std::vector<Id> after;
    for (std::size_t i = 0; i < before.size(); ++i)
      after.push_back(g_.make(Op::GET, g_.dtype(before[i]), {loop}, {i}, {}, g_.lanes(before[i])));
    return carried(after);
  }
  static std::vector<Id> list(const Carried& c) {
    return c.blocks == no_id ? std::vector{c.total, c.state} : std::vector{c.total, c.blocks, c.state};
  }
  static Carried carried(const std::vector<Id>& v) { return {v[0], v.size() == 3 ? v[1] : no_id, v.back()}; }

  // One group of `count` elements. end: the elements from there on do not exist; no_id: all exist.
  Carried group(Carried c, Id number, Id end, std::int64_t count) {
    const Id at = mul_index(g_, number, g_.index(scan_group));
    if (c.blocks != no_id) {
      const Id in_block = index_binary(g_, Op::FLOORMOD, number, g_.index(scan_block / scan_group));
      const Id is_first = widen_lanes(g_, g_.make(Op::EQ, DType::boolean, {in_block, g_.index(0)}), lanes_);
      const Id blocks = combine(c.blocks, c.total);
      c.blocks = g_.make(Op::WHERE, s_.dtype, {is_first, blocks, c.blocks}, {}, {}, lanes_);
      c.total = g_.make(Op::WHERE, s_.dtype, {is_first, identity_, c.total}, {}, {}, lanes_);
    }
    return in_vectors_ ? vector(c, at, end) : scalars(c, at, end, narrow<std::size_t>(count));
  }

  // The result of the elements up to one, from that of its block.
  Id after_blocks(const Carried& c, Id x) { return c.blocks == no_id ? x : combine(c.blocks, x); }

  // The lanes of a vector that has elements in the order of memory, in the order of the scan; and the other way round.
  Id in_order(Id v) {
    return s_.step == 1 ? v : shuffled({v}, lanes_by([](int i) { return scan_group - 1 - i; }));
  }
  Id shuffled(std::vector<Id> v, const std::vector<std::int64_t>& lanes) {
    return g_.make(Op::SHUFFLE, g_.dtype(v[0]), v, lanes, {}, scan_group);
  }
  Id every(Id v) { return widen_lanes(g_, v, scan_group); }

  // Which lanes of memory have elements.
  Id mask(Id at, Id end) {
    if (s_.step == 1) return lane_mask(g_, at, end, scan_group);
    const Id none = sub_index(g_, add_index(g_, at, g_.index(scan_group)), end);  // the first lanes
    return g_.make(Op::NOT, DType::boolean, {lane_mask(g_, g_.index(0), none, scan_group)}, {}, {}, scan_group);
  }

  Carried vector(const Carried& c, Id at, Id end) {
    const Id first = s_.step == 1 ? at : add_index(g_, at, g_.index(scan_group - 1));
    const Id positions = ramp(g_, first, s_.step, scan_group), active = end == no_id ? no_id : mask(at, end);
    const Copy load[] = {{{{s_.range, positions}}, active}};
    const Id values[] = {s_.value};
    Id x = in_order(every(expand(g_, loops_, values, load)[0][0]));
    for (int w = 1; w < scan_group; w *= 2) {
      const auto is_late = [&](int i) { return i / w % 2 == 1; };
      const Id last = shuffled({x}, lanes_by([&](int i) { return is_late(i) ? i / w * w - 1 : i; }));
      const Id both = combine(last, x);
      x = shuffled({x, both}, lanes_by([&](int i) { return is_late(i) ? scan_group + i : i; }));
    }
    Id y = after_blocks(c, combine(c.total, x));
    if (s_.exclusive) {
      const Id sum_before = after_blocks(c, c.total);
      y = shuffled({sum_before, y}, lanes_by([](int i) { return i == 0 ? 0 : scan_group + i - 1; }));
    }
    const Copy store[] = {{{{s_.range, positions}, {s_.scan, in_order(y)}, {state(), c.state}}, active}};
    const Id stores[] = {s_.store};
    const Id total = combine(c.total, shuffled({x}, lanes_by([](int) { return scan_group - 1; })));
    return {total, c.blocks, expand(g_, loops_, stores, store)[0][0]};
  }

  Id state() const { return g_.state(s_.store); }

  Carried scalars(Carried c, Id at, Id end, std::size_t count) {
    const Id last = end == no_id ? no_id : sub_index(g_, end, g_.index(1));
    const bool may_end = end != no_id && !(g_.is_const(end) && g_.is_const(at));
    std::vector<Id> places, x;
    std::vector<Copy> copies;
    for (std::size_t i = 0; i < count; ++i) {
      places.push_back(add_index(g_, at, g_.index(i)));
      copies.push_back({{{s_.range, may_end && i > 0 ? index_binary(g_, Op::MIN, places[i], last) : places[i]}}, no_id});
    }
    const Id values[] = {s_.value};
    for (const std::vector<Id>& v : expand(g_, loops_, values, copies)) x.push_back(v[0]);
    for (std::size_t w = 1; w < count; w *= 2)
      for (std::size_t i = w; i < count; ++i)
        if (i / w % 2 == 1) x[i] = combine(x[i / w * w - 1], x[i]);
    Id y = after_blocks(c, c.total);
    for (std::size_t i = 0; i < count; ++i) {
      const Id next = after_blocks(c, combine(c.total, x[i]));
      c.state = stored(places[i], s_.exclusive ? y : next, c.state, may_end && i > 0 ? end : no_id);
      y = next;
    }
    return {combine(c.total, x[count - 1]), c.blocks, c.state};
  }

  // end: the element is stored only if it is before `end`.
  Id stored(Id place, Id y, Id before, Id end) {
    const Copy copy[] = {{{{s_.range, place}, {s_.scan, y}, {state(), before}}, no_id}};
    const Id stores[] = {s_.store};
    const Id made = expand(g_, loops_, stores, copy)[0][0];
    if (end == no_id) return made;
    std::vector<Id> src = g_.sources(made);
    const Id exists = g_.make(Op::LT, DType::boolean, {place, end});
    if (src.size() > 3)
      src[3] = g_.make(Op::AND, DType::boolean, {src[3], exists});
    else
      src.push_back(exists);
    return g_.with_src(made, src);
  }

  Graph& g_;
  RangeIds& loops_;
  const ScanLoop& s_;
  const Op op_;
  const std::int64_t most_;
  bool in_vectors_;
  int lanes_;
  Id identity_;
};

// The SCAN over the RANGE of the loop; no_id: there is none.
Id scan_of(const Graph& g, Id loop) {
  const Id range = g.range_of(loop);
  const LoopParts l = loop_parts(g, loop);
  for (const Id id : g.reachable(l.yield))
    if (g.op(id) == Op::SCAN && g.src(id, 1) == range) return id;
  return no_id;
}

ScanLoop parts_of(const Graph& g, Id loop, Id scan) {
  const LoopParts l = loop_parts(g, loop);
  if (l.init.size() != 1 || g.op(l.yield[0]) != Op::STORE || !g.is_index_const(l.begin, 0) || l.step != 1 ||
      g.op(g.state(l.yield[0])) != Op::CARRY)
    violated(g, scan, "scan-form", "a FOR that begins at 0, has step 1 and carries one state, which it stores to");
  const std::int64_t stride = index_stride(g, index_of(g, l.yield[0]), l.range).value_or(0);
  return {l.range,
          l.end,
          l.init[0],
          l.yield[0],
          scan,
          g.src(scan, 0),
          g.scan_kind(scan),
          g.arg(scan, 1) != 0,
          g.dtype(scan),
          stride == 1 || stride == -1 ? narrow<int>(stride) : 0};
}

}  // namespace

LoweredScans scan_lowering(Graph& g, RangeIds& loops, Id sink, const Facts& facts) {
  const std::vector<Id> nodes = g.reachable(sink);
  if (std::ranges::none_of(nodes, [&](Id id) { return g.op(id) == Op::SCAN; })) return {sink, false};
  std::unordered_set<Id> lowered;  // loops before
  bool have_vectors = false;
  const Id made = rewrite(g, sink, [&](Id id, std::span<const Id> x) -> Id {
    if (g.op(id) == Op::GET && lowered.contains(g.scope(id))) return x[0];
    if (g.op(id) != Op::FOR) return no_id;
    const Id scan = scan_of(g, id);
    if (scan == no_id) return no_id;
    lowered.insert(id);
    const Id loop = g.with_src(id, x);
    const ScanLoop parts = parts_of(g, loop, scan_of(g, loop));
    ScanLoops lowering(g, loops, parts, facts);
    have_vectors = have_vectors || lowering.in_vectors();
    return lowering.run();
  });
  return {made, have_vectors};
}

}  // namespace kiln::compiler
