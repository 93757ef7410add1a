#include "compiler/schedule/share_kernels.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/run_expression.h"
#include "compiler/symbolic/linear.h"

namespace kiln::compiler {
namespace {

// A renumbered kernel. `sink` is its code; buffers and bases are the arguments of that code.
struct Form {
  Id sink = no_id;
  std::vector<int> buffers;  // by new slot
  std::vector<Id> bases;     // by new slot: the buffer's element that is 0 in the kernel; no_id: element 0
};

class Numbering {
 public:
  Numbering(Graph& g, const Schedule& s, const Kernel& k, Bounds& bounds) : g_(g), s_(s), kernel_(k), bounds_(bounds) {
    nodes_ = g.reachable(k.sink);
    number_buffers();
    std::set<std::int64_t> numbers;
    for (const Id id : nodes_)
      if (g.op(id) == Op::RANGE) numbers.insert(g.range_number(id));
    for (const std::int64_t n : numbers) range_number_.emplace(n, std::ssize(range_number_));
  }

  Form as_it_is() { return rewritten(std::vector<std::optional<Poly>>(buffers_.size()), false); }
  // The terms of an index stand in the order of their hashes, which contain the numbers of ranges. So they are sorted again.
  Form from_bases() { return rewritten(bases(), true); }

 private:
  // Numbers the buffers in the order of a walk from the sink, through sources from left to right.
  void number_buffers() {
    slot_.assign(kernel_.buffers.size(), 0);
    std::set<Id> seen;
    std::vector<Id> todo{kernel_.sink};
    while (!todo.empty()) {
      const Id id = todo.back();
      todo.pop_back();
      if (!seen.insert(id).second) continue;
      if (g_.op(id) == Op::BUFFER) add_buffer(g_.slot(id));
      const auto src = g_.src(id);
      todo.insert(todo.end(), src.rbegin(), src.rend());
    }
  }

  void add_buffer(std::size_t slot) {
    const int buffer = kernel_.buffers[slot];
    const auto [at, fresh] = slot_of_buffer_.try_emplace(buffer, buffers_.size());
    if (fresh) buffers_.push_back(buffer);
    slot_[slot] = at->second;
  }

  std::size_t slot_of(Id buffer) const { return slot_[g_.slot(buffer)]; }

  // Whether a node loads from a buffer. A load from a state does not count: the kernel changes that memory, so it is no input.
  bool reads_buffer(Id id) const { return g_.op(id) == Op::LOAD && g_.op(g_.state(id)) == Op::BUFFER; }

  bool is_input(int buffer) const {
    const int param = nth(s_.buffers, buffer).param;
    return param >= 0 && nth(s_.program.params, param).direction == Direction::in;
  }

  bool is_fixed(const Monomial& t) const {
    const std::vector<Id> roots(t.atoms.begin(), t.atoms.end());
    return std::ranges::all_of(g_.reachable(roots), [&](Id id) { return is_arithmetic_of_extents(id); });
  }
  // Whether a node is a constant, an extent, or arithmetic that the runtime can do when a call begins.
  bool is_arithmetic_of_extents(Id id) const {
    if (g_.op(id) == Op::SYM) return is_extent(g_.name(id));
    return g_.is_const(id) ? g_.dtype(id) == DType::index : is_run_arithmetic(g_, id);
  }
  bool is_extent(std::string_view name) const {
    const auto it = std::ranges::find(s_.program.symbols, name, &Symbol::name);
    return it != s_.program.symbols.end() && it->kind == Symbol::Kind::extent;
  }

  // The terms of an index that depend on extents alone.
  std::optional<Poly> fixed_part(Id index) const {
    std::optional<Poly> sum = symbolic::sum_of(g_, index);
    if (sum) std::erase_if(*sum, [&](const Monomial& t) { return !is_fixed(t); });
    return sum;
  }

