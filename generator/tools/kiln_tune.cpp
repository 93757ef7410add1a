// kiln-tune: measures other plans of the kernels of programs, and writes those that are faster to a tuning file.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <memory>
#include <random>
#include <set>

#include "compiler/ir/diagnostic.h"
#include "compiler/lower/plan_text.h"
#include "generator/outputs.h"
#include "generator/tools/arguments.h"
#include "generator/tools/measured_pair.h"
#include "generator/tools/tuned_program.h"
#include "kiln/kiln.h"

namespace kiln::generator {
namespace {

using namespace compiler;
using End = MeasuredPair::End;

constexpr double short_look = 0.02, long_look = 0.15;  // seconds of the measurements of a candidate, and of one that is faster
constexpr double worth_it = 0.98;                      // of the time so far
constexpr double too_slow = 1.3;                       // times the prediction so far: such plans are not measured
constexpr int changes_of_random = 3;                   // from the plan so far to a random one
constexpr int steps_of_turn = 4;                       // candidates of a kernel before the next kernel's
constexpr int most_fruitless = 10;                     // random plans that were seen before, one after another
constexpr int random_of = 3;                           // one of so many candidates is random

struct Options {
  std::vector<std::string> files, dims;
  std::string variant, output, runtime;
  double time = 60;
  std::uint64_t seed = 1;
};

// The best variant that this CPU can run.
std::string best_variant() {
  const std::vector<std::string> names = default_target_names();
  for (auto n = names.rbegin(); n != names.rend(); ++n)
    if ((target_named(*n).cpu_sets & ~kiln_cpu_sets()) == 0) return *n;
  throw Diagnostic("E-usage", "--variant", "expected a variant that this CPU can run");
}

void note(const std::string& about, const std::string& text) {
  std::fprintf(stderr, "%s: note: %s\n", about.c_str(), text.c_str());
}

struct Counts {
  int measured = 0, slow = 0;
};

// Where the tool compiles to.
struct Place {
  std::string folder, runtime;

  // Makes a library of the program with these plans.
  std::string library(const TunedProgram& program, const Tuning& plans, const std::string& name) const {
    const std::string object = folder + "/" + name + ".o", library = folder + "/" + name + ".so";
    Outputs out;
    out.add(object, program.object(plans));
    out.write();
    link_shared({object}, runtime, library);
    return library;
  }
};

// The search for one kernel of a program.
class KernelSearch {
 public:
  KernelSearch(std::shared_ptr<const TunedProgram> program, std::uint64_t key, std::string plan, SymbolValues symbols,
               std::uint64_t seed)
      : program_(std::move(program)), key_(key), own_(plan), plan_(plan), symbols_(std::move(symbols)), random_(seed ^ key) {
    seen_.insert(own_);
  }

  bool is_done() const { return fruitless_ >= most_fruitless; }

  // Measures the next candidate.
  void step(const Place& place, Counts& counts) {
    if (library_.empty()) {
      library_ = place.library(*program_, {}, std::to_string(key_));
      look_around();
    }
    const std::string plan = next();
    if (plan.empty()) return;
    MeasuredPair m = measure(plan, place, short_look);
    if (m.end == End::measured && m.second < worth_it * ratio_ * m.first) m = measure(plan, place, long_look);
    if (m.end == End::not_run) return give_up(m.message);
    if (m.end == End::slow && !has_run_ && m.first == 0) return give_up("a call with the compiler's plan takes too long");
    has_run_ = true;
    count(m, plan, counts);
    if (m.end != End::measured || m.second >= worth_it * ratio_ * m.first) return;
    ratio_ = m.second / m.first;
    plan_ = plan;
    best_ = {nanoseconds(m.first), nanoseconds(m.second), program_->name(), plan, {}};
    look_around();
  }

  double ratio() const { return ratio_; }
  void add_to(Tuning& tuning) const {
    if (ratio_ < 1) tuning[{key_, program_->target().name}] = best_;
  }
  void print() const {
    if (ratio_ < 1)
      std::printf("%-24s %9.3f -> %9.3f us (%+.1f%%)  %s\n", program_->name().c_str(), 1e-3 * static_cast<double>(best_.before),
                  1e-3 * static_cast<double>(best_.after), 100 * (ratio_ - 1), in_one_line(plan_).c_str());
  }

 private:
  static std::int64_t nanoseconds(double seconds) { return static_cast<std::int64_t>(std::llround(1e9 * seconds)); }

  Tuning with(const std::string& plan) const {
    Tuning t;
    if (plan != own_) t[{key_, program_->target().name}] = {0, 0, program_->name(), plan, program_->name()};
    return t;
  }

  // Ranks the neighbours of the best plan by their predicted times.
  void look_around() {
    std::vector<std::pair<double, std::string>> found;
    const double most = too_slow * program_->predicted(with(plan_));
    for (std::string& n : program_->neighbours(with(plan_), key_)) {
      if (!seen_.insert(n).second) continue;
      const double time = program_->predicted(with(n));
      if (time <= most) found.emplace_back(time, std::move(n));
    }
    std::ranges::sort(found);
    for (auto n = found.rbegin(); n != found.rend(); ++n) ranked_.push_front(std::move(n->second));
  }

  // The best neighbour that was not measured; at times, and if there is none, a random plan. Empty: it was seen before.
  std::string next() {
    if (!ranked_.empty() && ++taken_ % random_of != 0) {
      std::string plan = std::move(ranked_.front());
      ranked_.pop_front();
      return plan;
    }
    std::string plan = plan_;
    for (int i = 0; i < changes_of_random; ++i) {
      const std::vector<std::string> around = program_->neighbours(with(plan), key_);
      if (!around.empty()) plan = around[random_() % around.size()];
    }
    const bool fresh = seen_.insert(plan).second;
    fruitless_ = fresh ? 0 : fruitless_ + 1;
    return fresh ? plan : std::string();
  }

