#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "compiler/ir/diagnostic.h"
#include "generator/tools/arguments.h"
#include "generator/tools/npy.h"
#include "generator/tools/shared_library.h"

namespace kiln::generator {
namespace {

using compiler::Array;
using compiler::Diagnostic;
using compiler::DType;

std::string npy(const std::string& header, std::size_t data, char version = 1) {
  std::string s = "\x93NUMPY";
  s += version;
  s += '\0';
  const std::size_t n = header.size();
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) s += static_cast<char>(n >> (8 * i) & 0xff);
  return s + header + std::string(data, '\1');
}
std::string header(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

std::string mistake(const std::string& bytes) {
  try {
    parse_npy(bytes, "a.npy");
  } catch (const Diagnostic& d) {
    EXPECT_EQ(d.id(), "E-npy");
    return d.what();
  }
  return "";
}

TEST(Npy, RoundTripOfEveryDtype) {
  for (int d = 0; d <= static_cast<int>(DType::f64); ++d)
    for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{}, {0}, {5}, {3, 0, 2}, {2, 3, 4}}) {
      const Array a = random_array(static_cast<DType>(d), shape, 3);
      const Array b = as_dtype(parse_npy(format_npy(a), "a.npy"), a.dtype, "a");
      EXPECT_EQ(a.extents, b.extents);
      EXPECT_EQ(a.data, b.data);
      EXPECT_EQ(format_npy(a).size() % 64, a.data.size() % 64);
    }
}

TEST(Npy, VersionsAndSpellings) {
  for (char version : {'\1', '\2', '\3'})
    EXPECT_EQ(parse_npy(npy(header("<f4", "(2,)"), 8, version), "").extents, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(parse_npy(npy("{ \"shape\":(2 ,3) , 'fortran_order':False,'descr' : '=i2'}", 12), "").dtype, DType::i16);
  EXPECT_EQ(parse_npy(npy(header("|b1", "()"), 1), "").dtype, DType::boolean);
}

TEST(Npy, BadFilesAreDiagnosed) {
  const auto expect = [](const std::string& bytes, const std::string& part) {
    const std::string text = mistake(bytes);
    EXPECT_NE(text.find(part), std::string::npos) << "got: " << text;
  };
  expect("", "not a .npy file");
  expect("hello, world", "not a .npy file");
  expect(npy(header("<f4", "(2,)"), 8, 4), "version 1, 2 or 3");
  expect(npy(header("<f4", "(2,)"), 8).substr(0, 30), "ends in its header");
  expect(npy(header("<f4", "(2,)"), 7), "expected 8 bytes of elements, got 7");
  expect(npy(header("<f4", "(2,)"), 9), "expected 8 bytes of elements, got 9");
  expect(npy(header(">f4", "(2,)"), 8), "little-endian");
  expect(npy(header("|O", "(2,)"), 16), "pickled");
  expect(npy(header("<c8", "(2,)"), 16), "dtype '<c8'");
  expect(npy(header("<f4", "(2,)", "True"), 8), "C order");
  expect(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", 8), "record");
  expect(npy(header("<f4", "(4294967296, 4294967296)"), 8), "does not fit 64 bits");
  expect(npy(header("<f4", "(0, 9223372036854775807)"), 0), "does not fit 64 bits");
  expect(npy(header("<f4", "(99999999999999999999,)"), 8), "does not fit 64 bits");
  expect(npy(header("<f4", "(-1,)"), 8), "expected an extent");
  expect(npy("{'descr': '<f4'}", 8), "lacks");
  expect(npy(header("<f4", "(2,)") + "junk", 8), "after the header's }");
  expect(npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8), "once each");
  std::string flag = npy(header("|b1", "(2,)"), 2);
  flag.back() = 2;
  expect(flag, "neither 0 nor 1");
}

TEST(Npy, DamagedFilesNeverCrash) {
  const std::string good = format_npy(random_array(DType::f32, {3, 5}, 1));
  for (std::uint32_t seed = 0; seed < 20000 && !HasFailure(); ++seed) {
    std::mt19937 random(seed);
    std::string bad = good.substr(0, random() % 4 == 0 ? random() % good.size() : good.size());
    for (unsigned k = random() % 4; k-- > 0 && !bad.empty();) bad[random() % bad.size()] = static_cast<char>(random());
    try {
      const Array a = parse_npy(bad, "a.npy");
      EXPECT_EQ(a.data.size(), a.elements() * static_cast<std::size_t>(bytes(a.dtype)))
          << "seed " << seed << ": " << ::testing::PrintToString(bad);
    } catch (const Diagnostic& d) {
      EXPECT_EQ(d.id(), "E-npy") << "seed " << seed << ": " << ::testing::PrintToString(bad);
    }
  }
}

TEST(Npy, OtherDtypesAreNotTaken) {
  EXPECT_THROW(as_dtype(random_array(DType::f32, {2}, 1), DType::f64, "x"), Diagnostic);
  EXPECT_EQ(as_dtype(random_array(DType::u16, {2}, 1), DType::bf16, "x").dtype, DType::bf16);
}

TEST(Npy, UnreadableFiles) { EXPECT_THROW(read_npy("no/such/file.npy"), Diagnostic); }

TEST(Arguments, NamedValues) {
  EXPECT_EQ(named_integers({"N=7", "M=-2"}, "--dims").at("M"), -2);
  for (const char* bad : {"N", "=3", "N=", "N=x", "N=3x", "N=99999999999999999999"})
    EXPECT_THROW(named_integers({bad}, "--dims"), Diagnostic) << bad;
  EXPECT_THROW(named_values({"x=a", "x=b"}, "--in"), Diagnostic);
}

TEST(Arguments, SizesAreChecked) {
  EXPECT_THROW(zero_array(DType::f32, {std::int64_t{1} << 40, std::int64_t{1} << 40}, "x"), Diagnostic);
  EXPECT_THROW(zero_array(DType::f32, {-1}, "x"), Diagnostic);
  EXPECT_TRUE(zero_array(DType::f32, {5, 0}, "x").data.empty());
}

// In f16 the smallest nonzero random magnitude is 2^-8. The bits were checked by hand.
TEST(Arguments, RandomFloatsAreExact) {
  const Array single = random_array(DType::f32, {4096}, 5), half = random_array(DType::f16, {4096}, 5),
              brain = random_array(DType::bf16, {4096}, 5);
  for (std::size_t i = 0; i < 4096; ++i) {
    float f = 0;
    std::uint16_t h = 0, b = 0;
    std::memcpy(&f, single.data.data() + 4 * i, 4);
    std::memcpy(&h, half.data.data() + 2 * i, 2);
    std::memcpy(&b, brain.data.data() + 2 * i, 2);
    const std::uint32_t widened = static_cast<std::uint32_t>(b) << 16;
    float from_brain = 0;
    std::memcpy(&from_brain, &widened, 4);
    EXPECT_EQ(f, from_brain);
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    const double value = h == 0 ? 0 : (h >> 15 != 0 ? -1 : 1) * std::ldexp(1024 + fraction, exponent - 25);
    EXPECT_EQ(static_cast<double>(f), value);
  }
}

TEST(DescriptionSymbols, DamagedFilesAreDiagnosed) {
  EXPECT_THROW(description_symbols("", "x.so"), Diagnostic);
  EXPECT_THROW(description_symbols(std::string(100, 'x'), "x.so"), Diagnostic);
}

}  // namespace
}  // namespace kiln::generator
