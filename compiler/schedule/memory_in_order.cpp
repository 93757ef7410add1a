#include "compiler/schedule/memory_in_order.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <unordered_map>

#include "compiler/ir/index_poly.h"
#include "compiler/schedule/task_order.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t buffer_alignment = KILN_WORKSPACE_ALIGNMENT;
constexpr std::size_t most_tried = 16;  // blocks that are tried for one buffer

// The order of kernels in linear space. For each kernel: a number below which all kernels have ended when it begins, and one
// bit for each of the 512 kernels before it.
class RecentOrder {
 public:
  explicit RecentOrder(const Schedule& s) : all_until_(s.kernels.size(), 0), last_(s.kernels.size()) {
    if (!s.loops.empty()) std::iota(all_until_.begin(), all_until_.end(), std::size_t{0});
    for (std::size_t k = 0; k < s.kernels.size(); ++k) {
      for (const std::size_t d : s.kernels[k].depends_on) add(k, d);
      while (all_until_[k] < k && before(all_until_[k], k)) ++all_until_[k];
    }
  }

  // False if the order is not known.
  bool before(std::size_t earlier, std::size_t later) const {
    if (earlier < all_until_[later]) return true;
    if (earlier >= later || later - earlier > bits) return false;
    const std::size_t bit = later - earlier - 1;
    return (last_[later][bit / 64] >> (bit % 64) & 1) != 0;
  }

 private:
  static constexpr std::size_t words = 8, bits = 64 * words;

  // Kernel d, and all kernels before d, are before k.
  void add(std::size_t k, std::size_t d) {
    all_until_[k] = std::max(all_until_[k], all_until_[d]);
    const std::size_t by = k - d;
    if (by > bits) return;
    const std::size_t whole = by / 64, part = by % 64;
    auto& mine = last_[k];
    const auto& from = last_[d];
    for (std::size_t w = words; w-- > whole;) {
      mine[w] |= from[w - whole] << part;
      if (part != 0 && w > whole) mine[w] |= from[w - whole - 1] >> (64 - part);
    }
    mine[(by - 1) / 64] |= std::uint64_t{1} << ((by - 1) % 64);
  }

  std::vector<std::size_t> all_until_;                  // by kernel: all kernels below this number are before it
  std::vector<std::array<std::uint64_t, words>> last_;  // by kernel k: bit i says that k - 1 - i is before it
};

struct Block {
  Id offset;
  int buffer;  // the block's last user
};

class InOrder {
 public:
  InOrder(Graph& g, Schedule& s) : g_(g), s_(s), order_(s), users_(buffer_users(g, s)), top_(g.index(0)) {}

  void run() {
    std::vector<bool> placed(s_.buffers.size(), false);
    for (const Kernel& k : s_.kernels)
      for (const int b : k.buffers) take(b, placed);
    for (int b = 0; b < count_of(s_.buffers); ++b) take(b, placed);  // temporaries that no kernel uses
    s_.workspace_bytes = top_;
  }

 private:
  void take(int b, std::vector<bool>& placed) {
    Buffer& buffer = nth(s_.buffers, b);
    if (!buffer.is_temporary() || nth(placed, b)) return;
    nth(placed, b) = true;
    const Id size = room(buffer);
    std::vector<Block>& blocks = blocks_[size];
    // Only the blocks that were taken last are tried: an old block's buffer is likely to stay live.
    const auto tried = blocks.end() - static_cast<std::ptrdiff_t>(std::min(blocks.size(), most_tried));
    const auto dead = std::find_if(tried, blocks.end(), [&](const Block& x) { return all_before(x.buffer, b); });
    if (dead != blocks.end()) {
      buffer.offset = dead->offset;
      blocks.erase(dead);
    }
    if (buffer.offset == no_id) {
      buffer.offset = top_;
      top_ = index_add(g_, top_, size);
    }
    blocks.push_back({buffer.offset, b});
  }

  // Size in bytes, rounded up to cache lines.
  Id room(const Buffer& b) {
    const Id size = index_mul(g_, b.stored(), g_.index(bytes(b.dtype)));
    const Id rounded = index_add(g_, size, g_.index(buffer_alignment - 1));
    const Id lines = index_floordiv(g_, rounded, g_.index(buffer_alignment));
    return index_mul(g_, lines, g_.index(buffer_alignment));
  }

  bool all_before(int first, int second) const {
    return std::ranges::all_of(nth(users_, first), [&](std::size_t j) {
      return std::ranges::all_of(nth(users_, second), [&](std::size_t k) { return order_.before(j, k); });
    });
  }

  Graph& g_;
  Schedule& s_;
  RecentOrder order_;
  std::vector<std::vector<std::size_t>> users_;
  std::unordered_map<Id, std::vector<Block>> blocks_;  // by size, the block that was taken last at the end
  Id top_;
};

}  // namespace

void memory_in_order(Graph& g, Schedule& s) { InOrder(g, s).run(); }

}  // namespace kiln::compiler
