#include "compiler/lower/workgroup_accesses.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_set>
#include <vector>

#include "compiler/ir/scopes.h"
#include "compiler/ir/state.h"
#include "compiler/lower/integer_value.h"
#include "compiler/lower/rewrite.h"
#include "compiler/symbolic/linear.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t most_iterations = 64;     // iterations of one loop
constexpr std::size_t most_contexts = 1024;      // iterations of the loops around, together
constexpr std::int64_t most_values = 2'000'000;  // values that the test computes

using Values = std::unordered_map<Id, std::int64_t>;  // by RANGE or CARRY

struct SharedAccess {
  Op op;
  Id index, gate, memory;
  std::optional<Poly> sum;
  bool is_plain;  // depends only on the work item and on nodes outside of the loop
};

std::optional<std::int64_t> constant(const Graph& g, Id id) { return symbolic::index_constant(g, id); }

// Computes the values of nodes from the values of RANGEs and CARRYs.
class Evaluator {
 public:
  explicit Evaluator(const Graph& g) : g_(g) {}

  std::int64_t computed() const { return computed_; }
  void at(Values known) {
    known_ = std::move(known);
    values_.clear();
  }

  std::optional<std::int64_t> operator()(Id root) {
    for (const Id id : order(root)) {
      if (values_.contains(id)) continue;
      ++computed_;
      values_[id] = value(id);
    }
    return values_.at(root);
  }

 private:
  // The root and the nodes that its value depends on, ascending.
  const std::vector<Id>& order(Id root) {
    std::vector<Id>& out = orders_[root];
    if (!out.empty()) return out;
    std::unordered_set<Id> seen{root};
    out.push_back(root);
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (!has_integer_value(g_, out[i])) continue;
      for (const Id s : g_.src(out[i]))
        if (seen.insert(s).second) out.push_back(s);
    }
    std::ranges::sort(out);
    return out;
  }

  std::optional<std::int64_t> value(Id id) {
    if (const auto it = known_.find(id); it != known_.end()) return it->second;
    if (!has_integer_value(g_, id)) return std::nullopt;
    std::vector<std::int64_t> x;
    for (const Id s : g_.src(id)) {
      const auto v = values_.at(s);
      if (!v) return std::nullopt;
      x.push_back(*v);
    }
    return integer_value(g_, id, x);
  }

  const Graph& g_;
  Values known_;
  std::unordered_map<Id, std::optional<std::int64_t>> values_;
  std::unordered_map<Id, std::vector<Id>> orders_;
  std::int64_t computed_ = 0;
};

// The lanes that access an element: a bit for each lane.
struct Lanes {
  std::uint64_t loads = 0, stores = 0, atomics = 0;

  bool meet() const {
    const std::uint64_t all = loads | stores | atomics;
    if (stores != 0) return (all & (all - 1)) != 0;
    return atomics != 0 && loads != 0 && (all & (all - 1)) != 0;
  }
};

class BarrierInterval {
 public:
  BarrierInterval(Graph& g, Id sink, Id loop, int lanes, std::int64_t size, const Facts& facts)
      : g_(g), loop_(loop), range_(g.range_of(loop)), size_(size), lanes_(lanes), evaluate_(g) {
    find_inside(loop);
    find_accesses(facts);
    for (const Id id : g.reachable(sink))
      if (g.op(id) == Op::FOR) loops_[g.range_of(id)] = id;
  }

  WorkgroupAccesses look() {
    WorkgroupAccesses out;
    if (!find_loops() || !find_contexts()) return out;
    for (const Values& context : contexts_) {
      evaluate_.at(context);
      const std::int64_t end = std::min(size_, evaluate_(loop_parts(g_, loop_).end).value_or(size_));
      for (std::int64_t first = 0; first < end; first += lanes_)
        if (!look_at(context, first, end)) return out;
    }
    out.independent = true;
    for (const auto& [index, offsets] : offsets_)
      if (offsets) add_shape(out, index, *offsets);
    return out;
  }

