// Which programs are proven free of races: work items of kernels.
#include "tests/unit/races.h"

using namespace kiln;
using namespace kiln::test::races;

namespace {

// Affine indices.
KILN_RACE_TEST(OwnElement, is_free, for (auto [i] : kernel(N)) y(i) = y(i) + x(i);)
KILN_RACE_TEST(OwnElementOfTwoAxes, is_free, for (auto [i, j] : kernel(N, M)) q(i, j) += 1;)
KILN_RACE_TEST(OtherOrderOfAxes, is_free, for (auto [j, i] : kernel(M, N)) q(i, j) += 1;)
KILN_RACE_TEST(OneAxisOfTwo, is_race, for (auto [i, j] : kernel(N, M)) y(i) = j;)
KILN_RACE_TEST(OneElementForAll, is_race, for (auto [i] : kernel(N)) y(0) = i;)
KILN_RACE_TEST(ScalarForAll, is_race, for (auto [i] : kernel(N)) sum() = i;)
KILN_RACE_TEST(OnePosition, is_free, for (auto [i] : kernel(1)) y(7) = i;)
KILN_RACE_TEST(ReversedElement, is_free, for (auto [i] : kernel(N)) y(size<N, i32>() - 1 - i) = i;)
KILN_RACE_TEST(EvenElements, is_free, for (auto [i] : kernel(K)) w.at<mode::skip>(2 * i) = i;)
KILN_RACE_TEST(
    EvenAndOddElements, is_free, for (auto [i] : kernel(K)) {
      w.at<mode::skip>(2 * i) = i;
      w.at<mode::skip>(2 * i + 1) = w.at<mode::skip>(2 * i);
    })
KILN_RACE_TEST(
    PairsThatOverlap, is_race, for (auto [i] : kernel(K)) {
      w.at<mode::skip>(2 * i) = i;
      w.at<mode::skip>(2 * i + 2) = i;
    })
KILN_RACE_TEST(FourInALoop, is_free, for (auto [i] : kernel(K)) for (auto k : loop(4)) w.at<mode::skip>(4 * i + k) = k;)
KILN_RACE_TEST(FiveInSteps, is_race, for (auto [i] : kernel(K)) for (auto k : loop(5)) w.at<mode::skip>(4 * i + k) = k;)
KILN_RACE_TEST(RowInALoop, is_free, for (auto [i] : kernel(N)) for (auto j : loop(M)) q(i, j) = j;)
KILN_RACE_TEST(BlocksUpToTheEnd, is_free,
               for (auto [b] : kernel(K)) for (auto k : loop(min(8, size<K, i32>() - 8 * b))) w(8 * b + k) = k;)
KILN_RACE_TEST(DigitsOfAPosition, is_free, for (auto [i] : kernel(K)) w.at<mode::skip>(i / 8 * 16 + i % 8) = i;)
KILN_RACE_TEST(HalfOfAPosition, is_race, for (auto [i] : kernel(K)) w(i / 2) = i;)
KILN_RACE_TEST(TransposedDigits, is_free, for (auto [i] : kernel(4096)) w.at<mode::skip>(i % 64 * 64 + i / 64) = i;)
KILN_RACE_TEST(SquareOfAPosition, is_free, for (auto [i] : kernel(1000)) w.at<mode::skip>(i* i) = i;)
KILN_RACE_TEST(Triangle, is_free,
               for (auto [i, j] : kernel(1000, 1000)) if (auto g = when(j < i)) w.at<mode::skip>(i* i + j) = 1;)
KILN_RACE_TEST(SumOfPositions, is_race, for (auto [i, j] : kernel(N, M)) y.at<mode::skip>(i + j) = 1;)

KILN_RACE_TEST(
    OwnColumnInAnyRow, is_free, for (auto [i] : kernel(K)) for (auto k : loop(8)) {
      q.at<mode::skip>(i, 8 * i + k) = 1;
      q.at<mode::skip>(min(i, 2), 8 * i + k) = 2;
    })

// Neighbours and borders.
KILN_RACE_TEST(NeighbourIsRead, is_race, for (auto [i] : kernel(N)) y(i) = y(i - 1) + 1;)
KILN_RACE_TEST(NeighbourOfAnother, is_free, for (auto [i] : kernel(N)) y(i) = x(i - 1) + 1;)
KILN_RACE_TEST(ClampedBorder, is_race, for (auto [i] : kernel(N)) y(i + 1) = x(i);)
KILN_RACE_TEST(SkippedBorder, is_free, for (auto [i] : kernel(N)) y.at<mode::skip>(i + 1) = x(i);)
KILN_RACE_TEST(WrappedBorder, is_free, for (auto [i] : kernel(N)) y.at<mode::wrap>(i + 1) = x(i);)
KILN_RACE_TEST(WrappedTwice, is_race, for (auto [i] : kernel(6)) y.at<mode::wrap>(i) = i;)
KILN_RACE_TEST(
    RotatedAndTwiceThat, is_race, for (auto [i] : kernel(4)) {
      auto turned = floormod(i + (c & 7), 4);
      w.at<mode::skip>(2 * turned) = 1;
      w.at<mode::skip>(turned) = 2;
    })
KILN_RACE_TEST(
    RotatedAmongFourAndFive, is_race, for (auto [i] : kernel(4)) {
      w.at<mode::skip>(floormod(i + (c & 7), 4)) = 1;
      w.at<mode::skip>(floormod(i + (c & 7), 5)) = 2;
    })
KILN_RACE_TEST(MirroredBorder, is_race, for (auto [i] : kernel(N)) y.at<mode::mirror>(i + 1) = x(i);)
KILN_RACE_TEST(PositionBeyondItsType, is_race, for (auto [i] : kernel(N)) y.at<mode::skip>(2 * i * 65536 * 32768) = i;)

// Conditions.
KILN_RACE_TEST(OneOfAll, is_free, for (auto [i] : kernel(N)) if (auto g = when(i == c)) sum() = x(i);)
KILN_RACE_TEST(OneOfAllInALoop, is_free,
               for (auto [i] : kernel(N)) if (auto g = when(i == c)) for (auto k : loop(4)) y(k) += k;)
KILN_RACE_TEST(TwoOfAllInALoop, is_race,
               for (auto [i] : kernel(N)) if (auto g = when(i == c || i == d)) for (auto k : loop(4)) y(k) += k;)
KILN_RACE_TEST(AllButOne, is_race, for (auto [i] : kernel(N)) if (auto g = when(i != c)) sum() = x(i);)
KILN_RACE_TEST(OneOfTwoAxes, is_race, for (auto [i, j] : kernel(N, M)) if (auto g = when(i == c)) sum() = j;)
KILN_RACE_TEST(RedBlack, is_free,
               for (auto [i, j] : kernel(N, M)) if (auto g = when((i + j) % 2 == c))
                   q(i, j) = q(i, j) + q.at<mode::constant>(i - 1, j, 0) + q.at<mode::constant>(i, j + 1, 0);)
KILN_RACE_TEST(
    RedBlackOfOtherwise, is_free, for (auto [i, j] : kernel(N, M)) {
      if (auto g = when(((i + j) & 1) == 0)) z(i).atomic_add(1);
      if (auto g = otherwise()) q(i, j) = q.at<mode::constant>(i - 1, j, 0);
    })
KILN_RACE_TEST(RedBlackDiagonal, is_race,
               for (auto [i, j] : kernel(N, M)) if (auto g = when((i + j) % 2 == 0))
                   q(i, j) = q.at<mode::constant>(i - 1, j - 1, 0);)
KILN_RACE_TEST(RedBlackClamped, is_free,
               for (auto [i] : kernel(N)) if (auto g = when(i % 2 == 0)) y(i) = y.at<mode::constant>(i + 1, 0);)
KILN_RACE_TEST(
    EveryFourthAndEverySecond, is_race, for (auto [i] : kernel(N)) {
      if (auto g = when(i % 4 == 0)) y(i) = y.at<mode::constant>(i + 2, 0);
      if (auto g = when(i % 2 == 0)) y(i) = y.at<mode::constant>(i + 2, 0);
    })
KILN_RACE_TEST(LowerHalfReadsUpper, is_free,
               for (auto [i] : kernel(K)) if (auto g = when(i < c)) w.at<mode::skip>(i) = w.at<mode::constant>(i + c, 0);)
KILN_RACE_TEST(LowerPartReadsOverlap, is_race,
               for (auto [i] : kernel(K)) if (auto g = when(i < c)) w.at<mode::skip>(i) = w.at<mode::constant>(i + c - 1, 0);)

// At the border the nearest element is the work item's own, or an element that does not change.
KILN_RACE_TEST(RedBlackNearest, is_free,
               for (auto [i, j] : kernel(N, M)) if (auto g = when((i + j) % 2 == c))
                   q(i, j) = q(i - 1, j) + q(i + 1, j) + q(i, j - 1) + q(i, j + 1);)
KILN_RACE_TEST(RedBlackNearestDiagonal, is_race,
               for (auto [i, j] : kernel(N, M)) if (auto g = when((i + j) % 2 == c)) q(i, j) = q(i - 1, j - 1);)
KILN_RACE_TEST(EverySecondNearest, is_free,
               for (auto [i] : kernel(N)) if (auto g = when(i % 2 == 0)) y(i) = y(i - 1) + y(i + 1);)
KILN_RACE_TEST(EverySecondNearestOfThree, is_race, for (auto [i] : kernel(N)) if (auto g = when(i % 2 == 0)) y(i) = y(i + 3);)
KILN_RACE_TEST(RedBlackMirrored, is_free,
               for (auto [i, j] : kernel(N, M)) if (auto g = when((i + j) % 2 == c))
                   q(i, j) = q.at<mode::mirror>(i - 1, j) + q.at<mode::mirror>(i, j + 1);)
KILN_RACE_TEST(RedBlackMirroredTwo, is_race,
               for (auto [i, j] : kernel(N, M)) if (auto g = when((i + j) % 2 == c)) q(i, j) = q.at<mode::mirror>(i - 2, j);)
KILN_RACE_TEST(RedBlackWrapped, is_race,
               for (auto [i, j] : kernel(N, M)) if (auto g = when((i + j) % 2 == c)) q(i, j) = q.at<mode::wrap>(i - 1, j);)

// Partners.
KILN_RACE_TEST(
    ExchangeOfOrderedPairs, is_free, for (auto [i] : kernel(N)) {
      auto j = i ^ d;
      auto low = y(i), high = y(j);
      if (auto g = when(i < j && j < size<N, i32>() && high < low)) {
        y(i) = high;
        y(j) = low;
      }
    })
KILN_RACE_TEST(
    ExchangeOfPairsTwice, is_race, for (auto [i] : kernel(N)) {
      auto j = i ^ d;
      auto low = y(i), high = y(j);
      if (auto g = when(j < size<N, i32>() && high < low)) {
        y(i) = high;
        y(j) = low;
      }
    })
KILN_RACE_TEST(
    ExchangeBeyondTheEnd, is_race, for (auto [i] : kernel(N)) {
      auto j = i ^ d;
      auto low = y(i), high = y(j);
      if (auto g = when(i < j && high < low)) {
        y(i) = high;
        y(j) = low;
      }
    })
KILN_RACE_TEST(
    InsertedBit, is_free, for (auto t : loop(20)) for (auto [i] : kernel(K)) {
      auto half = 1 << t;
      auto low = i & (half - 1);
      auto k = 2 * (i - low) + low;
      auto a = w.at<mode::constant>(k, 0), b = w.at<mode::constant>(k + half, 0);
      w.at<mode::skip>(k) = a + b;
      w.at<mode::skip>(k + half) = a - b;
    })
KILN_RACE_TEST(
    InsertedDigitOfAnyNumber, is_race, for (auto t : loop(20)) for (auto [i] : kernel(K)) {
      auto half = 1 << t;
      auto low = i & half;
      w.at<mode::skip>(2 * (i - low) + low) = i;
    })

// Data.
KILN_RACE_TEST(Scatter, is_race, for (auto [i] : kernel(N)) y(p(i)) = x(i);)
KILN_RACE_TEST(PromisedScatter, is_free, for (auto [i] : kernel(N)) unique(y(p(i))) = x(i);)
KILN_RACE_TEST(
    PromiseOfOneOfTwoStores, is_race, for (auto [i] : kernel(N)) {
      unique(y(p(i))) = x(i);
      y(x(i)) = 0;
    })
KILN_RACE_TEST(ScatterAdd, is_free, for (auto [i] : kernel(N)) y(p(i)).atomic_add(x(i));)
KILN_RACE_TEST(
    ScatterAddAndRead, is_race, for (auto [i] : kernel(N)) {
      y(p(i)).atomic_add(1);
      z(i) = y(i);
    })
KILN_RACE_TEST(
    ScatterAddAndStore, is_race, for (auto [i] : kernel(N)) {
      y(p(i)).atomic_add(1);
      y(i) = 0;
    })
KILN_RACE_TEST(
    OwnAtomicAndRead, is_free, for (auto [i] : kernel(N)) {
      y(i).atomic_add(1);
      z(i) = y(i);
    })
KILN_RACE_TEST(RowsOfDataPlusPosition, is_free, for (auto [i, j] : kernel(N, M)) q.at<mode::skip>(i, j + p(i)) = 1;)
KILN_RACE_TEST(ColumnsOfData, is_race, for (auto [i, j] : kernel(N, M)) q.at<mode::skip>(i, j + x(j)) = 1;)
KILN_RACE_TEST(
    VariablePlace, is_race, for (auto [i] : kernel(N)) {
      auto at = var(0);
      if (auto g = when(x(i) > 0)) at = i;
      y(at) = 1;
    })
KILN_RACE_TEST(ChosenPlace, is_free, for (auto [i] : kernel(K)) w.at<mode::skip>(select(c == 0, i, 2 * i)) = 1;)
KILN_RACE_TEST(PlaceChosenByPosition, is_race, for (auto [i] : kernel(K)) w.at<mode::skip>(select(i < 9, i, i - 1)) = 1;)

// A read that does not influence any result is harmless, in contrast to a read that decides about a write.
KILN_RACE_TEST(
    ReadInVain, is_free, for (auto [i] : kernel(N)) {
      auto other = y(i + 1);
      if (auto g = when(i == c)) z(0) = other;
    })
KILN_RACE_TEST(
    ReadThatDecides, is_race, for (auto [i] : kernel(N)) {
      auto other = y(i + 1);
      if (auto g = when(other > 0)) y(i) = 1;
    })
KILN_RACE_TEST(
    ReadIntoALoop, is_race, for (auto [i] : kernel(N)) {
      auto s = var(0);
      for (auto k : loop(3)) s += y(i + k);
      y(i) = s;
    })
KILN_RACE_TEST(
    ReadIntoALocalArray, is_race, for (auto [i] : kernel(N)) {
      auto a = local<i32, 3>();
      a(0) = y(i + 1);
      y(i) = a(0);
    })

// Two conditions that select one work item each: the equation of the indices is then decided by its value.
KILN_RACE_TEST(
    PlacesThatConditionsFix, is_free, for (auto [i] : kernel(100)) for (auto k : loop(8)) {
      if (auto s = when(i == d)) w.at<mode::skip>(i * 8 + k) = 1;
      if (auto s = when(i * 8 + k <= k)) w.at<mode::skip>(i * 8 + k) = 2;
    })

struct scattered : program<scattered> {
  in<i32, N> p;
  inout<i32, N> y;
  static constexpr int line = __LINE__ + 2;
  constexpr void body() {
    for (auto [i] : kernel(N)) y(p(i)) = i;
  }
};
TEST(StoreRaces, FileAndLine) {
  const std::string race = race_of<scattered>();
  EXPECT_NE(race.find("store_races_test.cpp:" + std::to_string(scattered::line) + ":"), std::string::npos) << race;
  EXPECT_NE(race.find("error: E-race: work items of the kernel write `y`"), std::string::npos) << race;
}

TEST(StoreRaces, SaysWhat) {
  EXPECT_NE(race_of<Scatter>().find("write `y` at (max(min(..., N - 1), 0)), and others may store to the same element"),
            std::string::npos)
      << race_of<Scatter>();
  EXPECT_NE(race_of<NeighbourIsRead>().find("write `y` at (i), and others may read the same element at (max(i - 1, 0)) ("),
            std::string::npos)
      << race_of<NeighbourIsRead>();
}

}  // namespace
