#include "compiler/proof/kernel_proof.h"

#include <algorithm>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/entry_values.h"
#include "compiler/ir/index_poly.h"
#include "compiler/ir/layout.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/range_ids.h"
#include "compiler/ir/state.h"
#include "compiler/ir/tile_chain.h"
#include "compiler/lower/serial_atomics.h"
#include "compiler/proof/independent_iterations.h"
#include "compiler/proof/smt_terms.h"
#include "compiler/proof/symbol_factors.h"
#include "compiler/symbolic/infix.h"
#include "compiler/symbolic/linear.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t primed = range_number_limit;  // added to the number of a RANGE for its second copy

// A load, store or atomic operation: its index and the conditions under which it happens.
struct Access {
  Id node = no_id;
  int buffer = 0;  // index into Schedule::buffers; -1: an array of the iteration
  Id index = no_id;
  std::vector<Id> gates;
  std::vector<Id> loops;    // RANGEs of the END
  std::vector<Id> symbols;  // symbols that are factored out of the index
};

// The entry check ensures that elements of arguments with strides of the caller do not overlap and are in memory. So claims
// about indices in the dense array are sufficient.
Kernel with_dense_arguments(Graph& g, const Schedule& s, Kernel k) {
  for (const int b : k.buffers)
    if (const Parameter* p = free_layout(s, b); p != nullptr) k.sink = dense_position(g, *p, k.sink);
  return k;
}

class Claims {
 public:
  Claims(Graph& g, const Schedule& s, const Kernel& k)
      : g_(g), s_(s), k_(with_dense_arguments(g, s, k)), facts_(facts_of(s.program)) {
    const std::vector<bool> at_entry = entry_slots(s, k_);
    std::vector<Id> sums;
    for (Id id : g.reachable(k_.sink)) {
      if (g.op(id) == Op::LOAD) loads_.push_back(access(id, 3));
      if (k.is_explicit && g.op(id) == Op::STORE) stores_.push_back(access(id, 3));
      if (k.is_explicit && g.op(id) == Op::ATOMIC) atomics_.push_back(access(id, 1));
      if (g.op(id) != Op::END) continue;
      loops_ = g.sources(id, 1);
      if (!k.is_explicit) stores_.push_back(access(g.store(id), 3));
      if (!k.is_explicit) stores_.back().loops = loops_;
      if (!has_tile_steps(g, k_.sink) || !continues_sum(g, id) || at_entry[g.slot(g.state(g.store(id)))]) continue;
      sums_.push_back(stores_.back().buffer);
      sums.push_back(id);
    }
    if (!sums_.empty()) tiles_in_order_ = tiles_in_order(g, sums, loops_[0]);
  }

  std::vector<Claim> all() {
    if (k_.is_explicit) return explicit_claims();
    for (const Access& a : loads_) inside(a, "load");
    for (const Access& a : stores_) inside(a, "store");
    for (std::size_t i = 0; i < stores_.size(); ++i) {
      apart_in_loops(stores_[i], stores_[i], "stores each element once");
      for (std::size_t j = 0; j < i; ++j)
        if (stores_[i].buffer == stores_[j].buffer && !has_sums(stores_[i].buffer))
          apart(stores_[i], stores_[j], "stores elements that no other store has");
      for (const Access& l : loads_)
        if (l.buffer == stores_[i].buffer) {
          Access load = l;
          load.loops = stores_[i].loops;
          if (has_tile_steps(g_, k_.sink)) load.loops.resize(1);  // an earlier tile step may store the tile's elements
          apart_in_loops(load, stores_[i], "loads only what its own iteration stores");
        }
    }
    return std::move(out_);
  }

