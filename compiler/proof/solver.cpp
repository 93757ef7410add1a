#include "compiler/proof/solver.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string_view>
#include <system_error>

#include "compiler/ir/diagnostic.h"

namespace kiln::compiler {
namespace {

[[noreturn]] void fail(const std::string& what) { throw Diagnostic("E-solver", "z3", what); }
std::string reason() { return std::generic_category().message(errno); }

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {
    if (fd < 0) fail("cannot make a file for it: " + reason());
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(fd_); }
  operator int() const { return fd_; }

 private:
  int fd_;
};

void write_all(int fd, std::string_view s) {
  while (!s.empty()) {
    const ssize_t n = write(fd, s.data(), s.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot write its script: " + reason());
    s.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::string read_all(int fd) {
  std::string out;
  std::array<char, 4096> buffer{};
  lseek(fd, 0, SEEK_SET);
  for (ssize_t n = 0; (n = read(fd, buffer.data(), buffer.size())) > 0;) out.append(buffer.data(), static_cast<std::size_t>(n));
  return out;
}

// Input and output are anonymous files: no pipe can fill up, and no file is left over.
std::string run(const std::string& script, SolverLimits limits) {
  const Descriptor in(memfd_create("script", MFD_CLOEXEC)), out(memfd_create("answer", MFD_CLOEXEC));
  write_all(in, script);
  lseek(in, 0, SEEK_SET);
  std::string words[] = {"z3", "-in", "-memory:" + std::to_string(limits.megabytes)};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &files, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) fail("cannot be started (is it installed?): " + std::generic_category().message(error));
  const auto seconds = static_cast<rlim_t>(limits.seconds);
  const rlimit time{seconds, seconds};
  if (prlimit(child, RLIMIT_CPU, &time, nullptr) != 0 && errno != ESRCH) fail("cannot be limited: " + reason());
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) fail("lost: " + reason());
  return read_all(out) + (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? "timeout\n" : "");
}

// The integers of ((v_a 3) (v_b (- 4))), in order, up to the first that does not fit.
std::vector<std::int64_t> values(std::string_view s) {
  std::vector<std::int64_t> out;
  while (true) {
    const std::size_t name = s.find("v_");
    const std::size_t space = name == s.npos ? s.npos : s.find(' ', name);
    if (space == s.npos) return out;
    s.remove_prefix(space + 1);
    const bool negative = s.starts_with("(- ");
    if (negative) s.remove_prefix(3);
    std::int64_t v = 0;
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
    if (error != std::errc()) return out;
    out.push_back(negative ? -v : v);
    s.remove_prefix(static_cast<std::size_t>(end - s.data()));
  }
}

}  // namespace

Solution solve(const std::string& script, SolverLimits limits) {
  const std::string out = run(script, limits);
  const std::string_view text = out;
  if (text.starts_with("unsat")) return {Answer::unsat, {}};
  if (text.starts_with("sat")) return {Answer::sat, values(text)};
  if (text.starts_with("unknown") || text.starts_with("timeout") || text.find("out of memory") != text.npos) return {};
  fail("expected sat, unsat or unknown, got '" + out.substr(0, 200) + "'");
}

std::size_t first_unsat(const std::string& script, SolverLimits limits) {
  constexpr std::string_view line = "unsat\n";
  const std::string out = run(script, limits);
  std::size_t n = 0;
  while (std::string_view(out).substr(n * line.size()).starts_with(line)) ++n;
  return n;
}

}  // namespace kiln::compiler
