// Every kind of atomic on every dtype that has it, with and without the old element. interp_states_test.cpp tests the
// interpreter's numbers. Here compiled code is compared with them, for work items that meet, and under a condition.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>
#include <type_traits>

#include "tests/run/scopes/run_scopes.h"

namespace atomics_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;

using compiler::Array;
using compiler::DType;

// Writes the result of an atomic operation, or nothing.
template <bool Old>
constexpr void keep(auto& out, auto const& i, auto const& old) {
  if constexpr (Old) out(i) = old;
}

template <class D, bool Old>
struct extrema : program<extrema<D, Old>> {
  in<i32, N> where;
  in<bool, N> on;
  in<D, N> x;
  inout<D, 5> least, most;
  out<D, N> before_least, before_most;
  constexpr void body() {
    before_least = x, before_most = x;
    for (auto [i] : this->kernel(N))
      if (auto c = this->when(on(i))) {
        auto a = least(where(i)).atomic_min(x(i)), b = most(where(i)).atomic_max(x(i));
        keep<Old>(before_least, i, a), keep<Old>(before_most, i, b);
      }
  }
};
template <class D, bool Old>
struct exchanges : program<exchanges<D, Old>> {
  in<i32, N> where;
  in<bool, N> on;
  in<D, N> x, expected;
  inout<D, 5> put, compared;
  out<D, N> before_put, before_compared;
  constexpr void body() {
    before_put = x, before_compared = x;
    for (auto [i] : this->kernel(N))
      if (auto c = this->when(on(i))) {
        auto a = put(where(i)).atomic_exchange(x(i)), b = compared(where(i)).atomic_compare_exchange(expected(i), x(i));
        keep<Old>(before_put, i, a), keep<Old>(before_compared, i, b);
      }
  }
};
template <class D, bool Old>
struct sums : program<sums<D, Old>> {
  in<i32, N> where;
  in<bool, N> on;
  in<D, N> x;
  inout<D, 5> added;
  out<D, N> before;
  constexpr void body() {
    before = x;
    for (auto [i] : this->kernel(N))
      if (auto c = this->when(on(i))) {
        auto a = added(where(i)).atomic_add(x(i));
        keep<Old>(before, i, a);
      }
  }
};
template <class D, bool Old>
struct bits : program<bits<D, Old>> {
  in<i32, N> where;
  in<bool, N> on;
  in<D, N> x;
  inout<D, 5> both, either, odd;
  out<D, N> before_both, before_either, before_odd;
  constexpr void body() {
    before_both = x, before_either = x, before_odd = x;
    for (auto [i] : this->kernel(N))
      if (auto w = this->when(on(i))) {
        auto a = both(where(i)).atomic_and(x(i)), b = either(where(i)).atomic_or(x(i)), c = odd(where(i)).atomic_xor(x(i));
        keep<Old>(before_both, i, a), keep<Old>(before_either, i, b), keep<Old>(before_odd, i, c);
      }
  }
};

// Random bits. If `numbers` is set, floats of a few magnitudes, which can be summed.
class Bits {
 public:
  explicit Bits(DType d, bool numbers) : dtype_(d), numbers_(numbers) {}
  Array operator()(std::int64_t n) {
    Array a{dtype_, {n}, {}};
    const auto size = static_cast<std::size_t>(compiler::bytes(dtype_));
    a.data.resize(a.elements() * size);
    for (std::size_t i = 0; i < a.elements(); ++i) {
      const std::uint64_t v = next();
      std::memcpy(a.data.data() + i * size, &v, size);
    }
    return a;
  }

 private:
  std::uint64_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t v = state_ >> 7 ^ state_ << 50;
    if (dtype_ == DType::boolean) return v >> 20 & 1;
    if (!numbers_ || !compiler::is_float(dtype_)) return v;
    const int mantissa = dtype_ == DType::f64 ? 52 : dtype_ == DType::f32 ? 23 : dtype_ == DType::f16 ? 10 : 7;
    const int width = 8 * compiler::bytes(dtype_);
    const std::uint64_t one = (std::uint64_t{1} << (width - mantissa - 2)) - 1;  // the exponent field of 1
    const std::uint64_t sign = v >> 60 & 1, exponent = one - 4 + (v >> 32) % 8;
    return sign << (width - 1) | exponent << mantissa | (v & ((std::uint64_t{1} << mantissa) - 1));
  }
  DType dtype_;
  bool numbers_;
  std::uint64_t state_ = 5;
};

// The arrays from `first` on get only four values, so that an element often equals the expected value.
void take_few(std::vector<Array>& arrays, std::size_t first) {
  const auto size = static_cast<std::size_t>(compiler::bytes(arrays[first].dtype));
  const auto few = arrays[first].data;
  for (std::size_t a = first; a < arrays.size(); ++a)
    for (std::size_t i = 0; i < arrays[a].elements(); ++i)
      std::copy_n(few.begin() + static_cast<std::ptrdiff_t>((i * i / 3 + a) % 4 * size), size,
                  arrays[a].data.begin() + static_cast<std::ptrdiff_t>(i * size));
}

constexpr std::int64_t many = 1003;

