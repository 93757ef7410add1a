// Kernels in host loops, written by hand in the form of ping_pong's input and output: the results of a schedule, iteration by
// iteration, and a short text of it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/ir/schedule.h"
#include "tests/unit/schedule_harness.h"

namespace kiln::compiler::testing {

// The parameters' values at the end. Initially each buffer has numbers of its own. Adjacent kernels of a loop run in reverse
// order, as far as `depends_on` permits.
std::vector<Data> run_loops(Graph& g, const Schedule& s, const Symbols& symbols);

class LoopProgram {
 public:
  static constexpr std::int64_t elements = 5;

  int parameter(const std::string& name, DType d = DType::i32, std::int64_t size = elements);
  int temporary(const std::string& name, DType d = DType::i32, std::int64_t size = elements);
  void make_pitched_row(int parameter);  // makes it a matrix of one row, which has a stride
  Id number(int buffer);                 // a symbol with the value of the i64 in a buffer

  // A loop around the kernels of `body`. Iterations: `end`, or a symbol for which rotate tries several values.
  int loop(const std::function<void()>& body, Id end = no_id, std::int64_t step = 1);

  // One store of a kernel: to its index by default, and in every iteration if there is no gate.
  using Value = std::function<Id(Id position)>;
  struct Stored {
    int to;
    Value value;
    Value position = {}, gate = {};
  };
  Value at(int from);                     // the element there, as the iteration began (also of a buffer that the kernel stores)
  Value now(int from);                    // the element there, as it is now
  Value fetched(int from);                // the element there, by an atomic operation that adds one
  Value doubled(int from);                // two times the element
  Value mixed(std::vector<int> of);       // a combination of the next elements
  Value below(int from, std::int64_t v);  // whether the element is below v
  Value zero();                           // zero, read from an array of the iteration
  Value as_stored(Id index) {             // a number that is not an element
    return [this, index](Id) { return g.make(Op::CAST, DType::i32, {index}); };
  }

  void kernel(const std::vector<Stored>& stored) { add(stored, Kind::plain, size_of(stored[0].to)); }
  void copy(int to, int from) { kernel({{to, at(from)}}); }
  // Each store is in a tile step of its own, and loads the values that earlier tile steps have stored in the same row.
  void tile_steps(const std::vector<Stored>& stored) { add(stored, Kind::tile_steps, size_of(stored[0].to)); }
  // A kernel of the program, which makes one store after the other, over the first `positions` indices.
  void explicit_kernel(const std::vector<Stored>& stored, std::int64_t positions = elements) {
    add(stored, Kind::explicit_kernel, positions);
  }

  // Runs ping_pong, verifies its result, and checks that it computes the same for any number of iterations of each loop.
  void rotate();
  // Loops and kernels, as `stored <- loaded`. A rotating buffer is written as its buffers in turn. A loop of at most one
  // iteration is written as the values of its count below 6 for which it runs.
  std::string text() const;

  Graph g;
  Schedule s;

 private:
  enum class Kind : std::uint8_t { plain, tile_steps, explicit_kernel };
  void add(const std::vector<Stored>& stored, Kind kind, std::int64_t positions);
  void add_dependencies();
  std::int64_t size_of(int b) const;
  std::size_t slot_of(int b);
  Id memory(int b);
  Id load(int b, Id state, Id position);
  Id constant(DType d, std::int64_t v) { return g.make(Op::CONST, d, {}, {v}); }
  Id range(std::int64_t extent, std::int64_t id);
  std::string name(int buffer) const;
  std::string list(const std::vector<int>& buffers) const;
  std::string indent(int loop) const;
  std::string line(const HostLoop& l) const;

  std::vector<std::string> names_;
  int around_ = -1;         // the innermost open loop; -1: none
  Kernel open_;             // the kernel under construction:
  Id range_ = no_id;        // its RANGE,
  std::vector<Id> states_;  // and by slot of its stores, the last state
};

class PingPong : public ::testing::Test, protected LoopProgram {
 protected:
  std::string after() {
    rotate();
    return text();
  }
  void stays() {
    const std::string before = text();
    EXPECT_EQ(after(), before);
  }
};

}  // namespace kiln::compiler::testing
