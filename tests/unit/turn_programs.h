// Kernels in loops outside of kernels, written by hand, as ping_pong gets and leaves them: what such a schedule computes, turn
// by turn, and a short text of it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/ir/program.h"
#include "tests/unit/schedule_harness.h"

namespace kiln::compiler::testing {

// What every parameter holds in the end. Before, each buffer holds numbers of its own. Kernels of a loop that stand together
// run last first, as far as `depends_on` lets them.
std::vector<Data> run_turns(Graph& g, const Schedule& s, const Symbols& symbols);

class TurnProgram {
 public:
  static constexpr std::int64_t elements = 5;

  int parameter(const std::string& name, DType d = DType::i32, std::int64_t size = elements);
  int temporary(const std::string& name, DType d = DType::i32, std::int64_t size = elements);
  void make_pitched_row(int parameter);  // a matrix of one row, which has a stride
  Id number(int buffer);                 // the symbol that is the i64 in a buffer

  // What `body` adds is in the loop. Its turns: as many as a symbol of its own says, which change_roles tries out, or as given.
  int loop(const std::function<void()>& body, Id end = no_id, std::int64_t step = 1);

  // What an iteration stores to a buffer: at its position, where nothing else is said, and always, where there is no gate.
  using Value = std::function<Id(Id position)>;
  struct Stored {
    int to;
    Value value;
    Value position = {}, gate = {};
  };
  Value at(int from);                     // the element there; of what the kernel stores too, as the iteration began
  Value now(int from);                    // the same, as it is now
  Value fetched(int from);                // the same, which one is added to
  Value doubled(int from);                // two times the element
  Value mixed(std::vector<int> of);       // of the elements beside it
  Value below(int from, std::int64_t v);  // whether the element is
  Value zero();                           // of an array of the iteration
  Value as_stored(Id index) {             // a number that is no element
    return [this, index](Id) { return g.make(Op::CAST, DType::i32, {index}); };
  }

  void kernel(const std::vector<Stored>& stored) { add(stored, Kind::plain, size_of(stored[0].to)); }
  void copy(int to, int from) { kernel({{to, at(from)}}); }
  // Each store in a phase of its own: a later one loads what the ones before have stored in the same row.
  void phases(const std::vector<Stored>& stored) { add(stored, Kind::phases, size_of(stored[0].to)); }
  // A kernel of the program, which stores one after the other, at the first positions.
  void own(const std::vector<Stored>& stored, std::int64_t positions = elements) { add(stored, Kind::own, positions); }

  // Runs ping_pong. What it leaves is verified, and computes the same for any number of turns of each loop.
  void change_roles();
  // Loops and kernels, as `stored <- loaded`. A role is all buffers that have it, in turn. Of a loop that runs once, or not at
  // all, as a count says: for which counts below 6 it runs.
  std::string text() const;

  Graph g;
  Schedule s;

 private:
  enum class Kind : std::uint8_t { plain, phases, own };
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
  int around_ = -1;         // the loop that is open
  Kernel open_;             // the kernel that is made,
  Id range_ = no_id;        // its positions,
  std::vector<Id> states_;  // and by slot of what it stores, the state so far
};

class PingPong : public ::testing::Test, protected TurnProgram {
 protected:
  std::string after() {
    change_roles();
    return text();
  }
  void stays() {
    const std::string before = text();
    EXPECT_EQ(after(), before);
  }
};

}  // namespace kiln::compiler::testing
