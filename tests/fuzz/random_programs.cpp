// random_programs [--count N] [--seed S] [--jobs J]: random tensor programs; compiled, each computes what the interpreter
// computes, bit for bit, at two schedules, with 1 and 3 threads and iterations backwards, within 10 s and 1 GB each. A failure
// is shrunk, printed with the first pass that broke it, and ends the run with 1. random_programs FILE...: the same for programs
// in files (tests/fuzz/regressions).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <numeric>
#include <sstream>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/text.h"
#include "tests/fuzz/check_program.h"
#include "tests/fuzz/child.h"
#include "tests/fuzz/first_broken_pass.h"
#include "tests/fuzz/random_program.h"
#include "tests/fuzz/shrink.h"

namespace kiln::compiler::testing {
namespace {

struct Options {
  std::uint64_t count = 1000, seed = 0;
  int jobs = 1, symbolic_percent = 20;
  std::size_t findings = 1;
  std::string save;
  bool print = false, stages = false, shrink = false;
  std::vector<std::string> files;
};

bool is_symbolic(std::uint64_t seed, const Options& o) { return static_cast<int>(seed * 37 % 100) < o.symbolic_percent; }

std::string text_of_seed(std::uint64_t seed, const Options& o) {
  Graph g;
  const Program p = random_program(g, seed, is_symbolic(seed, o));
  return write_program(g, p, {.locations = false});
}

// What a child reports, as text: "runs kernels seconds kind\ntext".
std::string report(const CheckResult& r) {
  std::ostringstream s;
  s << r.runs << ' ' << r.kernels << ' ' << r.compile_seconds << '\n';
  if (r.finding) s << r.finding->kind << '\n' << r.finding->text;
  return s.str();
}

CheckResult outcome(const ChildEnd& end) {
  CheckResult r;
  if (!end.problem.empty()) {
    r.finding = Finding{end.problem, end.problem};
    return r;
  }
  std::istringstream s(end.report);
  std::string line, rest;
  s >> r.runs >> r.kernels >> r.compile_seconds;
  std::getline(s, line);
  if (!std::getline(s, line)) return r;
  std::getline(s, rest, '\0');
  r.finding = Finding{line, rest};
  return r;
}

std::string stages_here(const std::string& text, std::uint64_t seed) {
  CheckResult r;
  if (const std::string pass = first_broken_pass(text, seed); !pass.starts_with("none"))
    r.finding = Finding{pass.substr(0, pass.find(':')), pass};
  return report(r);
}

std::string check_here(const std::string& text, std::uint64_t seed, bool stages) {
  try {
    if (stages) return stages_here(text, seed);
    return report(check_program(text, seed));
  } catch (const std::exception& e) {
    CheckResult r;
    r.finding = Finding{"check", e.what()};
    return report(r);
  }
}

CheckResult check_in_child(const std::string& text, std::uint64_t seed, bool stages) {
  return outcome(in_child([&] { return check_here(text, seed, stages); }));
}

class Campaign {
 public:
  explicit Campaign(const Options& o)
      : o_(o), children_([&o](std::uint64_t seed) { return check_here(text_of_seed(seed, o), seed, o.stages); }) {}

  int run() {
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t next = o_.seed;
    const std::uint64_t end = o_.seed + o_.count;
    while (found_ < o_.findings && (next < end || !children_.empty())) {
      while (next < end && children_.running() < static_cast<std::size_t>(o_.jobs)) {
        std::vector<std::uint64_t> seeds(std::min<std::uint64_t>(batch, end - next));
        std::iota(seeds.begin(), seeds.end(), next);
        next += seeds.size();
        children_.start(std::move(seeds));
      }
      const auto [seed, result] = children_.wait();
      count(seed, result);
    }
    while (!children_.empty()) children_.wait();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    std::cout << programs_ << " programs, " << symbolic_ << " with symbols, " << kernels_ << " kernels, " << runs_
              << " runs compared, slowest compilation " << slowest_ << " s, peak memory " << peak_ / 1024 << " MB, " << found_
              << " findings, " << wall.count() << " s\n";
    return found_ == 0 ? 0 : 1;
  }

 private:
  static constexpr std::uint64_t batch = 20;