 private:
  void add_shape(WorkgroupAccesses& out, Id index, const std::vector<std::int64_t>& offsets) const {
    const std::int64_t stride = offsets[1];
    bool regular = true;
    for (std::size_t i = 2; i < offsets.size(); ++i) regular = regular && offsets[i] - offsets[i - 1] == stride;
    if (regular && stride != 0) out.strides[index] = stride;
    const bool in_a_row = regular && (stride == 1 || stride == -1);
    if (!in_a_row && std::ssize(offsets) == lanes_) out.patterns[index] = offsets;
  }

  void find_inside(Id loop) {
    const LoopParts l = loop_parts(g_, loop);
    nodes_ = g_.reachable(l.yield);
    inside_ = depends_on_range(g_, nodes_, range_);
  }

  void find_accesses(const Facts& facts) {
    Simplifier simplify(g_, facts);
    for (const Id id : nodes_) {
      const Op op = g_.op(id);
      if (!inside_.contains(id) || (op != Op::LOAD && op != Op::STORE && op != Op::ATOMIC)) continue;
      const Id memory = memory_of(g_, g_.state(id));
      if (g_.op(memory) == Op::LOCAL && inside_.contains(memory)) continue;  // each work item has its own
      const auto src = g_.src(id);
      const Id index = op == Op::ATOMIC ? src.back() : src[1];
      const Id gate = op == Op::ATOMIC ? src[1] : src.size() > 3 ? src[3] : no_id;
      if (op != Op::LOAD) written_.insert(memory);
      accesses_.push_back({op, index, gate, memory, symbolic::sum_of(g_, simplify(index)), is_plain(index)});
    }
  }

  bool is_plain(Id index) const {
    return std::ranges::all_of(g_.reachable(index),
                               [&](Id id) { return id == range_ || !inside_.contains(id) || is_elementwise(g_.op(id)); });
  }

  // The inner loops with known bounds. The test visits each of their iterations in each work item of the workgroup.
  bool find_loops() {
    std::int64_t combinations = 1;
    for (const Id id : nodes_) {
      if (g_.op(id) != Op::FOR || !inside_.contains(id)) continue;
      const LoopParts l = loop_parts(g_, id);
      const auto begin = constant(g_, l.begin), end = constant(g_, l.end);
      if (!begin || !end) continue;  // its RANGE has no known value
      std::vector<std::int64_t> iterations;
      for (std::int64_t i = *begin; i < *end && std::ssize(iterations) <= most_iterations;) {
        iterations.push_back(i);
        if (__builtin_add_overflow(i, l.step, &i)) break;
      }
      if (iterations.empty() || std::ssize(iterations) > most_iterations) continue;
      combinations *= std::ssize(iterations);
      if (combinations > most_iterations) return false;
      inner_.emplace_back(l.range, std::move(iterations));
    }
    return true;
  }

  // The values of RANGEs and CARRYs in every iteration of the loops around, for loops that indices depend on and that have
  // known bounds.
  bool find_contexts() {
    std::vector<Id> around;
    for (const Id id : nodes_)
      if (g_.op(id) == Op::RANGE && !inside_.contains(id) && loops_.contains(id) && is_around(loops_.at(id)))
        around.push_back(loops_.at(id));
    std::ranges::sort(around, std::greater<>());  // outermost first
    contexts_ = {Values{}};
    for (const Id loop : around)
      if (is_wanted(loop) && !add_iterations(loop)) return false;
    return true;
  }

  // A loop that runs before the barrier interval is reachable through states as well. Its iterations must not count: the
  // barrier interval runs even if that loop has no iteration.
  bool is_around(Id loop) const { return std::ranges::binary_search(g_.reachable(loop_parts(g_, loop).yield), loop_); }

  bool is_wanted(Id loop) {
    std::vector<Id> roots;
    for (const SharedAccess& a : accesses_) {
      roots.push_back(a.index);
      if (a.gate != no_id) roots.push_back(a.gate);
    }
    const std::vector<Id> all = g_.reachable(roots);
    return std::ranges::binary_search(all, g_.range_of(loop));
  }

