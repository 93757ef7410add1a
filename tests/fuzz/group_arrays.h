// Arrays that the positions of a group share, in random programs: what positions do between two barriers does not meet. In each
// phase an array is read, at any place; or is each position's at a place of its own, to read and write; or is added to.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/fuzz/random.h"
#include "tests/unit/generator_tables.h"

namespace kiln::test {

class GroupArrays {
 public:
  GroupArrays(Random& random, tables::Tables& t) : random_(random), t_(t), scalar_(t.shape({})) {}

  // own: the number of the position within its group of `size`.
  void open_group(int own, std::int64_t size) { own_ = own, size_ = size; }
  // shared: numbers that all positions have in common.
  void declare(std::uint64_t number, const std::vector<int>& shared);
  std::size_t count() const { return arrays_.size(); }
  void resize(std::size_t count) { arrays_.resize(count); }

  // From here to the next barrier.
  void begin_phase(const std::vector<int>& shared);
  // An element of some array, there or at the own place. nullopt: the array is not to be read.
  std::optional<int> read(int index, int otherwise);
  // An element that all positions have in common.
  std::optional<int> read_shared();
  // false: the array is not to be written. old: an own element before the write.
  bool write(int index, int value, std::optional<int>& old);

 private:
  enum class Use : std::uint8_t { read, own, promised, add };
  struct Array {
    std::uint64_t number = 0;
    std::int64_t extent = 1;
    Use use = Use::read;
    int place = -1;  // of the position
    dsl::record::atomic_kind kind = dsl::record::atomic_kind::add;
  };
  void choose(Array& a, const std::vector<int>& shared);
  int node(dsl::record::op o, std::vector<int> sources, std::uint64_t imm = 0) {
    return t_.node(o, KILN_I32, scalar_, std::move(sources), {}, imm);
  }
  int number(std::int64_t v) { return node(dsl::record::op::constant, {}, static_cast<std::uint64_t>(v)); }
  Array* any();

  Random& random_;
  tables::Tables& t_;
  const dsl::record::shape* scalar_;
  int own_ = -1;
  std::int64_t size_ = 1;
  std::vector<Array> arrays_;
};

}  // namespace kiln::test
