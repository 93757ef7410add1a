// Programs through the front end: whether they are proven free of races.
#pragma once

#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include "compiler/ir/diagnostic.h"
#include "compiler/races/store_races.h"
#include "generator/import.h"

namespace kiln::test::races {

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;
inline constexpr dim<"K", {.min = 1, .max = 1 << 20}> K;

template <class P>
std::string race_of() {
  compiler::Graph g;
  const compiler::Program p = generator::import_program(g, ir<P>);
  try {
    compiler::store_races(g, p);
  } catch (const compiler::Diagnostic& d) {
    return d.what();
  }
  return {};
}

#define KILN_RACE_TEST(Name, Text, ...)   \
  struct Name : program<Name> {           \
    in<i32> d, c;                         \
    in<i32, N> x, p;                      \
    inout<i32, N> y, z;                   \
    inout<i32, N, M> q;                   \
    inout<i32, K> w, v;                   \
    inout<i32> sum;                       \
    constexpr void body() { __VA_ARGS__ } \
  };                                      \
  TEST(StoreRaces, Name) { Text(race_of<Name>()); }

inline void is_free(const std::string& race) { EXPECT_EQ(race, ""); }
inline void is_race(const std::string& race) {
  EXPECT_NE(race.find("_races_test.cpp:"), std::string::npos) << race;
  EXPECT_NE(race.find("error: E-race: "), std::string::npos) << race;
}

}  // namespace kiln::test::races
