#include "compiler/schedule/inline_kernels.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/state.h"
#include "compiler/schedule/dependencies.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/schedule/window_operand.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

constexpr double most_iterations = 1.5;        // of the reader, for each element whose value it computes again
constexpr double most_of_copies = 16;          // the same if the value is only loaded
constexpr std::ptrdiff_t most_operations = 4;  // of a value: more take time in iterations at the border, too
constexpr std::int64_t shortest_row = 16;      // of the temporary: in shorter ones the order of the elements may be the reason

bool is_division(const Graph& g, Id id) { return g.op(id) == Op::FLOORDIV || g.op(id) == Op::FLOORMOD; }

// An elementwise kernel that stores one temporary.
struct Producer {
  std::size_t kernel;
  int buffer;
  Id value;
  std::vector<Id> ranges;   // outermost first: the row-major axes of the temporary
  std::vector<Id> strides;  // by range
  bool is_copy;             // the value is an element of another buffer
};

class Inliner {
 public:
  Inliner(Graph& g, Schedule& s) : g_(g), s_(s), facts_(facts_of(s.program)), simplify_(g, facts_) {
    for (const Kernel& k : s.kernels) accesses_.push_back(access_of(g, k));
  }

  void run() {
    std::vector<bool> gone(s_.kernels.size(), false);
    for (std::size_t k = 0; k < s_.kernels.size(); ++k)
      if (const std::optional<Producer> p = producer(k)) gone[k] = inline_in_readers(*p);
    std::size_t at = 0;
    std::erase_if(s_.kernels, [&](const Kernel&) { return gone[at++]; });
  }

 private:
  bool is_without_reduction(const Kernel& k) const {
    return !k.is_explicit && !has_tile_steps(g_, k.sink) &&
           std::ranges::none_of(g_.reachable(k.sink), [&](Id id) { return g_.op(id) == Op::REDUCE; });
  }

  std::optional<Producer> producer(std::size_t number) {
    const Kernel& k = s_.kernels[number];
    if (!is_without_reduction(k) || g_.src(k.sink).size() != 1) return std::nullopt;
    const Id store = g_.store(g_.src(k.sink).front());
    if (g_.op(store) != Op::STORE || g_.src(store).size() != 3 || !names_memory(g_, store)) return std::nullopt;
    Producer p{number, nth(k.buffers, g_.slot(g_.state(store))), g_.src(store, 2), loop_ranges_of(g_, k), {}, false};
    if (!is_free(p.buffer, number) || !varies_only_over(g_, g_.reachable(p.value), p.ranges, no_id)) return std::nullopt;
    Id stride = g_.index(1), place = g_.index(0);
    p.strides.resize(p.ranges.size());
    for (std::size_t i = p.ranges.size(); i-- > 0;) {
      p.strides[i] = stride;
      place = index_add(g_, place, index_mul(g_, p.ranges[i], stride));
      stride = index_mul(g_, stride, g_.end(p.ranges[i]));
    }
    const Id stored_at = simplify_(g_.src(store, 1)), row_major = simplify_(place);
    const Id elements = simplify_(nth(s_.buffers, p.buffer).size), all = simplify_(stride);
    if (p.ranges.empty() || row_major != stored_at || all != elements) return std::nullopt;
    p.is_copy = g_.op(p.value) == Op::LOAD && g_.src(p.value).size() == 2;
    if (nth(s_.buffers, p.buffer).whole && !p.is_copy) return std::nullopt;
    const Id row = g_.end(p.ranges.back());
    if (!may_move(k, p) || (g_.is_const(row) && g_.value(row) < shortest_row)) return std::nullopt;
    return p;
  }

  // Whether the value has few cheap operations on elements of temporaries that sums were stored to, and of inputs. A reader
  // that walks along the last axis of t walks along these elements, too.
  bool may_move(const Kernel& k, const Producer& p) const {
    std::ptrdiff_t operations = 0;
    bool has_sums = false;
    for (const Id id : g_.reachable(p.value)) {
      const Op op = g_.op(id);
      if (op == Op::LOAD) {
        const Id index = g_.src(id, 1);
        if (!names_memory(g_, id) || !is_along(index, p.ranges.back()) || has_loads(index)) return false;
        const int b = nth(k.buffers, g_.slot(g_.state(id)));
        if (!keeps_value(b)) return false;
        has_sums |= is_sum(b);
      } else if (is_elementwise(op) && g_.dtype(id) != DType::index && g_.dtype(id) != DType::boolean) {
        if (!is_cheap(op) || ++operations > most_operations) return false;
      }
    }
    return has_sums;
  }

