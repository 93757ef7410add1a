// Which programs are proven free of races: work items of one workgroup between two barriers.
#include "tests/unit/races.h"

using namespace kiln;
using namespace kiln::test::races;

namespace {

#define KILN_WORKGROUP_RACE_TEST(Name, Text, ...)               \
  KILN_RACE_TEST(                                               \
      Name, Text, for (auto [i] : kernel(K).workgroup<16>()) {  \
        [[maybe_unused]] auto s = shared<i32, 64>();            \
        [[maybe_unused]] auto t = local_id(i), b = group_id(i); \
        __VA_ARGS__                                             \
        barrier();                                              \
        v(i) = s(63 - t);                                       \
      })

KILN_WORKGROUP_RACE_TEST(OwnPlaces, is_free, s(t) = t; s(t + 16) = s(t); barrier(); w(i) = s(15 - t) + s(31 - t);)
KILN_WORKGROUP_RACE_TEST(NeighbourBeforeTheBarrier, is_race, s(t) = t; w(i) = s(t + 1);)
KILN_WORKGROUP_RACE_TEST(NeighbourAfterTheBarrier, is_free, s(t) = t; barrier(); w(i) = s(t + 1);)
KILN_WORKGROUP_RACE_TEST(
    NextIteration, is_free, for (auto k : loop(4)) {
      auto next = s(t + 1);
      barrier();
      s(t) = next + k;
      barrier();
    })
KILN_WORKGROUP_RACE_TEST(
    OneBarrierInALoop, is_race, for (auto k : loop(4)) {
      barrier();
      s(t) = s(t + 1) + k;
    })
KILN_WORKGROUP_RACE_TEST(TwoAtOnePlace, is_race, s(t / 2) = t;)
KILN_WORKGROUP_RACE_TEST(AllAtOnePlace, is_race, s(0) = 1;)
KILN_WORKGROUP_RACE_TEST(OneForAll, is_free, if (auto g = when(t == 3)) s(0) = i;)
KILN_WORKGROUP_RACE_TEST(OneForAllAndItsReaders, is_race, if (auto g = when(t == 3)) s(0) = i; w(i) = s(0);)
KILN_WORKGROUP_RACE_TEST(OneForAllAndThoseBehind, is_race, if (auto g = when(t == c)) s(0) = 1;
                         if (auto g = when(c <= t)) s(0) = t;)
KILN_WORKGROUP_RACE_TEST(FourEach, is_free, for (auto k : loop(4)) s(4 * t + k) += k;)
KILN_WORKGROUP_RACE_TEST(FourEachSixteenApart, is_free, for (auto k : loop(4)) s(t + 16 * k) += k;)
KILN_WORKGROUP_RACE_TEST(FiveEach, is_race, for (auto k : loop(5)) s(4 * t + k) += k;)
KILN_WORKGROUP_RACE_TEST(RowsTogether, is_free, auto tile = shared<i32, 6, 6>();
                         for (auto k : loop(t, 36, 16)) tile(k / 6, k % 6) = k; barrier(); w(i) = tile(t % 6, 5);)
KILN_WORKGROUP_RACE_TEST(RowsTogetherAndOneMore, is_race, auto tile = shared<i32, 6, 6>();
                         for (auto k : loop(t, 37, 16)) tile(k / 6, k % 6) = k; barrier(); w(i) = tile(t % 6, 5);)
KILN_RACE_TEST(
    TileWithItsBorder, is_free, for (auto [i, j] : kernel(N, M).workgroup<8, 8>()) {
      auto tile = shared<i32, 10, 10>();
      auto t = local_id(i) * 8 + local_id(j);
      for (auto k : loop(t, 100, 64)) tile(k / 10, k % 10) = x(k);
      barrier();
      q.at<mode::skip>(i, j) = tile(local_id(i), local_id(j) + 2);
    })
KILN_WORKGROUP_RACE_TEST(RotatedByASharedNumber, is_free, s.at<mode::wrap>(t + (b & 31)) = t;)
KILN_WORKGROUP_RACE_TEST(RotatedByData, is_race, s.at<mode::wrap>(t + (x(i) & 31)) = t;)
KILN_WORKGROUP_RACE_TEST(
    ButterfliesOfAnyDistance, is_free, for (auto bit : loop(4)) {
      auto half = 1 << bit, low = t & (half - 1), k = 2 * (t - low) + low;
      auto low_one = s.at<mode::constant>(k, 0), other = s.at<mode::constant>(k + half, 0);
      barrier();
      s.at<mode::skip>(k) = low_one + other;
      s.at<mode::skip>(k + half) = low_one - other;
      barrier();
    })
KILN_WORKGROUP_RACE_TEST(
    ExchangeInPairs, is_free, s(t) = i; barrier(); if (auto g = when((t & 1) == 0)) {
      auto low = s(t);
      s(t) = s(t + 1);
      s(t + 1) = low;
    })
KILN_WORKGROUP_RACE_TEST(
    HalfReadsTheOther, is_free, for (auto bit : loop(4)) {
      auto half = 8 >> bit;
      if (auto g = when(t < half)) s(t) += s(t + half);
      barrier();
    })
KILN_WORKGROUP_RACE_TEST(
    HalvedDistance, is_free, auto far = var(8); for (auto k : loop(4)) {
      if (auto g = when(t < far)) s(t) += s(t + far);
      barrier();
      far = far / 2;
    })
KILN_WORKGROUP_RACE_TEST(
    ShiftedDistanceWhereSelected, is_free, auto far = var(8); for (auto k : loop(4)) {
      if (auto g = when(t < far)) s(t) += s(t + far);
      barrier();
      far = select(k != 1, min(far >> 1, 100), far);
    })
KILN_WORKGROUP_RACE_TEST(
    DistanceOfData, is_race, auto far = var(8); for (auto k : loop(4)) {
      if (auto g = when(t < far)) s(t) += s(t + far);
      barrier();
      far = d;
    })
KILN_WORKGROUP_RACE_TEST(
    DistanceFromData, is_race, auto far = var(d); for (auto k : loop(4)) {
      if (auto g = when(t < far)) s(t) += s(t + far);
      barrier();
      far = far / 2;
    })
KILN_WORKGROUP_RACE_TEST(
    TreeOfRemainders, is_free, for (auto k : loop(4)) {
      if (auto g = when(t % (2 << k) == 0)) s(t) += s(t + (1 << k));
      barrier();
    })
KILN_RACE_TEST(
    TreeOfRemaindersInJustAsMany, is_free, for (auto [i] : kernel(K).workgroup<16>()) {
      auto s = shared<i32, 16>();
      auto t = local_id(i);
      s(t) = w(i);
      for (auto k : loop(4)) {
        if (auto g = when(t % (2 << k) == 0)) s(t) += s(t + (1 << k));
        barrier();
      }
      v(i) = s(0);
    })
KILN_RACE_TEST(
    TreeOfRemaindersInTooFew, is_race, for (auto [i] : kernel(K).workgroup<16>()) {
      auto s = shared<i32, 13>();
      auto t = local_id(i);
      if (auto g = when(t < 13)) s(t) = w(i);
      for (auto k : loop(4)) {
        if (auto g = when(t % (2 << k) == 0)) s(t) += s(t + (1 << k));
        barrier();
      }
      v(i) = s(0);
    })
KILN_WORKGROUP_RACE_TEST(
    TreeOfRemaindersTooFar, is_race, for (auto k : loop(4)) {
      if (auto g = when(t % (2 << k) == 0)) s(t) += s(t + (2 << k));
      barrier();
    })
KILN_WORKGROUP_RACE_TEST(
    TreeOfProducts, is_free, for (auto k : loop(4)) {
      auto first = t * (2 << k);
      if (auto g = when(first < 16)) s(first) += s(first + (1 << k));
      barrier();
    })
KILN_WORKGROUP_RACE_TEST(
    TreeOfProductsBeyondTheEnd, is_race, for (auto k : loop(4)) {
      auto first = t * (2 << k);
      s(first) += s(first + (1 << k));
      barrier();
    })
KILN_WORKGROUP_RACE_TEST(HalfReadsMore, is_race, if (auto g = when(t < 8)) s(t) += s(t + 7);)
KILN_WORKGROUP_RACE_TEST(ScatterInAWorkgroup, is_race, s(x(i) & 63) = t;)
KILN_WORKGROUP_RACE_TEST(PromisedScatterInAWorkgroup, is_free, unique(s(x(i) & 63)) = t;)
KILN_WORKGROUP_RACE_TEST(AtomicScatterInAWorkgroup, is_free, s(x(i) & 63).atomic_add(t); barrier(); w(i) = s(t);)
KILN_WORKGROUP_RACE_TEST(AtomicAndReadInAWorkgroup, is_race, s(x(i) & 63).atomic_add(t); w(i) = s(t);)
KILN_WORKGROUP_RACE_TEST(ArraysOfPositions, is_free, auto a = local<i32, 4>(); a(x(i)) = t; barrier(); a(t) += a(0);
                         w(i) = a(1);)
KILN_WORKGROUP_RACE_TEST(TensorOfTheWorkgroup, is_free, w.at<mode::skip>(16 * b + t) = t;)
KILN_WORKGROUP_RACE_TEST(TensorReversedInTheWorkgroup, is_free, w.at<mode::skip>(16 * b + 15 - t) = t;)
KILN_WORKGROUP_RACE_TEST(TensorNeighbourInTheWorkgroup, is_race,
                         if (auto g = when(t < 15)) w(i) = w.at<mode::constant>(i + 1, 0);)
KILN_WORKGROUP_RACE_TEST(TensorNeighbourAfterTheBarrier, is_free,
                         if (auto g = when(t < 15)) s(t) = w.at<mode::constant>(16 * b + t + 1, 0);
                         barrier(); w.at<mode::skip>(16 * b + t) = s(t);)
KILN_RACE_TEST(
    TilesOfTwoAxes, is_free, for (auto [i, j] : kernel(N, M).workgroup<8, 4>()) {
      auto s = shared<i32, 8, 4>();
      auto a = local_id(i), b = local_id(j);
      s(a, b) = q(i, j);
      barrier();
      q(i, j) = s(7 - a, b) + s(a, 3 - b);
    })
KILN_RACE_TEST(
    RowsOfTiles, is_race, for (auto [i, j] : kernel(N, M).workgroup<8, 4>()) {
      auto s = shared<i32, 8>();
      s(local_id(i)) = j;
      barrier();
      q(i, j) = s(local_id(j));
    })
KILN_RACE_TEST(
    FirstOfEachRowOfTiles, is_free, for (auto [i, j] : kernel(N, M).workgroup<8, 4>()) {
      auto s = shared<i32, 8>();
      if (auto g = when(local_id(j) == 2)) s(local_id(i)) = j;
      barrier();
      q(i, j) = s(local_id(j));
    })

struct shifted : program<shifted> {
  inout<i32, N> y;
  static constexpr int line = __LINE__ + 4;
  constexpr void body() {
    for (auto [i] : kernel(N).workgroup<8>()) {
      auto s = shared<i32, 8>();
      s(local_id(i)) = i;
      y(i) = s(local_id(i) + 1);
    }
  }
};
TEST(StoreRaces, FileAndLineOfAWorkgroup) {
  const std::string race = race_of<shifted>();
  EXPECT_NE(race.find("workgroup_races_test.cpp:" + std::to_string(shifted::line) + ":"), std::string::npos) << race;
  EXPECT_NE(race.find("error: E-race: work items of a workgroup write a shared array"), std::string::npos) << race;
}

TEST(StoreRaces, SaysWhichOfAWorkgroup) {
  const std::string group = race_of<NeighbourBeforeTheBarrier>();
  EXPECT_NE(group.find("work items of a workgroup write a shared array at (i), and others between the same barriers may read "
                       "the same element at (i + 1) ("),
            std::string::npos)
      << group;
}

}  // namespace