  void count(std::uint64_t seed, const ChildEnd& end) {
    const CheckResult r = outcome(end);
    ++programs_;
    if (is_symbolic(seed, o_)) ++symbolic_;
    runs_ += static_cast<std::uint64_t>(r.runs);
    kernels_ += static_cast<std::uint64_t>(r.kernels);
    slowest_ = std::max(slowest_, r.compile_seconds);
    peak_ = std::max(peak_, end.peak_kilobytes);
    if (programs_ % 1000 == 0) std::cerr << programs_ << " programs, " << found_ << " findings" << std::endl;
    if (!r.finding) return;
    ++found_;
    show(seed, *r.finding);
  }

  void show(std::uint64_t seed, const Finding& f) {
    std::cout << "seed " << seed << ": " << f.kind << ": " << f.text << std::endl;
    const std::string text = text_of_seed(seed, o_);
    const auto fails = [&](const std::string& t) {
      const CheckResult r = check_in_child(t, seed, o_.stages);
      return r.finding && r.finding->kind == f.kind;
    };
    if (!fails(text)) std::cout << "not alone, only in one process with the seeds before it" << std::endl;
    const std::string small = shrink_program(text, fails, f.kind.starts_with("time") ? 10 : 1500);
    const std::string why = check_in_child(small, seed, o_.stages).finding.value_or(f).text;
    const ChildEnd pass = in_child([&] { return first_broken_pass(small, seed); });
    std::ostringstream out;
    out << "# " << f.kind << ": " << why << "\n# first broken pass: " << (pass.problem.empty() ? pass.report : pass.problem)
        << '\n'
        << small;
    std::cout << out.str() << std::endl;
    if (!o_.save.empty()) std::ofstream(o_.save + "/seed_" + std::to_string(seed) + ".kiln") << out.str();
  }

  const Options& o_;
  Children children_;
  std::uint64_t programs_ = 0, symbolic_ = 0, runs_ = 0, kernels_ = 0;
  std::size_t found_ = 0;
  double slowest_ = 0;
  long peak_ = 0;
};

void show_small(const std::string& text, std::uint64_t seed, const Finding& f, const Options& o) {
  std::cout << shrink_program(text, [&](const std::string& t) {
    const CheckResult r = check_in_child(t, seed, o.stages);
    return r.finding && r.finding->kind == f.kind;
  }) << std::endl;
}

int check_files(const Options& o) {
  int bad = 0;
  for (const std::string& file : o.files) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    int runs = 0;
    for (std::uint64_t seed = o.seed; seed < o.seed + 2; ++seed) {
      const CheckResult r = check_in_child(text.str(), seed, o.stages);
      runs += r.runs;
      if (!r.finding) continue;
      std::cout << file << ": " << r.finding->kind << ": " << r.finding->text
                << "\n# first broken pass: " << in_child([&] { return first_broken_pass(text.str(), seed); }).report
                << std::endl;
      if (o.shrink) show_small(text.str(), seed, *r.finding, o);
      ++bad;
      break;
    }
    if (runs == 0 && bad == 0 && !o.stages) {
      std::cout << file << ": never ran\n";
      ++bad;
    }
  }
  std::cout << o.files.size() << " programs, " << bad << " bad\n";
  return bad == 0 ? 0 : 1;
}

int run(const Options& o) {
  if (o.print) {
    std::cout << text_of_seed(o.seed, o);
    return 0;
  }
  return o.files.empty() ? Campaign(o).run() : check_files(o);
}

}  // namespace
}  // namespace kiln::compiler::testing

int main(int argc, char** argv) {
  kiln::compiler::testing::Options o;
  CLI::App app("Random tensor programs against the interpreter");
  app.add_option("--count", o.count, "how many programs");
  app.add_option("--seed", o.seed, "the first one's seed; the others follow");
  app.add_option("--jobs", o.jobs, "processes at a time");
  app.add_flag("--shrink", o.shrink, "files: print a smaller program with the same kind of failure");
  app.add_option("--symbolic", o.symbolic_percent, "percentage of programs with symbolic extents");
  app.add_option("--findings", o.findings, "stop after so many");
  app.add_option("--save", o.save, "folder for shrunk programs");
  app.add_flag("--stages", o.stages, "evaluate the program after each pass instead of its machine code");
  app.add_flag("--print", o.print, "print the seed's program and stop");
  app.add_option("files", o.files, "programs to check instead");
  CLI11_PARSE(app, argc, argv);
  return kiln::compiler::testing::run(o);
}
