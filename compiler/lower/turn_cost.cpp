#include "compiler/lower/turn_cost.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/ir/nth.h"
#include "compiler/ir/state.h"
#include "compiler/lower/access.h"

namespace kiln::compiler {
namespace {

// What instructions occupy.
struct Ports {
  double multiply = 0;  // operations of the units that multiply
  double vector = 0;    // all operations on vector registers
  double load = 0, store = 0;
  double divide = 0;  // cycles of the divider
  double alone = 0;   // cycles in which nothing else runs
  double other = 0;   // scalar operations on whole numbers
  double latency = 0;

  void add(const Ports& p, double times = 1) {
    multiply += times * p.multiply;
    vector += times * p.vector;
    load += times * p.load;
    store += times * p.store;
    divide += times * p.divide;
    alone += times * p.alone;
    other += times * p.other;
  }
  double instructions() const { return vector + load + store + other; }
};

constexpr double multipliers = 2, vector_units = 3, load_units = 1.5, store_units = 0.75, issue_width = 4;
constexpr double window = 160;                         // instructions that wait for their operands at the same time
constexpr double loop_instructions = 4;                // of a turn: the counter and the branch
constexpr double spill = 1;                            // loads and stores for each value beyond the registers
constexpr double masked_instructions = 2;              // without mask registers
constexpr double masked_store = 8;                     // cycles, without mask registers
constexpr double branch_of_lane = 2.5;                 // cycles, where no instruction has masks
constexpr double gathered_lane = 4;                    // instructions
constexpr double joined_lane = 0.75, parted_lane = 1;  // instructions of an access at constant distances

constexpr Ports free_of_cost = {};
constexpr Ports arithmetic = {.vector = 1, .latency = 3};
constexpr Ports logic = {.vector = 1, .latency = 1};
constexpr Ports multiplication = {.multiply = 1, .vector = 1, .latency = 4};
constexpr Ports extremum = {.vector = 7, .latency = 5};  // with NaN and the order of zeros
constexpr Ports conversion = {.vector = 2.5, .latency = 4};
constexpr Ports quotient = {.vector = 1, .divide = 4, .latency = 12};
constexpr Ports square_root = {.vector = 1, .divide = 6, .latency = 16};
constexpr Ports whole_quotient = {.vector = 12, .divide = 10, .latency = 30};
constexpr Ports whole_number = {.other = 0.3, .latency = 0};  // most become parts of addresses

Ports elementwise_ports(const Graph& g, Id id, const Target& target) {
  const DType d = g.dtype(id);
  const bool real = is_float(d);
  switch (g.op(id)) {
    case Op::FMA:
    case Op::MUL:
    case Op::DOT2: return multiplication;
    case Op::ADD:
    case Op::SUB: return real ? arithmetic : logic;
    case Op::MIN:
    case Op::MAX: return real ? extremum : logic;
    case Op::FDIV: return quotient;
    case Op::SQRT: return square_root;
    case Op::CDIV:
    case Op::CMOD:
    case Op::FLOORDIV:
    case Op::FLOORMOD: return whole_quotient;
    case Op::CAST: return conversion;
    case Op::FLOOR:
    case Op::CEIL:
    case Op::ROUND:
    case Op::TRUNC: return arithmetic;
    case Op::SCALE: return target.has_scale() ? multiplication : Ports{.multiply = 2, .vector = 5, .latency = 10};
    case Op::BITCAST: return free_of_cost;
    default: return logic;
  }
}

class TurnCosts {
 public:
  TurnCosts(const Graph& g, const Scopes& scopes, const Target& target)
      : g_(g), scopes_(scopes), target_(target), loops_(scopes.loops.size()), uses_(scopes.of.size(), 0) {
    for (const Id id : scopes.nodes) {
      nth(loops_, nth(scopes.of, id)).nodes.push_back(id);
      for (const Id s : g.src(id)) ++uses_[s];
    }
    for (std::size_t i = 1; i < loops_.size(); ++i) {
      const ForParts f = for_parts(g, scopes.loops[i].loop);
      nth(loops_, scopes.loops[i].parent).is_innermost = false;
      loops_[i].roots.assign(f.yield.begin(), f.yield.end());
      loops_[i].carried = f.yield.size();
      loops_[i].roots.insert(loops_[i].roots.end(), f.effects.begin(), f.effects.end());
    }
    loops_[0].is_innermost = false;
  }