 private:
  // A kernel that the program wrote. One iteration may store to an element several times. If iterations run in any order, no
  // two may access the same element of a stored buffer.
  std::vector<Claim> explicit_claims() {
    for (auto* list : {&loads_, &stores_, &atomics_})
      for (Access& a : *list) a.loops = loops_;  // so that an iteration exists
    for (const Access& a : loads_) inside(a, "load");
    for (const Access& a : stores_) inside(a, "store");
    for (const Access& a : atomics_) inside(a, "atomic operation");
    if (needs_order(g_, k_.sink) || !iterations_are_independent(g_, k_.sink, loops_, facts_)) return std::move(out_);
    std::erase_if(loads_, [](const Access& a) { return a.buffer < 0; });
    std::erase_if(stores_, [](const Access& a) { return a.buffer < 0; });
    for (std::size_t i = 0; i < stores_.size(); ++i) {
      for (std::size_t j = 0; j <= i; ++j)
        if (stores_[i].buffer == stores_[j].buffer)
          apart_in_loops(stores_[j], stores_[i], "stores what no other iteration stores");
      for (const Access& l : loads_)
        if (l.buffer == stores_[i].buffer) apart_in_loops(l, stores_[i], "loads what no other iteration stores");
    }
    return std::move(out_);
  }

  // A gate is an operand, or part of the index: WHERE(gate, index, INVALID). Arrays of the iteration have no buffer.
  Access access(Id id, std::size_t gate) {
    const Id memory = memory_of(g_, g_.state(id));
    const bool local = g_.op(memory) == Op::LOCAL;
    Access a;
    a.node = id;
    a.buffer = local ? -1 : k_.buffers[g_.slot(memory)];
    a.index = g_.op(id) == Op::ATOMIC ? g_.src(id).back() : g_.src(id, 1);
    if (g_.src(id).size() > gate) a.gates.push_back(g_.src(id, gate));
    while (g_.op(a.index) == Op::WHERE) {
      const auto [condition, index, otherwise] = g_.operands<3>(a.index);
      if (g_.op(otherwise) != Op::INVALID) break;
      a.gates.push_back(condition);
      a.index = index;
    }
    a.index = with_symbols_out(g_, a.index, a.symbols);
    return a;
  }

  Id elements_of(Id local) { return index_product(g_, g_.sources(local, 1)); }

  std::string label(const Access& a, const std::string& what) const {
    return k_.name + " buffer " + std::to_string(a.buffer) + " at " + write_infix(g_, a.index) + ": " + what;
  }

  void define(SmtTerms& t, Id id, const Access& a) const {
    if (!t.define(id))
      throw Diagnostic("E-prove", k_.name, "an index that cannot be put to the solver: " + write_infix(g_, a.index));
  }
  void define_access(SmtTerms& t, const Access& a) const {
    define(t, a.index, a);
    for (Id gate : a.gates) define(t, gate, a);
    for (Id r : a.loops) define(t, r, a);
  }
  std::string gated(const SmtTerms& t, const Access& a) const {
    std::string out;
    for (Id gate : a.gates) out += "(assert " + t[gate] + ")\n";
    return out;
  }

  void inside(const Access& a, const std::string& what) {
    add(label(a, what + " inside"), [&](SmtTerms& t) {
      std::vector<Id> symbols = a.symbols;
      const Id elements = a.buffer < 0 ? elements_of(memory_of(g_, g_.state(a.node))) : nth(s_.buffers, a.buffer).size;
      const Id size = with_symbols_out(g_, elements, symbols);
      Access alone = a;
      if (!k_.is_explicit) alone.loops.clear();
      define_access(t, alone);
      define(t, size, a);
      t.relate_multiples();
      const std::string goal = "(and (<= 0 " + t[a.index] + ") (< " + t[a.index] + " " + t[size] + "))";
      return gated(t, a) + "(assert (not " + goal + "))\n";
    });
  }

  // Claims that no iteration of one access and no iteration of the other have an element in common.
  void apart(const Access& a, const Access& other, const std::string& what) {
    same_element(a, second_copy(other, 0), what, {});
  }

  // Claims that different iterations of the two accesses have no element in common. One claim for each loop: it is the
  // outermost loop in which the iterations differ, and the loops around it are shared.
  void apart_in_loops(const Access& a, const Access& other, const std::string& what) {
    for (std::size_t i = 0; i < a.loops.size(); ++i) {
      const Access b = second_copy(other, i);
      const std::string text = what + " (loop " + std::to_string(i) + ")";
      same_element(a, b, text, "<");
      if (a.node != b.node) same_element(a, b, text, ">");  // for one node, exchanging the copies gives the same claim
    }
  }

