#include "compiler/lower/loop_blocks.h"

#include "compiler/ir/scopes.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/loop_copies.h"

namespace kiln::compiler {
namespace {

class Blocks {
 public:
  Blocks(Graph& g, RangeIds& loops, Id loop) : g_(g), loops_(loops), old_(g.range_of(loop)) {
    const LoopParts l = loop_parts(g, loop);
    yield_.assign(l.yield.begin(), l.yield.end());
  }

  Id whole(Id begin, Id end, std::span<const Id> init, int width, const std::function<BlockNodes(Id)>& of_block) {
    const Id range = loops_.range(g_, g_.end(old_), g_.range_kind(old_));
    BlockNodes nodes = of_block(range);
    std::vector<Id> values = carries_of(range, init);
    for (int k = 0; k < width; ++k) {
      auto& of_iteration = nodes[static_cast<std::size_t>(k)];
      of_iteration[old_] = add_index(g_, range, g_.index(k));
      values = with_carries(values, std::move(of_iteration));
    }
    return made(range, begin, end, init, values, width);
  }

  // A FOR of the iterations after the blocks. It starts from the results of `blocks`.
  Id rest(Id begin, Id end, Id blocks) {
    const std::vector<Id> init = results_of(g_, blocks);
    return made(old_, begin, end, init, with_carries(carries_of(old_, init), {}), 1);
  }

 private:
  std::vector<Id> carries_of(Id range, std::span<const Id> init) {
    std::vector<Id> out;
    for (std::size_t i = 0; i < init.size(); ++i)
      out.push_back(g_.make(Op::CARRY, g_.dtype(init[i]), std::vector<Id>{range, init[i]},
                            std::vector<std::int64_t>{std::ssize(out)}, {}, g_.lanes(init[i])));
    return out;
  }

  // The next values, with other CARRYs of the loop and other nodes.
  std::vector<Id> with_carries(const std::vector<Id>& carries, std::unordered_map<Id, Id> others) {
    for (const Id id : g_.reachable(yield_))
      if (g_.op(id) == Op::CARRY && g_.range_of(id) == old_) others[id] = carries[g_.slot(id)];
    const Id all = g_.make(Op::SINK, DType::none, yield_);
    return g_.sources(substitute(g_, all, others));
  }

  Id made(Id range, Id begin, Id end, std::span<const Id> init, std::span<const Id> next, std::int64_t step) {
    std::vector<Id> s{range, begin, end};
    s.insert(s.end(), init.begin(), init.end());
    s.insert(s.end(), next.begin(), next.end());
    return g_.make(Op::FOR, DType::none, s, std::vector<std::int64_t>{std::ssize(init), step});
  }

  Graph& g_;
  RangeIds& loops_;
  Id old_;
  std::vector<Id> yield_;
};

}  // namespace

bool may_run_in_blocks(const Graph& g, Id loop) {
  const LoopParts l = loop_parts(g, loop);
  const std::size_t n = l.init.size();
  return !l.conditional && l.step == 1 && n > 0 && g.src(loop).size() == 3 + 2 * n;
}

Id loop_in_blocks(Graph& g, RangeIds& loops, Id loop, int width, const std::function<BlockNodes(Id)>& of_block) {
  const LoopParts l = loop_parts(g, loop);
  const std::vector<Id> init(l.init.begin(), l.init.end());
  const Id begin = l.begin, end = l.end, block = g.index(width);
  // A loop that ends before it begins has no blocks.
  const Id zero = g.index(0), difference = sub_index(g, end, begin), length = index_binary(g, Op::MAX, difference, zero);
  const Id count = index_binary(g, Op::FLOORDIV, length, block);
  const Id last = add_index(g, begin, mul_index(g, count, block));
  if (last == begin) return loop;
  Blocks blocks(g, loops, loop);
  const Id whole = blocks.whole(begin, last, init, width, of_block);
  return last == end ? whole : blocks.rest(last, end, whole);
}

}  // namespace kiln::compiler
