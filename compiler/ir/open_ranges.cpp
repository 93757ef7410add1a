#include "compiler/ir/open_ranges.h"

#include <algorithm>

#include "compiler/ir/scopes.h"

namespace kiln::compiler {

std::span<const Id> closed_ranges(const Graph& g, Id id) {
  const auto src = g.src(id);
  switch (g.op(id)) {
    case Op::REDUCE:
    case Op::STAGE:
    case Op::END: {
      std::size_t values = src.size();
      while (values > 1 && g.op(src[values - 1]) == Op::RANGE) --values;
      return src.subspan(values);
    }
    case Op::FOR:
    case Op::KERNEL: return scope_ranges(g, id);
    default: return {};
  }
}

void OpenRanges::visit(Id id, Id around) {
  const auto closed = closed_ranges(g_, id);
  std::uint32_t set = 0;
  for (const Id s : g_.src(id)) set = merge(set, of_[s]);  // closed RANGEs too: their ends may depend on others
  if (!closed.empty()) set = without(set, closed);
  if (g_.op(id) == Op::RANGE) set = merge(set, number({id}));
  if (around != no_id) set = merge(set, number({around}));
  of_[id] = set;
}

std::uint32_t OpenRanges::number(std::vector<Id> set) {
  const auto [it, made] = ids_.emplace(std::move(set), static_cast<std::uint32_t>(sets_.size()));
  if (made) sets_.push_back(&it->first);
  return it->second;
}

std::uint32_t OpenRanges::merge(std::uint32_t a, std::uint32_t b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  std::vector<Id> out;
  std::ranges::set_union(*sets_[a], *sets_[b], std::back_inserter(out));
  return number(std::move(out));
}

std::uint32_t OpenRanges::without(std::uint32_t a, std::span<const Id> gone) {
  std::vector<Id> out;
  for (const Id r : *sets_[a])
    if (std::ranges::find(gone, r) == gone.end()) out.push_back(r);
  return number(std::move(out));
}

}  // namespace kiln::compiler
