#include "compiler/rangeify/fold_stages.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/remark.h"
#include "compiler/rangeify/stage_copy.h"
#include "compiler/rangeify/stage_reads.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t shortest_piece = 128;  // contiguous elements of pieces that are apart: 8 cache lines

// The result of folding one STAGE.
struct Fold {
  bool is_folded = false;         // readers get the value, without a STAGE
  Id value = no_id;               // the staged value, over `ranges`
  Id stage = no_id;               // the new STAGE, if it is not folded
  std::vector<Id> ranges;         // ranges of the axes that are left
  std::vector<std::size_t> axes;  // numbers of these axes in the old STAGE
};

class Folding {
 public:
  Folding(Graph& g, Program& p)
      : g_(g),
        program_(p),
        facts_(facts_of(p)),
        bounds_(g, facts_),
        reads_(g, p),
        model_(g, p),
        copies_(g, p),
        replacement_(p.sink + 1, no_id) {}

  Id run() {
    for (const Id id : g_.reachable(program_.sink)) {
      if (g_.op(id) == Op::KERNEL) keep_stages_of(id);
      if (g_.op(id) == Op::STAGE && !g_.args(id).empty()) required_.insert(id);  // the program asks for this STAGE
    }
    for (const Id id : g_.reachable(program_.sink)) {
      g_.set_loc(g_.loc(id));
      if (g_.op(id) == Op::STAGE)
        replacement_[id] = fold(id);
      else if (g_.op(id) == Op::INDEX && g_.op(g_.data(id)) == Op::STAGE)
        replacement_[id] = read(id);
      else
        replacement_[id] = g_.with_src(id, sources(id));
    }
    if (replacement_[program_.sink] == program_.sink)  // the last round: nothing changes any more
      for (const auto& [stage, text] : stored_) remark(g_, stage, remarks::stored, [&] { return text; });
    return replacement_[program_.sink];
  }

 private:
  std::vector<Id> sources(Id id) const {
    std::vector<Id> src = g_.sources(id);
    for (Id& s : src) s = replacement_[s];
    return src;
  }

  // Keeps the STAGEs that a KERNEL of the program reads or updates: a KERNEL needs storage.
  void keep_stages_of(Id kernel) {
    std::vector<Id> open = g_.sources(kernel);
    std::unordered_set<Id> seen;
    while (!open.empty()) {
      const Id id = open.back();
      open.pop_back();
      if (!seen.insert(id).second) continue;
      if (g_.op(id) == Op::STAGE)
        required_.insert(id);
      else if (g_.op(id) != Op::GET || g_.op(g_.scope(id)) != Op::KERNEL)
        open.insert(open.end(), g_.src(id).begin(), g_.src(id).end());
    }
  }

  // The index on axis k that all readers use, if it is one constant, else no_id. The index must be inside the axis: a reader
  // may use an index outside of it behind a gate, but without the axis the value is computed whether the gate holds or not.
  Id only_element(Id stage, std::size_t k) {
    Id only = no_id;
    const std::int64_t fewest = bounds_(g_.end(g_.src(stage, 1 + k))).min;
    for (const Id r : reads_.of(stage)) {
      const Id i = gated_index(g_, r).index[k];
      if (!g_.is_const(i) || (only != no_id && i != only) || g_.value(i) < 0 || g_.value(i) >= fewest) return no_id;
      only = i;
    }
    return only;
  }

