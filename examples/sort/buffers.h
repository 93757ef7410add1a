// The arguments of the sorts.
#pragma once

#include <sort_kernels/bitonic_step.h>
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

// Memory that a radix sort uses beside keys and values.
template <class K>
struct radix_buffers {
  std::vector<K> keys;
  std::vector<std::int32_t> values, counts, totals = std::vector<std::int32_t>(256);
  std::int64_t groups;
  explicit radix_buffers(std::size_t n)
      : keys(n), values(n), counts(256 * ((n + 1023) / 1024)), groups(static_cast<std::int64_t>((n + 1023) / 1024)) {}
  kiln::view<std::int32_t, 256, kiln::dynamic_extent> count_view() { return {counts.data(), groups}; }
};

// Stable; values move with their keys.
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

// Not stable; after(): called behind each step.
template <class F>
void bitonic_sort(std::vector<float>& keys, std::vector<std::int32_t>& values, const kiln::context& with, F after) {
  std::int32_t rounds = 0;
  while ((std::size_t{1} << rounds) < keys.size()) ++rounds;
  for (std::int32_t k = 0; k < rounds; ++k)
    for (std::int32_t j = 0; j <= k; ++j) {
      check(sort_kernels::bitonic_step(1 << (rounds - 1), k, j, keys, values, with));
      after();
    }
}
