#include "compiler/lower/tuning.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <iterator>
#include <sstream>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/remark.h"
#include "compiler/lower/check_plan.h"
#include "compiler/lower/plan_text.h"

namespace kiln::compiler {
namespace {

constexpr std::string_view head = "kiln-tuning 1", indent = "  ";

std::string hexadecimal(std::uint64_t key) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, key);
  return text;
}

// The line of a kernel: `kernel KEY TARGET BEFORE AFTER NAME`. Returns false if it has another form.
bool read_kernel(const std::string& line, std::pair<std::uint64_t, std::string>& of, TunedPlan& plan) {
  std::istringstream words(line);
  std::string word, key, rest;
  words >> word >> key >> of.second >> plan.before >> plan.after >> plan.name;
  if (words.fail() || words >> rest || word != "kernel" || key.size() != 16) return false;
  of.first = std::strtoull(key.c_str(), nullptr, 16);
  return hexadecimal(of.first) == key && plan.before >= 0 && plan.after >= 0;
}

// The LOAD whose rows the compiler's plan of this kernel tests.
Id streamed_load(std::span<const LoopPlan> plan) {
  const auto at = std::ranges::find_if(plan, [](const LoopPlan& p) { return p.streams != no_id; });
  return at == plan.end() ? no_id : at->streams;
}

}  // namespace

std::uint64_t kernel_key(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges) {
  std::uint64_t key = 0xcbf29ce484222325u;
  const auto add = [&](std::uint64_t h) { key = (key ^ h ^ (h >> 32)) * 0x100000001b3u; };
  for (const Id s : stores) add(g[s].hash);
  for (const Id r : ranges) add(g[r].hash);
  return key;
}

Tuning read_tuning(std::string_view text, const std::string& file) {
  Tuning tuning;
  TunedPlan* last = nullptr;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string where = file + ":" + std::to_string(number);
    if (number == 1) {
      if (line != head) throw Diagnostic("E-plan", where, "expected `" + std::string(head) + "`, got '" + line + "'");
    } else if (line.starts_with(indent) && last != nullptr) {
      last->plan += line.substr(indent.size()) + '\n';
    } else {
      std::pair<std::uint64_t, std::string> of;
      TunedPlan plan;
      plan.where = where;
      if (!read_kernel(line, of, plan))
        throw Diagnostic("E-plan", where, "expected `kernel KEY TARGET NANOSECONDS NANOSECONDS NAME`, got '" + line + "'");
      const auto [at, fresh] = tuning.emplace(of, std::move(plan));
      if (!fresh) throw Diagnostic("E-plan", where, "expected each kernel once, got " + hexadecimal(of.first) + " twice");
      last = &at->second;
    }
  }
  return tuning;
}

std::string write_tuning(const Tuning& tuning) {
  std::string text = std::string(head) + '\n';
  for (const auto& [of, plan] : tuning) {
    text += "kernel " + hexadecimal(of.first) + ' ' + of.second + ' ' + std::to_string(plan.before) + ' ' +
            std::to_string(plan.after) + ' ' + plan.name + '\n';
    std::istringstream lines(plan.plan);
    for (std::string line; std::getline(lines, line);) text += std::string(indent) + line + '\n';
  }
  return text;
}

PlanMaker tuned_plans(const Tuning& tuning, std::function<void(const std::string&)> warn) {
  return [&tuning, warn = std::move(warn)](const Graph& g, std::span<const Id> stores, std::span<const Id> ranges,
                                           const Target& target) {
    const auto at = tuning.find({kernel_key(g, stores, ranges), target.name});
    if (at == tuning.end()) return vectorize_plan(g, stores, ranges, target);
    const std::string& text = at->second.plan;
    const bool names_load = text.find(rows_are_large) != std::string::npos;
    const Id streams = names_load ? streamed_load(vectorize_plan(g, stores, ranges, target)) : no_id;
    std::vector<LoopPlan> plan;
    std::string wrong = read_plan(ranges, streams, text, plan);
    if (wrong.empty()) wrong = check_plan(g, stores, ranges, plan);
    if (wrong.empty()) {
      remark(g, stores[0], remarks::plan, [&] { return "from the tuning file: " + in_one_line(text); });
      return plan;
    }
    warn(at->second.where + ": warning: E-plan: expected a plan that the kernel can have, got another one (" + wrong +
         "); the compiler's plan is used");
    return vectorize_plan(g, stores, ranges, target);
  };
}

}  // namespace kiln::compiler
