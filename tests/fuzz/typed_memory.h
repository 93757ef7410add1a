// Variables and local arrays of random_scopes, of every integer type, bool and f32. Reads convert to i32.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "tests/fuzz/random.h"
#include "tests/unit/generator_tables.h"

namespace kiln::test {

class TypedMemory {
 public:
  TypedMemory(Random& random, tables::Tables& t) : random_(random), t_(t), scalar_(t.shape({})) {}

  // Declares a variable with this i32 as its initial value, or an array of zeros.
  void declare(int value);
  std::uint64_t new_variable() { return next_variable_++; }
  std::uint64_t new_array() { return next_array_++; }

  std::optional<int> read_variable();
  std::optional<int> read_array(int i, int j, int otherwise);
  void set(int value);
  bool put(int value, int i, int j);

  // resize(count()) ends everything that is declared between the two calls.
  using Count = std::pair<std::size_t, std::size_t>;
  Count count() const { return {variables_.size(), arrays_.size()}; }
  void resize(Count c) { variables_.resize(c.first), arrays_.resize(c.second); }
  // In a kernel, memory that was declared before is only read.
  void enter_kernel() { writable_ = count(); }
  void leave_kernel() { writable_ = {0, 0}; }

 private:
  struct Variable {
    std::uint64_t number;
    kiln_dtype type;
  };
  struct Array {
    std::uint64_t number;
    kiln_dtype type;
    int rank;
  };
  kiln_dtype any_type();
  int node(dsl::record::op o, kiln_dtype d, std::vector<int> sources = {}, std::uint64_t imm = 0) {
    return t_.node(o, d, scalar_, std::move(sources), {}, imm);
  }
  int number(std::int64_t v) { return node(dsl::record::op::constant, KILN_I32, {}, static_cast<std::uint64_t>(v)); }
  int as(kiln_dtype d, int i32);
  int as_i32(kiln_dtype d, int v);
  std::uint64_t place(dsl::record::index_mode m, const Array& a) const {
    return static_cast<std::uint64_t>(m) << 32 | (dsl::record::local_tensors + a.number);
  }
  template <class T>
  const T* one_of(const std::vector<T>& list, std::size_t first) {
    if (list.size() == first) return nullptr;
    return &list[static_cast<std::size_t>(random_.pick(static_cast<std::int64_t>(first), std::ssize(list) - 1))];
  }

  Random& random_;
  tables::Tables& t_;
  const dsl::record::shape* scalar_;
  std::vector<Variable> variables_;
  std::vector<Array> arrays_;
  Count writable_{0, 0};
  std::uint64_t next_variable_ = 0, next_array_ = 0;
};

}  // namespace kiln::test
