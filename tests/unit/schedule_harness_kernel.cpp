#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <stdexcept>

#include "compiler/ir/entry_values.h"
#include "compiler/ir/state.h"
#include "compiler/ir/tile_chain.h"
#include "tests/unit/lower_harness.h"

namespace kiln::compiler::testing {
namespace {

void check(bool ok, const char* what) {
  if (!ok) throw std::logic_error(std::string("kernel: ") + what);
}

void put(char* at, DType d, const Scalar& s) {
  const std::uint64_t bits = bits_of(d, s);
  std::memcpy(at, &bits, static_cast<std::size_t>(bytes(d)));
}
Scalar get(const char* at, DType d) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, static_cast<std::size_t>(bytes(d)));
  return scalar_of(d, bits);
}

struct Memory {
  char* data = nullptr;
  std::int64_t size = 0;        // elements
  const char* entry = nullptr;  // memory that loads read instead of `data`; null: `data`
  bool is_on_entry = false;     // whether the kernel reads its value on entry
  bool whole = true;            // every element must be stored; false for tile buffers, which the last tile may not fill
};

class KernelRun {
 public:
  KernelRun(const Graph& g, const Kernel& k, const Symbols& symbols, std::vector<Memory> slots, bool backward)
      : g_(g),
        k_(k),
        symbols_(symbols),
        slots_(std::move(slots)),
        backward_(backward),
        range_(g.size()),
        version_(g.size()),
        memo_(g.size()),
        free_(g.size()) {}

  void run() {
    const std::vector<Id> all(g_.src(k_.sink).begin(), g_.src(k_.sink).end());
    const bool tile_steps = has_tile_steps(g_, k_.sink);
    written_.resize(all.size());
    for (const Id end : all)
      if (continues_sum(g_, end)) sums_.insert(g_.arg(g_.src(g_.src(end, 0), 0), 0));
    if (!tile_steps) {
      walk(all, 0, 0);
    } else {
      const Id rows = g_.src(all[0], 1);
      const std::int64_t n = index_at(g_, g_.src(rows, 0), symbols_);
      const Id in_order = tiles_in_order(g_, all, rows);
      const std::int64_t group = in_order == no_id ? 1 : index_at(g_, in_order, symbols_);
      for (std::int64_t r = 0; r < n; ++r) {
        const std::int64_t back = (n - 1) / group - r / group;  // number of the group, from the last one
        set_range(rows, backward_ ? back * group + r % group : r);
        for (std::size_t e = 0; e < all.size();) {
          check(g_.src(all[e], 1) == rows, "tile_steps without a shared loop");
          std::vector<Id> step{all[e]};
          const auto ranges = [&](Id end) { return g_.src(end).subspan(1); };
          while (e + step.size() < all.size() && std::ranges::equal(ranges(all[e]), ranges(all[e + step.size()])))
            step.push_back(all[e + step.size()]);
          walk(step, 1, e);
          e += step.size();
        }
      }
    }
    for (std::size_t e = 0; e < written_.size(); ++e) {
      const Id buffer = g_.src(g_.src(g_.src(k_.sink, e), 0), 0);
      const Memory& m = slots_[static_cast<std::size_t>(g_.arg(buffer, 0))];
      check(!m.whole || static_cast<std::int64_t>(written_[e].size()) == m.size || !has_iterations(e),
            "not every element is written");
    }
  }

 private:
  // Whether the outermost loop has iterations. If not, another version of a product runs.
  bool has_iterations(std::size_t e) const {
    const Id end = g_.src(k_.sink, e);
    return g_.src(end).size() == 1 || index_at(g_, g_.end(g_.src(end, 1)), symbols_) > 0;
  }

  void set_range(Id r, std::int64_t v) {
    range_[r] = v;
    version_[r] = ++clock_;
  }

