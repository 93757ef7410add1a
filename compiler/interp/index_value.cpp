#include "compiler/interp/index_value.h"

#include "compiler/interp/scalar.h"

namespace kiln::compiler {

std::optional<std::int64_t> IndexValues::operator()(Id id) {
  while (values_.size() <= id) values_.push_back(evaluate(static_cast<Id>(values_.size())));
  return values_[id];
}

std::optional<std::int64_t> IndexValues::evaluate(Id id) const {
  if (graph_.dtype(id) != DType::index) return std::nullopt;
  const Op op = graph_.op(id);
  if (op == Op::CONST) return graph_.value(id);
  if (op == Op::SYM) {
    const auto it = symbols_.find(std::string(graph_.name(id)));
    return it == symbols_.end() ? std::nullopt : std::optional(it->second);
  }
  if (!is_binary(op)) return std::nullopt;
  const auto [left, right] = graph_.operands<2>(id);
  const auto a = values_[left], b = values_[right];
  if (!a || !b) return std::nullopt;
  switch (op) {
    case Op::ADD: return *a + *b;
    case Op::SUB: return *a - *b;
    case Op::MUL: return *a * *b;
    case Op::FLOORDIV: return scalar::floordiv(*a, *b);
    case Op::FLOORMOD: return scalar::floormod(*a, *b);
    case Op::MIN: return std::min(*a, *b);
    case Op::MAX: return std::max(*a, *b);
    default: return std::nullopt;
  }
}

}  // namespace kiln::compiler
