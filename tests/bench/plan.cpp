// plan_bench [--plans N] [--seconds S] [--variant V] [--all] [NAME...]: compares the compiler's plan of each kernel with random
// plans.
//
// Prints a line for each program of plan_kernels.h: the time with the compiler's plans, the best time with random ones, the
// regret (the compiler's time as a multiple of the best time of all), and the median time with random plans as a multiple of
// the compiler's. Where the regret is large, prints the better plan too. All plans of a program must give the same bits, or
// the bench exits with 1. The goals for the regret: a median of 1.10, at most 1.25.
//
// The same line has the figures of the model kernel_time.h: the rank correlation of its times with the measured ones, and the
// regret of the plan that it finds best. The goal for the correlation: a median of 0.8.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "compiler/ir/dtype.h"
#include "compiler/lower/kernel_time.h"
#include "compiler/lower/plan_text.h"
#include "compiler/pipeline/compile.h"
#include "generator/import.h"
#include "kiln/view.h"
#include "tests/bench/plan_kernels.h"
#include "tests/bench/speed.h"
#include "tests/fuzz/command_line.h"
#include "tests/fuzz/random.h"
#include "tests/fuzz/random_plan.h"

namespace kiln::bench {
namespace {

using namespace compiler;
using compiler::testing::CompiledProgram;

constexpr double sample = 1e-3;       // seconds of the calls that one time is taken from
constexpr int least_rounds = 4;       // measurements of each candidate
constexpr double slow = 1.4;          // candidates that take this multiple of the least time are not measured again
constexpr double worth_a_look = 1.1;  // regret above which the better plan is printed

struct Options {
  int plans = 40;
  double seconds = 1;  // for the measurements of one program
  bool all = false;
  std::string variant = lanes() == 16 ? "x86-64-v4" : "x86-64-v3";
  std::vector<std::string> names;
};

// A program compiled with some plans of its kernels.
struct Candidate {
  std::vector<std::string> plans;  // in words
  std::unique_ptr<CompiledProgram> program;
  double predicted = 0;                                    // nanoseconds of a call
  double least = std::numeric_limits<double>::infinity();  // seconds of a call
};

Candidate compile_with(const Graph& g, const Program& p, const Options& o, const PlanMaker& make_plan) {
  Candidate c;
  CompileOptions options;
  options.targets = {target_named(o.variant)};
  options.symbol_prefix = "t_";
  options.make_plan = [&](const Graph& graph, std::span<const Id> stores, std::span<const Id> ranges, const Target& target) {
    std::vector<LoopPlan> plan = make_plan(graph, stores, ranges, target);
    c.plans.push_back(plan_text(graph, ranges, plan));
    return plan;
  };
  const Compiled compiled = compile(g, p, options);
  const Variant& v = compiled.variants[0];
  for (const LoweredKernel& k : v.schedule.lowered) c.predicted += kernel_time(v.graph, k, v.target);
  c.program = std::make_unique<CompiledProgram>(p, compiled.code.object);
  return c;
}

// The arguments of a program with constant extents.
class Arguments {
 public:
  Arguments(const Graph& g, const Program& p) {
    kiln::test::Random random(1);
    for (const Parameter& q : p.params) {
      Array a{q.dtype, {}, {}};
      for (const Id e : q.extents) a.extents.push_back(g.value(e));
      a = Array::zeros(q.dtype, a.extents);
      for (std::byte& b : a.data) b = static_cast<std::byte>(random.next());
      if (q.dtype == DType::f32)
        for (std::size_t i = 0; i < a.elements(); ++i) {
          const float v = static_cast<float>(random.pick(-1000, 1000)) / 1000;
          std::memcpy(a.data.data() + sizeof v * i, &v, sizeof v);
        }
      start_.push_back(std::move(a));
      written_.push_back(q.direction != Direction::in);
    }
    now_ = start_;
    for (Array& a : now_) list_.push_back(argument(a.data.data(), static_cast<kiln_dtype>(a.dtype), a.extents));
  }

  void call(const Candidate& c) const {
    if (const kiln_status s = c.program->call(list_, memory_.get()); s.code != KILN_OK)
      throw std::runtime_error(std::string("a call failed: ") + kiln_status_name(s.code));
  }
  // The bytes of all results of one call.
  std::vector<std::byte> results(const Candidate& c) {
    for (std::size_t i = 0; i < now_.size(); ++i) std::ranges::copy(start_[i].data, now_[i].data.begin());
    call(c);
    std::vector<std::byte> out;
    for (std::size_t i = 0; i < now_.size(); ++i)
      if (written_[i]) out.insert(out.end(), now_[i].data.begin(), now_[i].data.end());
    return out;
  }

