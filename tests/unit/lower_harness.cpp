#include "tests/unit/lower_harness.h"

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>

#include "compiler/ir/state.h"
#include "compiler/ir/verify.h"
#include "tests/unit/state_memory.h"

namespace kiln::compiler::testing {
namespace {

using Lanes = std::vector<Scalar>;

void check(bool ok, std::string_view what) {
  if (!ok) throw std::logic_error("P level: " + std::string(what));
}

class Run {
 public:
  Run(const Graph& g, const Symbols& symbols, std::vector<Data>& slots, const std::vector<bool>& on_entry)
      : g_(g),
        symbols_(symbols),
        slots_(slots),
        on_entry_(on_entry),
        states_(slots),
        range_(g.size()),
        version_(g.size()),
        free_(g.size()),
        memo_(g.size()) {}

  void effect(Id id) {
    if (g_.op(id) == Op::FOR)
      loop(id);
    else if (g_.op(id) == Op::STORE && names_memory(g_, id))
      store(id);
    else
      value(id);  // a state
  }

  // Runs ENDs with equal ranges: all ENDs of each iteration, in row-major order.
  void ends(std::span<const Id> all) {
    const auto ranges = g_.src(all[0]).subspan(1);
    std::vector<std::int64_t> extents;
    std::int64_t trips = 1;
    for (const Id r : ranges) trips *= extents.emplace_back(value(g_.src(r, 0))[0].i);
    for (std::int64_t t = 0; t < trips; ++t) {
      std::int64_t rest = t;
      for (std::size_t i = ranges.size(); i-- > 0; rest /= extents[i]) set_range(ranges[i], rest % extents[i]);
      for (const Id e : all) effect(g_.src(e, 0));
    }
  }

 private:
  void set_range(Id range, std::int64_t v) {
    range_[range] = v;
    version_[range] = ++clock_;
  }

  std::size_t n(Id loop) const { return static_cast<std::size_t>(g_.arg(loop, 0)); }

  const std::vector<Id>& free_ranges(Id id) {
    if (free_[id]) return *free_[id];
    std::set<Id> out;
    if (g_.op(id) == Op::RANGE) {
      out.insert(id);
    } else {
      for (const Id s : g_.src(id)) out.insert(free_ranges(s).begin(), free_ranges(s).end());
      if (g_.op(id) == Op::FOR) out.erase(g_.src(id, 0));
    }
    return free_[id].emplace(out.begin(), out.end());
  }

  std::vector<Lanes> loop(Id id) {
    const std::size_t carries = n(id);
    const Id range = g_.src(id, 0);
    const std::int64_t begin = value(g_.src(id, 1))[0].i, end = value(g_.src(id, 2))[0].i;
    std::vector<Lanes> state;
    for (std::size_t i = 0; i < carries; ++i) state.push_back(value(g_.src(id, 3 + i)));
    const bool tests = g_.args(id).size() > 2 && g_.arg(id, 2) == 1;
    const auto active = [&] { return !tests || std::ranges::any_of(state[0], [](const Scalar& s) { return s.i != 0; }); };
    for (std::int64_t k = begin; k < end && active(); k += g_.arg(id, 1)) {
      set_range(range, k);
      carried_[range] = state;
      std::vector<Lanes> next;
      for (std::size_t i = 0; i < carries; ++i) next.push_back(value(g_.src(id, 3 + carries + i)));
      const std::span<const Id> effects = g_.src(id).subspan(3 + 2 * carries);
      for (const Id load : loads_on_entry(id, effects)) value(load);
      for (const Id e : effects) effect(e);
      for (std::size_t i = 0; i < carries; ++i) check(next[i].size() == state[i].size(), "carried lanes");
      state = std::move(next);
    }
    return state;
  }

