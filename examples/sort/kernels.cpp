// Sorting: a stable radix sort with four passes of eight bits each, and the steps of a bitonic sort.
#include <kiln/dsl.h>

using namespace kiln;

inline constexpr dim<"N", {.min = 1, .max = 1 << 28}> N;
inline constexpr int group = 1024;  // keys that one work item walks over
inline constexpr auto groups = (N + (group - 1)) / group;

// Unsigned bits in the order of the keys. -0.0 and 0.0 get equal bits, so that they keep their order. NaNs come last.
template <class K>
constexpr auto ordered(auto const& key) {
  if constexpr (std::is_same_v<K, u32>) {
    return key + 0u;
  } else if constexpr (std::is_same_v<K, i32>) {
    return bitcast<u32>(key) ^ 0x80000000u;
  } else {
    auto bits = bitcast<u32>(key + 0.0f);
    return select(key != key, 0xffffffffu, select((bits >> 31) == 1u, ~bits, bits ^ 0x80000000u));
  }
}

// One pass: counts digits in each block of keys, finds places for its keys, and moves them. move(i, place) moves the rest.
template <class K>
constexpr void radix_pass(auto const& s, int shift, auto const& from, auto const& to, auto const& counts, auto const& totals,
                          auto const& move) {
  auto each = [&](auto const& g, auto const& f) {
    for (auto k : s.loop(min(group, s.template size<N, i32>() - g * group))) {
      auto i = g * group + k;
      f(i, cast<i32>((ordered<K>(from(i)) >> static_cast<unsigned>(shift)) & 255u));
    }
  };
  for (auto [g_] : s.template kernel<groups>()) {
    auto g = g_ + 0;
    auto count = s.template local<i32, 256>();
    each(g, [&](auto const&, auto const& digit) { count(digit) += 1; });
    for (auto d : s.loop(256)) counts(g, d) = count(d);
  }
  for (auto [d] : s.template kernel<256>()) {
    auto sum = s.var(0);
    for (auto g : s.template loop<groups>()) sum += counts(g, d);
    totals(d) = sum;
  }
  for (auto [d] : s.template kernel<256>()) {
    auto place = s.var(0);
    for (auto before : s.loop(d)) place += totals(before);
    for (auto g : s.template loop<groups>()) {
      auto count = counts(g, d);
      counts(g, d) = place;
      place += count;
    }
  }
  for (auto [g_] : s.template kernel<groups>()) {
    auto g = g_ + 0;
    auto next = s.template local<i32, 256>();
    for (auto d : s.loop(256)) next(d) = counts(g, d);
    each(g, [&](auto const& i, auto const& digit) {
      auto place = next(digit);
      next(digit) = place + 1;
      unique(to(place)) = from(i);  // each key has its own place
      move(i, place);
    });
  }
}

template <class K>
struct radix : program<radix<K>> {
  inout<K, N> keys;
  inout<i32, N> values;
  out<K, N> other_keys;
  out<i32, N> other_values;
  out<i32, groups, 256> counts;
  out<i32, 256> totals;
  constexpr void body() {
    for (const int shift : {0, 16}) {
      radix_pass<K>(*this, shift, keys, other_keys, counts, totals,
                    [&](auto const& i, auto const& place) { unique(other_values(place)) = values(i); });
      radix_pass<K>(*this, shift + 8, other_keys, keys, counts, totals,
                    [&](auto const& i, auto const& place) { unique(values(place)) = other_values(i); });
    }
  }
};

template <class K>
struct radix_keys : program<radix_keys<K>> {
  inout<K, N> keys;
  out<K, N> other_keys;
  out<i32, groups, 256> counts;
  out<i32, 256> totals;
  constexpr void body() {
    auto nothing = [](auto const&, auto const&) {};
    for (const int shift : {0, 16}) {
      radix_pass<K>(*this, shift, keys, other_keys, counts, totals, nothing);
      radix_pass<K>(*this, shift + 8, other_keys, keys, counts, totals, nothing);
    }
  }
};

// Sorts any length in place. Round k has steps that compare keys at a distance of 2^(k - j). The first step of a round (j = 0)
// compares mirror images, so all rounds sort upward, and places behind the end count as greatest. Not stable.
struct bitonic : program<bitonic> {
  in<i32> most_steps;  // 406 or more: all steps
  inout<f32, N> keys;
  inout<i32, N> values;

  constexpr void exchange(auto const& a, auto const& b) {
    auto first = keys(a), second = keys(b);
    if (auto wrong = when(b < size<N, i32>() && first >= second)) {
      keys(a) = second;
      keys(b) = first;
      auto value = values(a);
      values(a) = values(b);
      values(b) = value;
    }
  }
  constexpr void body() {
    auto half = var(1);  // number of pairs that a step compares: a power of two
    for (auto k : loop(28)) {
      break_if(half * 2 >= size<N, i32>());
      half = half * 2;
    }
    auto steps = var(0);
    for (auto k : loop(28)) {
      break_if((1 << k) >= size<N, i32>());
      for (auto j : loop(min(k + 1, most_steps - steps)))
        for (auto [pair] : kernel(min(half, size<N, i32>()))) {
          auto s = 1 << (k - j);
          auto low = pair & (s - 1);
          auto a = 2 * (pair - low) + low;
          exchange(a, a + select(j == 0, 2 * (s - low) - 1, s));
        }
      steps += k + 1;
    }
  }
};

static const programs<bitonic, radix<u32>, radix<i32>, radix<f32>, radix_keys<u32>, radix_keys<i32>, radix_keys<f32>> exported;
