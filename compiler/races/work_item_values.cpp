#include "compiler/races/work_item_values.h"

#include <algorithm>
#include <cstring>

#include "compiler/interp/elementwise.h"
#include "compiler/ir/scopes.h"

namespace kiln::compiler {
namespace {

Scalar scalar_of(std::uint64_t bits) {
  Scalar s;
  std::memcpy(s.data(), &bits, s.size());
  return s;
}

Scalar applied(Op op, DType result, DType type, std::span<const Scalar> operands) {
  std::array<Operand, 3> in;
  for (std::size_t i = 0; i < operands.size(); ++i) in[i] = {operands[i].data(), true};
  Scalar out{};
  apply_elementwise(op, result, type, std::span(in).first(operands.size()), out.data(), 1);
  return out;
}

Scalar converted(const Scalar& s, DType from, DType to) {
  return from == to ? s : applied(Op::CAST, to, from, std::span(&s, 1));
}

std::int64_t number_of(const Scalar& s, DType d) {
  std::int64_t v = 0;
  const Scalar wide = converted(s, d, DType::i64);
  std::memcpy(&v, wide.data(), sizeof v);
  return v;
}

}  // namespace

Scalar ArgumentValues::element(std::size_t param, const std::vector<std::int64_t>& index, DType d,
                               std::optional<std::int64_t> wanted) {
  std::uint64_t hash = seed_ * 0x9e3779b97f4a7c15u + param;
  for (const std::int64_t i : index) hash = (hash ^ static_cast<std::uint64_t>(i)) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
  const std::int64_t any = seed_ == 0 ? 0 : static_cast<std::int64_t>(hash % 4) - (is_unsigned_int(d) ? 0 : 1);
  const auto [at, is_new] = numbers_.try_emplace({param, index}, wanted.value_or(any));
  return converted(scalar_of(static_cast<std::uint64_t>(at->second)), DType::i64, d);
}

const WorkItemValues::Value* WorkItemValues::known(Id id) {
  const auto at = done_.find(id);
  if (at != done_.end()) return &at->second;
  wanted_.push_back(id);
  return nullptr;
}

WorkItemValues::Value WorkItemValues::value(Id root) {
  std::vector<Id> stack{root};
  while (!stack.empty()) {
    const Id id = stack.back();
    if (done_.contains(id)) {
      stack.pop_back();
      continue;
    }
    wanted_.clear();
    const Value v = made(id);
    if (wanted_.empty())
      done_.emplace(id, v);
    else
      stack.insert(stack.end(), wanted_.begin(), wanted_.end());
  }
  return done_.at(root);
}

std::optional<std::int64_t> WorkItemValues::integer(Id id) {
  const Value v = value(id);
  if (!v) return std::nullopt;
  return number_of(*v, g_.dtype(id));
}

bool WorkItemValues::is_first_iteration(Id range) {
  const auto loop = loops_.find(range);
  if (loop == loops_.end()) return false;
  const Value* const now = known(range);
  const Value* const begin = known(loop_parts(g_, loop->second).begin);
  return now != nullptr && begin != nullptr && *now && *begin && **now == **begin;
}

// The value of a node. If values of sources are missing, it adds these sources to wanted_ instead.
WorkItemValues::Value WorkItemValues::made(Id id) {
  const auto number = numbers_.find(id);
  switch (g_.op(id)) {
    case Op::CONST: return scalar_of(static_cast<std::uint64_t>(g_.value(id)));
    case Op::SYM: {
      const auto at = extents_.find(g_.name(id));
      return at == extents_.end() ? Value{} : scalar_of(static_cast<std::uint64_t>(at->second));
    }
    case Op::RANGE: return number == numbers_.end() ? Value{} : scalar_of(static_cast<std::uint64_t>(number->second));
    case Op::PARAM:
      return arguments_.element(g_.slot(id), {}, g_.dtype(id),
                                number == numbers_.end() ? std::nullopt : std::optional(number->second));
    case Op::CARRY: {  // known in the first iteration only
      const auto [range, init] = g_.operands<2>(id);
      if (!is_first_iteration(range) || !wanted_.empty()) return {};
      const Value* const first = known(init);
      return first == nullptr ? Value{} : *first;
    }
    case Op::INDEX: return read(id);
    default: return is_elementwise(g_.op(id)) && !is_math(g_.op(id)) ? elementwise(id) : Value{};
  }
}

WorkItemValues::Value WorkItemValues::elementwise(Id id) {
  const auto src = g_.src(id);
  const Op op = g_.op(id);
  std::vector<Scalar> in;
  bool all = true;
  for (const Id s : src) {
    const Value* const v = known(s);
    all = all && v != nullptr && *v;
    if (all) in.push_back(**v);
  }
  if (!wanted_.empty()) return {};
  const auto is = [&](Id s, bool holds) {
    const Value& v = done_.at(s);
    return v && (number_of(*v, DType::boolean) != 0) == holds;
  };
  if (op == Op::WHERE) return is(src[0], true) ? done_.at(src[1]) : is(src[0], false) ? done_.at(src[2]) : Value{};
  if (g_.dtype(id) == DType::boolean && (op == Op::AND || op == Op::OR) &&
      (is(src[0], op == Op::OR) || is(src[1], op == Op::OR)))
    return scalar_of(op == Op::OR ? 1 : 0);
  if (!all) return {};
  return applied(op, g_.dtype(id), g_.dtype(src[0]), in);
}

// The element of the argument, or the value that the work item itself wrote there before.
WorkItemValues::Value WorkItemValues::read(Id index) {
  const IndexGate first = index_gate(g_, index);
  std::vector<Id> places = g_.sources(index, 1);
  if (first.gate != no_id) places[0] = first.first;
  std::vector<std::int64_t> at;
  for (const Id p : places)
    if (const Value* const v = known(p); v != nullptr && *v) at.push_back(number_of(**v, g_.dtype(p)));
  if (!wanted_.empty() || at.size() != places.size()) return {};
  for (Id state = g_.data(index);;) {
    switch (g_.op(state)) {
      case Op::PARAM: {
        const auto number = numbers_.find(index);
        return arguments_.element(g_.slot(state), at, g_.dtype(index),
                                  number == numbers_.end() ? std::nullopt : std::optional(number->second));
      }
      case Op::CARRY: {
        const auto [range, init] = g_.operands<2>(state);
        if (const auto loop = loops_.find(range);
            loop != loops_.end() && !is_workgroup_loop(g_, loop->second) && !is_first_iteration(range))
          return {};
        state = init;
        continue;
      }
      case Op::UPDATE:
      case Op::ATOMIC: {
        const WriteParts w = write_parts(g_, state);
        const Value* const gate = known(w.gate);
        bool is_here = true, is_known = gate != nullptr && *gate;
        for (std::size_t k = 0; k < at.size(); ++k) {
          const Value* const v = known(w.index[k]);
          is_known = is_known && v != nullptr && *v;
          is_here = is_here && is_known && number_of(**v, g_.dtype(w.index[k])) == at[k];
        }
        if (!is_known) return {};
        if (is_here && number_of(**gate, DType::boolean) != 0) {
          const Value* const written = g_.op(state) == Op::UPDATE ? known(w.value) : nullptr;
          return written == nullptr ? Value{} : *written;
        }
        state = w.state;
        continue;
      }
      default: return {};
    }
  }
}

// Whether the loop certainly has an iteration at its range's number. For a conditional loop only the first one is certain.
bool WorkItemValues::loop_has_iteration(Id loop) {
  const LoopParts l = loop_parts(g_, loop);
  const auto now = integer(l.range), begin = integer(l.begin), end = integer(l.end);
  if (!now || !begin || !end || *now < *begin || *now >= *end || (*now - *begin) % l.step != 0) return false;
  return !l.conditional || (*now == *begin && integer(l.init[0]).value_or(0) != 0);
}

std::optional<std::vector<std::int64_t>> WorkItemValues::element(const WorkItemAccess& a) {
  for (Id scope = regions_.list[regions_.of[a.node]].owner; scope != no_id; scope = regions_.list[regions_.of[scope]].owner) {
    if (g_.op(scope) == Op::FOR && !loop_has_iteration(scope)) return std::nullopt;
    if (g_.op(scope) == Op::KERNEL)
      for (const Id r : kernel_parts(g_, scope).ranges)
        if (const auto end = integer(g_.end(r)), at = integer(r); !end || !at || *at < 0 || *at >= *end) return std::nullopt;
  }
  for (const auto& [gate, holds] : a.gates)
    if (const auto v = integer(gate); !v || (*v != 0) != holds) return std::nullopt;
  std::vector<std::int64_t> out;
  for (const Id i : a.index) {
    const auto v = integer(i);
    if (!v) return std::nullopt;
    out.push_back(*v);
  }
  return out;
}

}  // namespace kiln::compiler
