#include "tests/fuzz/child.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace kiln::compiler::testing {
namespace {

constexpr rlim_t cpu_seconds = 40;  // two compilations of 10 s at most, interpretation, runs
constexpr unsigned wall_seconds = 300;
constexpr long most_kilobytes = 1 << 20;

[[noreturn]] void run(int file, const std::function<std::string()>& work) {
  const rlimit time{cpu_seconds, cpu_seconds + 1}, none{0, 0};
  setrlimit(RLIMIT_CPU, &time);
  setrlimit(RLIMIT_CORE, &none);
  alarm(wall_seconds);
  const std::string report = work();
  const bool written = write(file, report.data(), report.size()) == static_cast<ssize_t>(report.size());
  _exit(written ? 0 : 1);
}

std::string contents(int file) {
  std::string text(static_cast<std::size_t>(lseek(file, 0, SEEK_END)), '\0');
  if (pread(file, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) throw std::runtime_error("pread");
  close(file);
  return text;
}

std::string problem(int status, const rusage& used) {
  if (WIFSIGNALED(status)) {
    const int s = WTERMSIG(status);
    return s == SIGXCPU || s == SIGALRM || s == SIGKILL ? "time" : "crash signal " + std::to_string(s);
  }
  if (WEXITSTATUS(status) != 0) return "exit " + std::to_string(WEXITSTATUS(status));
  return used.ru_maxrss > most_kilobytes ? "memory" : "";
}

struct Child {
  pid_t pid;
  int file;
};

Child start_child(const std::function<std::string()>& work) {
  const int file = memfd_create("report", MFD_CLOEXEC);
  const pid_t pid = fork();
  if (file < 0 || pid < 0) throw std::runtime_error("no child process");
  if (pid == 0) run(file, work);
  return {pid, file};
}

}  // namespace

void Children::start(std::uint64_t key, const std::function<std::string()>& work) {
  const Child c = start_child(work);
  open_[c.pid] = {key, c.file};
}

std::pair<std::uint64_t, ChildEnd> Children::wait() {
  int status = 0;
  rusage used{};
  const pid_t pid = wait4(-1, &status, 0, &used);
  const auto it = open_.find(pid);
  if (it == open_.end()) throw std::runtime_error("wait4");
  const Open open = it->second;
  open_.erase(it);
  return {open.key, {contents(open.file), problem(status, used)}};
}

ChildEnd in_child(const std::function<std::string()>& work) {
  const Child c = start_child(work);
  int status = 0;
  rusage used{};
  if (wait4(c.pid, &status, 0, &used) != c.pid) throw std::runtime_error("wait4");
  return {contents(c.file), problem(status, used)};
}

}  // namespace kiln::compiler::testing