  std::vector<TurnCost> all() const {
    std::vector<TurnCost> out;
    for (std::int32_t i = 0; i < count_of(loops_); ++i) out.push_back(of(i));
    return out;
  }

 private:
  struct Loop {
    std::vector<Id> nodes, roots;  // of the loop without the loops inside; its yields, then its effects
    std::size_t carried = 0;       // yields
    bool is_innermost = true;
  };

  TurnCost of(std::int32_t number) const {
    const Loop& loop = nth(loops_, number);
    Ports all{.other = loop_instructions};
    TurnCost out;
    std::unordered_map<Id, double> ready, after_carry;
    for (const Id id : loop.nodes) {
      const Ports p = ports_of(id);
      all.add(p);
      double path = 0, carried = g_.op(id) == Op::CARRY ? 0 : -1;
      for (const Id s : g_.src(id)) {
        if (const auto at = ready.find(s); at != ready.end()) path = std::max(path, at->second);
        if (const auto at = after_carry.find(s); at != after_carry.end()) carried = std::max(carried, at->second);
      }
      ready[id] = path + p.latency;
      out.path = std::max(out.path, path + p.latency);
      if (carried >= 0 && g_.op(id) != Op::FOR) after_carry[id] = carried + p.latency;
    }
    double chain = 0;
    for (std::size_t i = 0; i < loop.carried; ++i)
      if (const auto at = after_carry.find(loop.roots[i]); at != after_carry.end()) chain = std::max(chain, at->second);
    const double beyond = loop.is_innermost ? std::max(0.0, pressure(number) - target_.vector_registers) : 0;
    all.load += beyond * spill;
    all.store += beyond * spill;
    const double issue = std::max({all.multiply / multipliers, all.vector / vector_units, all.load / load_units,
                                   all.store / store_units, all.divide, all.instructions() / issue_width});
    out.turn = std::max({issue, chain, out.path * all.instructions() / window}) + all.alone;
    return out;
  }

  double registers(int lanes, DType d) const {
    const int size = d == DType::boolean ? 4 : bytes(d);
    return std::max(1, (lanes * size + target_.vector_bytes - 1) / target_.vector_bytes);
  }

  // A scalar that only counts or addresses.
  bool is_counter(Id id) const { return g_.lanes(id) == 1 && !is_float(g_.dtype(id)) && !scopes_.reads_memory[id]; }

  double wide(Id id) const {
    double most = registers(g_.lanes(id), g_.dtype(id));
    if (is_elementwise(g_.op(id)))
      for (const Id s : g_.src(id))
        if (g_.dtype(s) != DType::boolean) most = std::max(most, registers(g_.lanes(s), g_.dtype(s)));
    return most;
  }

  Ports scaled(Ports p, double times) const {
    Ports out{.latency = p.latency};
    out.add(p, times);
    return out;
  }

  Ports ports_of(Id id) const {
    const Op op = g_.op(id);
    if (op == Op::LOAD || op == Op::STORE) return access_ports(id);
    if (is_elementwise(op)) return is_counter(id) ? whole_number : scaled(elementwise_ports(g_, id, target_), wide(id));
    if (op == Op::SHUFFLE)
      return scaled({.vector = 1, .latency = 3}, wide(id) * std::max<double>(1, static_cast<double>(g_.src(id).size()) - 1));
    if (op == Op::LANE) return {.vector = 1, .latency = 3};
    if (op == Op::BROADCAST) {
      const bool is_loaded = g_.op(g_.operand(id)) == Op::LOAD;
      return is_loaded || is_counter(g_.operand(id)) ? free_of_cost : Ports{.vector = 1, .latency = 3};
    }
    if (op == Op::PAIRS) return scaled(logic, wide(id));
    if (op == Op::ATOMIC) return {.load = 1, .store = 1, .other = 20, .latency = 20};
    return free_of_cost;
  }

