// A map from node ids, stored in pages. It is as fast as an array, and its memory depends only on the part of the graph that is
// used.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

template <class T>
class IdMap {
 public:
  const T* find(Id id) const {
    const std::size_t p = id / page_size;
    if (p >= pages_.size() || !pages_[p]) return nullptr;
    return pages_[p]->has(id % page_size) ? pages_[p]->at(id % page_size) : nullptr;
  }
  bool contains(Id id) const { return find(id) != nullptr; }
  const T& at(Id id) const { return *pages_[id / page_size]->at(id % page_size); }
  const T& set(Id id, T value) {
    const std::size_t p = id / page_size;
    if (p >= pages_.size()) pages_.resize(p + 1);
    if (!pages_[p]) pages_[p] = std::make_unique<Page>();
    return pages_[p]->set(id % page_size, std::move(value));
  }

 private:
  static constexpr std::size_t page_size = 64;

  // Only entries that are set are constructed, because most maps contain few nodes of a page.
  class Page {
   public:
    Page() {}
    Page(const Page&) = delete;
    Page& operator=(const Page&) = delete;
    ~Page() {
      if constexpr (!std::is_trivially_destructible_v<T>)
        for (std::size_t i = 0; i < page_size; ++i)
          if (has(i)) at(i)->~T();
    }
    bool has(std::size_t i) const { return (set_ >> i & 1) != 0; }
    T* at(std::size_t i) { return std::launder(reinterpret_cast<T*>(entries_ + i * sizeof(T))); }
    const T* at(std::size_t i) const { return std::launder(reinterpret_cast<const T*>(entries_ + i * sizeof(T))); }
    const T& set(std::size_t i, T value) {
      if (has(i)) return *at(i) = std::move(value);
      set_ |= std::uint64_t{1} << i;
      return *new (entries_ + i * sizeof(T)) T(std::move(value));
    }

   private:
    std::uint64_t set_ = 0;
    alignas(T) std::byte entries_[page_size * sizeof(T)];
  };

  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace kiln::compiler
