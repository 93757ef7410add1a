// Division by a value that does not change in a loop. With AVX-512 it is computed with the reciprocal of the divisor, and must
// have the bits of the division. Elements are random bits, so that all exponents, infinities, NaNs and subnormal numbers occur.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
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

// y[i, j] = x[i, j] / s[i]
std::string divided(const std::string& type) {
  return "program divided\nsymbol M\nsymbol N\nin " + type + " [M, N] x\nin " + type + " [M, 1] s\nout " + type +
         " [M, N] y\n%0 = param x\n%1 = param s\n%2 = expand [M, N] %1\n%3 = fdiv %0, %2\nstore y, %3\n";
}

template <class T, class Bits>
Array random_bits(DType d, std::vector<std::int64_t> extents, bool moderate, std::mt19937_64& random) {
  Array a = Array::zeros(d, std::move(extents));
  for (std::size_t i = 0; i < a.elements(); ++i) {
    Bits bits = static_cast<Bits>(random());
    if (moderate) bits = std::bit_cast<Bits>(static_cast<T>(std::ldexp(1 + 1e-4 * static_cast<double>(random() % 10'000), 3)));
    if (random() % 8 == 0) bits &= Bits{1} << (8 * sizeof(T) - 1);  // a zero
    std::memcpy(a.data.data() + i * sizeof(T), &bits, sizeof(T));
  }
  return a;
}

template <class T, class Bits>
void check(DType d, const std::string& type, bool moderate) {
  Graph g;
  const Program p = read_program(g, divided(type), "program.kiln");
  std::vector<std::string> variants{"x86-64-v3"};
  if (__builtin_cpu_supports("x86-64-v4")) variants.emplace_back("x86-64-v4");
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

TEST(InvariantDivision, OfAnyBits) {
  check<float, std::uint32_t>(DType::f32, "f32", false);
  check<double, std::uint64_t>(DType::f64, "f64", false);
}

TEST(InvariantDivision, OfModerateNumbers) {
  check<float, std::uint32_t>(DType::f32, "f32", true);
  check<double, std::uint64_t>(DType::f64, "f64", true);
}

// The number of divisions by reciprocals whose results are stored without a mask.
std::ptrdiff_t divisions_of_whole_vectors(const std::string& type, const std::string& cpu) {
  Graph g;
  const Program p = read_program(g, divided(type), "program.kiln");
  CompileOptions options;
  options.targets = {target_named(cpu)};
  options.outputs = {.object = false, .llvm_ir = true, .assembly = false};
  const std::string ir = compile(g, p, options).code.llvm_ir;
  const std::regex block("\neither[0-9]*:[^\n]*((\n +[^\n]*)+)");
  return std::count_if(std::sregex_iterator(ir.begin(), ir.end(), block), std::sregex_iterator(),
                       [](const std::smatch& m) { return m[1].str().find("\n  store <") != std::string::npos; });
}

// Only the loop over whole vectors has so many iterations that a reciprocal pays. Its first iteration depends on the pointer.
TEST(InvariantDivision, IsInTheLoopOfWholeVectors) {
  for (const std::string type : {"f32", "f64"}) {
    EXPECT_EQ(divisions_of_whole_vectors(type, "x86-64-v4"), 1) << type;
    EXPECT_EQ(divisions_of_whole_vectors(type, "x86-64-v3"), 0) << type;
  }
}

}  // namespace
}  // namespace kiln::compiler::testing
