// The factors of a term: a list of ids that stores up to four ids without allocation. Almost every term has one or two
// factors, and sums are copied very often.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "compiler/index/id.h"

namespace kiln::compiler {

class Atoms {
 public:
  using value_type = Id;
  using iterator = Id*;
  using const_iterator = const Id*;

  Atoms() = default;
  Atoms(std::initializer_list<Id> ids) { append(ids.begin(), ids.end()); }
  Atoms(const std::vector<Id>& ids) { append(ids.data(), ids.data() + ids.size()); }
  Atoms(const Atoms& o) { *this = o; }
  Atoms(Atoms&& o) noexcept : size_(o.size_), capacity_(o.capacity_), store_(o.store_) {
    o.size_ = 0;
    o.capacity_ = inside;
  }
  ~Atoms() { release(); }
  Atoms& operator=(const Atoms& o) {
    if (this == &o) return *this;
    if (capacity_ == inside && o.capacity_ == inside) {
      size_ = o.size_;
      store_.near = o.store_.near;
      return *this;
    }
    size_ = 0;
    append(o.begin(), o.end());
    return *this;
  }
  Atoms& operator=(Atoms&& o) noexcept {
    if (this == &o) return *this;
    release();
    size_ = o.size_;
    capacity_ = o.capacity_;
    store_ = o.store_;
    o.size_ = 0;
    o.capacity_ = inside;
    return *this;
  }

  const Id* data() const { return capacity_ == inside ? store_.near.data() : store_.far; }
  Id* data() { return capacity_ == inside ? store_.near.data() : store_.far; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Id* begin() const { return data(); }
  const Id* end() const { return data() + size_; }
  Id* begin() { return data(); }
  Id* end() { return data() + size_; }
  Id operator[](std::size_t i) const { return data()[i]; }
  Id& operator[](std::size_t i) { return data()[i]; }
  Id front() const { return data()[0]; }
  Id back() const { return data()[size_ - 1]; }

  void push_back(Id id) {
    reserve(size_ + 1);
    data()[size_++] = id;
  }
  void pop_back() { --size_; }
  void append(const Id* first, const Id* last) {
    reserve(size_ + static_cast<std::uint32_t>(last - first));
    Id* const to = data();
    for (; first != last; ++first) to[size_++] = *first;
  }
  void insert(Id* where, const Id* first, const Id* last) {
    const auto at = where - begin(), n = last - first;
    reserve(size_ + static_cast<std::uint32_t>(n));
    std::copy_backward(begin() + at, end(), end() + n);
    std::copy(first, last, begin() + at);
    size_ += static_cast<std::uint32_t>(n);
  }
  void erase(Id* where) { erase(where, where + 1); }
  void erase(Id* first, Id* last) {
    std::copy(last, end(), first);
    size_ -= static_cast<std::uint32_t>(last - first);
  }
  void clear() { size_ = 0; }

  friend bool operator==(const Atoms& a, const Atoms& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }
  friend std::size_t erase(Atoms& a, Id id) {
    const auto left = std::remove(a.begin(), a.end(), id);
    const auto n = static_cast<std::size_t>(a.end() - left);
    a.erase(left, a.end());
    return n;
  }

 private:
  static constexpr std::uint32_t inside = 4;

  void reserve(std::uint32_t n) {
    if (n <= capacity_) return;
    n = std::max(n, 2 * capacity_);
    Id* const more = new Id[n];
    std::copy(begin(), end(), more);
    release();
    store_.far = more;
    capacity_ = n;
  }
  void release() {
    if (capacity_ != inside) delete[] store_.far;
  }

  std::uint32_t size_ = 0, capacity_ = inside;
  union Store {
    std::array<Id, inside> near;
    Id* far;
  } store_ = {.near = {}};
};

}  // namespace kiln::compiler