  Ports access_ports(Id id) const {
    const bool is_load = g_.op(id) == Op::LOAD;
    const DType d = is_load ? g_.dtype(id) : g_.dtype(value_of(g_, id));
    const int lanes = is_load ? g_.lanes(id) : g_.lanes(value_of(g_, id));
    const bool gated = g_.src(id).size() > 3;
    Ports p{.latency = is_load ? 6.0 : 0.0};
    double& own = is_load ? p.load : p.store;
    switch (access_of(g_, id)) {
      case Access::scalar:
      case Access::same: own = 1; break;
      case Access::contiguous: own = registers(lanes, d); break;
      case Access::strided:
      case Access::even:
        own = lanes;
        p.vector = (is_load ? joined_lane : parted_lane) * lanes;
        break;
      case Access::scattered:
        own = lanes;
        p.vector = gathered_lane * lanes;
        p.latency += 10;
        break;
    }
    if (gated) mask(p, id, lanes, d);
    return p;
  }

  // What a gate adds.
  void mask(Ports& p, Id id, int lanes, DType d) const {
    const Access how = access_of(g_, id);
    const bool is_store = g_.op(id) == Op::STORE;
    if (how == Access::scalar) {
      p.other += 2;
    } else if (bytes(d) < target_.narrowest_masked() ||
               (how == Access::scattered && is_store && !target_.has_mask_registers())) {
      p.alone += branch_of_lane * lanes;
    } else {
      p.vector += (target_.has_mask_registers() ? 1 : masked_instructions) * registers(lanes, d);
      if (is_store && !target_.has_mask_registers()) p.alone += masked_store * registers(lanes, d);
    }
  }

  // The weight of a value in the registers.
  double weight(Id id) const {
    const DType d = g_.dtype(id);
    if (d == DType::none || g_.op(id) == Op::FOR || is_counter(id) || is_memory(g_, id) || is_state(g_, id)) return 0;
    if (g_.lanes(id) > 1 && (d == DType::index || g_.op(id) == Op::RAMP)) return 0;
    if (d == DType::boolean && target_.has_mask_registers()) return 0;
    if (g_.lanes(id) == 1 && !is_float(d)) return 0;
    if (g_.op(id) == Op::LOAD && uses_[id] == 1) return 0;  // an operand in memory
    return registers(g_.lanes(id), d);
  }

  // The most registers that are in use at one time. Values of the loops around stay for the whole loop; constants are operands
  // in memory.
  double pressure(std::int32_t number) const {
    const Loop& loop = nth(loops_, number);
    std::vector<Id> order;
    std::unordered_map<Id, std::size_t> last;
    double around = 0;
    for (const Id id : g_.in_order(loop.roots))
      if (nth(scopes_.of, id) == number) order.push_back(id);
    std::unordered_map<Id, bool> seen;
    for (std::size_t i = 0; i < order.size(); ++i)
      for (const Id s : g_.src(order[i])) {
        if (nth(scopes_.of, s) == number)
          last[s] = i;
        else if (!seen[s]) {
          seen[s] = true;
          const bool is_constant = g_.is_const(s) || (g_.op(s) == Op::BROADCAST && g_.is_const(g_.operand(s)));
          if (!is_constant && g_.op(order[i]) != Op::CARRY) around += weight(s);
        }
      }
    for (std::size_t i = 0; i < loop.carried; ++i) last[loop.roots[i]] = order.size();
    std::unordered_map<std::size_t, double> ends;
    double live = 0, most = 0;
    for (std::size_t i = 0; i < order.size(); ++i)
      if (g_.op(order[i]) == Op::CARRY) live += weight(order[i]);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto at = last.find(order[i]);
      if (g_.op(order[i]) != Op::CARRY && at != last.end()) live += weight(order[i]);
      if (at != last.end()) ends[at->second] += weight(order[i]);
      most = std::max(most, live - (ends.contains(i) ? std::min(ends[i], weight(order[i])) : 0));
      if (const auto done = ends.find(i); done != ends.end()) live -= done->second;
    }
    return most + around;
  }

  const Graph& g_;
  const Scopes& scopes_;
  const Target& target_;
  std::vector<Loop> loops_;  // by loop
  std::vector<int> uses_;    // by node
};

}  // namespace

std::vector<TurnCost> turn_costs(const Graph& g, const Scopes& scopes, const Target& target) {
  return TurnCosts(g, scopes, target).all();
}

}  // namespace kiln::compiler