  // The LOADs of values on entry that an iteration makes before its STOREs.
  const std::vector<Id>& loads_on_entry(Id loop, std::span<const Id> effects) {
    const auto [at, is_new] = early_.try_emplace(loop);
    if (!is_new) return at->second;
    std::vector<Id> stores;
    for (const Id e : effects)
      if (g_.op(e) == Op::STORE && names_memory(g_, e)) stores.push_back(e);
    const auto is_stored = [&](Id load) {
      return std::ranges::any_of(stores,
                                 [&](Id s) { return g_.src(s, 0) == g_.src(load, 0) && g_.src(s, 1) == g_.src(load, 1); });
    };
    for (const Id id : g_.reachable(stores))
      if (g_.op(id) == Op::LOAD && names_memory(g_, id) && g_.op(g_.src(id, 0)) == Op::BUFFER && !on_entry_.empty() &&
          on_entry_.at(g_.slot(g_.src(id, 0))) && is_stored(id))
        at->second.push_back(id);
    return at->second;
  }

  // The reference is valid until a range of the value is set again.
  const Lanes& value(Id id) {
    std::uint64_t newest = 0;
    for (const Id r : free_ranges(id)) {
      check(version_[r] > 0, "value outside its loop");
      newest = std::max(newest, version_[r]);
    }
    if (memo_[id].first > newest) return memo_[id].second;
    Lanes v = compute(id);
    if (static_cast<int>(v.size()) != g_.lanes(id)) check(false, "lanes of " + std::string(name(g_.op(id))));
    memo_[id] = {++clock_, std::move(v)};
    return memo_[id].second;
  }

  const std::vector<Lanes>& results(Id id) {
    std::uint64_t newest = 0;
    for (Id r : free_ranges(id)) newest = std::max(newest, version_[r]);
    if (const auto it = loops_.find(id); it != loops_.end() && it->second.first > newest) return it->second.second;
    auto made = loop(id);
    loops_[id] = {++clock_, std::move(made)};
    return loops_[id].second;
  }

  Lanes compute(Id id) {
    const auto lanes = static_cast<std::size_t>(g_.lanes(id));
    switch (g_.op(id)) {
      case Op::RANGE: return {{0, range_[id]}};
      case Op::CARRY: return carried_.at(g_.src(id, 0)).at(static_cast<std::size_t>(g_.arg(id, 0)));
      case Op::GET: return results(g_.src(id, 0)).at(static_cast<std::size_t>(g_.arg(id, 0)));
      case Op::SYM: return {{0, symbols_.at(std::string(g_.name(id)))}};
      case Op::CONST: return Lanes(lanes, constant(id));
      case Op::BROADCAST: return Lanes(lanes, value(g_.src(id, 0)).at(0));
      case Op::LANE: return {value(g_.src(id, 0)).at(static_cast<std::size_t>(g_.arg(id, 0)))};
      case Op::RAMP: {
        Lanes out(lanes, value(g_.src(id, 0)).at(0));
        for (std::size_t i = 0; i < lanes; ++i) out[i].i += g_.arg(id, 0) * static_cast<std::int64_t>(i);
        return out;
      }
      case Op::SHUFFLE: {
        Lanes v, out;
        for (const Id s : g_.src(id)) {
          const Lanes& part = value(s);
          v.insert(v.end(), part.begin(), part.end());
        }
        for (std::int64_t l : g_.args(id)) out.push_back(v.at(static_cast<std::size_t>(l)));
        return out;
      }
      case Op::PAIRS: {
        const Lanes v = value(g_.src(id, 0));
        Lanes out;
        for (std::size_t i = 0; i < lanes; ++i)
          out.push_back({0, static_cast<std::int32_t>(static_cast<std::uint32_t>(v.at(2 * i).i & 0xffff) |
                                                      static_cast<std::uint32_t>(v.at(2 * i + 1).i) << 16)});
        return out;
      }
      case Op::SCAN: return {scan(id)};
      case Op::LOAD: return load(id);
      case Op::ENTRY: return {entry(g_.src(id, 0))};
      case Op::STORE: return {state_after_store(id)};
      case Op::ATOMIC: return {state_after_atomic(id)};
      case Op::OLD: value(g_.src(id, 0)); return old_.at(g_.src(id, 0));
      default: break;
    }
    check(is_elementwise(g_.op(id)), "operation of another level");
    const Lanes* x[3] = {};
    std::size_t operands = 0;
    for (const Id s : g_.src(id)) x[operands++] = &value(s);
    Lanes out(lanes);
    Scalar at[3] = {};
    for (std::size_t l = 0; l < lanes; ++l) {
      for (std::size_t i = 0; i < operands; ++i) at[i] = x[i]->at(l);
      out[l] = apply(g_.op(id), g_.dtype(id), g_.dtype(g_.src(id, g_.op(id) == Op::WHERE ? 1 : 0)), std::span(at, operands));
    }
    return out;
  }

