// kiln-opt and kiln-run as a user runs them: graph text to library, library on .npy files, compared with the interpreter.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "compiler/ir/diagnostic.h"
#include "generator/outputs.h"
#include "generator/tools/arguments.h"
#include "generator/tools/measured_pair.h"
#include "generator/tools/npy.h"
#include "generator/tools/shared_library.h"

namespace kiln::generator {
namespace {

using compiler::DType;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool sanitized = false;
#endif

constexpr const char* graph = R"(program mixed
symbol N min 0 max 1048576
in    f32 []     a
in    f32 [N]    x
in    bf16 [N]   h
inout f32 [N]    y
out   f32 []     total
%0 = param a
%1 = param x
%2 = param y
%3 = param h
%4 = cast f32 %3
%5 = fma %0, %1, %2
%6 = add %5, %4
%7 = reduce %6, sum, axes [0]
store y, %6
store total, %7
)";

class Tools : public testing::Test {
 protected:
  struct Result {
    int status = -1;
    std::string out, err;
  };
  Result run(const std::string& tool, std::vector<std::string> words) {
    const std::string out = at("stdout"), err = at("stderr");
    words.insert(words.begin(), tool);
    std::vector<char*> argv;
    for (std::string& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t child = 0;
    EXPECT_EQ(posix_spawn(&child, tool.c_str(), &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
  }
  // Runs shell commands first, for example to set limits.
  Result run_after(const std::string& commands, const std::string& tool, const std::vector<std::string>& words) {
    std::vector<std::string> all = {"-c", commands + "; exec \"$@\"", "sh", tool};
    all.insert(all.end(), words.begin(), words.end());
    return run("/bin/sh", std::move(all));
  }
  Result opt(std::vector<std::string> words) { return run(KILN_OPT, std::move(words)); }
  Result call(std::vector<std::string> words) { return run(KILN_RUN, std::move(words)); }
  std::string at(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string text(const std::string& name, const std::string& content) {
    write_file(at(name), content);
    return at(name);
  }
  void compiled() {
    const Result r = opt({"compile", text("g.kiln", graph), "-o", at("out")});
    ASSERT_EQ(r.status, 0) << r.err;
  }
  void expect_same(const std::string& a, const std::string& b) {
    for (const char* name : {"/y.npy", "/total.npy"}) EXPECT_EQ(read_file(at(a) + name), read_file(at(b) + name)) << a << name;
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Tools, CompiledEqualsInterpreted) {
  compiled();
  for (const char* n : {"N=0", "N=1", "N=7", "N=1000", "N=65537"}) {
    const Result i = opt({"interp", at("g.kiln"), "--random", "--dims", n, "-o", at("interp")});
    ASSERT_EQ(i.status, 0) << i.err;
    for (const char* threads : {"1", "3"}) {
      const Result r = call({at("out/libmixed.so"), "--random", "--dims", n, "--out", at("run"), "--threads", threads});
      ASSERT_EQ(r.status, 0) << r.err;
      expect_same("run", "interp");
    }
  }
}

// Two forms of a program in a folder each: y = of_x.
TEST_F(Tools, MeasuredPairComparesResults) {
  const auto library = [&](const std::string& folder, const std::string& of_x) {
    const std::string program =
        text(folder + ".kiln", "program p\nin f32 [40] x\nout f32 [40] y\n%0 = param x\n" + of_x + "store y, %9\n");
    EXPECT_EQ(opt({"compile", program, "-o", at(folder), "--variants", "x86-64-v3"}).status, 0);
    return at(folder + "/libp.so");
  };
  const auto end_of = [&](const std::string& a, const std::string& b) {
    return generator::measure_pair(library("a", a), [&] { return library("b", b); }, {}, 0).end;
  };
  using End = generator::MeasuredPair::End;
  const std::string nan = "%1 = abs %0\n%2 = const f32 -1\n%3 = sub %2, %1\n%4 = sqrt %3\n";
  EXPECT_EQ(end_of("%9 = add %0, %0\n", "%9 = add %0, %0\n"), End::measured);
  EXPECT_EQ(end_of("%9 = add %0, %0\n", "%9 = mul %0, %0\n"), End::other_bits);
  EXPECT_EQ(end_of(nan + "%9 = abs %4\n", nan + "%5 = abs %4\n%9 = neg %5\n"), End::measured);  // NaNs of either sign
}

// The file that the tool writes is a tuning file, and programs compiled with it give the same results.
TEST_F(Tools, TunedEqualsInterpreted) {
  const Result r = run(KILN_TUNE, {text("g.kiln", graph), "-o", at("a.tune"), "--variant", "x86-64-v3", "--time", "1"});
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.out.find("plans measured: "), std::string::npos) << r.out;
  EXPECT_EQ(read_file(at("a.tune")).substr(0, 14), "kiln-tuning 1\n");
  const Result c = opt({"compile", at("g.kiln"), "-o", at("out"), "--variants", "x86-64-v3", "--tuning", at("a.tune")});
  ASSERT_EQ(c.status, 0) << c.err;
  EXPECT_EQ(c.err, "");
  ASSERT_EQ(opt({"interp", at("g.kiln"), "--random", "--dims", "N=1000", "-o", at("interp")}).status, 0);
  ASSERT_EQ(call({at("out/libmixed.so"), "--random", "--dims", "N=1000", "--out", at("run")}).status, 0);
  expect_same("run", "interp");
  const std::string before = read_file(at("a.tune"));
  const Result none = run(KILN_TUNE, {at("g.kiln"), "-o", at("a.tune"), "--time", "0"});
  EXPECT_NE(none.err.find("stays as it is, because no plan was measured"), std::string::npos) << none.err;
  EXPECT_EQ(read_file(at("a.tune")), before);
  const Result other = run(KILN_TUNE, {at("g.kiln"), "-o", at("a.tune"), "--time", "0", "--dims", "Q=3"});
  EXPECT_NE(other.err.find("E-argument: no program has a symbol 'Q'"), std::string::npos) << other.err;
}

TEST_F(Tools, FilesAndObjects) {
  compiled();
  write_npy(at("a.npy"), random_array(DType::f32, {}, 1));
  write_npy(at("x.npy"), random_array(DType::f32, {777}, 2));
  write_npy(at("h.npy"), random_array(DType::bf16, {777}, 3));
  write_npy(at("y.npy"), random_array(DType::f32, {777}, 4));
  const std::vector<std::string> in = {"--in", "a=" + at("a.npy"), "x=" + at("x.npy"), "h=" + at("h.npy"), "y=" + at("y.npy")};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), in.begin(), in.end());
    return words;
  };
  ASSERT_EQ(opt(with({"interp", at("g.kiln"), "-o", at("interp")})).status, 0);
  ASSERT_EQ(call(with({at("out/libmixed.so"), "-o", at("library")})).status, 0);
  const Result r = call(with({at("out/mixed.o"), "-o", at("object"), "--runtime", KILN_RUNTIME, "--repeat", "3"}));
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.out.find("GB/s"), std::string::npos) << r.out;
  expect_same("library", "interp");
  expect_same("object", "interp");
  const std::string y = read_file(at("y.npy"));
  EXPECT_NE(y, read_file(at("object/y.npy")));
}

TEST_F(Tools, OutputsDoNotDependOnTheFolder) {
  compiled();
  ASSERT_EQ(opt({"compile", at("g.kiln"), "-o", at("other/folder")}).status, 0);
  for (const char* name : {"mixed.o", "mixed.h", "mixed.json", "libmixed.so"})
    EXPECT_EQ(read_file(at("out/") + name), read_file(at("other/folder/") + name)) << name;
}

TEST_F(Tools, Info) {
  compiled();
  const Result r = call({at("out/libmixed.so"), "--info"});
  EXPECT_NE(r.out.find("inout f32 [N] y\n"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("symbol N min 0 max 1048576"), std::string::npos) << r.out;
}

TEST_F(Tools, VariantsAreListedAndForced) {
  ASSERT_EQ(opt({"compile", text("g.kiln", graph), "-o", at("out"), "--variants", "x86-64-v4,x86-64-v3"}).status, 0);
  const std::string library = at("out/libmixed.so");
  const Result info = call({library, "--info", "--variant", "x86-64-v3"});
  EXPECT_NE(info.out.find("variant x86-64-v4"), std::string::npos) << info.out;
  EXPECT_NE(info.out.find("variant x86-64-v3 selected\n"), std::string::npos) << info.out;
  const std::vector<std::string> names = {"x86-64-v3", "x86-64-v4"};
  for (const std::string& name : names) {
    const Result r = call({library, "--random", "--dims", "N=100", "--variant", name, "--out", at(name)});
    if (info.out.find(name + " not on this CPU") == std::string::npos)
      EXPECT_EQ(r.status, 0) << r.err;
    else
      EXPECT_NE(r.err.find("R-cpu: program mixed: this CPU lacks avx512f"), std::string::npos) << r.err;
  }
  if (info.out.find("not on this CPU") == std::string::npos) expect_same(names[0], names[1]);
  EXPECT_EQ(call({library, "--info", "--variant", "znver4"}).err,
            "--variant: error: E-argument: expected x86-64-v4 or x86-64-v3, got 'znver4'\n");
}

// A state after lowering is for one target.
TEST_F(Tools, LoweredKernelsHaveOneVariant) {
  const Result dump = opt({"compile", text("g.kiln", graph), "-o", at("out"), "--no-library", "--dump-after", "index_dtype"});
  const std::string lowered = text("lowered.kiln", dump.out);
  EXPECT_EQ(opt({"compile", lowered, "-o", at("again"), "--no-library"}).status, 0);
  const Result r = opt({"compile", lowered, "-o", at("again"), "--no-library", "--variants", "x86-64-v3,x86-64-v4"});
  EXPECT_EQ(r.status, 65);
  EXPECT_EQ(r.err, "error: E-pass: expected one variant for a text from after index_dtype, got 2\n");
}

// A whole program names the line for which the CPU has no instruction.
TEST_F(Tools, AVariantWithoutFma) {
  const Result r = opt({"compile", text("g.kiln", graph), "-o", at("out"), "--variants", "x86-64-v2,x86-64-v3"});
  EXPECT_EQ(r.status, 65);
  EXPECT_EQ(r.err, at("g.kiln") +
                       ":13:1: error: E-target: expected a variant whose CPU has fma, of which this operation "
                       "consists, got x86-64-v2\n");
}

TEST_F(Tools, PrintVerifyAndPasses) {
  const std::string file = text("g.kiln", graph);
  EXPECT_EQ(opt({"verify", file}).status, 0);
  const Result once = opt({"print", file});
  const Result twice = opt({"print", text("again.kiln", once.out)});
  EXPECT_EQ(once.out, twice.out);
  const Result passes = opt({"passes"});
  EXPECT_NE(passes.out.find("kernel_split\n"), std::string::npos);
  std::size_t from = 0;
  for (std::size_t end = 0; (end = passes.out.find('\n', from)) != std::string::npos; from = end + 1) {
    const Result r = opt({"run", "--pass", passes.out.substr(from, end - from), file});
    EXPECT_EQ(r.status, 0) << r.err;
    EXPECT_FALSE(r.out.empty());
  }
  const Result split = opt({"run", "--pass", "kernel_split", file});
  EXPECT_EQ(opt({"run", "--pass", "simplify_ranges", text("s.kiln", split.out)}).status, 0);
  const Result n =
      opt({"run", "--pass", "simplify", text("n.kiln", "nodes\n%0 = sym index \"n\"\n%1 = add index %0, %0\nroot %1\n")});
  EXPECT_NE(n.out.find("mul index"), std::string::npos) << n.out << n.err;
}

TEST_F(Tools, MistakesAreTold) {
  compiled();
  const std::string library = at("out/libmixed.so"), file = at("g.kiln");
  const auto expect = [](const Result& r, int status, const std::string& part) {
    EXPECT_EQ(r.status, status);
    EXPECT_NE(r.err.find(part), std::string::npos) << r.err;
  };
  expect(call({library, "--random"}), 65, "E-argument");
  expect(call({library, "--dims", "N=3"}), 65, "a: error: E-argument: has no value");
  expect(call({library, "--random", "--dims", "N"}), 64, "E-usage");
  expect(call({library, "--random", "--dims", "M=3"}), 65, "no symbol 'M'");
  const Result refused = call({library, "--random", "--dims", "N=2000000"});
  EXPECT_EQ(refused.status, 65);
  EXPECT_EQ(refused.err,
            "error: R-constraint: program mixed: extent N: argument x axis 0: expected at most 1048576, got 2000000\n");
  expect(call({library, "--random", "--dims", "N=-1"}), 65, "E-argument");
  expect(call({library, "--program", "nothing", "--random"}), 65, "E-library");
  expect(call({file, "--random"}), 65, "E-library");
  expect(call({at("nothing.so")}), 65, "E-file");
  expect(call({at("out/mixed.o"), "--random", "--dims", "N=1", "--runtime", at("nothing.a")}), 65, "E-link");
  write_npy(at("x.npy"), random_array(DType::f64, {3}, 2));
  expect(call({library, "--random", "--in", "x=" + at("x.npy")}), 65, "expected dtype f32, got f64");
  write_npy(at("x.npy"), random_array(DType::f32, {3}, 2));
  expect(call({library, "--random", "--in", "x=" + at("x.npy"), "--dims", "N=4"}), 65, "R-conflict");
  expect(call({library, "--random", "--in", "z=" + at("x.npy")}), 65, "no parameter 'z'");
  expect(opt({"interp", file, "--random"}), 65, "--dims");
  expect(opt({"run", "--pass", "nothing", file}), 65, "E-pass");
  const std::string split = text("split.kiln", opt({"run", "--pass", "kernel_split", file}).out);
  expect(opt({"run", "--pass", "graph_cleanup", split}), 65, "E-pass: expected a text from before the pass graph_cleanup");
  std::string unplaced = read_file(split);
  unplaced.erase(unplaced.find(" after kernel_split"), 19);
  expect(opt({"compile", text("unplaced.kiln", unplaced)}), 65, "E-pass: expected `after PASS`");
  unplaced.insert(unplaced.find('\n'), " after nothing");
  expect(opt({"compile", text("unplaced.kiln", unplaced)}), 65,
         "E-pass: expected a pass that `kiln-opt passes` lists, got 'nothing'");
  const std::string lowering = text("lowering.kiln", opt({"run", "--pass", "merge_ranges", file}).out);
  expect(opt({"compile", lowering}), 65,
         "E-pass: expected a text from before or after lowering, got one from after its step merge_ranges");
  expect(opt({"verify", lowering}), 65, "E-pass: expected a text from before or after lowering");
  expect(opt({"compile", "--disable", "loop_nest", file}), 65,
         "E-pass: expected a pass that programs compile without (component_versions,");
  expect(opt({"compile", "--disable", "nothing", file}), 65,
         "E-pass: expected a pass that `kiln-opt passes` lists, got 'nothing'");
  expect(opt({"verify", text("bad.kiln", "hello\n")}), 65, "E-text");
  expect(opt({"compile", file, "-o", at("g.kiln") + "/x"}), 73, "E-file");
  expect(opt({"compile", file, "-o", at("o2"), "--namespace", "1x"}), 64, "E-usage");
  expect(opt({}), 64, "");
}

TEST_F(Tools, FullDiskLeavesTheOldOutputs) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer keeps data of its own in a file, which the limit of this test cuts off";
#endif
  compiled();
  const auto words = [&](const char* n) { return std::vector<std::string>{"--random", "--dims", n, "-o", at("results")}; };
  const auto called = [&](std::vector<std::string> w) { return w.insert(w.begin(), at("out/libmixed.so")), w; };
  const auto interpreted = [&](std::vector<std::string> w) { return w.insert(w.begin(), {"interp", at("g.kiln")}), w; };
  ASSERT_EQ(call(called(words("N=3"))).status, 0);
  const std::string y = read_file(at("results/y.npy")), total = read_file(at("results/total.npy"));
  const std::string small_files = "ulimit -f 8; trap '' XFSZ";  // larger writes fail, as on a full disk
  for (const Result& r : {run_after(small_files, KILN_RUN, called(words("N=100000"))),
                          run_after(small_files, KILN_OPT, interpreted(words("N=100000")))}) {
    EXPECT_EQ(r.status, 74);
    EXPECT_NE(r.err.find("y.npy: error: E-file: cannot be written whole: "), std::string::npos) << r.err;
    EXPECT_EQ(read_file(at("results/y.npy")), y);
    EXPECT_EQ(read_file(at("results/total.npy")), total);
    const std::filesystem::directory_iterator files(at("results"));
    EXPECT_EQ(std::distance(begin(files), end(files)), 2);
  }
}

// Uses a linker that kills the tool that calls it.
TEST_F(Tools, KilledToolsLeaveNoTemporaryFiles) {
  compiled();
  const std::string temporary = at("temporary");
  std::filesystem::create_directory(temporary);
  const std::string linker = text("cc", "#!/bin/sh\necho x > \"$TMPDIR/of_the_linker\"\nkill -$SIGNAL $PPID\n");
  std::filesystem::permissions(linker, std::filesystem::perms::owner_all);
  for (const char* signal : {"INT", "TERM", "HUP", "KILL"}) {
    SCOPED_TRACE(signal);
    const std::string commands = "export TMPDIR='" + temporary + "' CC='" + linker + "' SIGNAL=" + signal;
    EXPECT_EQ(run_after(commands, KILN_OPT, {"compile", at("g.kiln"), "-o", at("killed")}).status, -1);
    EXPECT_EQ(run_after(commands, KILN_RUN, {at("out/mixed.o"), "--random", "--dims", "N=1", "--runtime", KILN_RUNTIME}).status,
              -1);
    for (int i = 0; i < 1000 && !std::filesystem::is_empty(temporary); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(std::filesystem::is_empty(temporary));
  }
}

TEST_F(Tools, OutOfMemoryHasAnId) {
  if (sanitized) GTEST_SKIP() << "a sanitizer reserves more memory than the limit allows";
  const std::string file = text("copy.kiln", "program copy\nin f32 [N] x\nout f32 [N] y\n%0 = param x\nstore y, %0\n");
  const Result r = run_after("ulimit -v 2000000", KILN_OPT, {"interp", file, "--random", "--dims", "N=4000000000"});
  EXPECT_EQ(r.status, 75);
  EXPECT_EQ(r.err, "error: E-oom: out of memory\n");
}

TEST_F(Tools, DamagedLibrariesAreDiagnosed) {
  compiled();
  const std::string good = read_file(at("out/mixed.o"));
  for (std::size_t i = 0; i < good.size(); i += 13) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x5a);
    try {
      description_symbols(bad, "x.o");
      description_symbols(bad.substr(0, i), "x.o");
    } catch (const compiler::Diagnostic& d) {
      EXPECT_EQ(d.id(), "E-library");
    }
  }
}

}  // namespace
}  // namespace kiln::generator
