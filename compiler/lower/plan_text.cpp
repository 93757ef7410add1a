#include "compiler/lower/plan_text.h"

#include <algorithm>
#include <charconv>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"

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
  if (p.lanes) return "lanes " + step + (p.vectors == 1 ? "" : " in " + std::to_string(p.vectors) + " vectors");
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
  if (p.streams != no_id) line += ", " + std::string(rows_are_large);
  return line + '\n';
}

constexpr std::int64_t most_steps = 4096;                    // of the copies and lanes of all loops together
constexpr std::int64_t most_number = std::int64_t{1} << 30;  // of any word

// The words of a plan, from the left to the right.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  bool at_end() const { return text_.empty(); }
  bool take(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  // A number, if `before` and `after` are around it.
  bool take(std::string_view before, std::int64_t& number, std::string_view after = "") {
    const std::string_view start = text_;
    const auto fails = [&] { return text_ = start, false; };
    if (!take(before)) return fails();
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
    if (error != std::errc() || number < 0 || number > most_number) return fails();
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return take(after) || fails();
  }
  void skip_to(std::string_view word) { text_.remove_prefix(std::min(text_.find(word), text_.size())); }
  std::string_view rest() const { return text_; }

 private:
  std::string_view text_;
};

class PlanReader {
 public:
  PlanReader(std::span<const Id> ranges, Id streams) : ranges_(ranges), streams_(streams) {}

  // Reads one line. Returns false if it is wrong.
  bool line(Words w, LoopPlan& p) {
    std::int64_t n = 0;
    if (w.take("i", n, " of ")) {
      if (n >= std::ssize(ranges_)) return false;
      p.range = nth(ranges_, n);
      w.skip_to(": ");
      if (!w.take(": ")) return false;
    }
    if (!steps(w, p)) return false;
    while (!w.at_end())
      if (!w.take(", ") || !property(w, p)) return false;
    steps_ *= p.block || p.rows || p.chain ? 1 : p.step;
    return steps_ <= most_steps;
  }

 private:
  static bool steps(Words& w, LoopPlan& p) {
    std::int64_t n = 1;
    p.block = w.take("blocks of ", n);
    p.rows = !p.block && w.take("rows ", n);
    p.chain = !p.block && !p.rows && w.take("terms ", n);
    p.lanes = !p.block && !p.rows && !p.chain && w.take("lanes ", n);
    if (!p.block && !p.rows && !p.chain && !p.lanes && !w.take("copies ", n) && !w.take("one at a time")) return false;
    p.step = narrow<int>(n);
    std::int64_t vectors = 1;
    if (p.lanes && w.take(" in ", vectors, " vectors")) p.vectors = narrow<int>(vectors);
    return true;
  }

  bool property(Words& w, LoopPlan& p) {
    std::int64_t n = 0;
    if (w.take("tails ", n)) {
      p.tails.clear();
      do p.tails.push_back({narrow<int>(n), w.take(" masked")});
      while (w.take(", ", n));
      return true;
    }
    if (w.take("aligned to ", n, " bytes")) return n <= 64 && ((p.align = narrow<int>(n)), true);
    if (w.take("past the caches from ", n, " iterations")) return (p.past_caches = n), true;
    if (w.take("all masked")) return p.masked_all = true;
    if (w.take("share loads")) return p.shares_loads = true;
    if (w.take(rows_are_large)) return (p.streams = streams_) != no_id;
    if (!w.take("transposes to lanes of i", n) || n >= std::ssize(ranges_)) return false;
    p.transposes = nth(ranges_, n);
    return true;
  }

  std::span<const Id> ranges_;
  Id streams_;
  std::int64_t steps_ = 1;
};

}  // namespace

std::string read_plan(std::span<const Id> ranges, Id streams, std::string_view text, std::vector<LoopPlan>& plan) {
  PlanReader reader(ranges, streams);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!reader.line(Words(line), plan.emplace_back())) return "no loop of a plan: '" + std::string(line) + "'";
  }
  return {};
}

std::string plan_text(const Graph& g, std::span<const Id> ranges, std::span<const LoopPlan> plan) {
  std::string text;
  for (const LoopPlan& p : plan) text += line_of(g, ranges, p);
  return text;
}

std::string in_one_line(std::string plan) {
  if (plan.ends_with('\n')) plan.pop_back();
  for (std::size_t at = 0; (at = plan.find('\n', at)) != std::string::npos;) plan.replace(at, 1, "; ");
  return plan;
}

}  // namespace kiln::compiler