  static bool is_cheap(Op op) {
    return op == Op::ADD || op == Op::SUB || op == Op::MUL || op == Op::FMA || op == Op::MIN || op == Op::MAX ||
           op == Op::NEG || op == Op::WHERE || op == Op::CAST;
  }

  bool has_loads(Id index) const {
    return std::ranges::any_of(g_.reachable(index), [&](Id id) { return g_.op(id) == Op::LOAD; });
  }

  // Whether the buffer's value is the same for all kernels of the segment: an input, or a temporary whose memory no other
  // buffer takes over and that no kernel of the program changes.
  bool keeps_value(int buffer) const {
    const Buffer& b = nth(s_.buffers, buffer);
    if (b.param >= 0) return nth(s_.program.params, b.param).direction == Direction::in;
    if (!has_own_memory(buffer)) return false;
    for (std::size_t k = 0; k < accesses_.size(); ++k)
      if (s_.kernels[k].is_explicit && std::ranges::binary_search(accesses_[k].stores, buffer)) return false;
    return true;
  }

  // Whether a kernel stores the results of reductions to the buffer.
  bool is_sum(int buffer) const {
    for (std::size_t k = 0; k < accesses_.size(); ++k)
      if (std::ranges::binary_search(accesses_[k].stores, buffer))
        return std::ranges::any_of(g_.reachable(s_.kernels[k].sink), [&](Id id) { return g_.op(id) == Op::REDUCE; });
    return false;
  }

  bool is_along(Id index, Id range) const {
    const std::optional<std::int64_t> distance = distance_along(g_, index, range);
    return distance && (*distance == 0 || *distance == 1);
  }

  // Whether the buffer is a temporary that shares its memory with no other buffer.
  bool has_own_memory(int buffer) const {
    const Buffer& b = nth(s_.buffers, buffer);
    return b.is_temporary() && b.after < 0 &&
           std::ranges::none_of(s_.buffers, [&](const Buffer& o) { return o.after == buffer; });
  }

  // Whether the buffer is a temporary that no other kernel stores to.
  bool is_free(int buffer, std::size_t writer) const {
    if (!has_own_memory(buffer) || nth(s_.buffers, buffer).tile != no_id) return false;
    for (std::size_t k = 0; k < accesses_.size(); ++k)
      if (k != writer && std::ranges::binary_search(accesses_[k].stores, buffer)) return false;
    return true;
  }

  // False: some reader cannot compute the value itself. Then all kernels stay as they are.
  bool inline_in_readers(const Producer& p) {
    std::vector<std::pair<std::size_t, Kernel>> changed;
    for (std::size_t k = 0; k < s_.kernels.size(); ++k) {
      if (!std::ranges::binary_search(accesses_[k].loads, p.buffer)) continue;
      if (k == p.kernel || !may_read(p, k)) return false;
      Kernel reader = s_.kernels[k];
      if (!replace_loads(p, reader)) return false;
      changed.emplace_back(k, std::move(reader));
    }
    if (changed.empty() || (changed.size() > 1 && !p.is_copy)) return false;
    for (auto& [k, reader] : changed) {
      s_.kernels[k] = std::move(reader);
      accesses_[k] = access_of(g_, s_.kernels[k]);
    }
    forget(p);
    return true;
  }

  // Takes the temporary out of the lists of buffers, so that it gets no memory. A slot that no node names may be any buffer.
  void forget(const Producer& p) {
    accesses_[p.kernel] = {};
    for (std::size_t k = 0; k < s_.kernels.size(); ++k)
      if (!accesses_[k].stores.empty())  // else it is gone, too
        std::ranges::replace(s_.kernels[k].buffers, p.buffer, accesses_[k].stores.front());
  }

  // The reader must not overwrite what the value is made of: dependencies would add a copy.
  bool may_read(const Producer& p, std::size_t k) const {
    const Kernel& reader = s_.kernels[k];
    if (reader.segment != s_.kernels[p.kernel].segment || !is_without_reduction(reader)) return false;
    return std::ranges::none_of(accesses_[p.kernel].loads,
                                [&](int b) { return std::ranges::binary_search(accesses_[k].stores, b); });
  }

