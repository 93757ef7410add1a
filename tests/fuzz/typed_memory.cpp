#include "tests/fuzz/typed_memory.h"

namespace kiln::test {

using dsl::record::index_mode;
using dsl::record::op;
using tables::Tables;

kiln_dtype TypedMemory::any_type() {
  constexpr kiln_dtype types[] = {KILN_I8,  KILN_I16, KILN_I64,  KILN_U8,  KILN_U16,
                                  KILN_U32, KILN_U64, KILN_BOOL, KILN_F32, KILN_F32};
  return random_.one_in(2) ? KILN_I32 : types[random_.pick(0, 9)];
}

int TypedMemory::as(kiln_dtype d, int i32) {
  if (d == KILN_I32) return i32;
  return d == KILN_BOOL ? node(op::lt, KILN_BOOL, {number(random_.pick(-3, 9)), i32}) : node(op::cast, d, {i32});
}
int TypedMemory::as_i32(kiln_dtype d, int v) {
  if (d == KILN_I32) return v;
  return d == KILN_BOOL ? node(op::where, KILN_I32, {v, number(random_.pick(-3, 9)), number(random_.pick(-3, 9))})
                        : node(op::cast, KILN_I32, {v});
}

void TypedMemory::declare(int value) {
  const kiln_dtype d = any_type();
  if (!random_.one_in(3)) {
    node(op::var, d, {as(d, value)}, next_variable_);
    variables_.push_back({next_variable_++, d});
    return;
  }
  const int rank = random_.one_in(3) ? 2 : 1;
  std::vector<dsl::record::extent> extents{Tables::fixed(random_.pick(1, 5))};
  if (rank == 2) extents.push_back(Tables::fixed(random_.pick(1, 3)));
  t_.node(op::local, d, t_.shape(extents), {}, {}, next_array_);
  arrays_.push_back({next_array_++, d, rank});
}

std::optional<int> TypedMemory::read_variable() {
  const Variable* v = one_of(variables_, 0);
  if (v == nullptr) return std::nullopt;
  return as_i32(v->type, node(op::get, v->type, {}, v->number));
}

// A float's new value depends on its old value.
void TypedMemory::set(int value) {
  const Variable* v = one_of(variables_, writable_.first);
  if (v == nullptr) return;
  int next = as(v->type, value);
  if (v->type == KILN_F32) {
    constexpr op ops[] = {op::add, op::sub, op::mul, op::fdiv};
    const int now = node(op::get, KILN_F32, {}, v->number);
    next = node(ops[random_.pick(0, 3)], KILN_F32, {now, next});
  }
  node(op::set, v->type, {next}, v->number);
}

std::optional<int> TypedMemory::read_array(int i, int j, int otherwise) {
  const Array* a = one_of(arrays_, 0);
  if (a == nullptr) return std::nullopt;
  const auto m = static_cast<index_mode>(random_.pick(0, 3));
  std::vector<int> sources{i};
  if (a->rank == 2) sources.push_back(j);
  if (m == index_mode::constant) sources.push_back(as(a->type, otherwise));
  return as_i32(a->type, node(op::element, a->type, sources, place(m, *a)));
}

bool TypedMemory::put(int value, int i, int j) {
  const Array* a = one_of(arrays_, writable_.second);
  if (a == nullptr) return false;
  std::vector<int> sources{as(a->type, value), i};
  if (a->rank == 2) sources.push_back(j);
  node(op::put, a->type, sources, place(static_cast<index_mode>(random_.one_in(4) ? 5 : random_.pick(0, 2)), *a));
  return true;
}

}  // namespace kiln::test
