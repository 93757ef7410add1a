// States of tensors in the interpreter: values outside of kernels, atomics on every type, bounds.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "compiler/interp/scalar.h"
#include "compiler/ir/diagnostic.h"
#include "interp_harness.h"

using namespace kiln::compiler;
using namespace kiln::compiler::testing;
namespace s = kiln::compiler::scalar;

namespace {

using I = std::int32_t;

std::string error_of(const std::string& text, const std::vector<Array>& arguments) {
  try {
    run_text(text, arguments);
  } catch (const Diagnostic& d) {
    return d.what();
  }
  return "";
}

}  // namespace

TEST(States, AreValuesOutsideOfKernels) {
  const std::string text = R"(program p
in i32 [3] x
out i32 [3] a
out i32 [3] b
out i32 [3] c
%0 = param x
%1 = const bool true
%2 = const i32 7
%3 = update %0, %1, %2, (0)
%4 = update %0, %1, %2, (1)
%5 = index %3, (0)
%6 = cast index %5
%7 = sub index %6, (6)
%8 = index %0, %7
%9 = update %3, %1, %8, (2)
store a, %9
store b, %4
store c, %0
)";
  const auto out = run_text(text, {array<I>({3}, {1, 2, 3}), array<I>({3}, {}), array<I>({3}, {}), array<I>({3}, {})});
  EXPECT_EQ(values<I>(out[1]), (std::vector<I>{7, 2, 2}));
  EXPECT_EQ(values<I>(out[2]), (std::vector<I>{1, 7, 3}));
  EXPECT_EQ(values<I>(out[3]), (std::vector<I>{1, 2, 3}));
}

// A value from outside is a loop's initial value, and also its value at the end of each iteration.
TEST(States, FromOutsideAtTheEndOfAnIteration) {
  const std::string text = R"(program p
in i32 [2] x
in i32 [2] y
out i32 [2] a
out i32 [2] b
%0 = param x
%1 = param y
%2 = range (3), id 0
%3 = for %2, (0), (3), %0, %1, %1, %1
%4 = get %3, slot 0
%5 = get %3, slot 1
store a, %4
store b, %5
)";
  const auto out = run_text(text, {array<I>({2}, {1, 2}), array<I>({2}, {3, 4}), array<I>({2}, {}), array<I>({2}, {})});
  EXPECT_EQ(values<I>(out[2]), (std::vector<I>{3, 4}));
  EXPECT_EQ(values<I>(out[3]), (std::vector<I>{3, 4}));
}

namespace {

// counts[at[i] % 3] KIND= v[i] for values of one type, and the old elements.
std::string atomic_program(DType d, AtomicKind k) {
  const std::string t(name(d)), kind(name(k));
  return "program p\nin " + t + " [N] v\nin " + t + " [N] e\nin bool [N] on\ninout " + t + " [3] y\nout " + t +
         " [N] before\n%0 = param v\n%1 = param on\n%2 = param y\n%3 = param before\n%4 = range (N), id 0\n"
         "%5 = carry %4, %2, slot 0\n%6 = carry %4, %3, slot 1\n%7 = index %0, %4\n%8 = index %1, %4\n%9 = const bool true\n"
         "%10 = floormod index %4, (3)\n%15 = param e\n%16 = index %15, %4\n%11 = atomic %5, %8, %7" +
         (k == AtomicKind::compare_exchange ? ", %16" : "") + ", %10, " + kind +
         "\n%12 = old %11\n%13 = update %6, %9, %12, %4\n%14 = kernel %4, %2, %3, %11, %13\n%17 = get %14, slot 0\n"
         "%18 = get %14, slot 1\nstore y, %17\nstore before, %18\n";
}

template <class T>
T combined(AtomicKind k, T old, T value, T expected) {
  using C = s::Compute<T>;
  const auto load = [](T v) { return s::load(v); };
  switch (k) {
    case AtomicKind::add: return s::round_to<T>(s::add<C>(load(old), load(value)));
    case AtomicKind::min: return s::round_to<T>(s::min<C>(load(old), load(value)));
    case AtomicKind::max: return s::round_to<T>(s::max<C>(load(old), load(value)));
    case AtomicKind::exchange: return value;
    case AtomicKind::compare_exchange: return std::memcmp(&old, &expected, sizeof old) == 0 ? value : old;
    default:
      if constexpr (std::is_integral_v<T>) {
        if (k == AtomicKind::bit_and) return static_cast<T>(old & value);
        if (k == AtomicKind::bit_or) return static_cast<T>(old | value);
        return static_cast<T>(old ^ value);
      }
  }
  return old;
}

template <class T>
Array raw(DType d, const std::vector<T>& v) {
  Array a{d, {static_cast<std::int64_t>(v.size())}, {}};
  a.data.resize(v.size() * sizeof(T));
  std::memcpy(a.data.data(), v.data(), a.data.size());
  return a;
}

template <class T>
void check_atomic(DType d, AtomicKind k) {
  std::vector<T> v, e, y(3), before;
  std::vector<std::uint8_t> on;
  std::uint64_t state = 99;
  const auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto bits = static_cast<std::uint32_t>(state >> 35);
    if (d == DType::boolean) return T(static_cast<std::uint8_t>(bits & 1));
    if constexpr (s::is_real<T>)
      return s::round_to<T>(static_cast<s::Compute<T>>(static_cast<float>(bits % 1000) / 7.0f - 60));
    else
      return static_cast<T>(bits % 8 == 0 ? 3 : bits);
  };
  for (int i = 0; i < 200; ++i) {
    v.push_back(next());
    e.push_back(i % 2 == 0 && i >= 3 ? v[static_cast<std::size_t>(i) - 3] : next());  // often the present element
    on.push_back(i % 5 != 4);
  }
  for (T& t : y) t = next();
  const auto out = run_text(atomic_program(d, k), {raw(d, v), raw(d, e), array<std::uint8_t>({200}, on, DType::boolean),
                                                   raw(d, y), Array{d, {200}, {}}});
  for (std::size_t i = 0; i < 200; ++i) {
    before.push_back(on[i] != 0 ? y[i % 3] : T{});
    if (on[i] != 0) y[i % 3] = combined<T>(k, y[i % 3], v[i], e[i]);
  }
  EXPECT_EQ(out[3].data, raw(d, y).data) << name(k) << " " << name(d);
  EXPECT_EQ(out[4].data, raw(d, before).data) << name(k) << " " << name(d);
}

}  // namespace

