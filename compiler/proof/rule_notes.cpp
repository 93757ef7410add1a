#include "compiler/proof/rule_notes.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "compiler/symbolic/rules.h"

namespace kiln::compiler {

RuleNotes notes_of(std::string_view rule) {
  const auto notes = all_notes();
  const auto it = std::ranges::find(notes, rule, &RuleNotes::rule);
  return it == notes.end() ? RuleNotes{rule} : *it;
}

std::vector<std::string> parts_of(std::string_view list, char separator) {
  std::vector<std::string> out;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(separator), list.size());
    std::string_view part = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) out.emplace_back(part);
  }
  return out;
}

std::vector<std::int64_t> point_of(const ParsedRule& rule, std::string_view text) {
  const auto parts = parts_of(text, ' ');
  std::vector<std::int64_t> point;
  for (Id variable : rule.variables) {
    const std::string start = std::string(rule.g.name(variable)) + "=";
    const auto it = std::ranges::find_if(parts, [&](const std::string& p) { return p.starts_with(start); });
    std::int64_t v = 0;
    if (it == parts.end() || std::from_chars(it->data() + start.size(), it->data() + it->size(), v).ec != std::errc())
      throw std::invalid_argument("no value of " + std::string(rule.g.name(variable)) + " in '" + std::string(text) + "'");
    point.push_back(v);
  }
  return point;
}

std::vector<RuleText> own_rules() {
  std::vector<RuleText> out;
  for (const Rule& r : symbolic::all_rules())
    out.push_back({std::string(r.name),
                   std::string(r.lhs),
                   std::string(r.guard),
                   std::string(r.rhs),
                   {},
                   parts_of(notes_of(r.name).steps)});
  return out;
}

}  // namespace kiln::compiler
