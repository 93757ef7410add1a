// Recognition of kernels that copy a whole buffer, and of kernels that store a whole buffer.
#include "compiler/schedule/copies.h"

#include "tests/unit/loop_programs.h"

namespace kiln::compiler {

static bool operator==(const Copied& a, const Copied& b) { return a.to == b.to && a.from == b.from; }

namespace testing {
namespace {

class Copies : public ::testing::Test, protected LoopProgram {
 protected:
  const int u = parameter("u"), w = parameter("w"), x = parameter("x");

  // The copy that END number `end` of the last kernel makes.
  std::optional<Copied> copied(std::size_t end = 0) {
    const Kernel& k = s.kernels.back();
    return copy_of(g, s, k, g.src(k.sink, end));
  }
  bool is_stored_whole(int buffer) { return stores_whole(g, s, s.kernels.back(), buffer); }
  Value beside(int from) {
    return [this, from](Id i) { return at(from)(g.make(Op::FLOORMOD, DType::index, {next(i), g.index(elements)})); };
  }
  Value gated(int from) {
    return [this, from](Id i) {
      const Id plain = at(from)(i), none = g.make(Op::CONST, DType::i32, {}, {0});
      return g.with_src(plain, std::vector<Id>{g.src(plain, 0), i, none, below(from, 3)(i)});
    };
  }
  Id next(Id i) { return g.make(Op::ADD, DType::index, {i, g.index(1)}); }
};

TEST_F(Copies, OfKernels) {
  kernel({{u, at(w)}, {x, doubled(w)}});
  EXPECT_EQ(copied(0), (Copied{u, w}));
  EXPECT_EQ(copied(1), std::nullopt);
}

TEST_F(Copies, OfKernelsOfTheProgram) {
  explicit_kernel({{u, at(w)}, {w, at(u)}, {x, doubled(w)}});
  EXPECT_EQ(copied(0), (Copied{u, w}));
  EXPECT_EQ(copied(1), (Copied{w, u}));  // of the contents when the iteration begins
  EXPECT_EQ(copied(2), std::nullopt);
}

TEST_F(Copies, TheLastStoreOfAnIterationCounts) {
  explicit_kernel({{u, doubled(x)}, {u, at(w)}});
  EXPECT_EQ(copied(), (Copied{u, w}));
}

TEST_F(Copies, NotWhereAGateSaysSo) {
  explicit_kernel({{u, at(w), {}, below(x, 3)}});
  EXPECT_EQ(copied(), std::nullopt);
  kernel({{u, gated(w)}});
  EXPECT_EQ(copied(), std::nullopt);
}

TEST_F(Copies, NotOfOtherElements) {
  kernel({{u, beside(w)}});
  EXPECT_EQ(copied(), std::nullopt);
}

TEST_F(Copies, NotOfWhatTheIterationHasStored) {
  explicit_kernel({{w, at(x)}, {u, now(w)}});
  EXPECT_EQ(copied(0), (Copied{w, x}));
  EXPECT_EQ(copied(1), std::nullopt);
}

TEST_F(Copies, NotOfAnArrayOfTheIteration) {
  explicit_kernel({{u, zero()}});
  EXPECT_EQ(copied(), std::nullopt);
}

TEST_F(Copies, NotToItself) {
  explicit_kernel({{u, at(u)}});
  EXPECT_EQ(copied(), std::nullopt);
}

TEST_F(Copies, NotOfABufferOfAnotherSize) {
  const int longer = temporary("longer", DType::i32, elements + 1);
  kernel({{u, at(longer)}});
  EXPECT_EQ(copied(), std::nullopt);
}

TEST_F(Copies, NotOfAPart) {
  explicit_kernel({{u, at(w)}}, elements - 1);
  EXPECT_EQ(copied(), std::nullopt);
}

// ---- whole stores

TEST_F(Copies, WholeStoresAreOfEveryElement) {
  kernel({{u, mixed({w})}});
  EXPECT_TRUE(is_stored_whole(u));
  EXPECT_FALSE(is_stored_whole(w));
  explicit_kernel({{u, mixed({w})}}, elements - 1);
  EXPECT_FALSE(is_stored_whole(u));
}

TEST_F(Copies, WholeStoresAreOfTheBufferItself) {
  const int shorter = temporary("shorter", DType::i32, 3);
  explicit_kernel({{shorter, at(w)}, {u, at(w)}}, 3);
  EXPECT_TRUE(is_stored_whole(shorter));
  EXPECT_FALSE(is_stored_whole(u));
}

TEST_F(Copies, WholeStoresReadNothingOfTheBuffer) {
  explicit_kernel({{x, mixed({u})}, {u, mixed({w})}});
  EXPECT_FALSE(is_stored_whole(u));
  EXPECT_TRUE(is_stored_whole(x));
  explicit_kernel({{x, fetched(u)}, {u, mixed({w})}});
  EXPECT_FALSE(is_stored_whole(u));
}

TEST_F(Copies, WholeStoresHaveNoGates) {
  explicit_kernel({{u, mixed({w}), {}, below(x, 3)}});
  EXPECT_FALSE(is_stored_whole(u));
}

// One store has elements 0, 2, 4, .., the other 1, 3, 5, ..
TEST_F(Copies, WholeStoresMayBeSeveral) {
  const int even = temporary("even", DType::i32, 2 * elements);
  const Value twice = [this](Id i) { return g.make(Op::MUL, DType::index, {i, g.index(2)}); };
  explicit_kernel({{even, at(w), twice}, {even, at(x), [&](Id i) { return next(twice(i)); }}});
  EXPECT_TRUE(is_stored_whole(even));
  explicit_kernel({{even, at(w), twice}});
  EXPECT_FALSE(is_stored_whole(even));
}

// A row of a pitched parameter is dense.
TEST_F(Copies, OfAPitchedRow) {
  make_pitched_row(u);
  kernel({{u, at(w)}});
  EXPECT_EQ(copied(), (Copied{u, w}));
}

TEST_F(Copies, NotOfSeveralPitchedRows) {
  s.program.params[static_cast<std::size_t>(u)].free_strides = 1;
  s.kernels.push_back(copy_kernel(g, s, u, w));
  EXPECT_EQ(copied(), std::nullopt);
}

}  // namespace
}  // namespace testing
}  // namespace kiln::compiler
