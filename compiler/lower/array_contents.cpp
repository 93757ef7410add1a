#include "compiler/lower/array_contents.h"

#include <algorithm>
#include <vector>

#include "compiler/ir/nth.h"
#include "compiler/ir/state.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/integer_value.h"

namespace kiln::compiler {
namespace {

constexpr std::size_t most_vectors = 4;  // that one LOAD takes lanes from

using Lanes = std::vector<std::int64_t>;

bool is_integral(DType d) { return d == DType::index || d == DType::boolean || is_int(d); }

// Computes the constant lanes of indices and gates.
class LaneValues {
 public:
  explicit LaneValues(const Graph& g) : g_(g) {}

  // nullopt: not constant.
  const std::optional<Lanes>& operator()(Id root) {
    if (const auto it = done_.find(root); it != done_.end()) return it->second;
    std::vector<Id> todo{root};
    while (!todo.empty()) {
      const Id id = todo.back();
      const std::size_t before = todo.size();
      if (is_known(id))
        for (const Id s : g_.src(id))
          if (!done_.contains(s)) todo.push_back(s);
      if (todo.size() != before) continue;
      todo.pop_back();
      if (!done_.contains(id)) done_[id] = value(id);
    }
    return done_.at(root);
  }

 private:
  bool is_known(Id id) const {
    const Op op = g_.op(id);
    if (!is_integral(g_.dtype(id))) return false;
    return op == Op::CONST || op == Op::RAMP || op == Op::BROADCAST || op == Op::SHUFFLE || op == Op::LANE ||
           (is_elementwise(op) && op != Op::BITCAST);
  }

  std::optional<Lanes> value(Id id) {
    if (!is_known(id)) return std::nullopt;
    std::vector<const Lanes*> x;
    for (const Id s : g_.src(id)) {
      const std::optional<Lanes>& v = done_.at(s);
      if (!v) return std::nullopt;
      x.push_back(&*v);
    }
    Lanes out;
    for (std::int64_t lane = 0; lane < g_.lanes(id); ++lane) {
      const auto v = lane_value(id, x, lane);
      if (!v) return std::nullopt;
      out.push_back(*v);
    }
    return out;
  }

  std::optional<std::int64_t> lane_value(Id id, const std::vector<const Lanes*>& x, std::int64_t lane) const {
    switch (g_.op(id)) {
      case Op::BROADCAST: return (*x[0])[0];
      case Op::RAMP: return (*x[0])[0] + lane * g_.stride(id);
      case Op::LANE: return nth(*x[0], g_.arg(id, 0));
      case Op::SHUFFLE: {
        const std::int64_t from = nth(g_.args(id), lane);
        return nth(*nth(x, from / std::ssize(*x[0])), from % std::ssize(*x[0]));
      }
      default: {
        std::vector<std::int64_t> operands;
        for (const Lanes* v : x) operands.push_back(nth(*v, lane));
        const auto v = integer_value(g_, id, operands);
        return v;
      }
    }
  }

  const Graph& g_;
  std::unordered_map<Id, std::optional<Lanes>> done_;
};

// A lane of a value. value: no_id for 0.
struct Element {
  Id value = no_id;
  std::int64_t lane = 0;
  bool operator==(const Element&) const = default;
};

class Contents {
 public:
  Contents(Graph& g, const std::set<Id>& arrays) : g_(g), arrays_(arrays), lanes_(g) {}

  std::optional<Id> run(Id sink) {
    const Id made = rewrite(g_, sink, [&](Id id, std::span<const Id> x) { return failed_ ? id : node(id, x); });
    return failed_ ? std::nullopt : std::optional(made);
  }

 private:
  bool is_of_array(Id state) const { return is_state(g_, state) && arrays_.contains(memory_of(g_, state)); }

  // A node that is a state keeps its id; `states_` has its elements.
  Id node(Id id, std::span<const Id> x) {
    const Op op = g_.op(id);
    if (op == Op::LOAD && is_of_array(g_.state(id))) return load(id, x);
    if (!is_of_array(id) || op == Op::LOCAL) return no_id;
    if (op == Op::ENTRY)
      states_[id].resize(narrow<std::size_t>(elements_of(g_, memory_of(g_, id))));
    else if (op == Op::STORE)
      store(id, x);
    else
      failed_ = true;
    return id;
  }

