// Promises of unique stores, checked while a program runs: who wrote an element last, of the positions that run side by side:
// those of a kernel, or those of a group between two barriers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kiln::compiler {

class Promises {
 public:
  explicit Promises(std::size_t states) : writers_(states) {}

  void begin() { first_ = ++position_; }
  void next_position() { ++position_; }
  // False: another position wrote the element too, and one of both promised that none does.
  bool write(std::size_t state, std::size_t element, bool unique) {
    std::vector<Writer>& w = writers_[state];
    if (w.size() <= element) w.resize(element + 1);
    Writer& last = w[element];
    const bool again = last.position >= first_;
    if (again && last.position != position_ && (last.unique || unique)) return false;
    last = {position_, unique || (again && last.position == position_ && last.unique)};
    return true;
  }

 private:
  struct Writer {
    std::int64_t position = 0;
    bool unique = false;
  };
  std::vector<std::vector<Writer>> writers_;  // by state and element
  std::int64_t position_ = 0, first_ = 1;     // counted through all
};

}  // namespace kiln::compiler
