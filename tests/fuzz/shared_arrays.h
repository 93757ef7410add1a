// Arrays that the work items of a workgroup share, in random programs without races between two barriers. In each barrier
// interval an array is only read, at any place; or each work item reads and writes its own place; or work items only add to it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/fuzz/random.h"
#include "tests/unit/generator_tables.h"

namespace kiln::test {

class SharedArrays {
 public:
  SharedArrays(Random& random, tables::Tables& t) : random_(random), t_(t), scalar_(t.shape({})) {}

  // own: the number of the work item in its workgroup of `size`.
  void open_workgroup(int own, std::int64_t size) { own_ = own, size_ = size; }
  // shared: numbers that are equal for all work items.
  void declare(std::uint64_t number, const std::vector<int>& shared);
  std::size_t count() const { return arrays_.size(); }
  void resize(std::size_t count) { arrays_.resize(count); }

  // Begins a barrier interval, which lasts until the next barrier.
  void begin_interval(const std::vector<int>& shared);
  // An element of some array, at `index` or at the work item's own place. nullopt: no array may be read.
  std::optional<int> read(int index, int otherwise);
  // An element that is equal for all work items.
  std::optional<int> read_shared();
  // false: no array may be written. old: the work item's own element before the write.
  bool write(int index, int value, std::optional<int>& old);

 private:
  enum class Use : std::uint8_t { read, own, promised, add };
  struct Array {
    std::uint64_t number = 0;
    std::int64_t extent = 1;
    Use use = Use::read;
    int place = -1;  // the work item's own place
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
