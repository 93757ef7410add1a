// Division by a value that does not change in a loop, or by which several numbers are divided. With AVX-512 it is computed with
// the reciprocal of the divisor, and must have the bits of the division. Elements are random bits, so that all exponents,
// infinities, NaNs and subnormal numbers occur.
#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <regex>

#include "compiler/ir/text.h"
#include "compiler/pipeline/compile.h"
#include "compiler/target/target.h"
#include "tests/run/compiled.h"

namespace kiln::compiler::testing {
namespace {

constexpr std::int64_t rows = 400, columns = 1003;  // long enough for the loop that uses the reciprocal

std::vector<std::string> variants_of_host() {
  std::vector<std::string> variants{"x86-64-v3"};
  if (__builtin_cpu_supports("x86-64-v4")) variants.emplace_back("x86-64-v4");
  return variants;
}

// y[i, j] = x[i, j] / s[i]
std::string divided(const std::string& type) {
  return "program divided\nsymbol M\nsymbol N min 9\nin " + type + " [M, N] x\nin " + type + " [M, 1] s\nout " + type +
         " [M, N] y\n%0 = param x\n%1 = param s\n%2 = expand [M, N] %1\n%3 = fdiv %0, %2\nstore y, %3\n";
}

template <class T, class Bits>
Array random_bits(DType d, std::vector<std::int64_t> extents, bool moderate, std::mt19937_64& random) {
  Array a = Array::zeros(d, std::move(extents));
  for (std::size_t i = 0; i < a.elements(); ++i) {
    Bits bits = static_cast<Bits>(random());
    if (moderate) {
      const double magnitude = std::ldexp(1 + 1e-4 * static_cast<double>(random() % 10'000), 3);
      bits = std::bit_cast<Bits>(static_cast<T>(random() % 2 == 0 ? magnitude : -magnitude));
    }
    if (random() % 8 == 0) bits &= Bits{1} << (8 * sizeof(T) - 1);  // a zero of either sign
    std::memcpy(a.data.data() + i * sizeof(T), &bits, sizeof(T));
  }
  return a;
}

template <class T, class Bits>
void check(DType d, const std::string& type, bool moderate) {
  Graph g;
  const Program p = read_program(g, divided(type), "program.kiln");
  const std::vector<std::string> variants = variants_of_host();
  CompiledProgram compiled(g, p, variants);
  std::mt19937_64 random(7);
  const std::vector<Array> arguments{random_bits<T, Bits>(d, {rows, columns}, moderate, random),
                                     random_bits<T, Bits>(d, {rows, 1}, moderate, random), Array::zeros(d, {rows, columns})};
  Array expected = arguments.back();
  const auto element = [](const Array& a, std::size_t i) {
    T v;
    std::memcpy(&v, a.data.data() + i * sizeof(T), sizeof(T));
    return v;
  };
  for (std::size_t i = 0; i < expected.elements(); ++i) {
    const T quotient = element(arguments[0], i) / element(arguments[1], i / columns);
    std::memcpy(expected.data.data() + i * sizeof(T), &quotient, sizeof(T));
  }
  for (const std::string& cpu : variants) {
    compiled.force(cpu);
    EXPECT_EQ(difference(expected, compiled(arguments).back()), "") << cpu << ' ' << type;
  }
}

TEST(ReciprocalDivision, OfAnyBits) {
  check<float, std::uint32_t>(DType::f32, "f32", false);
  check<double, std::uint64_t>(DType::f64, "f64", false);
}

TEST(ReciprocalDivision, OfModerateNumbers) {
  check<float, std::uint32_t>(DType::f32, "f32", true);
  check<double, std::uint64_t>(DType::f64, "f64", true);
}

// y = x / s and z = s / s, for a divisor that differs from lane to lane
const std::string shared =
    "program shared\nsymbol N\nin f32 [N] x\nin f32 [N] s\nout f32 [N] y\nout f32 [N] z\n%0 = param x\n%1 = param s\n"
    "%2 = fdiv %0, %1\n%3 = fdiv %1, %1\nstore y, %2\nstore z, %3\n";

TEST(ReciprocalDivision, OfASharedDivisor) {
  for (const bool moderate : {false, true}) {
    Graph g;
    const Program p = read_program(g, shared, "program.kiln");
    const std::vector<std::string> variants = variants_of_host();
    CompiledProgram compiled(g, p, variants);
    std::mt19937_64 random(8);
    constexpr std::int64_t n = 100'003;
    const auto numbers = [&] { return random_bits<float, std::uint32_t>(DType::f32, {n}, moderate, random); };
    const Array x = numbers(), divisors = numbers();
    const std::vector<Array> arguments{x, divisors, Array::zeros(DType::f32, {n}), Array::zeros(DType::f32, {n})};
    std::vector<Array> expected{arguments[2], arguments[3]};
    const auto* a = reinterpret_cast<const float*>(x.data.data());
    const auto* b = reinterpret_cast<const float*>(divisors.data.data());
    for (std::size_t i = 0; i < expected[0].elements(); ++i) {
      const float quotients[] = {a[i] / b[i], b[i] / b[i]};
      for (std::size_t k = 0; k < 2; ++k) std::memcpy(expected[k].data.data() + 4 * i, &quotients[k], 4);
    }
    for (const std::string& cpu : variants) {
      compiled.force(cpu);
      const std::vector<Array> results = compiled(arguments);
      EXPECT_EQ(difference(expected[0], results[2]), "") << cpu << ' ' << moderate;
      EXPECT_EQ(difference(expected[1], results[3]), "") << cpu << ' ' << moderate;
    }
  }
}

std::string llvm_ir(const std::string& program, const std::string& cpu) {
  Graph g;
  const Program p = read_program(g, program, "program.kiln");
  CompileOptions options;
  options.targets = {target_named(cpu)};
  options.outputs = {.object = false, .llvm_ir = true, .assembly = false};
  return compile(g, p, options).code.llvm_ir;
}

// The number of divisions by reciprocals whose results are stored without a mask.
std::ptrdiff_t divisions_of_whole_vectors(const std::string& type, const std::string& cpu) {
  const std::string ir = llvm_ir(divided(type), cpu);
  const std::regex block("\neither[0-9]*:[^\n]*((\n +[^\n]*)+)");
  return std::count_if(std::sregex_iterator(ir.begin(), ir.end(), block), std::sregex_iterator(),
                       [](const std::smatch& m) { return m[1].str().find("\n  store <") != std::string::npos; });
}

// Only the loops over whole vectors have so many iterations that a reciprocal pays. There are five: two for short rows, and
// three for long rows. The last one of each has one register at most, and one for long rows stores past the caches. The first
// iteration of the loops for long rows depends on the pointer.
TEST(ReciprocalDivision, IsInTheLoopOfWholeVectors) {
  for (const std::string type : {"f32", "f64"}) {
    EXPECT_EQ(divisions_of_whole_vectors(type, "x86-64-v4"), 5) << type;
    EXPECT_EQ(divisions_of_whole_vectors(type, "x86-64-v3"), 0) << type;
  }
}

// In a branch that is rarely taken, x is divided by s.
TEST(ReciprocalDivision, IsSharedByDivisions) {
  EXPECT_NE(llvm_ir(shared, "x86-64-v4").find("either"), std::string::npos);
  EXPECT_EQ(llvm_ir(shared, "x86-64-v3").find("either"), std::string::npos);
}

// y[i] = x[i] / divisor
std::string integers_divided(const std::string& type, const std::string& result, const std::string& divisor) {
  return "program divided\nsymbol N\nin " + type + " [N] x\nout " + result + " [N] y\n%0 = param x\n%1 = cast " + result +
         " %0\n%2 = const " + result + " [] " + divisor +
         "\n%3 = reshape [1] %2\n%4 = expand [N] %3\n%5 = fdiv %1, %4\nstore y, %5\n";
}

// For each integer of the type.
void check_integers(const std::string& type, DType d, const std::string& result, const std::string& divisor) {
  Graph g;
  const Program p = read_program(g, integers_divided(type, result, divisor), "program.kiln");
  const std::vector<std::string> variants = variants_of_host();
  CompiledProgram compiled(g, p, variants);
  const std::int64_t n = std::int64_t{1} << (8 * bytes(d));
  Array x = Array::zeros(d, {n});
  for (std::size_t i = 0; i < x.elements(); ++i)
    std::memcpy(x.data.data() + i * static_cast<std::size_t>(bytes(d)), &i, static_cast<std::size_t>(bytes(d)));
  Array expected = Array::zeros(result == "f32" ? DType::f32 : DType::f64, {n});
  for (std::int64_t i = 0; i < n; ++i) {
    const bool is_negative = type[0] == 'i' && i >= n / 2;
    const auto value = static_cast<double>(is_negative ? i - n : i);
    const auto at = static_cast<std::size_t>(i);
    const double wide = value / std::stod(divisor);
    const float narrow = static_cast<float>(value) / std::strtof(divisor.c_str(), nullptr);
    if (result == "f32") std::memcpy(expected.data.data() + at * 4, &narrow, 4);
    if (result == "f64") std::memcpy(expected.data.data() + at * 8, &wide, 8);
  }
  for (const std::string& cpu : variants) {
    compiled.force(cpu);
    EXPECT_EQ(difference(expected, compiled(std::vector<Array>{x, Array::zeros(expected.dtype, {n})}).back()), "")
        << cpu << ' ' << type << ' ' << result << " / " << divisor;
  }
}

TEST(ReciprocalDivision, OfBytesIsTwoProducts) {
  for (const char* cpu : {"x86-64-v3", "x86-64-v4"}) {
    EXPECT_EQ(llvm_ir(integers_divided("u8", "f32", "255"), cpu).find("fdiv <"), std::string::npos) << cpu;
    EXPECT_NE(llvm_ir(integers_divided("i64", "f32", "255"), cpu).find("fdiv <"), std::string::npos) << cpu;
  }
}

// Two products are the quotients of most constants; a tiny or a huge divisor has none.
TEST(ReciprocalDivision, OfAllSmallIntegers) {
  const std::pair<const char*, DType> types[] = {
      {"u8", DType::u8}, {"i8", DType::i8}, {"u16", DType::u16}, {"i16", DType::i16}};
  for (const auto& [type, d] : types)
    for (const char* result : {"f32", "f64"})
      for (const char* divisor : {"255", "-255", "3", "127.5", "1.1", "1e-38", "3e38", "1e-3"})
        check_integers(type, d, result, divisor);
}

// A generator that was linked with -ffast-math flushes subnormal numbers to zero. With a huge divisor, the quotients of 0 and
// 1, the reciprocal and both products are then zero.
TEST(ReciprocalDivision, OfSmallIntegersWhereTheCompilerFlushesSubnormals) {
  constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x40;
  const unsigned environment = _mm_getcsr();
  for (const char* type : {"bool", "u8"})
    for (const char* divisor : {"1.7e38", "-3e38", "1.18e-38", "255"}) {
      const std::string program = integers_divided(type, "f32", divisor), ir = llvm_ir(program, "x86-64-v3");
      _mm_setcsr(environment | flush_to_zero | denormals_are_zero);
      const std::string flushed = llvm_ir(program, "x86-64-v3");
      _mm_setcsr(environment);
      EXPECT_EQ(flushed, ir) << type << " / " << divisor;
    }
}

}  // namespace
}  // namespace kiln::compiler::testing
