// A direct evaluator of index and bool expressions. It shares no code with the compiler's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::test {

using compiler::DType;
using compiler::Graph;
using compiler::Id;
using compiler::Op;
using Values = std::map<Id, std::int64_t>;  // by SYM and RANGE

inline std::int64_t floored(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  std::int64_t q = a / b;
  if (q * b != a && (a < 0) != (b < 0)) --q;
  return q;
}

inline std::int64_t evaluate(const Graph& g, Id root, const Values& values) {
  const Id roots[] = {root};
  std::map<Id, std::int64_t> v;
  for (Id id : g.reachable(roots)) {
    if (const auto it = values.find(id); it != values.end()) {
      v[id] = it->second;
      continue;
    }
    const auto at = [&](std::size_t i) { return v.at(g.src(id, i)); };
    switch (g.op(id)) {
      case Op::CONST: v[id] = g.arg(id, 0); break;
      case Op::SYM:
      case Op::RANGE: throw std::logic_error("no value");
      case Op::INVALID: v[id] = -777; break;
      case Op::ADD: v[id] = at(0) + at(1); break;
      case Op::SUB: v[id] = at(0) - at(1); break;
      case Op::MUL: v[id] = at(0) * at(1); break;
      case Op::NEG: v[id] = -at(0); break;
      case Op::ABS: v[id] = at(0) < 0 ? -at(0) : at(0); break;
      case Op::FLOORDIV: v[id] = floored(at(0), at(1)); break;
      case Op::FLOORMOD: v[id] = at(1) == 0 ? 0 : at(0) - floored(at(0), at(1)) * at(1); break;
      case Op::CDIV: v[id] = at(1) == 0 ? 0 : at(0) / at(1); break;
      case Op::CMOD: v[id] = at(1) == 0 ? 0 : at(0) % at(1); break;
      case Op::MIN: v[id] = std::min(at(0), at(1)); break;
      case Op::MAX: v[id] = std::max(at(0), at(1)); break;
      case Op::WHERE: v[id] = at(0) != 0 ? at(1) : at(2); break;
      case Op::LT: v[id] = at(0) < at(1); break;
      case Op::LE: v[id] = at(0) <= at(1); break;
      case Op::EQ: v[id] = at(0) == at(1); break;
      case Op::NE: v[id] = at(0) != at(1); break;
      case Op::AND: v[id] = at(0) & at(1); break;
      case Op::OR: v[id] = at(0) | at(1); break;
      case Op::XOR: v[id] = at(0) ^ at(1); break;
      case Op::SHL: v[id] = at(0) * (std::int64_t{1} << at(1)); break;
      case Op::SHR: v[id] = at(0) >> at(1); break;
      case Op::NOT: v[id] = at(0) == 0; break;
      default: throw std::logic_error("not an index operation");
    }
  }
  return v.at(root);
}

// The expression in prefix form, for messages.
inline std::string show(const Graph& g, Id id) {
  std::string s(g.op(id) == Op::CONST ? std::to_string(g.arg(id, 0))
                : g.op(id) == Op::SYM ? std::string(g.name(id))
                                      : std::string(compiler::name(g.op(id))));
  if (g.op(id) == Op::RANGE) s = "r" + std::to_string(g.arg(id, 0)) + ":";
  if (g.src(id).empty()) return s;
  if (g.op(id) != Op::RANGE) s = "(" + s;
  for (Id x : g.src(id)) s += (g.op(id) == Op::RANGE ? "" : " ") + show(g, x);
  return g.op(id) == Op::RANGE ? s : s + ")";
}

// Calls f for at most `limit` assignments of the leaves under root: each SYM from the given values, each RANGE inside its loop.
template <class F>
void for_each_point(const Graph& g, Id root, const std::map<std::string, std::vector<std::int64_t>>& syms, F f) {
  const Id roots[] = {root};
  std::vector<Id> leaves;
  for (Id id : g.reachable(roots))
    if (g.op(id) == Op::SYM || g.op(id) == Op::RANGE) leaves.push_back(id);
  Values v;
  std::vector<std::size_t> at(leaves.size(), 0);
  std::size_t k = 0;
  const auto next_value = [&](std::size_t i) {  // false: no more values for this leaf
    if (g.op(leaves[i]) == Op::SYM) {
      const auto& list = syms.at(std::string(g.name(leaves[i])));
      if (at[i] >= list.size()) return false;
      v[leaves[i]] = list[at[i]++];
      return true;
    }
    if (static_cast<std::int64_t>(at[i]) >= evaluate(g, g.src(leaves[i], 0), v)) return false;
    v[leaves[i]] = static_cast<std::int64_t>(at[i]++);
    return true;
  };
  if (leaves.empty()) {
    f(v);
    return;
  }
  while (true) {
    if (next_value(k)) {
      if (k + 1 < leaves.size()) {
        at[++k] = 0;
      } else {
        f(v);
      }
    } else {
      v.erase(leaves[k]);
      if (k == 0) return;
      --k;
    }
  }
}

}  // namespace kiln::test
