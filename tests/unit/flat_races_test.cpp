// Work items with several axes in one flat tensor, and the reverse: which programs are proven free of races.
#include "tests/unit/races.h"

using namespace kiln;
using namespace kiln::test::races;

namespace {

inline constexpr dim<"R", {.min = 1, .max = 1 << 15}> R;
inline constexpr dim<"C", {.min = 1, .max = 1 << 15}> C;

#define KILN_FLAT_RACE_TEST(Name, Text, ...) \
  struct Name : program<Name> {              \
    in<i32> rows, columns;                   \
    inout<f32, N, M> q;                      \
    inout<f32, N * M> y;                     \
    inout<u8, N * M * 3> rgb;                \
    inout<f32, R, C> grid_of_small;          \
    inout<f32, R * C> small;                 \
    inout<f32, K> z;                         \
    constexpr void body() { __VA_ARGS__ }    \
  };                                         \
  TEST(FlatRaces, Name) { Text(race_of<Name>()); }

KILN_FLAT_RACE_TEST(RowsThenColumns, is_free, for (auto [i, j] : kernel<i64>(N, M)) y(i* M + j) += 1;)
KILN_FLAT_RACE_TEST(OtherAxisOfTensor, is_free, for (auto [i, j] : kernel<i64>(N, M)) y(i* q.size<1, i64>() + j) = 1;)
KILN_FLAT_RACE_TEST(Transposed, is_free, for (auto [i, j] : kernel<i64>(N, M)) y(j* N + i) = q(i, j);)
KILN_FLAT_RACE_TEST(PositionsAreCast, is_free, for (auto [i, j] : kernel(N, M)) y(cast<i64>(i) * M + cast<i64>(j)) = 1;)
KILN_FLAT_RACE_TEST(RowInALoop, is_free, for (auto [i] : kernel<i64>(N)) for (auto j : loop(M)) y(i* M + cast<i64>(j)) = 1;)
KILN_FLAT_RACE_TEST(InnerPositions, is_free, for (auto [i, j] : kernel<i64, N - 2, M - 2>()) y((i + 1) * M + j + 1) = 1;)
KILN_FLAT_RACE_TEST(ThreeAxes, is_free, for (auto [i, j, k] : kernel<i64>(N, M, 3)) rgb((i * M + j) * 3 + k) = 1;)
KILN_FLAT_RACE_TEST(
    ThreeOfEach, is_free, for (auto [i, j] : kernel<i64>(N, M)) {
      auto k = 3 * (i * M + j);
      rgb(k) = 1;
      rgb(k + 1) = 2;
      rgb(k + 2) = 3;
    })
KILN_FLAT_RACE_TEST(I32OfSmallExtents, is_free, for (auto [i, j] : kernel(R, C)) small(i* C + j) = 1;)
KILN_FLAT_RACE_TEST(PositionsOfOneAxis, is_free, for (auto [k] : kernel<i64, N * M>()) q(k / M, k % M) = y(k);)
KILN_FLAT_RACE_TEST(EightEach, is_free, for (auto [i, j] : kernel<i64>(K, 8)) z.at<mode::skip>(i * 8 + j) = 1;)

// Near misses: i32 wraps if N * M is 2^31 or more.
KILN_FLAT_RACE_TEST(I32OfAnyExtents, is_race, for (auto [i, j] : kernel(N, M)) y(i* M + j) = 1;)
KILN_FLAT_RACE_TEST(I32PositionsOfOneAxis, is_race, for (auto [k] : kernel<N * M>()) q(k / M, k % M) = 1;)
KILN_FLAT_RACE_TEST(WrongFactor, is_race, for (auto [i, j] : kernel<i64>(N, M)) y(i* N + j) = 1;)
KILN_FLAT_RACE_TEST(OneColumnMore, is_race, for (auto [i, j] : kernel<i64, N, M + 1>()) y.at<mode::skip>(i* M + j) = 1;)
KILN_FLAT_RACE_TEST(FactorOfNoUse, is_race, for (auto [i, j] : kernel<i64>(N, M)) y(i*(size<M>() - 1) + j) = 1;)
KILN_FLAT_RACE_TEST(TwoOfThree, is_race, for (auto [i, j, k] : kernel<i64>(N, M, 3)) rgb((i * M + j) * 2 + k) = 1;)
KILN_FLAT_RACE_TEST(OtherDivisor, is_race, for (auto [k] : kernel<i64, N * M>()) q(k / N, k % M) = 1;)
KILN_FLAT_RACE_TEST(EightEachBeyondTheEnd, is_race, for (auto [i, j] : kernel<i64>(K, 8)) z(i * 8 + j) = 1;)
KILN_FLAT_RACE_TEST(NextRow, is_race, for (auto [i, j] : kernel<i64>(N, M)) y(i* M + j) = y((i + 1) * M + j);)

TEST(FlatRaces, SaysWhichWorkItemsRace) {
  EXPECT_NE(race_of<WrongFactor>().find(", as work items (2, 0) and (2, 1) do where M = 2, N = 3; make it atomic"),
            std::string::npos)
      << race_of<WrongFactor>();
  EXPECT_NE(race_of<NextRow>().find(", as work items (1, 0) and (0, 0) do where M = 2, N = 2; write to another"),
            std::string::npos)
      << race_of<NextRow>();
}

TEST(FlatRaces, SaysThatATypeIsTooNarrow) {  // no two work items meet at small extents
  EXPECT_NE(race_of<I32OfAnyExtents>().find(", and others may store to the same element; "
                                            "i32 may not hold the place: take indices of i64"),
            std::string::npos)
      << race_of<I32OfAnyExtents>();
  EXPECT_NE(race_of<I32PositionsOfOneAxis>().find("same element; i32 may not hold"), std::string::npos)
      << race_of<I32PositionsOfOneAxis>();
}

}  // namespace
