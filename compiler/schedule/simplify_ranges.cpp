#include "compiler/schedule/simplify_ranges.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "compiler/ir/index_poly.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

// An expression as outer*a + inner*b + rest for two ranges a, b; nullopt when it is not of this form.
struct Linear {
  Id outer, inner, rest;
};

class KernelRanges {
 public:
  KernelRanges(Graph& g, Kernel& k, Simplifier& simplify)
      : g_(g), kernel_(k), simplify_(simplify), loops_(loop_ranges_of(g, k)) {}

  void run() {
    drop_unit_ranges();
    for (std::size_t i = loops_.size(); i-- > 1;) merge(i - 1);
    number_ranges(g_, kernel_);
  }

 private:
  void drop_unit_ranges() {
    std::unordered_map<Id, Id> map;
    std::vector<Id> kept;
    for (Id r : loops_) {
      if (g_.is_index_const(g_.src(r, 0), 1))
        map[r] = g_.index(0);
      else
        kept.push_back(r);
    }
    if (map.empty() && !kept.empty()) return;
    loops_ = std::move(kept);
    if (loops_.empty()) loops_.push_back(new_range(g_.index(1)));
    rebuild_kernel(g_, kernel_, loops_, map);
  }

  void merge(std::size_t at) {
    const Id a = loops_[at], b = loops_[at + 1];
    const Id n = g_.src(b, 0);
    const Id roots[] = {kernel_.sink};
    const std::vector<Id> indices = index_roots(g_, g_.reachable(roots));
    std::unordered_map<Id, Linear> forms;
    for (Id i : indices) {
      const auto f = linear(i, a, b);
      if (!f || index_mul(g_, f->inner, n) != f->outer) return;
      forms.emplace(i, *f);
    }
    const Id merged = new_range(index_mul(g_, g_.src(a, 0), n));
    std::unordered_map<Id, Id> map;
    for (Id i : indices) {
      const Linear& f = forms.at(i);
      if (f.inner == g_.index(0)) continue;  // also: the end of a range may be a value too
      map[i] = simplify_(index_add(g_, index_mul(g_, f.inner, merged), f.rest));
    }
    loops_.erase(loops_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    loops_[at] = merged;
    rebuild_kernel(g_, kernel_, loops_, map);
  }

  // Walks the index expression once, sources first.
  std::optional<Linear> linear(Id root, Id a, Id b) {
    const Id zero = g_.index(0), one = g_.index(1);
    std::unordered_map<Id, Linear> forms;
    for (Id id : index_nodes(root)) {
      Linear f{zero, zero, id};
      if (id == a)
        f = {one, zero, zero};
      else if (id == b)
        f = {zero, one, zero};
      else if (g_.op(id) != Op::RANGE && !g_.src(id).empty()) {
        const auto made = combine(id, forms);
        if (!made) return std::nullopt;
        f = *made;
      }
      forms[id] = f;
    }
    return forms.at(root);
  }

  std::optional<Linear> combine(Id id, const std::unordered_map<Id, Linear>& forms) {
    const Id zero = g_.index(0);
    const auto varies = [&](const Linear& f) { return f.outer != zero || f.inner != zero; };
    bool any = false;
    for (Id s : g_.src(id)) any = any || varies(forms.at(s));
    if (!any) return Linear{zero, zero, id};
    if (g_.op(id) != Op::ADD && g_.op(id) != Op::SUB && g_.op(id) != Op::MUL) return std::nullopt;
    const Linear x = forms.at(g_.src(id, 0)), y = forms.at(g_.src(id, 1));
    if (g_.op(id) == Op::ADD)
      return Linear{index_add(g_, x.outer, y.outer), index_add(g_, x.inner, y.inner), index_add(g_, x.rest, y.rest)};
    if (g_.op(id) == Op::SUB)
      return Linear{index_sub(g_, x.outer, y.outer), index_sub(g_, x.inner, y.inner), index_sub(g_, x.rest, y.rest)};
    if (varies(x) && varies(y)) return std::nullopt;
    const Linear& v = varies(x) ? x : y;
    const Id by = varies(x) ? y.rest : x.rest;
    return Linear{index_mul(g_, v.outer, by), index_mul(g_, v.inner, by), index_mul(g_, v.rest, by)};
  }

  std::vector<Id> index_nodes(Id root) const {  // ascending; a RANGE's end is not part of the expression
    std::vector<Id> todo{root}, order{root};
    while (!todo.empty()) {
      const Id id = todo.back();
      todo.pop_back();
      if (g_.op(id) == Op::RANGE) continue;
      for (Id s : g_.src(id)) {
        todo.push_back(s);
        order.push_back(s);
      }
    }
    std::ranges::sort(order);
    order.erase(std::unique(order.begin(), order.end()), order.end());
    return order;
  }

  Id new_range(Id end) {
    return g_.make(Op::RANGE, DType::index, {end}, {fresh_--, static_cast<std::int64_t>(RangeKind::loop)});
  }

  Graph& g_;
  Kernel& kernel_;
  Simplifier& simplify_;
  std::vector<Id> loops_;
  std::int64_t fresh_ = -1;  // temporary ids; number_ranges() gives the final ones
};

}  // namespace

void simplify_ranges(Graph& g, Schedule& s) {
  const SourceLoc saved = g.loc();
  const Facts facts = facts_of(s.program);
  Simplifier simplify(g, facts);
  for (Kernel& k : s.kernels)
    if (!k.is_own) KernelRanges(g, k, simplify).run();
  g.set_loc(saved);
}

}  // namespace kiln::compiler
