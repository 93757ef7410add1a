// The arguments of the sorting programs.
#pragma once

#include <sort_kernels/bitonic.h>
#include <sort_kernels/radix_f32.h>
#include <sort_kernels/radix_i32.h>
#include <sort_kernels/radix_keys_f32.h>
#include <sort_kernels/radix_keys_i32.h>
#include <sort_kernels/radix_keys_u32.h>
#include <sort_kernels/radix_u32.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "../common/check.h"

// Memory that a radix sort needs in addition to keys and values.
template <class K>
struct radix_buffers {
  std::vector<K> keys;
  std::vector<std::int32_t> values, counts, totals = std::vector<std::int32_t>(256);
  std::int64_t groups;
  explicit radix_buffers(std::size_t n)
      : keys(n), values(n), counts(256 * ((n + 1023) / 1024)), groups(static_cast<std::int64_t>((n + 1023) / 1024)) {}
  kiln::view<std::int32_t, kiln::dynamic_extent, 256> count_view() { return {counts.data(), groups}; }
};

// A stable sort. Values move with their keys.
template <class K>
void radix_sort(std::vector<K>& keys, std::vector<std::int32_t>& values, radix_buffers<K>& b, const kiln::context& with = {}) {
  const auto sort = [&](auto radix) { check(radix(keys, values, b.keys, b.values, b.count_view(), b.totals, with)); };
  if constexpr (std::is_same_v<K, float>)
    sort(sort_kernels::radix_f32);
  else if constexpr (std::is_same_v<K, std::int32_t>)
    sort(sort_kernels::radix_i32);
  else
    sort(sort_kernels::radix_u32);
}
template <class K>
void radix_sort(std::vector<K>& keys, radix_buffers<K>& b, const kiln::context& with = {}) {
  const auto sort = [&](auto radix) { check(radix(keys, b.keys, b.count_view(), b.totals, with)); };
  if constexpr (std::is_same_v<K, float>)
    sort(sort_kernels::radix_keys_f32);
  else if constexpr (std::is_same_v<K, std::int32_t>)
    sort(sort_kernels::radix_keys_i32);
  else
    sort(sort_kernels::radix_keys_u32);
}
