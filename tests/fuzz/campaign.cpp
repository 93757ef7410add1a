#include "tests/fuzz/campaign.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <numeric>
#include <sstream>

#include "compiler/pipeline/passes.h"
#include "tests/fuzz/child.h"
#include "tests/fuzz/first_broken_pass.h"
#include "tests/fuzz/random_program.h"
#include "tests/fuzz/shrink.h"

namespace kiln::compiler::testing {
namespace {

// A child's report as text: "runs references kernels seconds\nkind\ntext".
std::string report(const CheckResult& r) {
  std::ostringstream s;
  s << r.runs << ' ' << r.references << ' ' << r.kernels << ' ' << r.compile_seconds << '\n';
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
  s >> r.runs >> r.references >> r.kernels >> r.compile_seconds;
  std::getline(s, line);
  if (!std::getline(s, line)) return r;
  std::getline(s, rest, '\0');
  r.finding = Finding{line, rest};
  return r;
}

template <class Check>
std::string check_here(Check&& check) {
  try {
    return report(check());
  } catch (const std::exception& e) {
    CheckResult r;
    r.finding = Finding{"check", e.what()};
    return report(r);
  }
}

class Campaign {
 public:
  Campaign(const CampaignPrograms& programs, const CampaignOptions& o)
      : programs_(programs),
        o_(o),
        children_([this](std::uint64_t seed) { return check_here([&] { return programs_.check(seed); }); }) {}

  int run() {
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t next = o_.seed;
    const std::uint64_t end = o_.seed + o_.count;
    while (found_ < o_.findings && (next < end || !children_.empty())) {
      while (next < end && children_.running() < static_cast<std::size_t>(o_.jobs)) {
        std::vector<std::uint64_t> seeds(std::min(campaign_batch - next % campaign_batch, end - next));
        std::iota(seeds.begin(), seeds.end(), next);
        next += seeds.size();
        children_.start(std::move(seeds));
      }
      const auto [seed, result] = children_.wait();
      count(seed, result);
    }
    while (!children_.empty()) children_.wait();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    std::cout << checked_ << " programs, " << counted_ << ' ' << programs_.counted_as << ", " << kernels_ << " kernels, ";
    if (references_ > 0) std::cout << references_ << " interpretations and ";
    std::cout << runs_ << " runs compared, slowest compilation " << slowest_ << " s, peak memory " << peak_ / 1024 << " MB, "
              << found_ << " findings, " << wall.count() << " s\n";
    return found_ == 0 ? 0 : 1;
  }

 private:
  void count(std::uint64_t seed, const ChildEnd& end) {
    const CheckResult r = outcome(end);
    ++checked_;
    if (programs_.is_counted(seed)) ++counted_;
    runs_ += static_cast<std::uint64_t>(r.runs);
    references_ += static_cast<std::uint64_t>(r.references);
    kernels_ += static_cast<std::uint64_t>(r.kernels);
    slowest_ = std::max(slowest_, r.compile_seconds);
    peak_ = std::max(peak_, end.peak_kilobytes);
    if (checked_ % 1000 == 0) std::cerr << checked_ << " programs, " << found_ << " findings" << std::endl;
    if (!r.finding) return;
    ++found_;
    show(seed, *r.finding);
  }

  void show(std::uint64_t seed, const Finding& f) {
    std::cout << "seed " << seed << ": " << f.kind << ": " << f.text << std::endl;
    const std::string text = programs_.text(seed);
    const CheckResult alone = check_in_child(text, seed, o_);
    const bool fails = alone.finding && alone.finding->kind == f.kind;
    if (!fails) std::cout << "only in one process with the seeds before it, or only beside a reference" << std::endl;
    const std::string small = fails ? smaller_program(text, seed, f, o_) : text;
    const std::string why = check_in_child(small, seed, o_).finding.value_or(f).text;
    const ChildEnd pass = in_child([&] { return first_broken_pass(small, seed); });
    std::ostringstream out;
    out << "# " << f.kind << ": " << why << "\n# first broken pass: " << (pass.problem.empty() ? pass.report : pass.problem)
        << '\n'
        << small;
    std::cout << out.str() << std::endl;
    if (!o_.save.empty()) std::ofstream(o_.save + "/seed_" + std::to_string(seed) + ".kiln") << out.str();
  }

  const CampaignPrograms& programs_;
  const CampaignOptions& o_;
  Children children_;
  std::uint64_t checked_ = 0, counted_ = 0, runs_ = 0, references_ = 0, kernels_ = 0;
  std::size_t found_ = 0;
  double slowest_ = 0;
  long peak_ = 0;
};

std::vector<std::string> some_optional_passes(std::uint64_t seed) {
  Draw draw(seed);
  std::vector<std::string> out;
  for (const Pass& p : passes())
    if (p.need == Need::optional && draw.one_in(3)) out.emplace_back(p.name);
  return out;
}

}  // namespace

int run_campaign(const CampaignPrograms& programs, const CampaignOptions& options) { return Campaign(programs, options).run(); }

CheckResult check(const std::string& text, std::uint64_t seed, const CampaignOptions& how, CheckOptions options) {
  if (how.disable) options.disabled = some_optional_passes(seed);
  options.plans = how.plans;
  if (!how.stages) return check_program(text, seed, options);
  CheckResult r;
  if (const std::string pass = first_broken_pass(text, seed); !pass.starts_with("none"))
    r.finding = Finding{pass.substr(0, pass.find(':')), pass};
  return r;
}

void CampaignOptions::add_to(test::CommandLine& line) {
  line.option("--count", count, "how many programs");
  line.option("--seed", seed, "the first one's seed; the others follow");
  line.option("--jobs", jobs, "processes at a time");
  line.option("--findings", findings, "stop after so many");
  line.option("--save", save, "folder for shrunk programs");
  line.flag("--stages", stages, "evaluate the program after each pass instead of its machine code");
  line.option("--plans", plans, "compile each program with so many random plans of its kernels");
  line.flag("--disable", disable, "compile each program without some of the optional passes");
}

CheckResult check_in_child(const std::string& text, std::uint64_t seed, const CampaignOptions& how) {
  return outcome(in_child([&] { return check_here([&] { return check(text, seed, how); }); }));
}

std::string smaller_program(const std::string& text, std::uint64_t seed, const Finding& f, const CampaignOptions& how) {
  const auto fails = [&](const std::string& t) {
    const CheckResult r = check_in_child(t, seed, how);
    return r.finding && r.finding->kind == f.kind;
  };
  return shrink_program(text, fails, f.kind.starts_with("time") ? 10 : 1500);
}

}  // namespace kiln::compiler::testing
