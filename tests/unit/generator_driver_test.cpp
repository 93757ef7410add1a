#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/lower/tuning.h"
#include "compiler/pipeline/run_passes.h"
#include "generator/driver.h"
#include "generator/import.h"
#include "generator/outputs.h"
#include "generator_tables.h"

namespace compiler = kiln::compiler;
namespace fs = std::filesystem;
using tables::Tables;

namespace {

std::string contents(const fs::path& p) {
  std::ifstream in(p, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct DriverTest : testing::Test {
  fs::path dir = fs::temp_directory_path() / ("kiln_generator_test" + std::to_string(getpid()));
  Tables saxpy = tables::saxpy(), bad{"bad"};
  std::vector<const kiln::dsl::record::program*> programs;

  void SetUp() override {
    fs::create_directories(dir);
    bad.param("y", 1, KILN_F32, bad.shape({}));  // never assigned
    programs = {&saxpy.get()};
  }
  void TearDown() override { fs::remove_all(dir); }

  int run(std::vector<std::string> args, std::string* out = nullptr, std::string* err = nullptr) {
    args.insert(args.begin(), "generator");
    std::vector<const char*> argv;
    for (const auto& a : args) argv.push_back(a.c_str());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = kiln::generator::run(static_cast<int>(argv.size()), argv.data(), programs);
    const std::string o = testing::internal::GetCapturedStdout(), e = testing::internal::GetCapturedStderr();
    if (out != nullptr) *out = o;
    if (err != nullptr) *err = e;
    return code;
  }
};

}  // namespace

TEST_F(DriverTest, HelpAndList) {
  std::string out;
  EXPECT_EQ(run({"--help"}, &out), 0);
  EXPECT_NE(out.find("--dump-after"), std::string::npos);
  EXPECT_EQ(run({"--list"}, &out), 0);
  EXPECT_EQ(out, "saxpy(a, x, y)\n");
}

TEST_F(DriverTest, BadCommandLines) {
  EXPECT_EQ(run({"--no-such"}), 64);
  EXPECT_EQ(run({"--program", "nothing"}), 64);
  EXPECT_EQ(run({"--emit", "exe"}), 64);
  EXPECT_EQ(run({"--variants", "z80"}), 64);
  EXPECT_EQ(run({"--variants", "x86-64-v3,z80"}), 64);
  EXPECT_EQ(run({"--variants"}), 64);
  EXPECT_EQ(run({"--namespace", "a b"}), 64);
  EXPECT_EQ(run({"--dump-after", "no-such-pass"}), 64);
}

TEST_F(DriverTest, WritesEverything) {
  const std::string depfile = (dir / "saxpy.d").string();
  std::string err;
  ASSERT_EQ(run({"-o", dir.string(), "--namespace", "my", "--emit", "obj,header,manifest,ir,llvm-ir,asm", "--depfile", depfile},
                nullptr, &err),
            0)
      << err;
  for (const char* suffix : {".o", ".h", ".json", ".kiln", ".ll", ".s"})
    EXPECT_TRUE(fs::exists(dir / (std::string("saxpy") + suffix))) << suffix;
  const auto j = nlohmann::json::parse(contents(dir / "saxpy.json"));
  EXPECT_EQ(j["entry"], "my_saxpy");
  EXPECT_EQ(j["params"][2]["direction"], "inout");
  EXPECT_EQ(j["params"][1]["extents"][0], "N");
  EXPECT_EQ(j["symbols"][0]["name"], "N");
  ASSERT_EQ(j["variants"].size(), 2u);
  EXPECT_EQ(j["variants"][0]["name"], "x86-64-v4");
  EXPECT_EQ(j["variants"][1]["name"], "x86-64-v3");
  EXPECT_EQ(j["variants"][1]["kernels"].size(), 1u);
  EXPECT_NE(contents(depfile).find("saxpy.o"), std::string::npos);

  const std::string first = contents(dir / "saxpy.o");
  const auto time = fs::last_write_time(dir / "saxpy.o");
  ASSERT_EQ(run({"-o", dir.string(), "--namespace", "my"}), 0);
  EXPECT_EQ(contents(dir / "saxpy.o"), first);
  EXPECT_EQ(fs::last_write_time(dir / "saxpy.o"), time);  // a file whose bytes do not change is not written
}

TEST_F(DriverTest, TargetsDiffer) {
  ASSERT_EQ(run({"-o", (dir / "v3").string(), "--emit", "asm", "--variants", "x86-64-v3"}), 0);
  ASSERT_EQ(run({"-o", (dir / "v4").string(), "--emit", "asm", "--variants", "x86-64-v4"}), 0);
  EXPECT_NE(contents(dir / "v3/saxpy.s"), contents(dir / "v4/saxpy.s"));
}

TEST_F(DriverTest, TheOrderOfVariantsDoesNotMatter) {
  const std::vector<std::string> lists = {"x86-64-v3,x86-64-v4", "x86-64-v4,x86-64-v3", "x86-64-v4,x86-64-v3,x86-64-v4"};
  for (const std::string& list : lists) ASSERT_EQ(run({"-o", (dir / list).string(), "--variants", list}), 0);
  ASSERT_EQ(run({"-o", (dir / "default").string()}), 0);
  for (const char* file : {"saxpy.o", "saxpy.h", "saxpy.json"}) {
    for (const std::string& list : lists) EXPECT_EQ(contents(dir / list / file), contents(dir / lists[0] / file)) << list;
    EXPECT_EQ(contents(dir / "default" / file), contents(dir / lists[0] / file));
  }
}

// A dump says which variant a step of lowering is for. Passes before lowering run once.
TEST_F(DriverTest, DumpOfVariants) {
  std::string out;
  ASSERT_EQ(run({"-o", dir.string(), "--emit", "header", "--dump-after", "memory_plan,index_dtype"}, &out), 0);
  const auto count = [&](const std::string& text) {
    std::size_t n = 0;
    for (std::size_t at = 0; (at = out.find(text, at)) != std::string::npos; ++at) ++n;
    return n;
  };
  EXPECT_EQ(count("# saxpy after memory_plan\n"), 1u) << out;
  EXPECT_EQ(count("# saxpy after index_dtype for x86-64-v4\n"), 1u);
  EXPECT_EQ(count("# saxpy after index_dtype for x86-64-v3\n"), 1u);
}

TEST_F(DriverTest, RemarksNameTheirVariants) {
  std::string err;
  ASSERT_EQ(run({"-o", dir.string(), "--remarks=vectorize_plan"}, nullptr, &err), 0);
  EXPECT_NE(err.find("[vectorize_plan for x86-64-v4]\n"), std::string::npos) << err;
  EXPECT_NE(err.find("[vectorize_plan for x86-64-v3]\n"), std::string::npos) << err;
  ASSERT_EQ(run({"-o", dir.string(), "--remarks=vectorize_plan", "--variants", "x86-64-v3"}, nullptr, &err), 0);
  EXPECT_NE(err.find("[vectorize_plan]\n"), std::string::npos) << err;
}

// Without entries for the kernels the object stays the same. With one, its plan is used, and a wrong one is reported.
TEST_F(DriverTest, TuningFiles) {
  const std::string file = (dir / "a.tune").string(), depfile = (dir / "d").string();
  const auto object_with = [&](const std::string& text, std::string* err) {
    kiln::generator::Outputs out;
    out.add(file, text);
    out.write();
    EXPECT_EQ(
        run({"-o", dir.string(), "--variants", "x86-64-v3", "--tuning", file, "--remarks", "--depfile", depfile}, nullptr, err),
        0)
        << *err;
    return contents(dir / "saxpy.o");
  };
  std::string err;
  ASSERT_EQ(run({"-o", dir.string(), "--variants", "x86-64-v3"}), 0);
  const std::string plain = contents(dir / "saxpy.o"), head = "kiln-tuning 1\n";
  EXPECT_EQ(object_with(head, &err), plain);
  EXPECT_NE(contents(depfile).find("a.tune"), std::string::npos);
  EXPECT_EQ(object_with(head + "kernel 0123456789abcdef x86-64-v3 2 1 other\n  words\n", &err), plain);
  const auto with_plan = [&](const std::string& plan) {
    compiler::Graph g;
    compiler::PassOptions options;
    std::string text;
    options.make_plan = [&](const compiler::Graph& h, auto stores, auto ranges, const compiler::Target& target) {
      text = compiler::write_tuning({{{kernel_key(h, stores, ranges), target.name}, {2, 1, "saxpy", plan, ""}}});
      return vectorize_plan(h, stores, ranges, target);
    };
    run_passes(g, kiln::generator::import_program(g, saxpy.get()), options);
    return text;
  };
  EXPECT_NE(object_with(with_plan("i0 of N: lanes 4, tails 1"), &err), plain);
  EXPECT_NE(err.find("plan: from the tuning file: i0 of N: lanes 4, tails 1 [vectorize_plan]"), std::string::npos) << err;
  EXPECT_EQ(object_with(with_plan("i0 of N: lanes 3, tails 1"), &err), plain);
  EXPECT_EQ(err.find(file + ":2: warning: E-plan: expected a plan that the kernel can have"), 0u) << err;
  EXPECT_EQ(run({"-o", dir.string(), "--tuning", (dir / "none").string()}, nullptr, &err), 65);
  EXPECT_NE(err.find("none: error: E-file"), std::string::npos) << err;
}

TEST_F(DriverTest, DumpAfterAllPasses) {
  std::string out;
  ASSERT_EQ(run({"-o", dir.string(), "--emit", "header", "--dump-after", "all"}, &out), 0);
  EXPECT_NE(out.find("# saxpy after "), std::string::npos);
  EXPECT_NE(out.find("schedule saxpy"), std::string::npos);
}

TEST_F(DriverTest, NothingIsWrittenWhenAProgramFails) {
  programs.push_back(&bad.get());
  std::string err;
  EXPECT_EQ(run({"-o", dir.string()}, nullptr, &err), 65);
  EXPECT_EQ(err, "user.cpp:1:1: error: E-store: expected the output `y` to be assigned, got no store\n");
  EXPECT_TRUE(fs::is_empty(dir));
  EXPECT_EQ(run({"-o", dir.string(), "--program", "saxpy"}), 0);  // the other programs can be compiled alone
}

TEST_F(DriverTest, DuplicateNames) {
  Tables other = tables::saxpy();
  programs.push_back(&other.get());
  std::string err;
  EXPECT_EQ(run({"-o", dir.string()}, nullptr, &err), 65);
  EXPECT_NE(err.find("E-duplicate"), std::string::npos);
}

TEST_F(DriverTest, NoProgram) {
  programs.clear();
  std::string err;
  EXPECT_EQ(run({"-o", dir.string()}, nullptr, &err), 65);
  EXPECT_EQ(err, "error: E-export: expected `static const programs<NAME, ...> exported;` in a source, got no program\n");
}

TEST_F(DriverTest, HeaderCompilesAsCAndCpp) {
  ASSERT_EQ(run({"-o", dir.string(), "--namespace", "my", "--emit", "header"}), 0);
  std::ofstream(dir / "use.c") << "#include \"saxpy.h\"\nint main(void) { return my_saxpy_desc() == 0; }\n";
  std::ofstream(dir / "use.cpp")
      << "#include \"saxpy.h\"\n#include <vector>\n"
         "int f(std::vector<float>& x, std::vector<float>& y) { return my::saxpy(2.0f, x, y).ok() ? 0 : 1; }\n";
  const std::string flags = " -Wall -Wextra -Werror -fsyntax-only " KILN_INCLUDES " ";
  EXPECT_EQ(std::system((std::string(KILN_C_COMPILER) + " -std=c11" + flags + (dir / "use.c").string()).c_str()), 0);
  EXPECT_EQ(std::system((std::string(KILN_CXX_COMPILER) + " -std=c++20" + flags + (dir / "use.cpp").string()).c_str()), 0);
}
