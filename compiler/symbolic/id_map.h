// A map from node ids, in pages: as fast as an array, and it costs only the part of the graph that is asked about.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

template <class T>
class IdMap {
 public:
  const T* find(Id id) const {
    const std::size_t p = id / page_size;
    if (p >= pages_.size() || !pages_[p]) return nullptr;
    const std::optional<T>& e = (*pages_[p])[id % page_size];
    return e ? &*e : nullptr;
  }
  bool contains(Id id) const { return find(id) != nullptr; }
  const T& at(Id id) const { return *(*pages_[id / page_size])[id % page_size]; }
  void set(Id id, T value) {
    const std::size_t p = id / page_size;
    if (p >= pages_.size()) pages_.resize(p + 1);
    if (!pages_[p]) pages_[p] = std::make_unique<Page>();
    (*pages_[p])[id % page_size] = std::move(value);
  }

 private:
  static constexpr std::size_t page_size = 128;
  using Page = std::array<std::optional<T>, page_size>;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace kiln::compiler
