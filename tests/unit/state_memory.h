// Memory of kernels with states. A state is the memory at one moment, and later writes do not change it. So loads may be
// evaluated in any order, as the IR defines it, whatever order the compiler chooses.
#pragma once

#include <stdexcept>

#include "tests/unit/schedule_harness.h"

namespace kiln::compiler::testing {

// A state is represented by a Scalar's integer.
class StateMemory {
 public:
  // Memory of the kernel's buffers, by slot.
  explicit StateMemory(std::vector<Data>& slots) {
    for (Data& d : slots) memories_.push_back({&d, {}, {}});
  }

  Scalar now(std::size_t memory) const { return state(memory, memories_[memory].writes.size()); }
  Scalar zeros(std::size_t elements) {
    memories_.push_back({nullptr, Data(elements), {}});
    return now(memories_.size() - 1);
  }

  Scalar read(const Scalar& state, std::int64_t at) {
    Memory& m = of(state);
    const Scalar& latest = element(m, at);
    for (std::size_t i = version(state); i < m.writes.size(); ++i)
      if (m.writes[i].at == at) return m.writes[i].before;
    return latest;
  }
  Scalar write(const Scalar& state, std::int64_t at, const Scalar& value) {
    Memory& m = of(state);
    if (version(state) != m.writes.size()) throw std::logic_error("two writers of one state");
    Scalar& e = element(m, at);
    m.writes.push_back({at, e});
    e = value;
    return now(memory(state));
  }

 private:
  struct Write {
    std::int64_t at;
    Scalar before;
  };
  struct Memory {
    Data* buffer;  // nullptr: the memory is `own`
    Data own;
    std::vector<Write> writes;
  };

  static constexpr int version_bits = 32;
  static Scalar state(std::size_t memory, std::size_t version) {
    return {0, static_cast<std::int64_t>(memory << version_bits | version)};
  }
  static std::size_t memory(const Scalar& state) { return static_cast<std::size_t>(state.i) >> version_bits; }
  static std::size_t version(const Scalar& state) { return static_cast<std::size_t>(state.i) & 0xffffffffu; }
  Memory& of(const Scalar& state) { return memories_.at(memory(state)); }
  static Scalar& element(Memory& m, std::int64_t at) {
    Data& d = m.buffer != nullptr ? *m.buffer : m.own;
    if (at < 0 || at >= static_cast<std::int64_t>(d.size())) throw std::logic_error("access out of bounds");
    return d[static_cast<std::size_t>(at)];
  }

  std::vector<Memory> memories_;
};

}  // namespace kiln::compiler::testing