  // Runs all iterations of ENDs with equal loops, from iteration `first` on. e: number of the first END.
  void walk(const std::vector<Id>& effects, std::size_t first, std::size_t e) {
    const std::vector<Id> loops(g_.src(effects[0]).begin() + 1 + static_cast<std::ptrdiff_t>(first), g_.src(effects[0]).end());
    std::vector<std::int64_t> ends;
    std::int64_t trips = 1;
    for (Id r : loops) {
      check(static_cast<RangeKind>(g_.arg(r, 1)) == RangeKind::loop, "loop kind");
      ends.push_back(value(g_.src(r, 0)).i);  // may depend on the tile
      trips *= ends.back();
    }
    for (std::int64_t t = 0; t < trips; ++t) {
      std::int64_t rest = backward_ ? trips - 1 - t : t;
      for (std::size_t i = loops.size(); i-- > 0; rest /= ends[i]) set_range(loops[i], rest % ends[i]);
      iteration(effects, e);
    }
  }

  // An iteration loads elements of buffers that the kernel reads on entry before it stores any.
  void iteration(const std::vector<Id>& effects, std::size_t e) {
    for (const Id id : loads_on_entry(effects)) value(id);
    for (Id end : effects) {
      const Id store = g_.src(end, 0), buffer = g_.src(store, 0);
      const Memory& m = slots_[static_cast<std::size_t>(g_.arg(buffer, 0))];
      const std::int64_t at = value(g_.src(store, 1)).i;
      const Scalar v = value(g_.src(store, 2));
      const bool is_sum = sums_.contains(g_.arg(buffer, 0));
      if (g_.src(store).size() > 3 && value(g_.src(store, 3)).i == 0) {
        ++e;
        continue;
      }
      check(at >= 0 && at < m.size, "store out of bounds");
      const DType d = g_.dtype(buffer);
      char* const place = m.data + at * bytes(d);
      const bool is_first = written_[e++].insert(at).second;  // the last tile or panel may begin in the one before
      check(is_first || is_sum || bits_of(d, get(place, d)) == bits_of(d, v), "two values for one element");
      put(place, d, v);
    }
  }

  const std::vector<Id>& loads_on_entry(const std::vector<Id>& effects) {
    const auto [at, is_new] = early_.try_emplace(effects[0]);
    if (!is_new) return at->second;
    const std::vector<Id> loops(g_.src(effects[0]).begin() + 1, g_.src(effects[0]).end());
    for (const Id id : g_.reachable(effects)) {
      if (g_.op(id) != Op::LOAD || !slots_[static_cast<std::size_t>(g_.arg(g_.src(id, 0), 0))].is_on_entry) continue;
      const auto is_around = [&](Id r) { return std::ranges::find(loops, r) != loops.end(); };
      if (std::ranges::all_of(free_ranges(id), is_around)) at->second.push_back(id);
    }
    return at->second;
  }

  // The ranges that a node's value depends on. A value is valid until one of them changes.
  const std::vector<Id>& free_ranges(Id id) {
    if (free_[id]) return *free_[id];
    std::set<Id> out;
    if (g_.op(id) == Op::RANGE) out.insert(id);
    for (const Id s : g_.src(id)) out.insert(free_ranges(s).begin(), free_ranges(s).end());
    if (g_.op(id) == Op::REDUCE)
      for (const Id s : g_.src(id))
        if (g_.op(s) == Op::RANGE) out.erase(s);
    return free_[id].emplace(out.begin(), out.end());
  }

  Scalar value(Id id) {
    std::uint64_t newest = 0;
    for (const Id r : free_ranges(id)) {
      check(version_[r] > 0, "value outside its loop");
      newest = std::max(newest, version_[r]);
    }
    if (memo_[id].first > newest) return memo_[id].second;
    const Scalar v = compute(id);
    memo_[id] = {++clock_, v};
    return v;
  }

  Scalar compute(Id id) {
    switch (g_.op(id)) {
      case Op::RANGE: return {0, range_[id]};
      case Op::SYM: return {0, symbols_.at(std::string(g_.name(id)))};
      case Op::CONST: return scalar_of(g_.dtype(id), static_cast<std::uint64_t>(g_.arg(id, 0)));
      case Op::LOAD: return load(id);
      case Op::REDUCE: return reduce(id);
      default: break;
    }
    check(is_elementwise(g_.op(id)), "operation of another level");
    Scalar x[3] = {};
    std::size_t n = 0;
    for (const Id s : g_.src(id)) x[n++] = value(s);
    return apply(g_.op(id), g_.dtype(id), g_.dtype(g_.src(id, g_.op(id) == Op::WHERE ? 1 : 0)), std::span(x, n));
  }