TEST(Atomics, EveryKindOnEveryType) {
  for (int kind = 0; kind < 8; ++kind) {
    const auto k = static_cast<AtomicKind>(kind);
    const bool bitwise = k == AtomicKind::bit_and || k == AtomicKind::bit_or || k == AtomicKind::bit_xor;
    check_atomic<std::int8_t>(DType::i8, k);
    check_atomic<std::int16_t>(DType::i16, k);
    check_atomic<std::int32_t>(DType::i32, k);
    check_atomic<std::int64_t>(DType::i64, k);
    check_atomic<std::uint8_t>(DType::u8, k);
    check_atomic<std::uint16_t>(DType::u16, k);
    check_atomic<std::uint32_t>(DType::u32, k);
    check_atomic<std::uint64_t>(DType::u64, k);
    if (k != AtomicKind::add) check_atomic<std::uint8_t>(DType::boolean, k);
    if (bitwise) continue;
    check_atomic<s::Half>(DType::f16, k);
    check_atomic<s::Brain>(DType::bf16, k);
    check_atomic<float>(DType::f32, k);
    check_atomic<double>(DType::f64, k);
  }
}

TEST(Bounds, ReadsAndWrites) {
  const auto text = [](const std::string& access) {
    return "program p\nin i32 [] n\nin bool [] on\ninout i32 [4, 3] y\n%0 = param n\n%1 = cast index %0\n%2 = param on\n"
           "%3 = param y\n%4 = const bool true\n" +
           access + "store y, %9\n";
  };
  const std::string read = text("%5 = index %3, (1), %1\n%9 = update %3, %4, %5, (0), (0)\n");
  const std::string write = text("%9 = update %3, %2, %0, %1, (0)\n");
  const std::string atomic = text("%9 = atomic %3, %2, %0, (0), %1, add\n");
  const std::string gated =
      text("%5 = invalid\n%6 = where %2, %1, %5\n%7 = index %3, %6, (0)\n%9 = update %3, %2, %7, (0), (0)\n");
  const auto error = [&](const std::string& t, I n, bool on = true) {
    return error_of(
        t, {array<I>({}, {n}), array<std::uint8_t>({}, {on}, DType::boolean), array<I>({4, 3}, std::vector<I>(12, 5))});
  };
  EXPECT_EQ(error(read, 2), "");
  EXPECT_EQ(error(read, 3), "t:10:1: error: E-bounds: `index` expected an index below the extent 3 of axis 1, got 3");
  EXPECT_EQ(error(write, 3), "");
  EXPECT_EQ(error(write, -1), "t:10:1: error: E-bounds: `update` expected an index below the extent 4 of axis 0, got -1");
  EXPECT_EQ(error(write, 4, false), "");
  EXPECT_EQ(error(atomic, 2), "");
  EXPECT_EQ(error(atomic, 3), "t:10:1: error: E-bounds: `atomic` expected an index below the extent 3 of axis 1, got 3");
  EXPECT_EQ(error(atomic, 3, false), "");
  EXPECT_EQ(error(gated, 4, false), "");
  EXPECT_EQ(error(gated, 4), "t:12:1: error: E-bounds: `index` expected an index below the extent 4 of axis 0, got 4");
}
