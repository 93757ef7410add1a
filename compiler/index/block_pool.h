// Memory for short lists of terms. The pool keeps freed blocks for later lists of the same thread, because polynomials are
// allocated and freed very often.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <new>

namespace kiln::compiler {

class BlockPool {
 public:
  static constexpr std::size_t largest = 512;  // bytes; blocks are powers of two

  ~BlockPool() {
    for (Block* b : free_)
      while (b != nullptr) {
        Block* const next = b->next;
        ::operator delete(b);
        b = next;
      }
  }
  void* get(std::size_t bytes) {
    Block*& head = free_[size_class(bytes)];
    if (head == nullptr) return ::operator new(std::bit_ceil(bytes));
    Block* const b = head;
    head = b->next;
    return b;
  }
  void put(void* p, std::size_t bytes) {
    Block*& head = free_[size_class(bytes)];
    head = new (p) Block{head};
  }

 private:
  struct Block {
    Block* next;
  };
  static std::size_t size_class(std::size_t bytes) { return static_cast<std::size_t>(std::bit_width(bytes - 1)); }
  std::array<Block*, 10> free_{};
};

template <class T>
struct PoolAllocator {
  using value_type = T;
  PoolAllocator() = default;
  template <class U>
  PoolAllocator(const PoolAllocator<U>&) {}
  T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    return static_cast<T*>(bytes <= BlockPool::largest ? pool().get(bytes) : ::operator new(bytes));
  }
  void deallocate(T* p, std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    if (bytes <= BlockPool::largest)
      pool().put(p, bytes);
    else
      ::operator delete(p);
  }
  bool operator==(const PoolAllocator&) const = default;

 private:
  static BlockPool& pool() {
    static thread_local BlockPool p;
    return p;
  }
};

}  // namespace kiln::compiler