  // By slot: the least fixed part of the indices of all loads from an input; nullopt: none, or it may be negative.
  std::vector<std::optional<Poly>> bases() const {
    std::vector<std::optional<Poly>> least(buffers_.size());
    std::vector<bool> usable(buffers_.size(), true);
    for (const Id id : nodes_) {
      if (!reads_buffer(id)) continue;
      const std::size_t slot = slot_of(g_.state(id));
      if (!usable[slot]) continue;
      const auto here = fixed_part(g_.src(id, 1));
      const auto apart = here && least[slot] ? symbolic::plus(g_, *here, *least[slot], -1) : std::nullopt;
      const auto distance = apart ? constant_of(*apart) : std::nullopt;
      usable[slot] = here.has_value() && (!least[slot] || distance) && is_input(buffers_[slot]);
      if (usable[slot] && (!least[slot] || *distance < 0)) least[slot] = here;
    }
    for (std::size_t i = 0; i < least.size(); ++i)
      if (!usable[i] || !least[i] || least[i]->empty() || symbolic::interval_of(bounds_, *least[i]).min < 0) least[i].reset();
    return least;
  }

  Form rewritten(const std::vector<std::optional<Poly>>& bases, bool sorted) {
    std::map<Id, Id> done;
    std::vector<Id> src;
    for (const Id id : nodes_) {
      src.clear();
      for (const Id s : g_.src(id)) src.push_back(done.at(s));
      g_.set_loc(g_.loc(id));
      if (sorted && (g_.op(id) == Op::LOAD || g_.op(id) == Op::STORE))
        src[1] = sorted_index(src[1], reads_buffer(id) ? nth(bases, slot_of(g_.state(id))) : std::nullopt);
      done[id] = numbered(id, src);
    }
    Form out{done.at(kernel_.sink), buffers_, {}};
    for (const auto& base : bases) out.bases.push_back(base ? index_from(g_, *base) : no_id);
    return out;
  }

  // index - base.
  Id sorted_index(Id index, const std::optional<Poly>& base) {
    const std::optional<Poly> sum = symbolic::sum_of(g_, index);
    if (!sum) return index;
    return index_from(g_, base ? *symbolic::plus(g_, *sum, *base, -1) : *sum);
  }

  Id numbered(Id id, const std::vector<Id>& src) {
    if (g_.op(id) == Op::BUFFER) return g_.make(Op::BUFFER, g_.dtype(id), {}, {slot_of(id)});
    if (g_.op(id) == Op::RANGE) return g_.range(src[0], range_number_.at(g_.range_number(id)), g_.range_kind(id));
    return g_.with_src(id, src);
  }

  Graph& g_;
  const Schedule& s_;
  const Kernel& kernel_;
  Bounds& bounds_;
  std::vector<Id> nodes_;
  std::vector<int> buffers_;       // new slot -> buffer
  std::vector<std::size_t> slot_;  // old slot -> new slot
  std::map<int, std::size_t> slot_of_buffer_;
  std::map<std::int64_t, std::int64_t> range_number_;
};

class Sharing {
 public:
  Sharing(Graph& g, Schedule& s) : g_(g), s_(s) {}

  void run() {
    const Facts facts = facts_of(s_.program);
    std::vector<Form> plain, moved;
    std::map<Id, std::set<Id>> united;  // sink that loads from views -> sinks without views
    for (const Kernel& k : s_.kernels) {
      Bounds bounds(g_, facts);
      Numbering numbering(g_, s_, k, bounds);
      plain.push_back(numbering.as_it_is());
      moved.push_back(numbering.from_bases());
      united[moved.back().sink].insert(plain.back().sink);
    }
    for (std::size_t i = 0; i < s_.kernels.size(); ++i) {
      const Form& form = united[moved[i].sink].size() > 1 ? moved[i] : plain[i];
      s_.kernels[i].sink = form.sink;
      s_.kernels[i].buffers.clear();
      for (std::size_t b = 0; b < form.buffers.size(); ++b)
        s_.kernels[i].buffers.push_back(form.bases[b] == no_id ? form.buffers[b] : view(form.buffers[b], form.bases[b]));
    }
  }

 private:
  int view(int buffer, Id base) {
    const auto [at, fresh] = views_.try_emplace({buffer, base}, count_of(s_.buffers));
    if (fresh) {
      Buffer b = nth(s_.buffers, buffer);
      b.size = index_sub(g_, b.size, base);
      b.offset = index_mul(g_, base, g_.index(bytes(b.dtype)));
      s_.buffers.push_back(b);
    }
    return at->second;
  }

  Graph& g_;
  Schedule& s_;
  std::map<std::pair<int, Id>, int> views_;
};

}  // namespace

void share_kernels(Graph& g, Schedule& s) {
  const LocScope restored(g);
  Sharing(g, s).run();
}

}  // namespace kiln::compiler
