// Reads the fields of a record: its type, and which tensor or variable it accesses. Variables are accessed as a whole or by
// element.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/ir/dtype.h"
#include "compiler/ir/op.h"
#include "generator/record.h"

namespace kiln::generator {

inline constexpr compiler::DType ir_dtype(kiln_dtype d) { return static_cast<compiler::DType>(d); }
inline constexpr record::index_mode index_mode_of(const record::node& n) {
  return static_cast<record::index_mode>(n.imm >> 32 & 0xff);
}
// The operation of an `accumulate` and of an `atomic`.
inline constexpr record::op operation_of(const record::node& n) { return static_cast<record::op>(n.imm >> 40 & 0xff); }
inline constexpr compiler::AtomicKind atomic_kind_of(const record::node& n) {
  return static_cast<compiler::AtomicKind>(n.imm >> 40);
}
inline constexpr std::uint64_t tensor_of(const record::node& n) { return n.imm & 0xffffffffu; }
inline constexpr bool writes_element(record::op o) {
  return o == record::op::put || o == record::op::atomic || o == record::op::accumulate || o == record::op::check;
}
inline constexpr bool names_element(record::op o) { return o == record::op::element || writes_element(o); }
inline constexpr bool is_local(std::uint64_t tensor) {
  return tensor >= record::local_tensors && tensor < record::variable_tensors;
}

// The variable that the record declares, reads or writes; nullopt: none.
inline constexpr std::optional<std::uint64_t> variable_of(const record::node& n) {
  using record::op;
  if (n.o == op::var || n.o == op::set || n.o == op::get) return n.imm;
  if (!names_element(n.o) || tensor_of(n) < record::variable_tensors || tensor_of(n) == record::computed_tensor) return {};
  return tensor_of(n) - record::variable_tensors;
}
inline constexpr bool sets_variable(const record::node& n) {
  return n.o == record::op::set || (writes_element(n.o) && variable_of(n));
}

}  // namespace kiln::generator