  Scalar load(Id id) {
    const Id buffer = g_.src(id, 0);
    if (g_.src(id).size() == 4 && value(g_.src(id, 3)).i == 0) return value(g_.src(id, 2));
    const Memory& m = slots_[static_cast<std::size_t>(g_.arg(buffer, 0))];
    const std::int64_t at = value(g_.src(id, 1)).i;
    check(at >= 0 && at < m.size, "load out of bounds");
    return get((m.entry != nullptr ? m.entry : m.data) + at * bytes(g_.dtype(buffer)), g_.dtype(buffer));
  }

  Scalar reduce(Id id) {
    const auto kind = static_cast<ReduceKind>(g_.arg(id, 0));
    const auto order = static_cast<ReduceOrder>(g_.arg(id, 1));
    const std::size_t values = operands_of(kind);
    const std::vector<Id> ranges(g_.src(id).begin() + static_cast<std::ptrdiff_t>(values), g_.src(id).end());
    std::vector<std::int64_t> ends;
    std::int64_t trips = 1;
    for (Id r : ranges) {
      check(static_cast<RangeKind>(g_.arg(r, 1)) == RangeKind::reduce, "reduce kind");
      ends.push_back(value(g_.src(r, 0)).i);  // may depend on outer ranges
      trips *= ends.back();
    }
    std::vector<Scalar> x, y;
    for (std::int64_t t = 0; t < trips; ++t) {
      std::int64_t rest = t;
      for (std::size_t i = ranges.size(); i-- > 0; rest /= ends[i]) set_range(ranges[i], rest % ends[i]);
      x.push_back(value(g_.src(id, 0)));
      if (values == 2) y.push_back(value(g_.src(id, 1)));
    }
    return reduce_values(kind, order, g_.dtype(g_.src(id, 0)), x, y);
  }

  const Graph& g_;
  const Kernel& k_;
  const Symbols& symbols_;
  std::vector<Memory> slots_;
  bool backward_;
  std::vector<std::set<std::int64_t>> written_;
  // By node. A version is the time when the range was set last, 0 before; a memo has the time of its value.
  std::vector<std::int64_t> range_;
  std::vector<std::uint64_t> version_;
  std::vector<std::pair<std::uint64_t, Scalar>> memo_;
  std::vector<std::optional<std::vector<Id>>> free_;
  std::set<std::int64_t> sums_;          // slots of buffers to whose elements tile steps add
  std::map<Id, std::vector<Id>> early_;  // by END: see loads_on_entry()
  std::uint64_t clock_ = 0;
};

Data values_of(const char* data, std::int64_t size, DType d) {
  Data out;
  for (std::int64_t i = 0; i < size; ++i) out.push_back(get(data + i * bytes(d), d));
  return out;
}

// Runs a kernel of the program, iterations in order. Buffers that it does not change have their value at entry.
void run_explicit(const Graph& g, const Schedule& s, const Kernel& k, const Symbols& symbols,
                  const std::vector<Memory>& slots) {
  std::vector<bool> is_changed(slots.size(), false);
  for (const Id end : g.src(k.sink)) is_changed[static_cast<std::size_t>(g.arg(memory_of(g, g.src(end, 0)), 0))] = true;
  std::vector<Data> data;
  const auto type = [&](std::size_t slot) { return s.buffers[static_cast<std::size_t>(k.buffers[slot])].dtype; };
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const bool at_entry = slots[i].entry != nullptr && !is_changed[i];
    data.push_back(values_of(at_entry ? slots[i].entry : slots[i].data, slots[i].size, type(i)));
  }
  run_explicit_kernel(g, k, symbols, data);
  for (std::size_t i = 0; i < slots.size(); ++i)
    for (std::size_t e = 0; e < data[i].size() && is_changed[i]; ++e)
      put(slots[i].data + static_cast<std::int64_t>(e) * bytes(type(i)), type(i), data[i][e]);
}

}  // namespace

