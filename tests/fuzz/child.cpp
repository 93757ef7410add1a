#include "tests/fuzz/child.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <stdexcept>

namespace kiln::compiler::testing {
namespace {

constexpr rlim_t cpu_seconds = 40 * sanitizer_cost;  // of one item: two compilations of 10 s at most, interpretation, runs
constexpr unsigned wall_seconds = 300;
constexpr long most_kilobytes = sanitizer_cost << 20;
constexpr long fresh_kilobytes = 300 << 10;  // after an item that needed more, the others get a new process

rusage used_here() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used;
}

void limit_one_item() {
  const rusage used = used_here();
  const auto spent = static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
  const rlimit time{spent + cpu_seconds, RLIM_INFINITY};
  setrlimit(RLIMIT_CPU, &time);
  alarm(wall_seconds);
}

// Appends to the file, for each item that ended: the size of its report, the peak memory so far, the report.
bool write_end(int file, const std::string& report, long peak) {
  std::string frame(2 * sizeof(std::int64_t), '\0');
  const std::int64_t head[] = {static_cast<std::int64_t>(report.size()), peak};
  std::memcpy(frame.data(), head, sizeof head);
  frame += report;
  return write(file, frame.data(), frame.size()) == static_cast<ssize_t>(frame.size());
}

std::vector<ChildEnd> read_ends(int file) {
  std::string text(static_cast<std::size_t>(lseek(file, 0, SEEK_END)), '\0');
  if (pread(file, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) throw std::runtime_error("pread");
  close(file);
  std::vector<ChildEnd> out;
  for (std::size_t at = 0; at < text.size();) {
    std::int64_t head[2];
    std::memcpy(head, text.data() + at, sizeof head);
    const auto size = static_cast<std::size_t>(head[0]);
    out.push_back({text.substr(at + sizeof head, size), head[1] > most_kilobytes ? "memory" : "", static_cast<long>(head[1])});
    at += sizeof head + size;
  }
  return out;
}

std::string problem(int status, bool nothing_done) {
  if (WIFSIGNALED(status)) {
    const int s = WTERMSIG(status);
    return s == SIGXCPU || s == SIGALRM || s == SIGKILL ? "time" : "crash signal " + std::to_string(s);
  }
  return WEXITSTATUS(status) == 0 && !nothing_done ? "" : "exit " + std::to_string(WEXITSTATUS(status));
}

[[noreturn]] void run(int file, const std::vector<std::uint64_t>& keys, const Children::Work& work) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  for (const std::uint64_t key : keys) {
    limit_one_item();
    const std::string report = work(key);
    const long peak = used_here().ru_maxrss;
    if (!write_end(file, report, peak)) _exit(1);
    if (peak > fresh_kilobytes) break;
  }
  _exit(0);
}

}  // namespace

void Children::start(std::vector<std::uint64_t> keys) {
  if (keys.empty()) return;
  const int file = memfd_create("report", MFD_CLOEXEC);
  const pid_t pid = fork();
  if (file < 0 || pid < 0) throw std::runtime_error("no child process");
  if (pid == 0) run(file, keys, work_);
  open_[pid] = {std::move(keys), file};
}

void Children::collect() {
  int status = 0;
  rusage used{};
  const pid_t pid = wait4(open_.size() == 1 ? open_.begin()->first : -1, &status, 0, &used);
  const auto it = open_.find(pid);
  if (it == open_.end()) throw std::runtime_error("wait4");
  const Open open = std::move(it->second);
  open_.erase(it);
  std::vector<ChildEnd> ends = read_ends(open.file);
  if (const std::string why = problem(status, ends.empty()); !why.empty() && ends.size() < open.keys.size())
    ends.push_back({"", why, used.ru_maxrss});
  for (std::size_t i = 0; i < ends.size(); ++i) ends_.emplace_back(open.keys[i], std::move(ends[i]));
  start({open.keys.begin() + static_cast<std::ptrdiff_t>(ends.size()), open.keys.end()});
}

std::pair<std::uint64_t, ChildEnd> Children::wait() {
  while (ends_.empty()) collect();
  auto end = std::move(ends_.front());
  ends_.pop_front();
  return end;
}

ChildEnd in_child(const std::function<std::string()>& work) {
  Children one([&](std::uint64_t) { return work(); });
  one.start({0});
  return one.wait().second;
}

}  // namespace kiln::compiler::testing
