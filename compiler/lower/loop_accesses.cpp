#include "compiler/lower/loop_accesses.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_set>

#include "compiler/ir/scopes.h"
#include "compiler/ir/state.h"
#include "compiler/lower/access.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/rewrite.h"
#include "compiler/symbolic/linear.h"
#include "compiler/target/lane_limits.h"

namespace kiln::compiler {
namespace {

constexpr std::size_t most_nodes = 200;    // of a body, which is copied several times
constexpr std::size_t most_accesses = 16;  // to memory that the loop changes
constexpr std::size_t most_places = 2;     // at which vectors must end
constexpr std::int64_t most_apart = 4;     // elements between neighbouring lanes of a load

class Finder {
 public:
  Finder(Graph& g, Id loop, int vector_bytes)
      : g_(g),
        loop_(loop),
        range_(g.range_of(loop)),
        vector_bytes_(vector_bytes),
        nodes_(g.reachable(loop_parts(g, loop).yield)) {
    inside_ = depends_on_range(g, nodes_, range_);
    std::erase_if(nodes_, [&](Id id) { return !inside_.contains(id); });
  }

  // Whether all that the FOR carries is memory that it changes.
  bool is_candidate() const {
    const LoopParts l = loop_parts(g_, loop_);
    const auto is_memory_state = [&](Id id) { return g_.dtype(id) == DType::none; };
    if (l.conditional || l.step != 1 || g_.range_kind(range_) != RangeKind::loop || l.init.empty()) return false;
    if (g_.src(loop_).size() != 3 + 2 * l.init.size() || !std::ranges::all_of(l.init, is_memory_state)) return false;
    return std::ranges::none_of(
        nodes_, [&](Id id) { return g_.op(id) == Op::FOR && std::ranges::any_of(loop_parts(g_, id).yield, is_memory_state); });
  }

  LoopAccesses look() {
    out_.why = shape();
    if (!out_.why.empty()) return out_;
    lanes_ = vector_bytes_ / out_.widest;
    for (const Id store : stores_) {
      for (const Id other : stores_)
        if (other < store && out_.why.empty()) compare(store, other);
      for (const Id load : loads_)
        if (out_.why.empty()) compare(store, load);
    }
    if (out_.last.size() > most_places) out_.why = "it may store to several elements that every iteration loads";
    return out_;
  }

 private:
  // Why the loop cannot have lanes, as far as its single nodes show; empty: none of them stands against it.
  std::string shape() {
    if (nodes_.size() > most_nodes) return "its body is too long";
    out_.widest = narrowest_value;
    for (const Id id : nodes_) {
      const Op op = g_.op(id);
      if (g_.lanes(id) != 1) return "a loop inside it has vectors";
      if (op == Op::ATOMIC || op == Op::LOCAL || op == Op::ENTRY) return "an iteration has an atomic operation or an array";
      if (op == Op::FOR && (loop_parts(g_, id).conditional || !has_same_bounds(id)))
        return "a loop inside it does not have the same iterations in each lane";
      if (op == Op::STORE && index_stride(g_, index_of(g_, id), range_) != 1)
        return "neighbouring iterations do not store to neighbouring elements";
      if (op == Op::STORE) stores_.push_back(id);
      if ((op == Op::STORE || op == Op::LOAD) && g_.src(id).size() > 3 && !inside_.contains(g_.src(id, 3)))
        add(out_.gates, g_.src(id, 3));
      const DType d = op == Op::STORE ? g_.dtype(value_of(g_, id)) : g_.dtype(id);
      if (d == DType::index || d == DType::none) continue;
      out_.widest = std::max(out_.widest, bytes(d));
      if (is_elementwise(op)) ++out_.operations;
    }
    for (const Id id : nodes_) {
      if (g_.op(id) != Op::LOAD) continue;
      const auto stride = index_stride(g_, index_of(g_, id), range_);
      if (!stride || std::abs(*stride) > most_apart) return "neighbouring iterations load elements that are far apart";
      const Id loaded = memory(id);
      if (std::ranges::any_of(stores_, [&](Id s) { return memory(s) == loaded; })) loads_.push_back(id);
    }
    return loads_.size() + stores_.size() > most_accesses ? "it has many accesses to memory that it changes" : "";
  }

  bool has_same_bounds(Id inner) const {
    const LoopParts l = loop_parts(g_, inner);
    return !inside_.contains(l.begin) && !inside_.contains(l.end);
  }

  Id memory(Id access) const { return memory_of(g_, g_.state(access)); }

  // Adds what must hold so that the access may be in a vector with the store.
  void compare(Id store, Id access) {
    const Id stored_to = memory(store), accessed = memory(access);
    if (stored_to != accessed) return;
    const bool is_load = g_.op(access) == Op::LOAD;
    if (!inside_.contains(g_.state(access))) return refuse(access);
    const bool before = is_load && !std::ranges::binary_search(g_.reachable(g_.state(access)), store);
    const auto stored = symbolic::sum_of(g_, index_of(g_, store)), other = symbolic::sum_of(g_, index_of(g_, access));
    const auto stride = index_stride(g_, index_of(g_, access), range_);
    auto apart = stored && other ? symbolic::plus(g_, *other, *stored, -1) : std::nullopt;
    if (apart && stride == 0) {  // the number of the iteration that stores to the loaded element
      const Poly range{{1, {range_}}};
      apart = symbolic::plus(g_, *apart, range);
      if (!apart || !before || !is_outside(*apart)) return refuse(access);
      return add(out_.last, index_from(g_, *apart));
    }
    if (!apart || stride != 1 || !is_outside(*apart)) return refuse(access);
    if (const auto distance = constant_of(*apart)) {
      const bool fits = *distance == 0 || (before && *distance > 0) || std::abs(*distance) >= lanes_;
      return fits ? void() : refuse(access);
    }
    add(out_.conditions, fits(index_from(g_, *apart), before));
  }

  bool is_outside(const Poly& p) const {
    return std::ranges::all_of(
        p, [&](const Monomial& t) { return std::ranges::none_of(t.atoms, [&](Id atom) { return inside_.contains(atom); }); });
  }

  Id fits(Id distance, bool before) {
    const auto at_most = [&](Id a, Id b) { return g_.make(Op::LE, DType::boolean, {a, b}); };
    const auto either = [&](Id a, Id b) { return g_.make(Op::OR, DType::boolean, {a, b}); };
    const Id ahead = at_most(distance, g_.index(-lanes_));
    const Id behind = at_most(g_.index(before ? 0 : lanes_), distance);
    const Id apart = either(ahead, behind);
    if (before) return apart;
    const Id same = g_.make(Op::EQ, DType::boolean, {distance, g_.index(0)});
    return either(same, apart);
  }

  static void add(std::vector<Id>& to, Id id) {
    if (std::ranges::find(to, id) == to.end()) to.push_back(id);
  }

  void refuse(Id access) {
    out_.why = g_.op(access) == Op::LOAD ? "an iteration may load an element that an earlier one stores"
                                         : "two iterations may store to the same element";
  }

  Graph& g_;
  Id loop_, range_;
  int vector_bytes_, lanes_ = 1;
  std::vector<Id> nodes_;
  std::unordered_set<Id> inside_;
  std::vector<Id> stores_, loads_;
  LoopAccesses out_;
};

}  // namespace

std::optional<LoopAccesses> loop_accesses(Graph& g, Id loop, int vector_bytes) {
  Finder finder(g, loop, vector_bytes);
  if (!finder.is_candidate()) return std::nullopt;
  return finder.look();
}

}  // namespace kiln::compiler