  bool add_iterations(Id loop) {
    const LoopParts l = loop_parts(g_, loop);
    const auto begin = constant(g_, l.begin), end = constant(g_, l.end);
    if (!begin || !end) return true;  // unknown bounds: its RANGE has no value
    std::vector<Values> out;
    for (const Values& outer : contexts_) {
      Values now = outer;
      evaluate_.at(outer);
      carry(loop, l.init, now);
      std::int64_t iteration = 0;
      for (std::int64_t i = *begin; i < *end; ++iteration) {
        now[l.range] = i;
        evaluate_.at(now);
        if (l.conditional && iteration_condition(loop, now) == 0) break;
        if (iteration == most_iterations || out.size() == most_contexts) return false;
        out.push_back(now);
        carry(loop, l.yield, now);
        if (__builtin_add_overflow(i, l.step, &i)) break;
      }
    }
    contexts_ = std::move(out);
    return true;
  }

  // Sets the CARRYs of the loop to these values.
  void carry(Id loop, std::span<const Id> values, Values& now) {
    std::vector<std::optional<std::int64_t>> next;
    for (const Id v : values) next.push_back(g_.dtype(v) == DType::none ? std::nullopt : evaluate_(v));
    for (const Id c : carries(loop)) {
      const auto& v = next[g_.slot(c)];
      now.erase(c);
      if (v) now[c] = *v;
    }
  }
  std::optional<std::int64_t> iteration_condition(Id loop, const Values& now) {
    for (const Id c : carries(loop))
      if (g_.slot(c) == 0 && now.contains(c)) return now.at(c);
    return std::nullopt;
  }
  const std::vector<Id>& carries(Id loop) {
    auto [it, made] = carries_.try_emplace(loop);
    if (made) {
      std::vector<Id> roots(loop_parts(g_, loop).yield.begin(), loop_parts(g_, loop).yield.end());
      for (const Id id : g_.reachable(roots))
        if (g_.op(id) == Op::CARRY && g_.range_of(id) == g_.range_of(loop)) it->second.push_back(id);
    }
    return it->second;
  }

  // Visits the work items of one vector. False: two lanes conflict, or the test cannot decide.
  bool look_at(const Values& context, std::int64_t first, std::int64_t end) {
    std::map<std::pair<Id, std::int64_t>, Lanes> touched;
    std::map<Id, std::vector<std::int64_t>> rows;  // by index: its value in each lane
    for (std::int64_t lane = 0; lane < lanes_ && first + lane < end; ++lane) {
      std::vector<std::size_t> iteration(inner_.size(), 0);
      for (bool again = true; again;) {
        if (evaluate_.computed() > most_values || !look_at_work_item(context, first + lane, lane, iteration, touched, rows))
          return false;
        again = false;
        for (std::size_t k = 0; k < iteration.size() && !again; ++k) {
          again = ++iteration[k] < inner_[k].second.size();
          if (!again) iteration[k] = 0;
        }
      }
    }
    add_offsets(rows);
    return std::ranges::none_of(touched, [](const auto& t) { return t.second.meet(); });
  }

  bool look_at_work_item(const Values& context, std::int64_t item, std::int64_t lane, const std::vector<std::size_t>& iteration,
                         std::map<std::pair<Id, std::int64_t>, Lanes>& touched, std::map<Id, std::vector<std::int64_t>>& rows) {
    Values now = context;
    now[range_] = item;
    for (std::size_t k = 0; k < iteration.size(); ++k) now[inner_[k].first] = inner_[k].second[iteration[k]];
    evaluate_.at(std::move(now));
    for (const SharedAccess& a : accesses_) {
      const bool matters = written_.contains(a.memory);
      const auto at = element(a);
      if (!at || !a.is_plain) offsets_[a.index] = std::nullopt;
      if (auto& row = rows[a.index]; at && std::ssize(row) == lane) row.push_back(*at);
      if (!matters) continue;
      if (a.gate != no_id && evaluate_(a.gate) == 0) continue;
      if (!at) return false;
      Lanes& l = touched[{a.memory, *at}];
      (a.op == Op::LOAD ? l.loads : a.op == Op::STORE ? l.stores : l.atomics) |= std::uint64_t{1} << lane;
    }
    return true;
  }

