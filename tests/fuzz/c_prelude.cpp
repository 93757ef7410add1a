#include "tests/fuzz/scopes_as_c.h"

namespace kiln::test {

std::string c_prelude() {
  return R"(#include <stdint.h>
#include <string.h>
static int64_t modulo(int64_t a, int64_t b) { int64_t m = a % b; return m < 0 ? m + b : m; }
static int64_t place(int mode, int64_t i, int64_t n) {
  if (n == 0) return -1;
  if (mode == 0) return i < 0 ? 0 : i >= n ? n - 1 : i;
  if (mode == 1) return modulo(i, n);
  if (mode == 2) { int64_t m = modulo(i, 2 * n); return m < n ? m : 2 * n - 1 - m; }
  return i < 0 || i >= n ? -1 : i;
}
static int64_t join(int64_t outer, int64_t i, int64_t n) { return outer < 0 || i < 0 ? -1 : outer * n + i; }
#define OPERATIONS(t, bits) \
  static t add_##t(t x, t y) { return (t)((uint64_t)x + (uint64_t)y); } \
  static t sub_##t(t x, t y) { return (t)((uint64_t)x - (uint64_t)y); } \
  static t mul_##t(t x, t y) { return (t)((uint64_t)x * (uint64_t)y); } \
  static t min_##t(t x, t y) { return x < y ? x : y; } \
  static t max_##t(t x, t y) { return x > y ? x : y; } \
  static t and_##t(t x, t y) { return x & y; } \
  static t or_##t(t x, t y) { return x | y; } \
  static t xor_##t(t x, t y) { return x ^ y; } \
  static t cdiv_##t(t x, t y) { return y == 0 ? 0 : (t)-1 < 1 && y == (t)-1 ? sub_##t(0, x) : x / y; } \
  static t cmod_##t(t x, t y) { return y == 0 || ((t)-1 < 1 && y == (t)-1) ? 0 : x % y; } \
  static t shl_##t(t x, t y) { return (t)((uint64_t)x << ((uint64_t)y & (bits - 1))); } \
  static t shr_##t(t x, t y) { return x >> ((uint64_t)y & (bits - 1)); } \
  static i8 lt_##t(t x, t y) { return x < y; } \
  static i8 le_##t(t x, t y) { return x <= y; } \
  static i8 eq_##t(t x, t y) { return x == y; } \
  static i8 ne_##t(t x, t y) { return x != y; } \
  static t get_##t(const t* p, int64_t at, t otherwise) { return at < 0 ? otherwise : p[at]; }
typedef int8_t i8; typedef int16_t i16; typedef int32_t i32; typedef int64_t i64;
typedef uint8_t u8; typedef uint16_t u16; typedef uint32_t u32; typedef uint64_t u64;
OPERATIONS(i8, 8) OPERATIONS(i16, 16) OPERATIONS(i32, 32) OPERATIONS(i64, 64)
OPERATIONS(u8, 8) OPERATIONS(u16, 16) OPERATIONS(u32, 32) OPERATIONS(u64, 64)
typedef float f32;
static f32 add_f32(f32 x, f32 y) { return x + y; }
static f32 sub_f32(f32 x, f32 y) { return x - y; }
static f32 mul_f32(f32 x, f32 y) { return x * y; }
static f32 fdiv_f32(f32 x, f32 y) { return x / y; }
static f32 get_f32(const f32* p, int64_t at, f32 otherwise) { return at < 0 ? otherwise : p[at]; }
static i32 saturated(f32 x) { return x != x ? 0 : x >= 2147483648.0f ? INT32_MAX : x < -2147483648.0f ? INT32_MIN : (i32)x; }
)";
}

}  // namespace kiln::test
