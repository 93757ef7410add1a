// The template arguments of the operation table's programs: a dtype and one of these sets of extents.
#pragma once

#include <kiln/dsl.h>

// A program's parameters have the extents E::S (vectors of elementwise operations), E::N, ... of one set E.
struct symbolic {
  static constexpr kiln::dim<"S"> S{};
  static constexpr kiln::dim<"B"> B{};
  static constexpr kiln::dim<"N"> N{};
  static constexpr kiln::dim<"M", kiln::facts{.min = 4}> M{};
  static constexpr kiln::dim<"K"> K{};
  static constexpr kiln::dim<"L"> L{};
  static constexpr kiln::dim<"H", kiln::facts{.min = 5}> H{};
  static constexpr kiln::dim<"W", kiln::facts{.min = 5}> W{};
};
template <int Extent>
struct line {
  static constexpr int S = Extent;
};
template <int First, int Second, int Third>
struct fixed {
  static constexpr int B = First, N = First, M = Second, K = Third, L = Third, H = Second, W = Third;
};

// P for the extents E and each of the dtypes.
template <template <class, class> class P, class E, class... D>
using each_dtype = kiln::programs<P<D, E>...>;

#define FLOATS kiln::f16, kiln::bf16, kiln::f32, kiln::f64
#define INTEGERS kiln::i8, kiln::i16, kiln::i32, kiln::i64, kiln::u8, kiln::u16, kiln::u32, kiln::u64
#define NUMBERS INTEGERS, FLOATS
#define ALL bool, NUMBERS
#define INDEX kiln::i32