  // The index of the access, without the unknown term that all accesses to this memory share.
  std::optional<std::int64_t> element(const SharedAccess& a) {
    if (!a.sum) return std::nullopt;
    std::int64_t sum = 0;
    std::vector<std::pair<std::int64_t, std::vector<Id>>> unknown;
    for (const Monomial& t : *a.sum) {
      std::int64_t product = t.coefficient;
      bool differs = false, is_known = true;
      for (const Id atom : t.atoms) {
        differs = differs || is_inside(atom);
        const auto v = evaluate_(atom);
        is_known = is_known && v && !__builtin_mul_overflow(product, v.value_or(0), &product);
      }
      if (is_known && !__builtin_add_overflow(sum, product, &sum)) continue;
      if (is_known || differs) return std::nullopt;
      unknown.emplace_back(t.coefficient, std::vector<Id>(t.atoms.begin(), t.atoms.end()));
    }
    std::ranges::sort(unknown);
    const auto [it, made] = unknown_.try_emplace(a.memory, unknown);
    if (!made && it->second != unknown && written_.contains(a.memory)) return std::nullopt;
    return sum;
  }

  // Whether the atom depends on a node of the barrier interval. The simplifier makes new atoms, so `inside_` does not contain
  // all of them.
  bool is_inside(Id atom) {
    const auto [it, made] = atoms_.try_emplace(atom, false);
    if (made) {
      it->second = std::ranges::any_of(g_.reachable(atom), [&](Id id) { return inside_.contains(id); });
    }
    return it->second;
  }

  // Compares the lane offsets of this vector with the earlier vectors'. The last vector may have fewer lanes.
  void add_offsets(std::map<Id, std::vector<std::int64_t>>& rows) {
    for (auto& [index, row] : rows) {
      if (row.size() < 2) continue;
      for (std::size_t i = row.size(); i-- > 0;) row[i] -= row[0];
      const auto [it, made] = offsets_.try_emplace(index, row);
      if (made || !it->second) continue;
      std::vector<std::int64_t>& known = *it->second;
      const auto common = std::min(std::ssize(known), std::ssize(row));
      if (!std::equal(row.begin(), row.begin() + common, known.begin()))
        it->second = std::nullopt;
      else if (std::ssize(row) > common)
        known = row;
    }
  }

  Graph& g_;
  Id loop_, range_;
  std::int64_t size_;
  int lanes_;
  Evaluator evaluate_;
  std::vector<Id> nodes_;
  std::unordered_set<Id> inside_, written_;  // nodes of the barrier interval; memories that it writes
  std::vector<SharedAccess> accesses_;
  std::unordered_map<Id, bool> atoms_;
  std::unordered_map<Id, Id> loops_;                             // by RANGE
  std::vector<std::pair<Id, std::vector<std::int64_t>>> inner_;  // RANGE and its values
  std::vector<Values> contexts_;
  std::unordered_map<Id, std::vector<Id>> carries_;                              // by loop
  std::map<Id, std::vector<std::pair<std::int64_t, std::vector<Id>>>> unknown_;  // by memory: the terms without a known value
  // By index: the distance of each lane from the first lane; nullopt: not the same in all vectors.
  std::map<Id, std::optional<std::vector<std::int64_t>>> offsets_;
};

}  // namespace

WorkgroupAccesses workgroup_accesses(Graph& g, Id sink, Id loop, int lanes, std::int64_t size, const Facts& facts) {
  return BarrierInterval(g, sink, loop, lanes, size, facts).look();
}

}  // namespace kiln::compiler