  Scalar scan(Id id) {  // each iteration evaluates it once
    const auto make = [&] { return RunningScan(g_.scan_kind(id), g_.dtype(id), g_.arg(id, 1) != 0); };
    auto it = scans_.try_emplace(id, make()).first;
    if (range_[g_.src(id, 1)] == 0) it->second = make();
    return it->second.next(value(g_.src(id, 0))[0]);
  }

  Scalar constant(Id id) const { return scalar_of(g_.dtype(id), static_cast<std::uint64_t>(g_.arg(id, 0))); }

  Data& memory(Id id) {
    if (g_.op(id) == Op::BUFFER) return slots_.at(g_.slot(id));
    std::size_t elements = 1;
    for (const Id e : g_.src(id).subspan(1)) elements *= static_cast<std::size_t>(value(e)[0].i);
    Data& array = arrays_[id];
    array.resize(elements, Scalar{-7e77, -77});  // no value of a test
    return array;
  }

  Scalar& element(Id access, std::int64_t at) {
    Data& d = memory(g_.state(access));
    check(at >= 0 && at < static_cast<std::int64_t>(d.size()), "access out of bounds");
    return d[static_cast<std::size_t>(at)];
  }

  Lanes load(Id id) {
    const Lanes at = value(g_.src(id, 1));
    const bool plain = names_memory(g_, id);
    const Lanes state = plain ? Lanes() : value(g_.src(id, 0));
    Lanes out, gate(at.size(), Scalar{0, 1});
    if (g_.src(id).size() == 4) out = value(g_.src(id, 2)), gate = value(g_.src(id, 3));
    out.resize(at.size());
    for (std::size_t l = 0; l < at.size(); ++l)
      if (gate.at(l).i != 0) out[l] = plain ? element(id, at[l].i) : states_.read(state[0], at[l].i);
    return out;
  }

  void store(Id id) {
    const Lanes at = value(g_.src(id, 1)), v = value(g_.src(id, 2));
    Lanes gate(at.size(), Scalar{0, 1});
    if (g_.src(id).size() == 4) gate = value(g_.src(id, 3));
    for (std::size_t l = 0; l < at.size(); ++l)
      if (gate.at(l).i != 0) element(id, at[l].i) = v.at(l);
  }

  // An entry state: a new array of the iteration, or the buffer as earlier iterations have left it.
  Scalar entry(Id memory) {
    if (g_.op(memory) == Op::BUFFER) return states_.now(static_cast<std::size_t>(g_.arg(memory, 0)));
    std::int64_t elements = g_.lanes(memory);
    for (const Id e : g_.src(memory).subspan(1)) elements *= value(e)[0].i;
    return states_.zeros(static_cast<std::size_t>(elements));
  }

  Scalar state_after_store(Id id) {
    Scalar state = value(g_.src(id, 0))[0];
    const Lanes at = value(g_.src(id, 1)), v = value(g_.src(id, 2));
    const Lanes gate = g_.src(id).size() == 4 ? value(g_.src(id, 3)) : Lanes(at.size(), Scalar{0, 1});
    for (std::size_t l = 0; l < at.size(); ++l)
      if (gate.at(l).i != 0) state = states_.write(state, at[l].i, v.at(l));
    return state;
  }