std::vector<Data> run_schedule(Graph& g, const Schedule& s, const Symbols& symbols, const std::vector<Data>& params,
                               bool backward, bool unordered) {
  std::vector<std::vector<char>> storage, entry;
  const bool planned = s.workspace_bytes != no_id;
  std::vector<char> workspace(planned ? static_cast<std::size_t>(index_at(g, s.workspace_bytes, symbols)) : 0,
                              static_cast<char>(0x7f));
  std::vector<Memory> memory;
  for (std::size_t b = 0; b < s.buffers.size(); ++b) {
    const Buffer& buffer = s.buffers[b];
    const std::int64_t size = index_at(g, buffer.size, symbols);
    const auto total = static_cast<std::size_t>(size * bytes(buffer.dtype));
    if (buffer.param < 0 && planned) {
      const std::int64_t offset = index_at(g, buffer.offset, symbols);
      const std::int64_t stored = index_at(g, buffer.stored(), symbols) * bytes(buffer.dtype);
      check(offset % 64 == 0 && static_cast<std::size_t>(offset + stored) <= workspace.size(), "workspace");
    }
    if (buffer.param < 0 && planned && buffer.tile_storage == no_id) {
      const std::int64_t offset = index_at(g, buffer.offset, symbols);
      memory.push_back({workspace.data() + offset, size});
      continue;
    }
    if (buffer.param >= 0 && buffer.offset != no_id) {
      memory.push_back({memory[static_cast<std::size_t>(buffer.param)].data + index_at(g, buffer.offset, symbols), size});
      continue;
    }
    storage.emplace_back(total + 1);
    memory.push_back({storage.back().data(), size, nullptr, false, buffer.tile == no_id});
    for (std::size_t i = 0; buffer.param >= 0 && i < params[b].size(); ++i)
      put(storage.back().data() + i * static_cast<std::size_t>(bytes(buffer.dtype)), buffer.dtype, params[b][i]);
  }
  entry = storage;
  for (std::size_t b = 0; unordered && b < params.size(); ++b)
    if (s.program.params[b].direction == Direction::inout) memory[b].entry = entry[b].data();
  const auto bytes_of = [&](std::size_t b) { return static_cast<std::size_t>(memory[b].size * bytes(s.buffers[b].dtype)); };
  std::vector<bool> begun(s.buffers.size(), false);
  for (std::size_t k = 0; k < s.kernels.size(); ++k) {
    std::vector<Memory> slots;
    for (const int buffer : s.kernels[k].buffers) {
      const auto b = static_cast<std::size_t>(buffer);
      slots.push_back(memory[b]);
      if (s.buffers[b].after < 0 || begun[b]) continue;  // a copy, because readers of the old buffer may come later in the list
      begun[b] = true;
      const Memory& before = memory[static_cast<std::size_t>(s.buffers[b].after)];
      std::memcpy(memory[b].data, before.entry != nullptr ? before.entry : before.data, bytes_of(b));
    }
    const std::vector<bool> on_entry = entry_slots(s, s.kernels[k]);
    for (std::size_t i = 0; i < slots.size(); ++i) slots[i].is_on_entry = on_entry[i];
    if (planned) check(g.src(g.src(s.kernels[k].sink, 0)).size() > 1, "no loop");
    for (const std::size_t d : s.kernels[k].depends_on) check(d < k, "order of kernels");
    if (s.kernels[k].is_explicit)
      run_explicit(g, s, s.kernels[k], symbols, slots);
    else
      KernelRun(g, s.kernels[k], symbols, slots, backward).run();
  }
  for (std::size_t b = s.buffers.size(); b-- > 0;)
    if (begun[b]) std::memcpy(memory[static_cast<std::size_t>(s.buffers[b].after)].data, memory[b].data, bytes_of(b));
  std::vector<Data> out(params.size());
  for (std::size_t b = 0; b < params.size(); ++b)
    for (std::size_t i = 0; i < params[b].size(); ++i)
      out[b].push_back(get(storage[b].data() + i * static_cast<std::size_t>(bytes(s.buffers[b].dtype)), s.buffers[b].dtype));
  return out;
}

}  // namespace kiln::compiler::testing
