// The resources of a call in C++: executor, workspace, allocator.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "kiln/kiln.h"

namespace kiln {
namespace detail {

// Keeps one block of memory between calls, so that a call finds pages that are already mapped. docs/reference/runtime.md has a
// measurement. A block of more than `most_kept` bytes is freed after the call. The kept block is freed when `small_calls` calls
// in a row need less than a quarter of it.
class kept_workspace {
 public:
  static constexpr std::size_t most_kept = std::size_t{256} << 20, huge_page = std::size_t{2} << 20, huge_from = 2 * huge_page;
  static constexpr int small_calls = 32;

  kept_workspace() = default;
  kept_workspace(const kept_workspace&) = delete;
  kept_workspace& operator=(const kept_workspace&) = delete;
  ~kept_workspace() { trim(); }

  // Memory with the alignment of a workspace, or null. An executor may run another call on this thread before give_back() of
  // the block. That call gets a block of its own.
  void* take(std::size_t bytes) {
    small_ = kept_ != nullptr && bytes < kept_->bytes / 4 ? small_ + 1 : 0;
    if (kept_ != nullptr && (bytes > kept_->bytes || small_ == small_calls)) trim();
    block* b = kept_ != nullptr ? std::exchange(kept_, nullptr) : fresh(bytes);
    return b != nullptr ? b + 1 : nullptr;
  }
  void give_back(void* p) {
    block* b = static_cast<block*>(p) - 1;
    if (kept_ != nullptr && kept_->bytes < b->bytes) trim();
    if (kept_ != nullptr || b->bytes > most_kept)
      std::free(b);
    else
      kept_ = b;
  }
  void trim() { std::free(std::exchange(kept_, nullptr)); }

 private:
  struct alignas(KILN_WORKSPACE_ALIGNMENT) block {
    std::size_t bytes;  // behind this header
  };

  // Sizes are rounded up by at most an eighth: calls with slowly growing extents reuse a block.
  static block* fresh(std::size_t bytes) {
    constexpr std::size_t most = SIZE_MAX / 4;
    if (bytes > most) return nullptr;
    const std::size_t step = std::max(std::bit_floor(bytes + sizeof(block)) / 8, sizeof(block));
    const std::size_t total = (bytes + sizeof(block) + step - 1) / step * step;
    const bool huge = total >= huge_from;
    const std::size_t alignment = huge ? huge_page : sizeof(block);
    const std::size_t all = (total + alignment - 1) / alignment * alignment;
    void* p = std::aligned_alloc(alignment, all);
    if (p == nullptr) return nullptr;
#if defined(MADV_HUGEPAGE)
    if (huge) madvise(p, all, MADV_HUGEPAGE);  // a request: it is no error if the system refuses
#endif
    if (!huge) touch_pages(static_cast<volatile unsigned char*>(p), all);
    return new (p) block{all - sizeof(block)};
  }

  // A vector under a mask may reach behind the elements of a row. If nothing was written there yet, the page is not mapped, and
  // each such vector takes hundreds of cycles.
  static void touch_pages(volatile unsigned char* p, std::size_t bytes) {
    constexpr std::size_t page = 4096;
    for (std::size_t at = 0; at < bytes; at += page) p[at] = 0;
    p[bytes - 1] = 0;
  }

  block* kept_ = nullptr;
  int small_ = 0;
};

inline kept_workspace& workspace_of_thread() {
  thread_local kept_workspace w;
  return w;
}

}  // namespace detail

// Frees the workspace that the calling thread keeps for its next call.
inline void trim_workspace() { detail::workspace_of_thread().trim(); }

// Resources for a call. By default it runs on the calling thread, in a workspace that each thread keeps from call to call.
class context {
 public:
  context() : c_{nullptr, nullptr, 0, take, give_back, nullptr} {}

  context& executor(kiln_executor* e) { return c_.executor = e, *this; }
  // The memory must be 64-byte aligned. It is used if it is large enough for the call.
  context& workspace(void* p, std::int64_t bytes) { return c_.workspace = p, c_.workspace_bytes = bytes, *this; }
  // Source of the workspace if none is given. If `allocate` is null, a program that needs a workspace fails with KILN_R_OOM.
  context& allocator(void* (*allocate)(void*, std::size_t, std::size_t), void (*release)(void*, void*, std::size_t),
                     void* user) {
    return c_.allocate = allocate, c_.release = release, c_.user = user, *this;
  }
  const kiln_context* get() const { return &c_; }

 private:
  static void* take(void*, std::size_t bytes, std::size_t) { return detail::workspace_of_thread().take(bytes); }
  static void give_back(void*, void* p, std::size_t) { detail::workspace_of_thread().give_back(p); }

  kiln_context c_;
};

}  // namespace kiln
