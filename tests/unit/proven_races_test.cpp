// Matrix, sort and permutation programs that are free of races, for reasons that need a case distinction.
#include "compiler/ir/text.h"
#include "tests/unit/races.h"

using namespace kiln;
using namespace kiln::test::races;

namespace {

inline constexpr dim<"S", {.min = 1, .max = 30000}> S;

#define KILN_PROOF_TEST(Name, Text, ...)  \
  struct Name : program<Name> {           \
    in<i32> c, d;                         \
    in<i32, N> keep;                      \
    inout<f64, N, N> w;                   \
    inout<f64, S, S> s;                   \
    inout<f32, N> x;                      \
    in<f32, N> from;                      \
    inout<f32, 2 * N> pairs;              \
    inout<f32, K> y, z;                   \
    inout<f32, 16> small;                 \
    inout<f32, S*(S + 1) / 2> packed;     \
    constexpr void body() { __VA_ARGS__ } \
  };                                      \
  TEST(ProvenRaces, Name) { Text(race_of<Name>()); }

// All work items read one element, and none writes it.
KILN_PROOF_TEST(PivotOfData, is_free, auto k = max(0, min(c, size<N, i32>() - 1));
                for (auto [t] : kernel(N)) if (auto g = when(t != k)) w(t, k) = w(t, k) / w(k, k);)
KILN_PROOF_TEST(PivotOfALoop, is_free,
                for (auto k : loop(N)) for (auto [t] : kernel(N)) if (auto g = when(t != k)) w(t, k) = w(t, k) / w(k, k);)
KILN_PROOF_TEST(PivotIsBefore, is_free,
                for (auto k : loop(N)) for (auto [t] : kernel(N)) if (auto g = when(t > k)) w(t, k) = w(t, k) / w(k, k);)
KILN_PROOF_TEST(
    PivotInTwoParts, is_free, for (auto k : loop(N)) {
      for (auto [t] : kernel(N))
        if (auto g = when(t < k)) w(t, k) = w(t, k) / w(k, k);
      for (auto [t] : kernel(N))
        if (auto g = when(t > k)) w(t, k) = w(t, k) / w(k, k);
    })
KILN_PROOF_TEST(PivotOnEitherSide, is_free,
                for (auto k : loop(N)) for (auto [t] : kernel(N)) if (auto g = when(t < k || t > k))
                    w(t, k) = w(t, k) / w(k, k);)
KILN_PROOF_TEST(PivotByNot, is_free,
                for (auto k : loop(N)) for (auto [t] : kernel(N)) if (auto g = when(!(t == k))) w(t, k) = w(t, k) / w(k, k);)
KILN_PROOF_TEST(
    PivotByOtherwise, is_free, for (auto k : loop(N)) for (auto [t] : kernel(N)) {
      if (auto g = when(t == k)) {
      }
      if (auto g = otherwise()) w(t, k) = w(t, k) / w(k, k);
    })
KILN_PROOF_TEST(GaussJordan, is_free,
                for (auto k : loop(N)) for (auto [i, j] : kernel(N, N)) if (auto g = when(i != k && j != k)) w(i, j) -=
                w(i, k) * w(k, j) / w(k, k);)
KILN_PROOF_TEST(FloydWarshall, is_free,
                for (auto k : loop(N)) for (auto [i, j] : kernel(N, N)) if (auto g = when(i != k && j != k))
                    w(i, j) = min(w(i, j), w(i, k) + w(k, j));)
KILN_PROOF_TEST(
    FloydWarshallByOtherwise, is_free, for (auto k : loop(N)) for (auto [i, j] : kernel(N, N)) {
      if (auto g = when(i == k || j == k)) {
      }
      if (auto g = otherwise()) w(i, j) = min(w(i, j), w(i, k) + w(k, j));
    })
KILN_PROOF_TEST(
    Cholesky, is_free, for (auto k : loop(S)) {
      auto rest = size<S, i32>() - 1 - k;
      for (auto [a, b] : kernel(rest, rest)) {
        auto i = k + 1 + a, j = k + 1 + b;
        if (auto g = when(j <= i)) s(i, j) -= s(i, k) * s(j, k);
      }
    })
KILN_PROOF_TEST(
    CholeskyOfAnyExtent, is_free, for (auto k : loop(N)) {
      auto rest = size<N, i32>() - 1 - k;
      for (auto [t] : kernel(rest)) w(k + 1 + t, k) = w(k + 1 + t, k) / w(k, k);
      for (auto [a, b] : kernel(rest, rest)) {
        auto i = k + 1 + a, j = k + 1 + b;
        if (auto g = when(j <= i)) w(i, j) -= w(i, k) * w(j, k);
      }
    })
KILN_PROOF_TEST(
    TransposedInPlace, is_free, for (auto [i, j] : kernel(N, N)) if (auto g = when(i < j)) {
      auto a = w(i, j), b = w(j, i);
      w(i, j) = b;
      w(j, i) = a;
    })
KILN_PROOF_TEST(
    ReversedInPlace, is_free, for (auto [i] : kernel<N / 2>()) {
      auto j = x.size<0>() - 1 - i;
      auto a = x(i), b = x(j);
      x(i) = b;
      x(j) = a;
    })
KILN_PROOF_TEST(
    OddEvenSort, is_free, for (auto t : loop(N)) for (auto [i] : kernel<i64>(N)) {
      auto a = 2 * i + cast<i64>(t % 2);
      if (auto g = when(a + 1 < x.size<0, i64>())) {
        auto u = x(a), v = x(a + 1);
        x(a) = min(u, v);
        x(a + 1) = max(u, v);
      }
    })
KILN_PROOF_TEST(
    Interleaved, is_free, for (auto [i] : kernel<i64>(N)) {
      pairs(2 * i) = from(i);
      pairs(2 * i + 1) = -from(i);
    })

// Halves, parities and remainders.
KILN_PROOF_TEST(HalfOfEven, is_free, for (auto [i] : kernel(K)) if (auto g = when(i % 2 == 0)) y(i / 2) = 1;)
KILN_PROOF_TEST(HalfOfEvenOfAnyExtent, is_free, for (auto [i] : kernel(N)) if (auto g = when(i % 2 == 0)) x(i / 2) = 1;)
KILN_PROOF_TEST(HalfOfOdd, is_free, for (auto [i] : kernel(N)) if (auto g = when(i % 2 != 0)) x(i / 2) = 1;)
KILN_PROOF_TEST(HalfByMask, is_free, for (auto [i] : kernel(N)) if (auto g = when((i & 1) == 1)) x(i >> 1) = 1;)
KILN_PROOF_TEST(ThirdOfThree, is_free, for (auto [i] : kernel(N)) if (auto g = when(i % 3 == 1)) x(i / 3) = 1;)
KILN_PROOF_TEST(
    HalvesOfEvenAndOdd, is_free, for (auto [i] : kernel(K)) {
      if (auto g = when(i % 2 == 0)) y(i / 2) = 1;
      if (auto g = otherwise()) z(i / 2) = 1;
    })
KILN_PROOF_TEST(NotThird, is_race, for (auto [i] : kernel(N)) if (auto g = when(i % 3 != 1)) x(i / 3) = 1;)
KILN_PROOF_TEST(QuarterOfEven, is_race, for (auto [i] : kernel(N)) if (auto g = when(i % 2 == 0)) x(i / 4) = 1;)

// Shifts by constants are multiplications and divisions. Only the low bits of a count matter.
KILN_PROOF_TEST(ShiftedByOne, is_free, for (auto [i] : kernel(N)) x.at<mode::skip>(i << 1) = 1;)
KILN_PROOF_TEST(ShiftedByItsBits, is_free, for (auto [i] : kernel(N)) x.at<mode::skip>(i << 32) = 1;)
KILN_PROOF_TEST(ShiftedByItsBitsAndOne, is_free, for (auto [i] : kernel(N)) x.at<mode::skip>(i << 33) = 1;)
KILN_PROOF_TEST(ShiftedByItsBitsDown, is_free, for (auto [i] : kernel(N)) x.at<mode::skip>(i >> 32) = 1;)
KILN_PROOF_TEST(ShiftedByFour, is_free, for (auto [i] : kernel<i64>(N)) x.at<mode::skip>(i << 4) = 1;)
KILN_PROOF_TEST(ShiftedDownByOne, is_race, for (auto [i] : kernel(N)) x.at<mode::skip>(i >> 1) = 1;)
KILN_PROOF_TEST(ShiftedOutOfItsBits, is_race, for (auto [i] : kernel(N)) x.at<mode::skip>(i << 31) = 1;)

// Permutations and layouts.
KILN_PROOF_TEST(TimesFiveOfSixteen, is_free, for (auto [i] : kernel(16)) small((5 * i + 3) % 16) = 1;)
KILN_PROOF_TEST(TimesSixOfSixteen, is_race, for (auto [i] : kernel(16)) small((6 * i + 3) % 16) = 1;)
KILN_PROOF_TEST(Sheared, is_free, for (auto [i, j] : kernel(S, S)) s.at<mode::skip>(i + j, j) = 1;)
KILN_PROOF_TEST(ShearedTwice, is_free, for (auto [i, j] : kernel(S, S)) s.at<mode::skip>(2 * i + j, i + j) = 1;)
KILN_PROOF_TEST(DeterminantTwo, is_free, for (auto [i, j] : kernel(S, S)) s.at<mode::skip>(i + j, i - j) = 1;)
KILN_PROOF_TEST(DeterminantZero, is_race, for (auto [i, j] : kernel(S, S)) s.at<mode::skip>(i + j, 2 * i + 2 * j) = 1;)
KILN_PROOF_TEST(Rotated, is_free, for (auto [i] : kernel(K)) y(floormod(i + floormod(c, size<K, i32>()), size<K, i32>())) = 1;)
KILN_PROOF_TEST(Triangle, is_free,
                for (auto [i, j] : kernel(S, S)) if (auto g = when(j <= i)) packed.at<mode::skip>(i*(i + 1) / 2 + j) = 1;)
KILN_PROOF_TEST(TriangleByALoop, is_free,
                for (auto [i] : kernel(S)) for (auto j : loop(i + 1)) packed.at<mode::skip>(i*(i + 1) / 2 + j) = 1;)
KILN_PROOF_TEST(TriangleOverlaps, is_race,
                for (auto [i, j] : kernel(S, S)) if (auto g = when(j <= i + 1)) packed.at<mode::skip>(i*(i + 1) / 2 + j) = 1;)
KILN_PROOF_TEST(UpperTriangleByALoop, is_free,
                for (auto [i] : kernel(S)) for (auto j : loop(i + 1, size<S, i32>())) s(j, i) = s(i, j);)
KILN_PROOF_TEST(Tiles, is_free, for (auto [a, b, i, j] : kernel(S, S, 8, 8)) s.at<mode::skip>(8 * a + i, 8 * b + j) = 1;)
KILN_PROOF_TEST(FlatTiles, is_free,
                for (auto [k] : kernel(K)) s.at<mode::skip>(k / 64 / 8 * 8 + k % 64 / 8, k / 64 % 8 * 8 + k % 8) = 1;)

// Segments that only the data separates, and a type that is too narrow for twice an index.
KILN_PROOF_TEST(Compaction, is_race, for (auto [i] : kernel(N)) if (auto g = when(from(i) > 0)) x(keep(i)) = from(i);)
KILN_PROOF_TEST(RowsOfData, is_race,
                for (auto [i] : kernel(N)) for (auto k : loop(keep(i), keep.at<mode::constant>(i + 1, 0))) x(k) *= 2;)
KILN_PROOF_TEST(
    OddEvenSortOfI32, is_race, for (auto t : loop(N)) for (auto [i] : kernel(N)) {
      auto a = 2 * i + t % 2;
      if (auto g = when(a + 1 < x.size<0>())) {
        auto u = x(a), v = x(a + 1);
        x(a) = min(u, v);
        x(a + 1) = max(u, v);
      }
    })

// A kernel with many statements: the cost follows their number, not the number of their pairs (which would take minutes).
std::string race_of_many(bool reads) {
  constexpr int count = 20'000;
  const auto n = std::to_string(count);
  std::string text =
      "program many\nsymbol N min 1 max 60000\nin f32 [N] x\ninout f32 [" + n + "*N] y\n%0 = param x\n%1 = param y\n" +
      "%2 = range (N), id 0\n%3 = carry %2, %1, slot 0\n%4 = const bool true\n%5 = index %0, %2\n%6 = mul %2, (" + n + ")\n";
  int id = 7, state = 3, value = 5;
  const auto add = [&](const std::string& node) {
    text += "%" + std::to_string(id) + " = " + node + "\n";
    return id++;
  };
  const auto ref = [](int i) { return "%" + std::to_string(i); };
  for (int k = 0; k < count; ++k) {
    const int place = add("add %6, (" + std::to_string(k) + ")");
    if (reads) {
      const int element = add("index " + ref(state) + ", " + ref(place));
      value = add("add " + ref(value) + ", " + ref(element));
    }
    state = add("update " + ref(state) + ", %4, " + ref(value) + ", " + ref(place));
  }
  const int kernel = add("kernel %2, %1, " + ref(state));
  const int result = add("get " + ref(kernel) + ", slot 0");
  text += "store y, " + ref(result) + "\n";
  compiler::Graph g;
  const compiler::Program p = compiler::read_program(g, text);
  try {
    compiler::store_races(g, p);
  } catch (const compiler::Diagnostic& d) {
    return d.what();
  }
  return {};
}
TEST(ProvenRaces, ManyPlaces) { is_free(race_of_many(false)); }
TEST(ProvenRaces, ManyPlacesAndReads) { is_free(race_of_many(true)); }

// A message names two work items only if both, their conditions and the element could be evaluated.
TEST(ProvenRaces, NamesWorkItemsOnlyWhereTheyRace) {
  EXPECT_NE(race_of<QuarterOfEven>().find(", as work items ("), std::string::npos) << race_of<QuarterOfEven>();
  const std::string narrow = race_of<OddEvenSortOfI32>();
  EXPECT_EQ(narrow.find(", as work items ("), std::string::npos) << narrow;
  EXPECT_NE(narrow.find("i32 may not hold the place: take indices of i64"), std::string::npos) << narrow;
}

}  // namespace
