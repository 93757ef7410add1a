#include "generator/tools/prove_command.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>

#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/pipeline/run_passes.h"
#include "compiler/proof/kernel_proof.h"
#include "generator/outputs.h"
#include "generator/tools/in_parallel.h"

namespace kiln::generator {
namespace {

using namespace compiler;

std::vector<Claim> claims_of(const std::string& file) {
  Graph g;
  const Program p = read_program(g, read_file(file), file);
  verify(g, p);
  // The kernels of product_versions are in bounds only because a factor of the outermost extent is 0 in other calls. Z3 does
  // not decide such products of extents.
  Scheduled end =
      run_passes(g, p, {.disabled = {"component_versions", "product_versions"}, .last = std::string(last_pass(Form::planned))});
  std::vector<Claim> out;
  for (const Kernel& k : end.schedule.kernels)
    std::ranges::move(kernel_claims(end.graph, end.schedule, k), std::back_inserter(out));
  return out;
}

// The paths, with each folder replaced by the programs in it, by name.
std::vector<std::string> programs(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      out.push_back(path);
      continue;
    }
    const std::size_t first = out.size();
    for (const auto& entry : std::filesystem::directory_iterator(path))
      if (entry.path().extension() == ".kiln") out.push_back(entry.path().string());
    std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
  }
  return out;
}

struct Question {
  const Claim* claim;
  Answer answer = Answer::unknown;
};
constexpr std::size_t most_together = 16;

// Most questions take a few milliseconds, less than to start the solver. So one solver gets many of them.
void answer(std::span<Question*> questions, SolverLimits limits) {
  while (!questions.empty()) {
    std::string together;
    for (const Question* q : questions) together += q->claim->linear + "(reset)\n";
    const std::size_t proven = first_unsat(together, limits);
    for (Question* q : questions.first(proven)) q->answer = Answer::unsat;
    questions = questions.subspan(proven);
    if (questions.empty()) return;
    questions[0]->answer = solve(questions[0]->claim->script, limits).answer;
    questions = questions.subspan(1);
  }
}

}  // namespace

bool prove_files(const std::vector<std::string>& files, unsigned jobs, SolverLimits limits, std::ostream& out) {
  std::vector<Claim> claims;
  for (const std::string& f : programs(files)) std::ranges::move(claims_of(f), std::back_inserter(claims));
  std::map<std::string, Question> asked;  // by script
  for (const Claim& c : claims) asked.emplace(c.script, Question{&c});
  std::vector<Question*> questions;
  for (auto& [script, q] : asked) questions.push_back(&q);
  in_parallel((questions.size() + most_together - 1) / most_together, jobs, [&](std::size_t i) {
    const std::size_t first = i * most_together;
    answer(std::span(questions).subspan(first, std::min(most_together, questions.size() - first)), limits);
  });
  std::size_t proven = 0, refuted = 0;
  for (const Claim& c : claims) {
    const Answer a = asked.at(c.script).answer;
    proven += a == Answer::unsat ? 1 : 0;
    refuted += a == Answer::sat ? 1 : 0;
    if (a != Answer::unsat) out << c.text << (a == Answer::sat ? ": refuted\n" : ": unknown\n");
  }
  out << claims.size() << " claims (" << questions.size() << " questions): " << proven << " proven, " << refuted << " refuted, "
      << claims.size() - proven - refuted << " unknown\n";
  return proven == claims.size();
}

}  // namespace kiln::generator
