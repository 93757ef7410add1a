// Work in child processes with limits: a crash, a hang or too much memory is a result and does not end the campaign. A child
// works through several items, which saves the start of a process for each. The item that ends the child is known.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace kiln::compiler::testing {

// Limits on time and memory hold for the plain build. A sanitizer needs several times as much.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int sanitizer_cost = 4;
#else
inline constexpr int sanitizer_cost = 1;
#endif

struct ChildEnd {
  std::string report;       // what the work returned
  std::string problem;      // "", "crash signal 11", "time", "memory"
  long peak_kilobytes = 0;  // of the process so far
};

// Runs several children at a time. Each item has a key.
class Children {
 public:
  using Work = std::function<std::string(std::uint64_t key)>;
  explicit Children(Work work) : work_(std::move(work)) {}

  void start(std::vector<std::uint64_t> keys);
  std::size_t running() const { return open_.size(); }
  bool empty() const { return open_.empty() && ends_.empty(); }
  std::pair<std::uint64_t, ChildEnd> wait();  // waits for the next item's end; after a crash the remaining items start again

 private:
  void collect();

  struct Open {
    std::vector<std::uint64_t> keys;
    int file;
  };
  Work work_;
  std::map<pid_t, Open> open_;
  std::deque<std::pair<std::uint64_t, ChildEnd>> ends_;
};

ChildEnd in_child(const std::function<std::string()>& work);

}  // namespace kiln::compiler::testing