  bool replace_loads(const Producer& p, Kernel& reader) {
    double elements = 1, iterations = 1;
    for (const Id r : p.ranges) elements *= extent(r);
    for (const Id r : loop_ranges_of(g_, reader)) iterations *= extent(r);
    if (iterations > (p.is_copy ? most_of_copies : most_iterations) * elements) return false;
    std::unordered_map<Id, Id> values;
    for (const Id load : g_.reachable(reader.sink)) {
      if (g_.op(load) != Op::LOAD || nth(reader.buffers, g_.slot(g_.state(load))) != p.buffer) continue;
      if (!p.is_copy && !values.empty()) return false;
      const Id value = value_at(p, load, reader);
      if (value == no_id) return false;
      values[load] = value;
    }
    reader.sink = simplify_(substitute(g_, reader.sink, values));
    return true;
  }

  double extent(Id range) { return static_cast<double>(typical_extent(g_, simplify_.bounds(), range)); }

  // The value in place of the load; no_id: the place of the element in the ranges of the producer is not simple.
  Id value_at(const Producer& p, Id load, Kernel& reader) {
    if (!names_memory(g_, load) || (g_.src(load).size() != 2 && g_.src(load).size() != 4)) return no_id;
    g_.set_loc(g_.loc(load));
    const bool gated = g_.src(load).size() == 4;
    std::unordered_map<Id, Id> map = places(p, g_.src(load, 1), gated ? g_.src(load, 3) : no_id);
    if (map.empty()) return no_id;
    for (const Id id : g_.reachable(p.value))
      if (g_.op(id) == Op::BUFFER) map[id] = in_reader(p, id, reader);
    const Id value = substitute(g_, p.value, map);
    if (!gated) return value;
    const Id gate = g_.src(load, 3), other = g_.src(load, 2);
    if (p.is_copy) return g_.make(Op::LOAD, g_.dtype(load), {g_.state(value), g_.src(value, 1), other, gate});
    return g_.make(Op::WHERE, g_.dtype(load), {gate, with_gate(value, gate), other});
  }

  // By range of the producer: its value for the element at the index, where the gate holds. Empty: it would need a division.
  std::unordered_map<Id, Id> places(const Producer& p, Id index, Id gate) {
    Facts facts = facts_;
    if (gate != no_id) assume(g_, facts, gate);
    const std::vector<Id> known = g_.reachable(index);
    std::unordered_map<Id, Id> out;
    for (std::size_t i = 0; i < p.ranges.size(); ++i) {
      Id at = g_.make(Op::FLOORDIV, DType::index, {index, p.strides[i]});
      if (i > 0) at = g_.make(Op::FLOORMOD, DType::index, {at, g_.end(p.ranges[i])});
      at = simplify(g_, at, facts);
      for (const Id id : g_.reachable(at))
        if (is_division(g_, id) && !std::ranges::binary_search(known, id)) return {};
      out[p.ranges[i]] = at;
    }
    return out;
  }

  Id in_reader(const Producer& p, Id memory, Kernel& reader) {
    const int buffer = nth(s_.kernels[p.kernel].buffers, g_.slot(memory));
    const auto slot = std::ranges::find(reader.buffers, buffer) - reader.buffers.begin();
    if (slot == std::ssize(reader.buffers)) reader.buffers.push_back(buffer);
    return g_.make(Op::BUFFER, g_.dtype(memory), {}, {slot});
  }

  // The value, whose loads happen only if the gate holds.
  Id with_gate(Id value, Id gate) {
    std::unordered_map<Id, Id> made;
    for (const Id id : g_.reachable(value)) {
      std::vector<Id> src = g_.sources(id);
      for (Id& x : src) x = made.at(x);
      if (g_.op(id) == Op::LOAD) {
        if (src.size() == 2)
          src.insert(src.end(), {g_.constant(g_.dtype(id), 0), gate});
        else
          src[3] = g_.make(Op::AND, DType::boolean, {src[3], gate});
      }
      made[id] = g_.with_src(id, src);
    }
    return made.at(value);
  }

  Graph& g_;
  Schedule& s_;
  Facts facts_;
  Simplifier simplify_;
  std::vector<KernelAccess> accesses_;  // by kernel
};

}  // namespace

void inline_kernels(Graph& g, Schedule& s) {
  const LocScope restored(g);
  Inliner(g, s).run();
}

}  // namespace kiln::compiler
