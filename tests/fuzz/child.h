// Work in a child process with limits: a crash, a hang or too much memory is a result, not the end of the campaign.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>

namespace kiln::compiler::testing {

struct ChildEnd {
  std::string report;   // what the work returned
  std::string problem;  // "", "crash signal 11", "time", "memory"
};

// Several children at a time. Each task gets a key.
class Children {
 public:
  void start(std::uint64_t key, const std::function<std::string()>& work);
  std::size_t running() const { return open_.size(); }
  std::pair<std::uint64_t, ChildEnd> wait();  // for any

 private:
  struct Open {
    std::uint64_t key;
    int file;
  };
  std::map<pid_t, Open> open_;
};

ChildEnd in_child(const std::function<std::string()>& work);

}  // namespace kiln::compiler::testing
