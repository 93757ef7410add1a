#include "compiler/ir/shapes.h"

#include <algorithm>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/scopes.h"

namespace kiln::compiler {

// The sources whose shapes determine the shape of the result.
std::span<const Id> Shapes::data_sources(Id id) const {
  const auto src = graph_.src(id);
  const Op op = graph_.op(id);
  if (is_elementwise(op) || op == Op::CONCAT || op == Op::GATHER) return src;
  if (op == Op::PERMUTE || op == Op::REDUCE || op == Op::SCAN || op == Op::STAGE || is_write(op)) return src.first(1);
  if (op == Op::SHEAR || op == Op::UNSHEAR || op == Op::MARK || op == Op::STRAIGHT || op == Op::CUSTOM || op == Op::LAPLACIAN)
    return src.first(1);
  if (op == Op::GRADIENT) return src.subspan(2);
  if (op == Op::TANGENT) return src.first(3);
  if (op == Op::CARRY) return src.subspan(1, 1);
  if (op == Op::GET) return scope_inits(graph_, src[0]).subspan(graph_.slot(id), 1);
  return {};
}

Shapes::Entry Shapes::keep(std::span<const Id> extents) {
  const Entry e{static_cast<std::uint32_t>(pool_.size()), static_cast<std::uint32_t>(extents.size())};
  pool_.insert(pool_.end(), extents.begin(), extents.end());
  return e;
}

Shapes::Entry Shapes::derive(Id id) {
  const Op op = graph_.op(id);
  const auto src = graph_.src(id);
  auto copy_of = [&](Id s) {
    const Entry e = entries_[s];
    return std::vector<Id>(pool_.begin() + e.begin, pool_.begin() + e.begin + e.rank);
  };
  if (is_elementwise(op)) {
    for (Id s : src)
      if (entries_[s].rank > 0) return entries_[s];
    return {0, 0};
  }
  switch (op) {
    case Op::PARAM:
    case Op::COTANGENT:
    case Op::IOTA: return keep(src);
    case Op::LOCAL: return keep(src.subspan(1));
    case Op::UPDATE:
    case Op::ATOMIC:
    case Op::SCAN:
    case Op::STAGE:
    case Op::CARRY:
    case Op::MARK:
    case Op::STRAIGHT:
    case Op::CUSTOM:
    case Op::LAPLACIAN:
    case Op::GRADIENT:
    case Op::GET: return entries_[data_sources(id)[0]];
    case Op::TANGENT: {
      if (entries_[src[2]].rank == entries_[src[1]].rank) return entries_[src[0]];
      auto out = copy_of(src[0]);
      out.insert(out.begin(), pool_[entries_[src[2]].begin]);  // the directions
      return keep(out);
    }
    case Op::SHEAR:
    case Op::UNSHEAR: {
      auto out = copy_of(src[0]);
      out[graph_.slot(id, 1)] = src[1];
      return keep(out);
    }
    case Op::RESHAPE:
    case Op::EXPAND: return keep(src.subspan(1));
    case Op::SLICE: return keep(src.subspan(1 + (src.size() - 1) / 2));
    case Op::PAD: return keep(src.subspan(2 + (src.size() - 2) / 2));
    case Op::PERMUTE: {
      const auto in = copy_of(src[0]);
      std::vector<Id> out;
      for (std::int64_t a : graph_.args(id)) out.push_back(nth(in, a));
      return keep(out);
    }
    case Op::CONCAT: {
      const std::vector<Id> parts(src.begin(), src.end());  // index_add() may move the graph's pools
      auto out = copy_of(parts[0]);
      const auto axis = graph_.slot(id);
      for (std::size_t i = 1; i < parts.size(); ++i) out[axis] = index_add(graph_, out[axis], copy_of(parts[i])[axis]);
      return keep(out);
    }
    case Op::GATHER: {
      const auto in = copy_of(src[0]);
      std::vector<Id> out;
      for (const Id i : src.subspan(1))
        if (out.empty()) out = copy_of(i);
      out.insert(out.end(), in.begin() + static_cast<std::ptrdiff_t>(src.size() - 1), in.end());
      return keep(out);
    }
    case Op::REDUCE: {
      const auto in = copy_of(src[0]);
      const auto axes = graph_.args(id).subspan(1);
      std::vector<Id> out;
      for (std::int64_t i = 0; i < std::ssize(in); ++i)
        if (std::ranges::find(axes, i) == axes.end()) out.push_back(nth(in, i));
      return keep(out);
    }
    default: return {0, 0};
  }
}

std::span<const Id> Shapes::operator()(Id id) {
  if (entries_.size() < graph_.size()) entries_.resize(graph_.size());
  std::vector<Id> stack{id};
  while (!stack.empty()) {
    const Id top = stack.back();
    if (entries_[top].rank != Entry::unknown) {
      stack.pop_back();
      continue;
    }
    bool ready = true;
    for (Id s : data_sources(top))
      if (entries_[s].rank == Entry::unknown) {
        stack.push_back(s);
        ready = false;
      }
    if (!ready) continue;
    entries_[top] = derive(top);
    stack.pop_back();
  }
  const Entry e = entries_[id];
  return {pool_.data() + e.begin, e.rank};
}

std::vector<Id> Shapes::of(Id id) {
  const auto s = (*this)(id);
  return {s.begin(), s.end()};
}

}  // namespace kiln::compiler