  // Applies the atomic operation lane by lane.
  Scalar state_after_atomic(Id id) {
    Scalar state = value(g_.src(id, 0))[0];
    const bool compares = g_.src(id).size() == 5;
    const Lanes gate = value(g_.src(id, 1)), v = value(g_.src(id, 2)), at = value(g_.src(id).back());
    const Lanes expected = compares ? value(g_.src(id, 3)) : Lanes(v.size());
    const DType d = g_.dtype(memory_of(g_, id));
    Lanes& old = old_[id];
    old.assign(v.size(), Scalar{});
    for (std::size_t l = 0; l < v.size(); ++l) {
      if (gate.at(l).i == 0) continue;
      old[l] = states_.read(state, at.at(l).i);
      if (compares && bits_of(d, old[l]) != bits_of(d, expected.at(l))) continue;
      state = states_.write(state, at[l].i, combined(static_cast<AtomicKind>(g_.arg(id, 0)), d, old[l], v[l]));
    }
    return state;
  }
  static Scalar combined(AtomicKind k, DType d, const Scalar& old, const Scalar& v) {
    constexpr Op operations[] = {Op::ADD, Op::MIN, Op::MAX, Op::AND, Op::OR, Op::XOR};
    const auto i = static_cast<std::size_t>(k);
    return i < std::size(operations) ? apply(operations[i], d, d, {old, v}) : v;
  }

  const Graph& g_;
  const Symbols& symbols_;
  std::vector<Data>& slots_;
  const std::vector<bool> on_entry_;
  StateMemory states_;
  std::map<Id, RunningScan> scans_;
  std::map<Id, Data> arrays_;  // of LOCALs without states
  std::map<Id, Lanes> old_;    // by ATOMIC: the old values of its last evaluation
  std::map<Id, std::vector<Lanes>> carried_;
  std::map<Id, std::vector<Id>> early_;  // by FOR: see loads_on_entry()
  std::map<Id, std::pair<std::uint64_t, std::vector<Lanes>>> loops_;
  // By node. A version is the time when the range was set last, 0 before; a memo has the time of its value.
  std::vector<std::int64_t> range_;
  std::vector<std::uint64_t> version_;
  std::vector<std::optional<std::vector<Id>>> free_;
  std::vector<std::pair<std::uint64_t, Lanes>> memo_;
  std::uint64_t clock_ = 0;
};

}  // namespace

void run_explicit_kernel(const Graph& g, const Kernel& k, const Symbols& symbols, std::vector<Data>& slots) {
  Run(g, symbols, slots, {}).ends(g.src(k.sink));
}

void run_lowered(const Graph& g, const LoweredKernel& k, const Symbols& symbols, std::vector<Data>& slots, std::int64_t chunk,
                 const std::vector<bool>& on_entry) {
  const std::int64_t trips = index_at(g, k.trip_count, symbols);
  std::int64_t step = chunk <= 0 || !k.parallel ? std::max<std::int64_t>(trips, 1) : chunk;
  step = (step + k.alignment - 1) / k.alignment * k.alignment;
  for (std::int64_t begin = 0; begin < trips; begin += step) {
    Symbols all = symbols;
    all["$begin"] = begin;
    all["$end"] = std::min(trips, begin + step);
    for (std::size_t slot = 0; slot < slots.size(); ++slot)
      all[misalignment_of(slot)] = static_cast<std::int64_t>(slot * 24 + 16) % 64;
    Run run(g, all, slots, on_entry);
    for (Id e : g.src(k.sink)) run.effect(e);
  }
}

std::string malformed(const Graph& g, Id sink) {
  verify(g, sink, Level::program);
  const Id roots[] = {sink};
  std::set<Id> ranges;
  for (Id id : g.reachable(roots)) {
    const Op op = g.op(id);
    const std::string at = std::string(name(op)) + " %" + std::to_string(id);
    if (levels(op).find('P') == std::string_view::npos) return at + ": not of P level";
    if (is_elementwise(op) || op == Op::LOAD || op == Op::STORE)
      for (std::size_t i = op == Op::LOAD || op == Op::STORE ? 1 : 0; i < g.src(id).size(); ++i)
        if (g.lanes(g.src(id, i)) != (op == Op::STORE ? g.lanes(g.src(id, 1)) : g.lanes(id))) return at + ": lanes of operands";
    const DType d = op == Op::STORE || g.src(id).empty() ? DType::none : g.dtype(g.src(id, 0));
    const bool moves = op == Op::CAST || op == Op::BITCAST || op == Op::WHERE;
    if (is_elementwise(op) && !moves && (d == DType::f16 || d == DType::bf16)) return at + ": arithmetic in half precision";
    if (op == Op::FOR && !ranges.insert(g.src(id, 0)).second) return at + ": RANGE of two loops";
  }
  return {};
}

}  // namespace kiln::compiler::testing