  Id fold(Id stage) {
    Fold f;
    f.value = replacement_[g_.data(stage)];
    const std::vector<Id> all = g_.sources(stage, 1);
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (required_.contains(stage)) {
        f.ranges.push_back(replacement_[all[k]]);
        f.axes.push_back(k);
        continue;
      }
      const Id range = replacement_[all[k]];
      const bool has_one = g_.is_index_const(g_.end(range), 1);
      const Id element = has_one ? g_.index(0) : only_element(stage, k);
      if (!std::ranges::binary_search(ranges_in(g_, std::span(&f.value, 1)), range)) continue;
      if (element != no_id) {
        f.value = copies_.make(f.value, {{range, element}}, no_id);
        continue;
      }
      f.ranges.push_back(range);
      f.axes.push_back(k);
    }
    f.is_folded = !required_.contains(stage) && !needs_storage(stage, f);
    if (!required_.contains(stage) && !f.is_folded) put_loops_first(stage, f);
    std::vector<Id> src{f.value};
    src.insert(src.end(), f.ranges.begin(), f.ranges.end());
    const std::vector<std::int64_t> name(g_.args(stage).begin(), g_.args(stage).end());
    if (!f.is_folded) f.stage = g_.make(Op::STAGE, g_.dtype(stage), src, name);
    const Id result = f.is_folded ? f.value : f.stage;
    folds_.emplace(stage, std::move(f));
    return result;
  }

  // Puts the axes on which the readers' own loops depend before those that their reductions walk over. Then the readers of a
  // partial sum are fused with it (fuse_rows), one iteration of their loops after the other. Example: the sums of the rows of
  // images, of which a reader needs those of one channel.
  void put_loops_first(Id stage, Fold& f) {
    if (g_.op(f.value) != Op::REDUCE) return;
    std::vector<std::size_t> loops, walks;  // positions in f.axes
    for (std::size_t k = 0; k < f.axes.size(); ++k) {
      const auto is_of = [&](RangeKind kind) {
        return std::ranges::all_of(reads_.of(stage), [&](Id r) {
          const Id i = gated_index(g_, r).index[f.axes[k]];
          return g_.op(i) == Op::RANGE && g_.range_kind(i) == kind;
        });
      };
      const bool is_walked = is_of(RangeKind::reduce);
      if (!is_walked && !is_of(RangeKind::loop)) return;
      (is_walked ? walks : loops).push_back(k);
    }
    if (loops.empty() || walks.empty() || loops.back() < loops.size() || walks.back() < loops.back() ||
        has_short_pieces(f, loops.back() + 1))
      return;
    loops.insert(loops.end(), walks.begin(), walks.end());
    const Fold old = f;
    for (std::size_t k = 0; k < loops.size(); ++k) {
      f.ranges[k] = old.ranges[loops[k]];
      f.axes[k] = old.axes[loops[k]];
    }
  }

  // Whether the axes from `first` on, and the elements of the reduction, are a short piece of memory.
  bool has_short_pieces(const Fold& f, std::size_t first) const {
    std::int64_t piece = 1;
    std::vector<Id> ranges(f.ranges.begin() + static_cast<std::ptrdiff_t>(first), f.ranges.end());
    for (const Id s : g_.src(f.value))
      if (g_.op(s) == Op::RANGE) ranges.push_back(s);
    for (const Id r : ranges) {
      if (!g_.is_const(g_.end(r)) || g_.value(g_.end(r)) >= shortest_piece) return false;
      piece *= std::max<std::int64_t>(g_.value(g_.end(r)), 1);
      if (piece >= shortest_piece) return false;
    }
    return true;
  }

  // Whether an index only adds multiples of ranges.
  bool is_sum(std::span<const Id> index) const {
    return std::ranges::all_of(g_.reachable(index), [&](Id id) {
      const Op op = g_.op(id);
      return op == Op::ADD || op == Op::SUB || op == Op::MUL || op == Op::RANGE || op == Op::CONST || op == Op::SYM;
    });
  }

  bool needs_storage(Id stage, const Fold& f) {
    ValueUse use;
    ValueCost cost;
    use.index_operations = index_operations(stage);
    const bool is_copy = g_.op(f.value) == Op::INDEX;
    use.selects = is_copy && !is_sum(gated_index(g_, f.value).index);
    if (is_copy && !use.selects) return decide(stage, f, cost, use);
    cost = model_.cost_of_scalar(f.value);
    if (f.ranges.empty() && !cost.contains_reduce) return false;
    use.maps = reads_.of(stage).size();
    std::vector<Id> extents;
    for (const Id r : f.ranges) extents.push_back(g_.end(r));
    use.elements = model_.elements(extents);
    use.is_symbolic = model_.is_symbolic(extents);
    use.bytes = bytes(g_.dtype(stage));
    for (const Id r : reads_.of(stage)) {
      const std::vector<Id> ranges = ranges_in(g_, g_.src(r).subspan(1));
      const double all = model_.evaluations(cost, reads_.loops(r), ranges);
      use.in_reduction = use.in_reduction || has_reduce_range(g_, ranges);
      use.splits_columns = use.splits_columns || (!ranges.empty() && divides_index(g_, g_.src(r).last(1)));
      use.is_strided = use.is_strided || (!ranges.empty() && has_steps(g_, g_.src(r).last(1)));
      use.is_hoisted = use.is_hoisted || reads_.is_hoisted(r);
      use.hoisted += cost.contains_loop ? all : all * share_of_gate(r);  // a loop under a condition is no fast loop
    }
    return decide(stage, f, cost, use);
  }

  // The share of all iterations in which the gate of a read holds. Only clauses that compare a range, or its remainder by a
  // constant, with a value outside of the loops count. Example: a piece of a concatenation is needed in its own iterations
  // only.
  double share_of_gate(Id read) {
    std::unordered_map<Id, std::pair<double, double>> limits;  // by range or remainder: its first and its last value
    std::vector<Id> clauses{gated_index(g_, read).gate};
    while (!clauses.empty()) {
      const Id c = clauses.back();
      clauses.pop_back();
      if (c == no_id || g_.src(c).size() != 2) continue;
      const auto [a, b] = g_.operands<2>(c);
      if (g_.op(c) == Op::AND) clauses.insert(clauses.end(), {a, b});
      const bool below = values_of(a) > 0;
      const Id range = below ? a : b, limit = below ? b : a;
      const double values = values_of(range);
      if (g_.op(c) != Op::LT || values <= 0 || !ranges_in(g_, std::span(&limit, 1)).empty()) continue;
      auto& [first, last] = limits.try_emplace(range, 0, values - 1).first->second;
      if (below)
        last = std::min(last, model_.extent(limit) - 1);
      else
        first = std::max(first, model_.extent(limit) + 1);
    }
    double share = 1;
    for (const auto& [range, of] : limits) share *= std::clamp((of.second - of.first + 1) / values_of(range), 0.0, 1.0);
    return share;
  }

  // The number of values of a RANGE, or of the remainder by a constant of a RANGE plus a constant; 0 for other nodes.
  double values_of(Id id) {
    if (g_.op(id) == Op::RANGE) return std::max(1.0, model_.extent(g_.end(id)));
    if (g_.op(id) != Op::FLOORMOD) return 0;
    const auto [value, divisor] = g_.operands<2>(id);
    const bool is_shifted = g_.op(value) == Op::ADD && g_.is_const(g_.src(value, 1));
    const Id range = is_shifted ? g_.src(value, 0) : value;
    return g_.op(range) == Op::RANGE && g_.is_const(divisor) ? static_cast<double>(g_.value(divisor)) : 0;
  }

  bool decide(Id stage, const Fold& f, const ValueCost& cost, const ValueUse& use) {
    const StagingModel::Stored why = StagingModel::needs_storage(cost, use);
    const bool stays = why != StagingModel::Stored::no;
    if (stays && g_.remarks() != nullptr) stored_.emplace_back(stage, shape_text(f) + StagingModel::text_of(why, cost, use));
    if (!stays && use.maps > 1)
      remark(g_, stage, remarks::recomputed, [&] {
        return "computed again at each of " + std::to_string(use.maps) +
               " places that it is read at: " + StagingModel::text_of(why, cost, use);
      });
    return stays;
  }

  std::string shape_text(const Fold& f) const {
    std::string text;
    for (const Id r : f.ranges) text += (text.empty() ? "" : " x ") + index_text_or_id(g_, g_.end(r));
    return "a buffer of " + (text.empty() ? "one" : text) + " " + std::string(name(g_.dtype(f.value))) + ", because ";
  }

  std::size_t index_operations(Id stage) const {
    std::size_t most = 0;
    for (const Id r : reads_.of(stage)) most = std::max(most, g_.reachable(g_.src(r).subspan(1)).size());
    return most;
  }

  Id read(Id access) {
    const Fold& f = folds_.at(g_.data(access));
    GatedIndex at = gated_index(g_, access);
    for (Id& i : at.index) i = replacement_[i];
    if (at.gate != no_id) at.gate = replacement_[at.gate];
    GatedIndex left{{}, at.gate};
    std::unordered_map<Id, Id> place;
    for (std::size_t k = 0; k < f.axes.size(); ++k) {
      left.index.push_back(at.index[f.axes[k]]);
      place[f.ranges[k]] = left.index.back();
    }
    return f.is_folded ? copies_.make(f.value, place, at.gate) : access_of_tensor(g_, f.stage, left);
  }

  Graph& g_;
  Program& program_;
  Facts facts_;
  Bounds bounds_;
  StageReads reads_;
  StagingModel model_;
  ValueCopies copies_;
  std::vector<Id> replacement_;  // by node
  std::unordered_map<Id, Fold> folds_;
  std::unordered_set<Id> required_;                 // STAGEs that a KERNEL or the program asks for
  std::vector<std::pair<Id, std::string>> stored_;  // STAGEs that stay, with the text of the remark
};

}  // namespace

void fold_stages(Graph& g, Program& p) {
  const LocScope restored(g);
  p.sink = Folding(g, p).run();
}

}  // namespace kiln::compiler