// Memories of five elements and the old elements, in the order of the parameters.
template <class P>
void check(DType d, bool numbers, int inputs, int memories) {
  std::vector<int> where;
  std::vector<bool> on;
  for (int i = 0; i < many; ++i) where.push_back(i * i % 7 % 5), on.push_back(i % 5 != 4);
  Bits made(d, numbers);
  std::vector<Array> arguments = {scopes::tensor({many}, where), scopes::tensor({many}, on)};
  for (int i = 0; i < inputs; ++i) arguments.push_back(made(many));
  for (int i = 0; i < memories; ++i) arguments.push_back(made(5));
  if (inputs == 2) take_few(arguments, 2);
  for (int i = 0; i < memories; ++i) arguments.push_back(made(many));
  SCOPED_TRACE(std::string(name(d)) + (numbers ? ", numbers" : ", any bits"));
  const auto r = scopes::run(ir<P>, arguments);
  ASSERT_EQ(r.size(), arguments.size());
  for (std::size_t m = 0; m < static_cast<std::size_t>(memories) && d != DType::boolean; ++m) {  // each one did something
    const std::size_t at = 2 + static_cast<std::size_t>(inputs) + m;
    EXPECT_NE(r.at(at).data, arguments[at].data) << m;
  }
}

template <class D, bool Old>
void check_kinds(DType d) {
  for (const bool numbers : {false, true}) {
    if (numbers && !compiler::is_float(d)) continue;
    check<extrema<D, Old>>(d, numbers, 1, 2);
    check<exchanges<D, Old>>(d, numbers, 2, 2);
    if constexpr (!std::is_same_v<D, bool>) check<sums<D, Old>>(d, numbers, 1, 1);
  }
}
template <class D>
void check_type(DType d) {
  check_kinds<D, false>(d);
  check_kinds<D, true>(d);
}
template <class D>
void check_bits(DType d) {
  check<bits<D, false>>(d, false, 1, 3);
  check<bits<D, true>>(d, false, 1, 3);
}

TEST(CompiledAtomics, Integers) {
  check_type<i8>(DType::i8);
  check_type<i16>(DType::i16);
  check_type<i32>(DType::i32);
  check_type<i64>(DType::i64);
  check_type<u8>(DType::u8);
  check_type<u16>(DType::u16);
  check_type<u32>(DType::u32);
  check_type<u64>(DType::u64);
}
TEST(CompiledAtomics, FloatsAndBool) {
  check_type<f16>(DType::f16);
  check_type<bf16>(DType::bf16);
  check_type<f32>(DType::f32);
  check_type<f64>(DType::f64);
  check_type<bool>(DType::boolean);
}
TEST(CompiledAtomics, Bits) {
  check_bits<i8>(DType::i8);
  check_bits<i16>(DType::i16);
  check_bits<i32>(DType::i32);
  check_bits<i64>(DType::i64);
  check_bits<u8>(DType::u8);
  check_bits<u16>(DType::u16);
  check_bits<u32>(DType::u32);
  check_bits<u64>(DType::u64);
  check_bits<bool>(DType::boolean);
}

// The lanes of the table's and the counters' indices are loaded alone: of `k`, which the same iteration changes afterwards,
// before the store; of `kept` when they are needed.
struct looked_up : program<looked_up> {
  inout<u8, N> k;
  in<u8, N> kept;
  in<u8, 256> table;
  inout<i32, 256> count, count_kept;
  out<u8, N> y;
  out<i16, N> z;
  in<i16, 256> wide;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto old = cast<i32>(k(i)), other = cast<i32>(kept(i));
      y(i) = table(old);
      z(i) = wide(other);
      k(i) = kept(i) + 1;
      count(old).atomic_add(1);
      count_kept(other).atomic_add(old);
    }
  }
};

TEST(Atomics, LanesOfIndices) {
  using Bytes = std::vector<std::uint8_t>;
  for (const int n : {0, 1, 15, 16, 17, 64, 129, 300}) {
    Bytes k, kept, table, next, y;
    std::vector<std::int16_t> wide, z;
    std::vector<int> count(256), count_kept(256);
    for (int i = 0; i < 256; ++i)
      table.push_back(static_cast<std::uint8_t>(i * 37 + 5)), wide.push_back(static_cast<std::int16_t>(i * 301 - 20'000));
    for (int i = 0; i < n; ++i) {
      const auto old = static_cast<std::uint8_t>(i * i), other = static_cast<std::uint8_t>(i * 7 % 11 * 23);
      k.push_back(old), kept.push_back(other), next.push_back(static_cast<std::uint8_t>(other + 1));
      y.push_back(table[old]), z.push_back(wide[other]);
      ++count[old], count_kept[other] += old;
    }
    const auto r = scopes::run(
        ir<looked_up>, {scopes::tensor({n}, k), scopes::tensor({n}, kept), scopes::tensor({256}, table),
                        scopes::tensor({256}, std::vector<int>(256)), scopes::tensor({256}, std::vector<int>(256)),
                        scopes::output<std::uint8_t>({n}), scopes::output<std::int16_t>({n}), scopes::tensor({256}, wide)});
    EXPECT_EQ(scopes::values<std::uint8_t>(r["k"]), next);
    EXPECT_EQ(scopes::values<std::uint8_t>(r["y"]), y);
    EXPECT_EQ(scopes::values<std::int16_t>(r["z"]), z);
    EXPECT_EQ(scopes::values<int>(r["count"]), count);
    EXPECT_EQ(scopes::values<int>(r["count_kept"]), count_kept);
  }
}

}  // namespace

}  // namespace atomics_test
