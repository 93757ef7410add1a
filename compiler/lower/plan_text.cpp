#include "compiler/lower/plan_text.h"

#include <algorithm>

#include "compiler/ir/index_poly.h"

namespace kiln::compiler {
namespace {

std::string name_of(std::span<const Id> ranges, Id range) {
  return "i" + std::to_string(std::ranges::find(ranges, range) - ranges.begin());
}

std::string steps_of(const LoopPlan& p) {
  const std::string step = std::to_string(p.step);
  if (p.block) return "blocks of " + step;
  if (p.rows) return "rows " + step;
  if (p.chain) return "terms " + step;
  if (p.lanes) return "lanes " + step;
  return p.step == 1 ? "one at a time" : "copies " + step;
}

std::string tails_of(const LoopPlan& p) {
  if (p.block || p.rows || p.chain || p.step == 1) return "";
  std::string text;
  for (const Tail& t : p.tails)
    text += (text.empty() ? ", tails " : ", ") + std::to_string(t.step) + (t.masked ? " masked" : "");
  return text;
}

std::string line_of(const Graph& g, std::span<const Id> ranges, const LoopPlan& p) {
  std::string line = p.range == no_id ? "" : name_of(ranges, p.range) + " of " + index_text_or_id(g, g.end(p.range)) + ": ";
  line += steps_of(p) + tails_of(p);
  if (p.align != 0) line += ", aligned to " + std::to_string(p.align) + " bytes";
  if (p.past_caches != 0) line += ", past the caches from " + std::to_string(p.past_caches) + " iterations";
  if (p.masked_all) line += ", all masked";
  if (p.transposes != no_id) line += ", transposes to lanes of " + name_of(ranges, p.transposes);
  if (p.shares_loads) line += ", share loads";
  if (p.streams != no_id) line += ", if the rows are large";
  return line + '\n';
}

}  // namespace

std::string plan_text(const Graph& g, std::span<const Id> ranges, std::span<const LoopPlan> plan) {
  std::string text;
  for (const LoopPlan& p : plan) text += line_of(g, ranges, p);
  return text;
}

}  // namespace kiln::compiler