  // The index of each lane; -1 for lanes that the gate excludes.
  std::optional<Lanes> places(Id index, Id gate, std::size_t size) {
    std::optional<Lanes> at = lanes_(index);
    if (!at) return at;
    if (gate != no_id) {
      const std::optional<Lanes>& open = lanes_(gate);
      if (!open) return std::nullopt;
      for (std::size_t i = 0; i < at->size(); ++i)
        if ((*open)[i] == 0) (*at)[i] = -1;
    }
    for (std::size_t i = 0; i < at->size(); ++i)
      if ((*at)[i] >= static_cast<std::int64_t>(size) || ((*at)[i] < 0 && (gate == no_id || (*lanes_(gate))[i] != 0)))
        return std::nullopt;
    return at;
  }

  void store(Id id, std::span<const Id> x) {
    std::vector<Element> now = states_.at(x[0]);
    const auto at = places(x[1], x.size() > 3 ? x[3] : no_id, now.size());
    if (!at) return void(failed_ = true);
    for (std::int64_t lane = 0; lane < std::ssize(*at); ++lane)
      if (nth(*at, lane) >= 0) nth(now, nth(*at, lane)) = {x[2], g_.lanes(x[2]) == 1 ? 0 : lane};
    states_[id] = std::move(now);
  }

  Id load(Id id, std::span<const Id> x) {
    const std::vector<Element>& now = states_.at(x[0]);
    const auto at = places(x[1], x.size() > 3 ? x[3] : no_id, now.size());
    if (!at) {
      failed_ = true;
      return id;
    }
    std::vector<Element> from;
    for (std::int64_t lane = 0; lane < std::ssize(*at); ++lane)
      from.push_back(nth(*at, lane) >= 0 ? nth(now, nth(*at, lane)) : Element{x[2], g_.lanes(x[2]) == 1 ? 0 : lane});
    return gathered(g_.dtype(id), from);
  }

  // A vector of these elements, or a scalar for one element.
  Id gathered(DType d, const std::vector<Element>& from) {
    const int lanes = narrow<int>(std::ssize(from));
    if (std::ranges::all_of(from, [&](const Element& e) { return e == from[0]; }))
      return widen_lanes(g_, scalar(d, from[0]), lanes);
    std::vector<Id> vectors;
    int widest = 1;
    for (const Element& e : from)
      if (e.value != no_id) widest = std::max(widest, g_.lanes(e.value));
    if (widest == 1) widest = lanes;
    std::vector<std::int64_t> order;
    for (const Element& e : from) {
      const Id v = as_wide(d, e.value, widest);
      const auto it = std::ranges::find(vectors, v);
      order.push_back((it - vectors.begin()) * widest + (e.value == no_id ? 0 : e.lane));
      if (it == vectors.end()) vectors.push_back(v);
    }
    if (vectors.size() > most_vectors) failed_ = true;
    bool same = widest == lanes;
    for (std::int64_t i = 0; i < lanes; ++i) same = same && nth(order, i) == i;
    return same ? vectors[0] : g_.make(Op::SHUFFLE, d, vectors, order, {}, lanes);
  }

  Id scalar(DType d, const Element& e) {
    if (e.value == no_id) return g_.constant(d, 0);
    if (g_.lanes(e.value) == 1) return e.value;
    if (g_.is_const(e.value)) return g_.constant(d, static_cast<std::uint64_t>(g_.value(e.value)));
    if (g_.op(e.value) == Op::BROADCAST) return g_.operand(e.value);
    return g_.make(Op::LANE, d, {e.value}, {e.lane});
  }

  // The value with this number of lanes. Lanes that it does not have are of no interest.
  Id as_wide(DType d, Id value, int lanes) {
    if (value == no_id) return g_.constant(d, 0, lanes);
    const int own = g_.lanes(value);
    if (own == 1 || own == lanes) return widen_lanes(g_, value, lanes);
    std::vector<std::int64_t> order;
    for (std::int64_t i = 0; i < lanes; ++i) order.push_back(std::min<std::int64_t>(i, own - 1));
    return g_.make(Op::SHUFFLE, d, std::vector<Id>{value}, order, {}, lanes);
  }

  Graph& g_;
  const std::set<Id>& arrays_;
  LaneValues lanes_;
  std::unordered_map<Id, std::vector<Element>> states_;
  bool failed_ = false;
};

}  // namespace

std::int64_t elements_of(const Graph& g, Id local) {
  std::int64_t n = 1;
  for (const Id extent : g.src(local).subspan(1)) n *= g.value(extent);
  return n;
}

std::optional<Id> with_contents(Graph& g, Id sink, const std::set<Id>& arrays) { return Contents(g, arrays).run(sink); }

}  // namespace kiln::compiler