  MeasuredPair measure(const std::string& plan, const Place& place, double seconds) const {
    return measure_pair(library_, [&] { return place.library(*program_, with(plan), "candidate"); }, symbols_, seconds);
  }

  void give_up(const std::string& why) {
    note(program_->name(), "not tuned: " + why);
    fruitless_ = most_fruitless;
  }

  // A candidate with other bits, or one that crashes, is a defect of the compiler: keeps what shows it.
  void count(const MeasuredPair& m, const std::string& plan, Counts& counts) const {
    ++counts.measured;
    if (m.end == End::slow) ++counts.slow;
    if (m.end != End::other_bits && m.end != End::failed) return;
    const std::string file = program_->name() + ".defect.tune";
    Outputs out;
    out.add(file, write_tuning(with(plan)));
    out.write();
    throw std::logic_error(program_->name() + ": the plan in " + file +
                           (m.end == End::other_bits ? " gives other bits than the compiler's plan" : " fails: " + m.message));
  }

  std::shared_ptr<const TunedProgram> program_;
  std::uint64_t key_;
  std::string own_, plan_, library_;
  SymbolValues symbols_;
  std::mt19937_64 random_;
  std::set<std::string> seen_;
  std::deque<std::string> ranked_;
  bool has_run_ = false;
  int taken_ = 0, fruitless_ = 0;
  double ratio_ = 1;
  TunedPlan best_;
};

// The files, and the programs in the folders, in the order of their names.
std::vector<std::string> program_files(const std::vector<std::string>& given) {
  std::vector<std::string> out;
  for (const std::string& path : given) {
    if (!std::filesystem::is_directory(path)) {
      out.push_back(path);
      continue;
    }
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    for (const auto& entry : std::filesystem::directory_iterator(path))
      if (entry.path().extension() == ".kiln") out.push_back(entry.path().string());
    if (out.begin() + first == out.end()) throw Diagnostic("E-usage", path, "expected a folder with .kiln files");
    std::sort(out.begin() + first, out.end());
  }
  return out;
}

// A search for each kernel that occurs in the programs.
std::vector<KernelSearch> searches(const Options& o, const Target& target) {
  std::vector<KernelSearch> out;
  std::set<std::uint64_t> known;
  std::set<std::string> symbols;
  const SymbolValues dims = named_integers(o.dims, "--dims");
  for (const std::string& file : program_files(o.files)) {
    const auto program = std::make_shared<const TunedProgram>(file, target);
    for (const Symbol& s : program->symbols()) symbols.insert(s.name);
    const auto plans = program->plans({});
    if (plans.empty())
      note(program->name(), "no kernel to tune; kernels with loops, arrays or atomic operations of their own have one plan");
    for (const auto& [key, plan] : plans)
      if (known.insert(key).second) out.emplace_back(program, key, plan, dims, o.seed);
  }
  for (const auto& [name, value] : dims)
    if (!symbols.contains(name)) throw Diagnostic("E-argument", "--dims", "no program has a symbol '" + name + "'");
  return out;
}

void tune(const Options& o) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto spent = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const Target target = target_named(o.variant.empty() ? best_variant() : o.variant);
  const TemporaryFolder folder;
  const Place place{folder.path(), o.runtime.empty() ? find_runtime() : o.runtime};
  std::vector<KernelSearch> all = searches(o, target);
  Counts counts;
  const auto is_done = [](const KernelSearch& s) { return s.is_done(); };
  while (spent() < o.time && !std::ranges::all_of(all, is_done))
    for (KernelSearch& s : all)
      for (int i = 0; i < steps_of_turn && spent() < o.time && !s.is_done(); ++i) s.step(place, counts);
  Tuning tuning;
  double product = 0;
  for (const KernelSearch& s : all) {
    s.add_to(tuning);
    s.print();
    product += std::log(s.ratio());
  }
  const double mean = all.empty() ? 1 : std::exp(product / static_cast<double>(all.size()));
  std::printf("kernels: %zu, plans measured: %d (%d stopped as slow), times: %.1f%% less (geometric mean)\n", all.size(),
              counts.measured, counts.slow, 100 * (1 - mean));
  if (counts.measured == 0 && std::filesystem::exists(o.output))
    return note(o.output, "stays as it is, because no plan was measured");
  Outputs out;
  out.add(o.output, write_tuning(tuning));
  out.write();
}

int run(int argc, char** argv) {
  Options o;
  CLI::App app("Measures other plans of the kernels of programs, and writes those that are faster to a tuning file.");
  app.add_option("FILES", o.files, "Programs as text, as `--emit ir` of a generator writes them, or folders of such files")
      ->required();
  app.add_option("-o", o.output, "The tuning file")->required()->type_name("FILE");
  app.add_option("--variant", o.variant, "The variant to tune; default: the best one that this CPU can run")->type_name("CPU");
  app.add_option("--time", o.time, "Seconds to search")->check(CLI::Range(0.0, 1e6))->capture_default_str();
  app.add_option("--dims", o.dims, "SYMBOL=VALUE; other symbols are about 1024")->type_name("DIM");
  app.add_option("--seed", o.seed, "Of the random plans")->capture_default_str();
  app.add_option("--runtime", o.runtime, "The runtime's archive");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 64;
  }
  return run_tool([&] { tune(o); });
}

}  // namespace
}  // namespace kiln::generator

int main(int argc, char** argv) { return kiln::generator::run(argc, argv); }
