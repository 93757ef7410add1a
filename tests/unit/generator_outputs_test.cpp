// File system errors of a generator: a file is always the old one or the new one, complete, and a generator that reports an
// error leaves no temporary file.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "generator/driver.h"
#include "generator_tables.h"

namespace fs = std::filesystem;
using tables::Tables;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool sanitized = false;
#endif

using Files = std::map<std::string, std::string>;

struct OutputsTest : testing::Test {
  fs::path dir = fs::temp_directory_path() / ("kiln_outputs_test" + std::to_string(getpid()));
  Tables saxpy = tables::saxpy();
  std::vector<const kiln::dsl::record::program*> programs = {&saxpy.get()};

  void SetUp() override { fs::create_directories(dir); }
  void TearDown() override { fs::remove_all(dir); }

  int generate(const fs::path& to, const std::string& name) {
    const std::string folder = to.string();
    const char* argv[] = {"generator", "-o", folder.c_str(), "--namespace", name.c_str()};
    return kiln::generator::run(5, argv, programs);
  }
  int run(const fs::path& to, const std::string& name, std::string* err = nullptr) {
    testing::internal::CaptureStderr();
    const int code = generate(to, name);
    const std::string text = testing::internal::GetCapturedStderr();
    if (err != nullptr) *err = text;
    return code;
  }
  // Starts the generator in a process of its own.
  pid_t start(const fs::path& to, const std::string& name) {
    const pid_t child = fork();
    if (child == 0) _exit(generate(to, name));
    return child;
  }
  static Files files(const fs::path& folder) {
    Files out;
    for (const auto& entry : fs::directory_iterator(folder)) {
      std::ifstream in(entry.path(), std::ios::binary);
      out[entry.path().filename().string()] = {std::istreambuf_iterator<char>(in), {}};
    }
    return out;
  }
};

}  // namespace

TEST_F(OutputsTest, FullDiskLeavesTheOldFiles) {
  ASSERT_EQ(run(dir, "before"), 0);
  const Files before = files(dir);
  rlimit unlimited{}, limited{};
  getrlimit(RLIMIT_FSIZE, &unlimited);
  limited = unlimited;
  limited.rlim_cur = before.at("saxpy.o").size() / 2;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);  // so that a write beyond the limit fails, as on a full disk
  setrlimit(RLIMIT_FSIZE, &limited);
  std::string err;
  const int code = run(dir, "after", &err);
  setrlimit(RLIMIT_FSIZE, &unlimited);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(code, 74);
  EXPECT_EQ(err.find((dir / "saxpy.").string()), 0u) << err;
  EXPECT_NE(err.find(": error: E-file: cannot be written whole: "), std::string::npos) << err;
  EXPECT_EQ(files(dir), before);
}

TEST_F(OutputsTest, FolderThatCannotBeMadeOrWritten) {
  std::ofstream(dir / "file") << "x";
  std::string err;
  EXPECT_EQ(run(dir / "file" / "sub", "k", &err), 73);
  EXPECT_NE(err.find((dir / "file" / "sub").string() + ": error: E-file: cannot be made: Not a directory"), std::string::npos)
      << err;
  EXPECT_EQ(run("/proc/self", "k", &err), 73);  // root is refused too
  EXPECT_EQ(err.find("/proc/self/saxpy."), 0u) << err;
  EXPECT_NE(err.find(": error: E-file: cannot be written: "), std::string::npos) << err;
}

TEST_F(OutputsTest, FolderInTheWayOfAFile) {
  fs::create_directories(dir / "saxpy.o" / "inside");
  std::string err;
  EXPECT_EQ(run(dir, "k", &err), 73);
  EXPECT_NE(err.find("saxpy.o: error: E-file: cannot be written: Is a directory"), std::string::npos) << err;
  for (const auto& entry : fs::directory_iterator(dir))
    EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << entry.path();
}

TEST_F(OutputsTest, GeneratorsAtOnce) {
  ASSERT_EQ(run(dir / "alone", "k"), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) children.push_back(start(dir / "shared", "k"));
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(files(dir / "shared"), files(dir / "alone"));
}

TEST_F(OutputsTest, KilledAtAnyInstant) {
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(run(dir / "old", "old"), 0);
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin).count();
  ASSERT_EQ(run(dir / "new", "new"), 0);
  const Files old_files = files(dir / "old"), new_files = files(dir / "new");
  std::mt19937 random(1);
  int killed = 0;
  for (int i = 0; i < 100; ++i) {
    const fs::path to = dir / "killed";
    fs::remove_all(to);
    fs::copy(dir / "old", to);
    const pid_t child = start(to, "new");
    usleep(static_cast<useconds_t>(random() % static_cast<unsigned long>(2 * took)));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    killed += WIFSIGNALED(status) ? 1 : 0;
    const Files left = files(to);
    for (const auto& [name, bytes] : old_files)
      EXPECT_TRUE(left.at(name) == bytes || left.at(name) == new_files.at(name)) << name << " is torn, kill " << i;
  }
  EXPECT_GT(killed, 0);
}

// Programs are compiled one after another. The first one's memory is free when the second begins.
TEST_F(OutputsTest, ManyProgramsNeedTheMemoryOfOne) {
  if (sanitized) GTEST_SKIP() << "a sanitizer keeps freed memory to find its later use";
  const auto peak = [&](int n) {
    std::vector<std::string> names(static_cast<std::size_t>(n));
    std::deque<Tables> all;
    for (int i = 0; i < n; ++i) {
      names[static_cast<std::size_t>(i)] = "p" + std::to_string(i);
      all.push_back(tables::saxpy(names[static_cast<std::size_t>(i)].c_str()));
    }
    programs.clear();
    for (Tables& t : all) programs.push_back(&t.get());
    const pid_t child = start(dir / std::to_string(n), "k");
    int status = 0;
    rusage used{};
    wait4(child, &status, 0, &used);
    EXPECT_EQ(status, 0);
    return used.ru_maxrss;  // KiB
  };
  const long one = peak(1);
  EXPECT_LT(peak(60) - one, 16 * 1024);
}