 private:
  std::vector<Array> start_, now_;
  std::vector<bool> written_;
  std::vector<kiln_tensor> list_;
  kiln::context memory_;
};

void time(const Arguments& arguments, Candidate& c, int calls) {
  const double t = seconds([&] {
    for (int i = 0; i < calls; ++i) arguments.call(c);
  });
  c.least = std::min(c.least, t / calls);
}

// Takes turns, so that a disturbance slows all candidates down.
void time_all(const Arguments& arguments, std::vector<Candidate>& all, double budget) {
  int calls = 1;
  while (seconds([&] {
           for (int i = 0; i < calls; ++i) arguments.call(all[0]);
         }) < sample)
    calls *= 2;
  for (int i = 0; i < least_rounds; ++i)
    for (Candidate& c : all) time(arguments, c, calls);
  for (double spent = 0; spent < budget;)
    spent += seconds([&] {
      const double least = std::ranges::min_element(all, {}, &Candidate::least)->least;
      for (Candidate& c : all)
        if (c.least <= slow * least || &c == &all[0]) time(arguments, c, calls);
    });
}

void print_better(const Candidate& own, const Candidate& best) {
  for (std::size_t i = 0; i < own.plans.size() && i < best.plans.size(); ++i)
    if (own.plans[i] != best.plans[i]) std::printf("plan %zu:\n%sbetter:\n%s", i, own.plans[i].c_str(), best.plans[i].c_str());
}

void print_all(std::vector<Candidate> all) {
  std::ranges::sort(all, {}, &Candidate::least);
  for (const Candidate& c : all) {
    std::printf("%9.1f us with\n", 1e6 * c.least);
    for (const std::string& plan : c.plans) std::printf("%s\n", plan.c_str());
  }
}

// By candidate: its place among all; equal ones share their places.
std::vector<double> places(std::span<const Candidate> all, double Candidate::* value) {
  std::vector<double> out;
  for (const Candidate& c : all) {
    const auto below = std::ranges::count_if(all, [&](const Candidate& o) { return o.*value < c.*value; });
    const auto equal = std::ranges::count_if(all, [&](const Candidate& o) { return o.*value == c.*value; });
    out.push_back(static_cast<double>(below) + static_cast<double>(equal - 1) / 2);
  }
  return out;
}

// Spearman's rank correlation of the predicted and the measured times.
double correlation(std::span<const Candidate> all) {
  const std::vector<double> x = places(all, &Candidate::predicted), y = places(all, &Candidate::least);
  const double middle = static_cast<double>(all.size() - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - middle) * (y[i] - middle);
    xx += (x[i] - middle) * (x[i] - middle);
    yy += (y[i] - middle) * (y[i] - middle);
  }
  return xx == 0 || yy == 0 ? 0 : xy / std::sqrt(xx * yy);
}

struct Figures {
  std::vector<double> regrets, correlations, regrets_of_model;
};

void measure(const plan_kernel& k, const Options& o, Figures& figures) {
  Graph g;
  const Program p = generator::import_program(g, *k.program);
  std::vector<Candidate> all;
  all.push_back(compile_with(g, p, o, vectorize_plan));
  Arguments arguments(g, p);
  const std::vector<std::byte> expected = arguments.results(all[0]);
  for (int seed = 0; seed < o.plans; ++seed) {
    Candidate c = compile_with(g, p, o, compiler::testing::random_plans(static_cast<std::uint64_t>(seed)));
    if (std::ranges::find(all, c.plans, &Candidate::plans) != all.end()) continue;
    if (arguments.results(c) != expected) {
      for (const std::string& plan : c.plans) std::printf("%s\n", plan.c_str());
      throw std::runtime_error(std::string(k.name) + ": this plan gives other bits than the compiler's");
    }
    all.push_back(std::move(c));
  }
  time_all(arguments, all, o.seconds);
  std::vector<double> times;
  for (const Candidate& c : all) times.push_back(c.least);
  const double own = times[0];
  times.erase(times.begin());
  const Candidate& best = *std::ranges::min_element(all, {}, &Candidate::least);
  const double regret = own / best.least, us = 1e6;
  if (times.empty()) times = {own};
  const double rank = correlation(all);
  const double of_model = std::ranges::min_element(all, {}, &Candidate::predicted)->least / best.least;
  std::printf(
      "%-20s own %9.1f us   best of %2zu others %9.1f us   regret %5.2f   median of others %6.2f   model: %9.1f us "
      "correlation %5.2f regret %5.2f\n",
      k.name.data(), us * own, times.size(), us * std::ranges::min(times), regret, median(times) / own, all[0].predicted / 1e3,
      rank, of_model);
  if (regret > worth_a_look) print_better(all[0], best);
  if (o.all) print_all(std::move(all));
  std::fflush(stdout);
  figures.regrets.push_back(regret);
  figures.correlations.push_back(rank);
  figures.regrets_of_model.push_back(of_model);
}

bool is_wanted(const plan_kernel& k, const Options& o) {
  return o.names.empty() || std::ranges::find(o.names, k.name) != o.names.end();
}

int run(const Options& o) {
  for (const std::string& name : o.names)
    if (std::ranges::find(plan_kernels(), name, &plan_kernel::name) == plan_kernels().end())
      throw std::runtime_error("no program " + name);
  Figures f;
  for (const plan_kernel& k : plan_kernels())
    if (is_wanted(k, o)) measure(k, o, f);
  std::printf("regret: median %.2f, worst %.2f\n", median(f.regrets), std::ranges::max(f.regrets));
  std::printf("model: median correlation %.2f; regret: median %.2f, worst %.2f\n", median(f.correlations),
              median(f.regrets_of_model), std::ranges::max(f.regrets_of_model));
  return 0;
}

}  // namespace
}  // namespace kiln::bench

int main(int argc, char** argv) {
  kiln::bench::Options o;
  kiln::test::CommandLine line("The compiler's plans of loops against random plans");
  line.option("--plans", o.plans, "random plans of each program");
  line.option("--seconds", o.seconds, "for the measurements of one program");
  line.option("--variant", o.variant, "CPU level");
  line.flag("--all", o.all, "print the time and the text of every plan");
  line.option("names", o.names, "programs; all if there is none");
  if (const auto status = line.parse(argc, argv)) return *status;
  try {
    return kiln::bench::run(o);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
