// Checks promises of unique stores while a program runs. Keeps the last writer of each element among the work items that may
// run in any order: the work items of a kernel, or of a workgroup between two barriers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kiln::compiler {

class Promises {
 public:
  explicit Promises(std::size_t states) : writers_(states) {}

  void begin() { first_ = ++item_; }
  void next_work_item() { ++item_; }
  // False: another work item wrote the element too, and one of the two writes is promised to be unique.
  bool write(std::size_t state, std::size_t element, bool unique) {
    std::vector<Writer>& w = writers_[state];
    if (w.size() <= element) w.resize(element + 1);
    Writer& last = w[element];
    const bool again = last.item >= first_;
    if (again && last.item != item_ && (last.unique || unique)) return false;
    last = {item_, unique || (again && last.item == item_ && last.unique)};
    return true;
  }

 private:
  struct Writer {
    std::int64_t item = 0;
    bool unique = false;
  };
  std::vector<std::vector<Writer>> writers_;  // by state and element
  std::int64_t item_ = 0, first_ = 1;         // number of the work item, counted over all begin() calls
};

}  // namespace kiln::compiler