  // Whether tile steps add to the buffer's elements. Then the tiles of one group store the same elements, one after the other.
  bool has_sums(int buffer) const { return std::ranges::find(sums_, buffer) != sums_.end(); }

  // What the claim relates of a loop: its value or, of the tiles that add to a buffer, the number of the group.
  std::string place(SmtTerms& t, const Access& a, std::size_t loop) {
    if (loop > 0 || !has_sums(a.buffer)) return t[a.loops[loop]];
    const Id group = g_.make(Op::FLOORDIV, DType::index, {a.loops[0], tiles_in_order_});
    define(t, group, a);
    return t[group];
  }

  // order: relates the values of the outermost loop that a and b do not share; empty: no relation.
  void same_element(const Access& a, const Access& b, const std::string& what, const std::string& order) {
    add(label(a, what), [&](SmtTerms& t) {
      define_access(t, a);
      define_access(t, b);
      t.relate_multiples();
      std::string question = gated(t, a) + gated(t, b) + "(assert (= " + t[a.index] + " " + t[b.index] + "))\n";
      for (std::size_t i = 0; i < a.loops.size() && !order.empty(); ++i)
        if (a.loops[i] != b.loops[i]) {
          const std::string first = place(t, a, i), second = place(t, b, i);
          question += "(assert (" + order + " " + first + " " + second + "))\n";
          break;
        }
      return question;
    });
  }

  // A copy of the access with new RANGEs, except for its first `shared` loops.
  Access second_copy(const Access& a, std::size_t shared) {
    std::unordered_map<Id, Id> map;
    for (std::size_t i = 0; i < shared; ++i) map[a.loops[i]] = a.loops[i];
    std::vector<Id> roots = a.gates;
    roots.push_back(a.index);
    roots.insert(roots.end(), a.loops.begin(), a.loops.end());
    for (Id id : g_.reachable(roots)) {
      if (g_.op(id) != Op::RANGE || map.contains(id)) continue;
      const Id end = substitute(g_, g_.end(id), map);
      map[id] = g_.range(end, g_.range_number(id) + primed, g_.range_kind(id));
    }
    Access b = a;
    b.index = substitute(g_, a.index, map);
    for (Id& gate : b.gates) gate = substitute(g_, gate, map);
    for (Id& r : b.loops) r = map.at(r);
    return b;
  }

  // States that the host loops around the kernel are in one of their iterations.
  std::string iterations(SmtTerms& t) const {
    std::string out;
    for (int l = k_.loop; l >= 0; l = nth(s_.loops, l).parent) {
      const HostLoop& loop = nth(s_.loops, l);
      if (loop.counter == no_id || !t.define(loop.counter) || !t.define(loop.begin) || !t.define(loop.end)) continue;
      out +=
          "(assert (and (<= " + t[loop.begin] + " " + t[loop.counter] + ") (< " + t[loop.counter] + " " + t[loop.end] + ")))\n";
    }
    return out;
  }

  // Adds a claim. `question` defines its terms and returns assertions that are satisfiable if the claim is false.
  template <class Question>
  void add(std::string text, const Question& question) {
    const auto script = [&](bool opaque_products) {
      SmtTerms t(g_, &facts_, opaque_products);
      std::string q = iterations(t);
      q += question(t);
      return "(set-logic ALL)\n" + t.declarations() + q + "(check-sat)\n";
    };
    out_.push_back({std::move(text), script(false), script(true)});
  }

  Graph& g_;
  const Schedule& s_;
  const Kernel k_;
  Facts facts_;
  std::vector<Access> loads_, stores_, atomics_;
  std::vector<int> sums_;      // buffers to whose elements tile steps add
  Id tiles_in_order_ = no_id;  // in each group of tiles that add to the same elements
  std::vector<Id> loops_;
  std::vector<Claim> out_;
};

}  // namespace

std::vector<Claim> kernel_claims(Graph& g, const Schedule& s, const Kernel& k) { return Claims(g, s, k).all(); }

}  // namespace kiln::compiler
