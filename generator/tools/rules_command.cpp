#include "generator/tools/rules_command.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/nth.h"
#include "compiler/proof/measure.h"
#include "compiler/proof/mutate.h"
#include "compiler/proof/rule_notes.h"
#include "generator/outputs.h"
#include "generator/tools/in_parallel.h"

namespace kiln::generator {
namespace {

using namespace compiler;

const char* word(Verdict v) { return v == Verdict::proven ? "proven" : v == Verdict::refuted ? "refuted" : "unknown"; }

// FNV-1a, which names a cache file. The file also contains the question, so a collision is only a miss.
std::string hash_of(const std::string& s) {
  std::uint64_t h = 14695981039346656037u;
  for (const char c : s) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
  std::ostringstream hex;
  hex << std::hex << h;
  return hex.str();
}

RuleVerdict cached_claim(const RuleText& claim, const RulesOptions& o) {
  const std::string question = o.cache.empty() ? "" : question_of(claim);
  if (question.empty()) return check_claim(claim, o.limits);
  const std::string path = o.cache + "/" + hash_of(question) + ".smt2";
  std::ifstream in(path);
  const std::string known((std::istreambuf_iterator<char>(in)), {});
  if (known.starts_with(question)) {
    const std::string rest = known.substr(question.size());
    if (rest == "; proven\n") return {Verdict::proven, {}};
    if (rest.starts_with("; refuted ")) return {Verdict::refuted, rest.substr(10, rest.size() - 11)};
  }
  const RuleVerdict v = check_claim(claim, o.limits);
  if (v.verdict == Verdict::unknown) return v;
  Outputs out;
  out.add(path, question + "; " + word(v.verdict) + (v.verdict == Verdict::refuted ? " " + v.detail : "") + "\n");
  out.write();
  return v;
}

}  // namespace

RuleVerdict check_rule(const RuleText& rule, const RulesOptions& options) {
  RuleVerdict v;
  const auto claims = claims_of(rule);
  for (std::size_t i = 0; i < claims.size(); ++i) {
    v = cached_claim(claims[i], options);
    if (i + 1 < claims.size() && v.verdict != Verdict::proven)
      return {Verdict::unknown, "step " + std::to_string(i) + " of its proof is not proven: " + v.detail};
  }
  return v;
}

bool check_rules(std::span<const RuleText> rules, const RulesOptions& o, std::ostream& out) {
  if (!o.cache.empty()) std::filesystem::create_directories(o.cache);
  std::vector<RuleVerdict> verdicts(rules.size());
  in_parallel(rules.size(), o.jobs, [&](std::size_t i) { verdicts[i] = check_rule(rules[i], o); });
  std::size_t count[3] = {};
  for (std::size_t i = 0; i < rules.size(); ++i) {
    ++nth(count, verdicts[i].verdict);
    out << rules[i].name << ' ' << word(verdicts[i].verdict) << (verdicts[i].detail.empty() ? "" : " " + verdicts[i].detail)
        << '\n';
  }
  out << rules.size() << " rules: " << count[0] << " proven, " << count[1] << " refuted, " << count[2] << " unknown\n";
  return count[0] == rules.size();
}

bool weigh_rules(std::ostream& out) {
  std::size_t smaller = 0, ordered = 0, neither = 0;
  for (const RuleText& rule : own_rules()) {
    const RuleNotes notes = notes_of(rule.name);
    const std::string more = not_smaller(rule, parts_of(notes.constants, ' '));
    ++(more.empty() ? smaller : notes.ends.empty() ? neither : ordered);
    if (!more.empty())
      out << rule.name << (notes.ends.empty() ? " NOT SMALLER: lhs has more of " + more : " ends: " + std::string(notes.ends))
          << '\n';
  }
  out << smaller << " rules make their node smaller, " << ordered << " say why rewriting ends, " << neither << " neither\n";
  return neither == 0;
}

void list_rules(std::ostream& out) {
  for (const RuleText& r : own_rules())
    out << r.name << ": " << r.lhs << " -> " << r.rhs << (r.guard.empty() ? "" : " if " + r.guard) << '\n';
}

bool mutate_rules(const RulesOptions& o, std::ostream& out) {
  struct Case {
    RuleText rule;
    Mutant mutant;
  };
  std::vector<Case> cases;
  for (const RuleText& rule : own_rules()) {
    if (const std::string wrong = check_points(rule); !wrong.empty()) throw Diagnostic("E-rules", rule.name, wrong);
    for (std::string& guard : mutated_guards(rule)) cases.push_back({rule, {std::move(guard)}});
  }
  in_parallel(cases.size(), o.jobs,
              [&](std::size_t i) { cases[i].mutant = judge_mutant(cases[i].rule, cases[i].mutant.guard, o.limits); });
  std::size_t count[5] = {};
  constexpr const char* words[] = {"refuted", "not firing", "not resting", "equivalent", "SURVIVED"};
  for (const auto& [rule, mutant] : cases) {
    ++nth(count, mutant.fate);
    if (mutant.fate == Fate::survived || mutant.fate == Fate::equivalent)
      out << rule.name << " if " << mutant.guard << ' ' << nth(words, mutant.fate)
          << (mutant.detail.empty() ? "" : ": " + mutant.detail) << '\n';
  }
  out << cases.size() << " mutants: " << count[0] << " refuted, " << count[1] << " lose a point, " << count[2]
      << " gain a point, " << count[3] << " equivalent, " << count[4] << " survived\n";
  return count[4] == 0;
}

}  // namespace kiln::generator
